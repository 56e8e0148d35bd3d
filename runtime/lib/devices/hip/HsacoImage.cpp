// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HsacoImage.h"

#include "../../CheckedMath.h"
#include "MessagePack.h"

#include <cstring>
#include <elf.h>

namespace ashlar::runtime::hip {

namespace {

enum : uint32_t {
  machineOfAmdGpus = 224, // EM_AMDGPU
  metadataNote = 32,      // NT_AMDGPU_METADATA
  addBase = 13            // R_AMDGPU_RELATIVE64
};
constexpr uint8_t abiOfHsa = 64; // ELFOSABI_AMDGPU_HSA

/// What an image may take of the device's addresses.
constexpr uint64_t mostMemory = uint64_t(1) << 32;
/// Of kernels times symbols, so that no image keeps us searching.
constexpr uint64_t mostSearched = uint64_t(1) << 26;
/// Of an argument: what a launch passes by 64 bits.
constexpr uint64_t argumentBytes = 8;

/// Where the launch finds a kernel: the part of it that is looked at.
struct Descriptor {
  uint32_t sharedBytes, privateBytes, argumentBytes, reserved;
  int64_t entry; // from the descriptor on
  uint8_t rest[40];
};
static_assert(sizeof(Descriptor) == 64);

class Image {
public:
  explicit Image(std::string_view bytes) : bytes(bytes) {}
  Status check();
  /// Of an image that was checked; Bad: there is none.
  Value metadata() const;
  bool readHeader() { return read(0, header); }

private:
  template <typename T> bool read(uint64_t offset, T &out) const {
    if (!fits(offset, sizeof(T), bytes.size()))
      return false;
    std::memcpy(&out, bytes.data() + offset, sizeof(T));
    return true;
  }
  bool segment(unsigned i, Elf64_Phdr &out) const {
    return read(header.e_phoff + i * sizeof(out), out);
  }
  bool section(unsigned i, Elf64_Shdr &out) const {
    return read(header.e_shoff + i * sizeof(out), out);
  }
  Status checkSegments() const;
  Status checkSections();
  Status checkSymbols(const Elf64_Shdr &table) const;
  Status checkRelocations(const Elf64_Shdr &table) const;
  Status checkKernels() const;
  Status checkKernel(const Value &kernel) const;
  bool findSymbol(std::string_view name, Elf64_Sym &out) const;
  /// The loaded segment around so many bytes, all of them in the file.
  bool segmentOf(uint64_t address, uint64_t size, Elf64_Phdr &out) const;
  std::string_view textAt(const Elf64_Shdr &table, uint64_t offset) const;

  const std::string_view bytes;
  Elf64_Ehdr header = {};
  uint64_t symbols = 0; // that kernels are searched among
};

} // namespace

static Status reject(const Words &why) {
  return corrupt(concat("the code object is not whole: ", why.text().c_str(),
                        "; compile the model again"),
                 "code");
}

Status Image::check() {
  if (!readHeader())
    return reject("it ends within its header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_ident[EI_OSABI] != abiOfHsa ||
      header.e_machine != machineOfAmdGpus || header.e_type != ET_DYN)
    return reject("it is no ELF for AMD's GPUs");
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_shentsize != sizeof(Elf64_Shdr) ||
      !fits(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr),
            bytes.size()) ||
      !fits(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), bytes.size()))
    return reject("its tables lie outside of it");
  ASHLAR_RETURN_IF_ERROR(checkSegments());
  ASHLAR_RETURN_IF_ERROR(checkSections());
  return checkKernels();
}

Status Image::checkSegments() const {
  uint64_t end = 0; // of those before
  bool isLoaded = false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr one = {};
    segment(i, one);
    if (one.p_type != PT_GNU_STACK &&
        !fits(one.p_offset, one.p_filesz, bytes.size()))
      return reject(concat("segment ", i, " lies outside of it"));
    if (one.p_type != PT_LOAD)
      continue;
    isLoaded = true;
    const uint64_t align = one.p_align ? one.p_align : 1;
    if (one.p_filesz > one.p_memsz || one.p_vaddr < end ||
        !fits(one.p_vaddr, one.p_memsz, mostMemory) ||
        (align & (align - 1)) != 0 || (one.p_vaddr - one.p_offset) % align != 0)
      return reject(concat("segment ", i, " cannot be loaded where it says"));
    end = one.p_vaddr + one.p_memsz;
  }
  return isLoaded ? Status() : reject("nothing of it is loaded");
}

Status Image::checkSections() {
  if (header.e_shnum != 0 && header.e_shstrndx >= header.e_shnum)
    return reject("the names of its sections are in none of them");
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr one = {};
    section(i, one);
    if (one.sh_type != SHT_NOBITS && one.sh_type != SHT_NULL &&
        !fits(one.sh_offset, one.sh_size, bytes.size()))
      return reject(concat("section ", i, " lies outside of it"));
    if (one.sh_link >= header.e_shnum)
      return reject(concat("section ", i, " belongs to one that is not there"));
    if (one.sh_type == SHT_STRTAB && one.sh_size != 0 &&
        bytes[size_t(one.sh_offset + one.sh_size - 1)] != 0)
      return reject(concat("the names in section ", i, " do not end"));
    if (one.sh_type == SHT_REL || one.sh_type == SHT_RELA)
      ASHLAR_RETURN_IF_ERROR(checkRelocations(one));
    if (one.sh_type == SHT_DYNSYM || one.sh_type == SHT_SYMTAB)
      ASHLAR_RETURN_IF_ERROR(checkSymbols(one));
    if (one.sh_type == SHT_DYNSYM)
      symbols += one.sh_size / sizeof(Elf64_Sym);
  }
  return symbols != 0 ? Status() : reject("it names no kernels");
}

/// Addresses of its own, to which the base is added where it is loaded.
Status Image::checkRelocations(const Elf64_Shdr &table) const {
  for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Rela); ++i) {
    Elf64_Rela one = {};
    Elf64_Phdr in;
    read(table.sh_offset + i * sizeof(one), one);
    if (table.sh_type != SHT_RELA || one.r_info != addBase ||
        !segmentOf(one.r_offset, sizeof(uint64_t), in) ||
        uint64_t(one.r_addend) > mostMemory)
      return reject(concat("relocation ", i, " is none of an own address"));
  }
  return {};
}

Status Image::checkSymbols(const Elf64_Shdr &table) const {
  Elf64_Shdr names = {};
  section(table.sh_link, names);
  if (table.sh_entsize != sizeof(Elf64_Sym) ||
      table.sh_size % sizeof(Elf64_Sym) != 0 || names.sh_type != SHT_STRTAB)
    return reject("its table of symbols is none");
  for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
    Elf64_Sym one = {};
    read(table.sh_offset + i * sizeof(one), one);
    if (one.st_name != 0 && one.st_name >= names.sh_size)
      return reject(concat("symbol ", i, " has a name that is not there"));
    const bool isPlaced =
        one.st_shndx != SHN_UNDEF && one.st_shndx < SHN_LORESERVE;
    if (isPlaced && (one.st_shndx >= header.e_shnum ||
                     !fits(one.st_value, one.st_size, mostMemory)))
      return reject(concat("symbol ", i, " lies outside of it"));
    if (table.sh_type == SHT_DYNSYM && i != 0 && one.st_shndx == SHN_UNDEF)
      return reject("it needs symbols of others");
  }
  return {};
}

std::string_view Image::textAt(const Elf64_Shdr &table, uint64_t offset) const {
  if (offset >= table.sh_size)
    return {};
  // Its last byte ends it.
  return bytes.data() + table.sh_offset + offset;
}

bool Image::findSymbol(std::string_view name, Elf64_Sym &out) const {
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table = {}, names = {};
    section(i, table);
    if (table.sh_type != SHT_DYNSYM)
      continue;
    section(table.sh_link, names);
    for (uint64_t k = 1; k < table.sh_size / sizeof(out); ++k)
      if (read(table.sh_offset + k * sizeof(out), out) &&
          textAt(names, out.st_name) == name)
        return true;
  }
  return false;
}

bool Image::segmentOf(uint64_t address, uint64_t size, Elf64_Phdr &out) const {
  for (unsigned i = 0; i < header.e_phnum; ++i)
    if (segment(i, out) && out.p_type == PT_LOAD && address >= out.p_vaddr &&
        fits(address - out.p_vaddr, size, out.p_filesz))
      return true;
  return false;
}

Value Image::metadata() const {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr one = {};
    if (!segment(i, one) || one.p_type != PT_NOTE)
      continue;
    const uint64_t end = one.p_offset + one.p_filesz;
    Elf64_Nhdr note;
    for (uint64_t at = one.p_offset;
         fits(at, sizeof(note), end) && read(at, note);) {
      auto whole = [](uint64_t size) { return (size + 3) / 4 * 4; };
      const uint64_t name = at + sizeof(note),
                     text = name + whole(note.n_namesz);
      if (!fits(text, note.n_descsz, end))
        return {};
      if (note.n_type == metadataNote && note.n_namesz == 7 &&
          bytes.substr(size_t(name), 6) == "AMDGPU") {
        std::string_view rest = bytes.substr(size_t(text), note.n_descsz);
        return take(rest);
      }
      at = text + whole(note.n_descsz);
    }
  }
  return {};
}

Status Image::checkKernels() const {
  const Value all = find(metadata(), "amdhsa.kernels");
  if (all.kind != Value::Array)
    return reject("it does not describe its kernels");
  if (all.count * symbols > mostSearched)
    return reject(concat(all.count, " kernels are more than it can have"));
  std::string_view rest = all.items;
  for (uint32_t i = 0; i < all.count; ++i)
    ASHLAR_RETURN_IF_ERROR(checkKernel(take(rest)));
  return {};
}

/// Arguments that the driver fills in by itself.
static bool isHidden(const Value &argument) {
  return find(argument, ".value_kind").text.substr(0, 7) == "hidden_";
}

Status Image::checkKernel(const Value &kernel) const {
  const Value name = find(kernel, ".name"), symbol = find(kernel, ".symbol"),
              size = find(kernel, ".kernarg_segment_size"),
              shared = find(kernel, ".group_segment_fixed_size"),
              arguments = find(kernel, ".args");
  if (name.kind != Value::Text || symbol.kind != Value::Text ||
      size.kind != Value::Number || shared.kind != Value::Number)
    return reject("a kernel has no name, symbol or sizes");
  Elf64_Sym at;
  Elf64_Phdr in;
  Descriptor descriptor = {};
  if (!findSymbol(symbol.text, at) || at.st_size != sizeof(descriptor) ||
      at.st_value % sizeof(descriptor) != 0 ||
      !segmentOf(at.st_value, sizeof(descriptor), in) ||
      !read(in.p_offset + (at.st_value - in.p_vaddr), descriptor))
    return reject(concat("kernel ", name.text, " has no descriptor"));
  if (descriptor.argumentBytes != size.number ||
      descriptor.sharedBytes != shared.number)
    return reject(concat("kernel ", name.text, " has two sizes"));
  // An instruction at least, where there are some.
  constexpr uint64_t entryAlign = 256, instruction = 4;
  const uint64_t entry = at.st_value + uint64_t(descriptor.entry);
  if (entry % entryAlign != 0 || !segmentOf(entry, instruction, in) ||
      !(in.p_flags & PF_X))
    return reject(concat("kernel ", name.text, " begins where no code is"));
  std::string_view rest = arguments.items;
  for (uint32_t i = 0; arguments.kind == Value::Array && i < arguments.count;
       ++i) {
    const Value argument = take(rest), bytes = find(argument, ".size"),
                offset = find(argument, ".offset");
    if (bytes.kind != Value::Number || offset.kind != Value::Number ||
        !fits(offset.number, bytes.number, size.number))
      return reject(concat("argument ", i, " of kernel ", name.text,
                           " lies outside of its arguments"));
    if (!isHidden(argument) && bytes.number > argumentBytes)
      return failure(ASHLAR_UNSUPPORTED,
                     concat("argument ", i, " of kernel ", name.text, " has ",
                            bytes.number, " bytes; expected at most ",
                            argumentBytes),
                     name.text);
  }
  return {};
}

Status checkHsaco(std::string_view image) { return Image(image).check(); }

int countHsacoParameters(std::string_view image, std::string_view symbol) {
  Image of(image);
  of.readHeader();
  const Value all = find(of.metadata(), "amdhsa.kernels");
  std::string_view rest = all.items;
  for (uint32_t i = 0; i < all.count; ++i) {
    const Value kernel = take(rest);
    if (find(kernel, ".name").text != symbol)
      continue;
    const Value arguments = find(kernel, ".args");
    int count = 0;
    std::string_view each = arguments.items;
    for (uint32_t k = 0; k < arguments.count; ++k)
      count += !isHidden(take(each));
    return count;
  }
  return -1;
}

} // namespace ashlar::runtime::hip
