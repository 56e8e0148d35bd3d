// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each object has a note that describes its kernel (AMDGPUUsage, "Code Object
// Metadata"), and lld puts one behind the other; but drivers read the first
// alone. Here they become one, in the place of all of them, of which it needs a
// part.
#include "CodeObject.h"
#include "../LLVM/LLVMModule.h"
#include "../LLVM/RunLinker.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace ashlar;
using namespace ashlar::rocm;

using File = object::ELFFile<object::ELF64LE>;

namespace {
/// Where an image has its notes.
struct Notes {
  uint64_t segment = 0, section = 0; ///< the headers that say so, offsets
  uint64_t begin = 0, size = 0;      ///< of the notes, in the image
};
} // namespace

static constexpr char owner[] = "AMDGPU";
static constexpr uint64_t nameBytes = 8, headBytes = 12;

static Expected<Notes> findNotes(const File &file) {
  Notes found;
  auto segments = file.program_headers();
  if (!segments)
    return segments.takeError();
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  auto offsetOf = [&](const void *header) {
    return uint64_t(static_cast<const uint8_t *>(header) - file.base());
  };
  for (const auto &segment : *segments)
    if (segment.p_type == ELF::PT_NOTE) {
      found.segment = offsetOf(&segment);
      found.begin = segment.p_offset;
      found.size = segment.p_filesz;
    }
  for (const auto &section : *sections)
    if (section.sh_type == ELF::SHT_NOTE && section.sh_offset == found.begin)
      found.section = offsetOf(&section);
  if (!found.segment || !found.section)
    return createStringError("the linker wrote no note of kernels");
  return found;
}

/// The notes' documents as one, of an object or an image; it points into that.
static Error joinNotes(const File &file, msgpack::Document &all) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  bool isFirst = true;
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_NOTE)
      continue;
    Error error = Error::success();
    for (const auto &note : file.notes(section, error)) {
      if (note.getName() != owner || note.getType() != ELF::NT_AMDGPU_METADATA)
        continue;
      // Behind the first, kernels alone are added; what else a note says is
      // the machine's.
      bool isRead = all.readFromBlob(
          note.getDescAsStringRef(section.sh_addralign), /*Multi=*/false,
          [](msgpack::DocNode *to, msgpack::DocNode from,
             msgpack::DocNode key) -> int {
            if (to->isArray() && from.isArray())
              return int(to->getArray().size());
            return to->isMap() == from.isMap() ? 0 : -1;
          });
      if (!isRead) {
        consumeError(std::move(error));
        return createStringError("the note of a kernel cannot be read");
      }
      isFirst = false;
    }
    if (error)
      return error;
  }
  return isFirst ? createStringError("there is no note of kernels")
                 : Error::success();
}

static KernelResources readResources(msgpack::MapDocNode kernel) {
  auto number = [&](StringRef name) -> uint64_t {
    auto found = kernel.find(name);
    return found == kernel.end() || found->second.isEmpty()
               ? 0
               : found->second.getUInt();
  };
  KernelResources takes;
  takes.registers = number(".vgpr_count");
  takes.sharedBytes = number(".group_segment_fixed_size");
  takes.stackBytes = number(".private_segment_fixed_size");
  takes.spillBytes = 4 * number(".vgpr_spill_count");
  return takes;
}

static msgpack::ArrayDocNode kernelsOf(msgpack::Document &document) {
  return document.getRoot().getMap(true)["amdhsa.kernels"].getArray(true);
}

Expected<KernelResources> ashlar::rocm::resourcesOf(StringRef object) {
  auto file = File::create(object);
  if (!file)
    return file.takeError();
  msgpack::Document document;
  if (Error error = joinNotes(*file, document))
    return error;
  return readResources(kernelsOf(document)[0].getMap(true));
}

static void replaceNotes(std::string &image, const Notes &notes,
                         StringRef document) {
  using support::endian::write32le;
  using support::endian::write64le;
  char *at = image.data() + notes.begin;
  std::fill_n(at, notes.size, '\0');
  write32le(at, sizeof(owner));
  write32le(at + 4, uint32_t(document.size()));
  write32le(at + 8, ELF::NT_AMDGPU_METADATA);
  std::copy_n(owner, sizeof(owner), at + headBytes);
  llvm::copy(document, at + headBytes + nameBytes);
  uint64_t size = headBytes + nameBytes + alignTo(document.size(), 4);
  using Segment = object::ELF64LE::Phdr;
  using Section = object::ELF64LE::Shdr;
  write64le(image.data() + notes.segment + offsetof(Segment, p_filesz), size);
  write64le(image.data() + notes.segment + offsetof(Segment, p_memsz), size);
  write64le(image.data() + notes.section + offsetof(Section, sh_size), size);
}

/// Functions' sizes, by the dynamic symbols that drivers read.
static Error readSizes(const File &file, StringMap<uint64_t> &sizes) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_DYNSYM)
      continue;
    auto symbols = file.symbols(&section);
    if (!symbols)
      return symbols.takeError();
    auto names = file.getStringTableForSymtab(section);
    if (!names)
      return names.takeError();
    for (const auto &symbol : *symbols) {
      auto name = symbol.getName(*names);
      if (!name)
        return name.takeError();
      if (symbol.getType() == ELF::STT_FUNC)
        sizes[*name] = symbol.st_size;
    }
  }
  return Error::success();
}

/// A program may have no kernels, and its image is one all the same.
static Expected<CodeObject> emptyObject(const MachineModel &machine) {
  LLVMContext context;
  auto target = createTargetMachine(machine, {});
  if (!target)
    return target.takeError();
  Module module("", context);
  setTarget(module, **target);
  auto object = writeObjectFile(module, **target);
  if (!object)
    return object.takeError();
  return linkCodeObject({StringRef(object->data(), object->size())}, machine);
}

Expected<CodeObject> ashlar::rocm::linkCodeObject(ArrayRef<StringRef> objects,
                                                  const MachineModel &machine) {
  if (objects.empty())
    return emptyObject(machine);
  auto archive = makeArchive(objects);
  if (!archive)
    return archive.takeError();
  auto linked = runLinker({"--build-id=none", "--whole-archive",
                           archive->path(), "--no-whole-archive"});
  if (!linked)
    return linked.takeError();
  CodeObject result;
  result.bytes = std::move(*linked);
  auto file = File::create(result.bytes);
  if (!file)
    return file.takeError();
  auto notes = findNotes(*file);
  if (!notes)
    return notes.takeError();
  msgpack::Document all;
  if (Error error = joinNotes(*file, all))
    return error;
  if (Error error = readSizes(*file, result.codeBytes))
    return error;
  std::string document;
  all.writeToBlob(document);
  for (msgpack::DocNode kernel : kernelsOf(all)) {
    msgpack::MapDocNode own = kernel.getMap();
    result.resources[own[".name"].getString()] = readResources(own);
  }
  if (headBytes + nameBytes + document.size() > notes->size)
    return createStringError("expected the notes of all kernels to be no "
                             "shorter than one of them all");
  replaceNotes(result.bytes, *notes, document);
  return result;
}
