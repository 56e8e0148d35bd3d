// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intel's files of machine code, by the description of their format in Intel's
// graphics compiler ("ZEBinary"): ELF, a section .text.KERNEL of each kernel
// and a text that describes them.
#include "Ocloc.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

using namespace llvm;
using namespace ashlar;
using namespace ashlar::levelzero;

namespace {
/// A scalar's text; empty: it is none.
std::string textOf(yaml::Node *node) {
  SmallString<64> storage;
  auto *scalar = dyn_cast_or_null<yaml::ScalarNode>(node);
  return scalar ? scalar->getValue(storage).str() : "";
}
uint64_t numberOf(yaml::Node *node) {
  uint64_t value = 0;
  return StringRef(textOf(node)).getAsInteger(10, value) ? 0 : value;
}

/// A mapping's entries, each of which has to be looked at in its turn.
template <typename Visit> void forEachEntry(yaml::Node *node, Visit visit) {
  auto *mapping = dyn_cast_or_null<yaml::MappingNode>(node);
  if (!mapping)
    return;
  for (yaml::KeyValueNode &entry : *mapping)
    visit(textOf(entry.getKey()), entry.getValue());
}
template <typename Visit> void forEachItem(yaml::Node *node, Visit visit) {
  auto *sequence = dyn_cast_or_null<yaml::SequenceNode>(node);
  if (!sequence)
    return;
  for (yaml::Node &item : *sequence)
    visit(&item);
}
} // namespace

static uint64_t readScratch(yaml::Node *buffers) {
  uint64_t all = 0;
  forEachItem(buffers, [&](yaml::Node *buffer) {
    std::string type;
    uint64_t size = 0;
    forEachEntry(buffer, [&](StringRef key, yaml::Node *value) {
      if (key == "type")
        type = textOf(value);
      else if (key == "size")
        size = numberOf(value);
    });
    all += type == "scratch" ? size : 0;
  });
  return all;
}

static void readKernel(yaml::Node *node, StringMap<NativeKernel> &kernels) {
  std::string name;
  KernelResources found;
  forEachEntry(node, [&](StringRef key, yaml::Node *value) {
    if (key == "name")
      name = textOf(value);
    else if (key == "per_thread_memory_buffers")
      found.stackBytes = readScratch(value);
    else if (key == "execution_env")
      forEachEntry(value, [&](StringRef what, yaml::Node *number) {
        if (what == "grf_count")
          found.registers = numberOf(number);
        else if (what == "slm_size")
          found.sharedBytes = numberOf(number);
      });
  });
  if (!name.empty())
    kernels[name].resources = found;
}

static Error readInfo(StringRef text, StringMap<NativeKernel> &kernels) {
  SourceMgr sources;
  sources.setDiagHandler([](const SMDiagnostic &, void *) {});
  yaml::Stream stream(text, sources, /*ShowColors=*/false);
  for (yaml::Document &document : stream)
    forEachEntry(document.getRoot(), [&](StringRef key, yaml::Node *value) {
      if (key == "kernels")
        forEachItem(value,
                    [&](yaml::Node *kernel) { readKernel(kernel, kernels); });
    });
  return stream.failed() ? createStringError(".ze_info is no YAML")
                         : Error::success();
}

Error ashlar::levelzero::readZebin(StringRef image,
                                   StringMap<NativeKernel> &kernels) {
  auto file = object::ELFFile<object::ELF64LE>::create(image);
  if (!file)
    return file.takeError();
  if (file->getHeader().e_machine != ELF::EM_INTELGT)
    return createStringError("it is for another machine");
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  StringMap<uint64_t> sizes;
  for (const auto &section : *sections) {
    auto name = file->getSectionName(section);
    if (!name)
      return name.takeError();
    if (*name == ".ze_info") {
      auto info = file->getSectionContents(section);
      if (!info)
        return info.takeError();
      if (Error error = readInfo(toStringRef(*info), kernels))
        return error;
    } else if (name->consume_front(".text.")) {
      sizes[*name] = section.sh_size;
    }
  }
  for (auto &[name, kernel] : kernels)
    kernel.codeBytes = sizes.lookup(name);
  return Error::success();
}
