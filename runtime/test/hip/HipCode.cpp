// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads code objects as LLVM's "User Guide for AMDGPU Backend" describes them.

#include "HipCode.h"

#include "devices/hip/MessagePack.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

using namespace ashlar::cuda;
using ashlar::runtime::hip::find;
using ashlar::runtime::hip::take;
using ashlar::runtime::hip::Value;

static uint64_t numberIn(const Value &map, const char *key) {
  return find(map, key).number;
}

static CodeKernel readKernel(const Value &of) {
  CodeKernel made;
  made.name = find(of, ".name").text;
  made.argumentBytes = numberIn(of, ".kernarg_segment_size");
  made.sharedBytes = numberIn(of, ".group_segment_fixed_size");
  made.privateBytes = uint32_t(numberIn(of, ".private_segment_fixed_size"));
  made.mostThreads = uint32_t(numberIn(of, ".max_flat_workgroup_size"));
  made.registers = uint32_t(numberIn(of, ".vgpr_count"));
  const Value arguments = find(of, ".args");
  std::string_view rest = arguments.items;
  for (uint32_t i = 0; i < arguments.count; ++i) {
    const Value each = take(rest);
    made.arguments.push_back({numberIn(each, ".offset"),
                              numberIn(each, ".size"),
                              std::string(find(each, ".value_kind").text)});
  }
  return made;
}

/// The note's text; empty: it has none.
static std::string_view noteOf(const char *image, const Elf64_Phdr &segment) {
  uint64_t at = segment.p_offset, end = at + segment.p_filesz;
  while (at + sizeof(Elf64_Nhdr) <= end) {
    Elf64_Nhdr note;
    std::memcpy(&note, image + at, sizeof(note));
    at += sizeof(note);
    const char *name = image + at;
    at += (note.n_namesz + 3) / 4 * 4;
    if (note.n_type == 32 && note.n_namesz == 7 && !std::strcmp(name, "AMDGPU"))
      return {image + at, note.n_descsz};
    at += (note.n_descsz + 3) / 4 * 4;
  }
  return {};
}

std::shared_ptr<CodeObject> ashlar::cuda::readCode(const void *given,
                                                   std::string &why) {
  const char *image = static_cast<const char *>(given);
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  constexpr uint16_t amdGpu = 224;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_machine != amdGpu) {
    why = "the image is no code object";
    return nullptr;
  }
  auto made = std::make_shared<CodeObject>();
  made->chip = header.e_flags & 0xff;
  uint64_t end = header.e_shoff + uint64_t(header.e_shnum) * sizeof(Elf64_Shdr);
  std::string_view note;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image + header.e_phoff + i * sizeof(segment),
                sizeof(segment));
    end = std::max<uint64_t>(end, segment.p_offset + segment.p_filesz);
    if (segment.p_type == PT_NOTE && note.empty())
      note = noteOf(image, segment);
  }
  const Value kernels = find(take(note), "amdhsa.kernels");
  std::string_view rest = kernels.items;
  for (uint32_t i = 0; i < kernels.count; ++i) {
    CodeKernel kernel = readKernel(take(rest));
    std::string name = kernel.name;
    made->kernels[name] = std::move(kernel);
  }
  if (made->kernels.empty()) {
    why = "the code object describes no kernels";
    return nullptr;
  }
  made->image.assign(image, image + end);
  return made;
}
