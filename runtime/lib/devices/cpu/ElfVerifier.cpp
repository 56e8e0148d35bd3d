// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElfVerifier.h"

#include "../../CheckedMath.h"

#include <cstring>
#include <elf.h>

namespace ashlar::runtime {

#if defined(__x86_64__)
static constexpr uint16_t hostMachine = EM_X86_64;
const char *hostElfFormat() { return "elf-x86_64"; }
#elif defined(__aarch64__)
static constexpr uint16_t hostMachine = EM_AARCH64;
const char *hostElfFormat() { return "elf-aarch64"; }
#else
static constexpr uint16_t hostMachine = EM_NONE;
const char *hostElfFormat() { return "elf-none"; }
#endif

namespace {

/// Reads structures from places that the image itself chose.
class ElfReader {
public:
  ElfReader(const uint8_t *image, uint64_t size) : image(image), size(size) {}

  template <typename T> bool read(uint64_t offset, T &out) const {
    if (!fits(offset, sizeof(T), size))
      return false;
    std::memcpy(&out, image + offset, sizeof(T));
    return true;
  }

  Status verify();

private:
  Status verifySegments();
  Status verifyLoaded(const Elf64_Phdr &segment, uint64_t &end) const;
  Status verifyDynamic(const Elf64_Phdr &segment);
  Status verifyNeeded(uint64_t nameOffset, uint64_t strings);
  bool offsetOfAddress(uint64_t address, uint64_t &offset) const;

  const uint8_t *image;
  uint64_t size;
  Elf64_Ehdr header = {};
};

} // namespace

static Status reject(String why) {
  return corrupt(concat("the code is not what the kernel ABI asks for: ", why),
                 "code");
}

bool ElfReader::offsetOfAddress(uint64_t address, uint64_t &offset) const {
  Elf64_Phdr segment;
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    if (!read(header.e_phoff + i * sizeof(segment), segment))
      return false;
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return checkedAdd(segment.p_offset, address - segment.p_vaddr, offset);
  }
  return false;
}

Status ElfReader::verifyNeeded(uint64_t nameOffset, uint64_t strings) {
  uint64_t start;
  if (!checkedAdd(strings, nameOffset, start) || start >= size)
    return reject("the name of a needed library lies outside");
  const char *name = reinterpret_cast<const char *>(image + start);
  size_t length = strnlen(name, size_t(size - start));
  std::string_view text(name, length);
  if (text != "libc.so.6" && text != "libm.so.6")
    return reject(concat("it needs ", text.substr(0, 64),
                         "; only libc.so.6 and libm.so.6 are allowed"));
  return {};
}

/// What the loader may run code or open files for.
static const char *reasonAgainst(const Elf64_Dyn &entry) {
  switch (entry.d_tag) {
  case DT_INIT:
  case DT_FINI:
  case DT_PREINIT_ARRAY:
  case DT_TEXTREL:
    return "it has constructors, destructors or text relocations";
  case DT_INIT_ARRAYSZ:
  case DT_FINI_ARRAYSZ:
    return entry.d_un.d_val ? "it has constructors or destructors" : nullptr;
  case DT_RPATH:
  case DT_RUNPATH:
    return "it brings a search path";
  case DT_FILTER:
  case DT_AUXILIARY:
  case DT_AUDIT:
  case DT_DEPAUDIT:
    return "it brings filters or auditors, which are libraries";
  default:
    return nullptr;
  }
}

Status ElfReader::verifyDynamic(const Elf64_Phdr &segment) {
  uint64_t entries = segment.p_filesz / sizeof(Elf64_Dyn), strings = 0;
  // The loader reads it where it is mapped, and up to its last entry.
  uint64_t begin, last;
  if (entries == 0 || !offsetOfAddress(segment.p_vaddr, begin) ||
      !offsetOfAddress(segment.p_vaddr + segment.p_filesz - 1, last) ||
      begin != segment.p_offset || last - begin != segment.p_filesz - 1)
    return reject("its dynamic section is mapped from another place");
  Elf64_Dyn entry = {};
  for (uint64_t i = 0; i < entries; ++i) {
    if (!read(segment.p_offset + i * sizeof(entry), entry))
      return reject("its dynamic section lies outside");
    if (entry.d_tag == DT_NULL)
      break;
    if (entry.d_tag == DT_STRTAB && !offsetOfAddress(entry.d_un.d_ptr, strings))
      return reject("its strings lie outside");
    if (const char *reason = reasonAgainst(entry))
      return reject(reason);
  }
  if (entry.d_tag != DT_NULL)
    return reject("its dynamic section has no end");
  for (uint64_t i = 0; i < entries; ++i) {
    if (!read(segment.p_offset + i * sizeof(entry), entry) ||
        entry.d_tag == DT_NULL)
      break;
    if (entry.d_tag == DT_NEEDED)
      ASHLAR_RETURN_IF_ERROR(verifyNeeded(entry.d_un.d_val, strings));
  }
  return {};
}

/// Segments must be in order and share no page: then each address has one
/// place in the file, the one that is checked here. `end` is that of the
/// segment before.
Status ElfReader::verifyLoaded(const Elf64_Phdr &segment, uint64_t &end) const {
  constexpr uint64_t page = 4096;
  uint64_t last;
  if (segment.p_filesz > segment.p_memsz ||
      !checkedAdd(segment.p_vaddr, segment.p_memsz, last) ||
      last > UINT64_MAX - page)
    return reject("a segment's size is wrong");
  if (segment.p_vaddr / page * page < end ||
      segment.p_vaddr % page != segment.p_offset % page)
    return reject("its segments overlap");
  end = alignUp(last, page);
  return {};
}

Status ElfReader::verifySegments() {
  Elf64_Phdr segment;
  uint64_t end = 0;
  if (header.e_phentsize != sizeof(segment) ||
      !fits(header.e_phoff, uint64_t(header.e_phnum) * sizeof(segment), size))
    return reject("its segments lie outside");
  bool dynamic = false;
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    if (!read(header.e_phoff + i * sizeof(segment), segment))
      return reject("a segment header lies outside");
    if (segment.p_type == PT_INTERP)
      return reject("it is a program");
    if ((segment.p_type == PT_LOAD || segment.p_type == PT_GNU_STACK) &&
        (segment.p_flags & PF_W) && (segment.p_flags & PF_X))
      return reject("a segment or the stack is writable and executable");
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC)
      continue;
    if (!fits(segment.p_offset, segment.p_filesz, size))
      return reject("a segment lies outside");
    if (segment.p_type == PT_LOAD)
      ASHLAR_RETURN_IF_ERROR(verifyLoaded(segment, end));
    if (segment.p_type == PT_DYNAMIC) {
      if (dynamic)
        return reject("it has two dynamic sections");
      dynamic = true;
      ASHLAR_RETURN_IF_ERROR(verifyDynamic(segment));
    }
  }
  return dynamic ? Status() : reject("it is not a shared object");
}

Status ElfReader::verify() {
  if (!read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG))
    return reject("no ELF header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN)
    return reject("expected a 64-bit little-endian shared object");
  if (header.e_machine != hostMachine)
    return reject(
        concat("machine ", header.e_machine, "; this one is ", hostMachine));
  return verifySegments();
}

Status verifyElfImage(const uint8_t *image, uint64_t size) {
  return ElfReader(image, size).verify();
}

} // namespace ashlar::runtime
