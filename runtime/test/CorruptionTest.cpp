// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module from a stranger: whatever its bytes, it is refused or harmless.

#include "Loaded.h"
#include "Sanitized.h"
#include "TemporaryFolder.h"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <functional>
#include <unistd.h>

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

/// The segment headers of an image, to be changed in place.
std::vector<Elf64_Phdr *> segmentsOf(std::vector<uint8_t> &code,
                                     uint32_t type) {
  auto *header = reinterpret_cast<Elf64_Ehdr *>(code.data());
  auto *segments =
      reinterpret_cast<Elf64_Phdr *>(code.data() + header->e_phoff);
  std::vector<Elf64_Phdr *> found;
  for (uint32_t i = 0; i < header->e_phnum; ++i)
    if (segments[i].p_type == type)
      found.push_back(&segments[i]);
  return found;
}

/// The entry of the dynamic section that a test may spend: one whose tag only
/// tells the linker's version of hashing.
Elf64_Dyn &spareDynamicEntry(std::vector<uint8_t> &code) {
  const Elf64_Phdr &segment = *segmentsOf(code, PT_DYNAMIC).at(0);
  auto *entry = reinterpret_cast<Elf64_Dyn *>(code.data() + segment.p_offset);
  while (entry->d_tag != DT_GNU_HASH && entry->d_tag != DT_HASH)
    ++entry;
  return *entry;
}

class Corruption : public RuntimeTest {
protected:
  /// Loads and, if that works, runs with session-owned outputs. The code of
  /// the first failure, OK if there is none.
  int32_t tryAll(const ModuleBytes &file, size_t size, bool run = true) {
    ashlar_load_options_t options = trusting();
    ashlar_module_t *tried = nullptr;
    ashlar_status_t status =
        ashlar_module_load_memory(runtime, file.data(), size, &options, &tried);
    if (status.code != ASHLAR_OK) {
      EXPECT_NE(*status.message, 0);
      EXPECT_EQ(tried, nullptr);
      return status.code;
    }
    ashlar_session_t *runner = nullptr;
    ashlar_session_options_t sessionOptions = withThreads(1);
    status = ashlar_session_create(tried, nullptr, &sessionOptions, &runner);
    if (status.code == ASHLAR_OK) {
      SampleArguments a;
      a.outputs[0] = {};
      ashlar_entry_t *first = nullptr;
      ashlar_bindings_t *bindings = nullptr;
      status = ashlar_module_entry_at(tried, 0, &first);
      if (status.code == ASHLAR_OK)
        status = ashlar_bindings_create(runner, first, a.inputs, 2, a.outputs,
                                        1, &bindings);
      if (status.code == ASHLAR_OK && run)
        status = ashlar_bindings_run(bindings);
      ashlar_bindings_release(bindings);
    }
    ashlar_session_release(runner);
    ashlar_module_release(tried);
    return status.code;
  }

  /// The module after the change is refused as corrupt.
  void expectCorrupt(const char *what,
                     const std::function<void(ModuleBuilder &)> &change,
                     bool recomputePlaces = true) {
    ModuleBuilder builder = sampleModule();
    if (!recomputePlaces)
      (void)builder.build();
    change(builder);
    ModuleBytes file =
        recomputePlaces ? builder.build() : builder.buildUnchecked();
    EXPECT_EQ(tryAll(file, file.size()), ASHLAR_CORRUPT) << what;
  }
};

TEST_F(Corruption, TruncatedAtEveryByte) {
  ModuleBytes file = sampleModule().build();
  for (size_t size = 0; size < file.size(); ++size) {
    // A buffer of just this size, so that a sanitizer sees a read beyond it.
    ModuleBytes cut(size);
    memcpy(cut.data(), file.data(), size);
    EXPECT_EQ(tryAll(cut, size), ASHLAR_CORRUPT) << size;
  }
}

TEST_F(Corruption, EveryByteFlipped) {
  ModuleBytes file = sampleModule().build();
  ASSERT_EQ(tryAll(file, file.size()), ASHLAR_OK);
  size_t accepted = 0;
  for (size_t i = 0; i < file.size(); ++i) {
    uint8_t before = file.data()[i];
    for (uint8_t change : changesAt(i, {0xff, 0x01, 0x80})) {
      file.data()[i] = before ^ change;
      accepted += tryAll(file, file.size()) == ASHLAR_OK;
    }
    file.data()[i] = before;
  }
  // Padding and weights: 3 changes to each of these bytes are harmless. The
  // minor version may rise too.
  EXPECT_LT(accepted, 3 * (size_t(2) * 4096 + 1024 + 2));
}

TEST_F(Corruption, FlippedIndexWithARightHash) {
  // The hash keeps out accidents only; a hostile writer computes it too. Not
  // run: a kernel given a wrong number of elements does what it is told.
  ModuleBytes file = sampleModule().build();
  ashlar_module_header_t header;
  memcpy(&header, file.data(), sizeof(header));
  for (size_t i = 0; i < header.index_size; ++i) {
    uint8_t &byte = file.data()[header.index_offset + i];
    uint8_t before = byte;
    for (uint8_t change : {0xff, 0x01, 0x80, 0x04}) {
      byte = before ^ change;
      rehashIndex(file);
      tryAll(file, file.size(), /*run=*/false);
    }
    byte = before;
  }
}

TEST_F(Corruption, CodeAndWeightsAreHashed) {
  ModuleBuilder builder = sampleModule();
  ModuleBytes file = builder.build();
  const fb::SectionT &weights = *builder.module.sections[0];
  const fb::SectionT &code = *builder.module.sections[1];
  file.data()[code.offset + code.size - 1] ^= 1;
  EXPECT_EQ(tryAll(file, file.size()), ASHLAR_CORRUPT);
  file.data()[code.offset + code.size - 1] ^= 1;
  // Weights only when asked for.
  file.data()[weights.offset] ^= 1;
  EXPECT_EQ(tryAll(file, file.size()), ASHLAR_OK);
  ashlar_load_options_t options = trusting();
  options.verify_weights = 1;
  EXPECT_CODE(ASHLAR_CORRUPT,
              ashlar_module_load_memory(runtime, file.data(), file.size(),
                                        &options, &module));
}

TEST_F(Corruption, OtherVersions) {
  ModuleBytes file = sampleModule().build();
  file.data()[offsetof(ashlar_module_header_t, major_version)] = 2;
  EXPECT_EQ(tryAll(file, file.size()), ASHLAR_UNSUPPORTED);
  file.data()[offsetof(ashlar_module_header_t, major_version)] = 1;
  // A later minor version may use what is reserved now.
  file.data()[offsetof(ashlar_module_header_t, minor_version)] = 9;
  file.data()[offsetof(ashlar_module_header_t, reserved)] = 1;
  EXPECT_EQ(tryAll(file, file.size()), ASHLAR_OK);
}

static fb::DispatchT &dispatchOf(ModuleBuilder &b, size_t i) {
  return *b.programEntry().commands[i].AsDispatch();
}

TEST_F(Corruption, OfPrograms) {
  expectCorrupt("no program", [](auto &b) { b.module.programs.clear(); });
  expectCorrupt("no entry in the program",
                [](auto &b) { b.program().entries.clear(); });
  expectCorrupt("entry index", [](auto &b) { b.programEntry().entry = 1; });
  expectCorrupt("entry name", [](auto &b) { b.entry().name.clear(); });
  expectCorrupt("no contract",
                [](auto &b) { b.programEntry().contract.reset(); });
  expectCorrupt("arena too small",
                [](auto &b) { b.contract().arena_bytes = 2047; });
  expectCorrupt("arena beyond memory",
                [](auto &b) { b.contract().arena_bytes = UINT64_MAX; });
  expectCorrupt("device type", [](auto &b) { b.program().device_type = ""; });
  expectCorrupt("kernel index", [&](auto &b) { dispatchOf(b, 0).kernel = 2; });
  expectCorrupt("kernel symbol",
                [](auto &b) { b.program().kernels[0]->symbol = "absent"; });
  expectCorrupt("kernel names", [](auto &b) {
    b.program().kernels[0]->name = b.program().kernels[1]->name;
  });
  expectCorrupt("fate of a node", [](auto &b) {
    auto node = std::make_unique<fb::AbsentNodeT>();
    node->name = "reshape";
    node->fate = fb::NodeFate(3);
    b.program().absent_nodes.push_back(std::move(node));
  });
  expectCorrupt("kernel executable",
                [](auto &b) { b.program().kernels[0]->executable = 1; });
  expectCorrupt("scratch", [](auto &b) {
    b.program().kernels[0]->scratch_bytes = UINT64_MAX;
  });
  expectCorrupt("executable section",
                [](auto &b) { b.program().executables[0]->section = 0; });
  expectCorrupt("executable section index",
                [](auto &b) { b.program().executables[0]->section = 2; });
  expectCorrupt("binding count",
                [](auto &b) { b.program().kernels[0]->bindings = 2; });
  expectCorrupt("parameter count",
                [](auto &b) { b.program().kernels[0]->parameters = 3; });
}

TEST_F(Corruption, OfBindingsAndWeights) {
  expectCorrupt("binding storage", [&](auto &b) {
    dispatchOf(b, 0).bindings[0]->storage = fb::Storage(4);
  });
  expectCorrupt("input index",
                [&](auto &b) { dispatchOf(b, 0).bindings[0]->index = 2; });
  expectCorrupt("weight index",
                [&](auto &b) { dispatchOf(b, 0).bindings[1]->index = 1; });
  expectCorrupt("arena index",
                [&](auto &b) { dispatchOf(b, 0).bindings[2]->index = 1; });
  expectCorrupt("weights written",
                [&](auto &b) { dispatchOf(b, 0).bindings[1]->written = true; });
  expectCorrupt("input written",
                [&](auto &b) { dispatchOf(b, 0).bindings[0]->written = true; });
  expectCorrupt("binding alignment", [&](auto &b) {
    dispatchOf(b, 0).bindings[2]->offset = constant(32);
  });
  expectCorrupt("binding length", [&](auto &b) {
    dispatchOf(b, 0).bindings[0]->length = constant(1025);
  });
  expectCorrupt("binding offset", [&](auto &b) {
    dispatchOf(b, 0).bindings[0]->offset = constant(INT64_MAX - 63);
  });
  expectCorrupt("negative size",
                [&](auto &b) { dispatchOf(b, 0).groups = constant(-1); });
  expectCorrupt("missing size",
                [&](auto &b) { dispatchOf(b, 0).groups.reset(); });
  expectCorrupt("weight beyond its section",
                [](auto &b) { b.module.weights[0]->size = 1025; });
  expectCorrupt("weight offset",
                [](auto &b) { b.module.weights[0]->offset = 32; });
  expectCorrupt("weight in code",
                [](auto &b) { b.module.weights[0]->section = 1; });
  expectCorrupt("weight shape",
                [](auto &b) { b.module.weights[0]->shape = {257}; });
  expectCorrupt("weight shape overflows", [](auto &b) {
    b.module.weights[0]->shape = {INT64_MAX, INT64_MAX, 4};
  });
  expectCorrupt("tensor type", [](auto &b) {
    b.entry().inputs[0]->type = fb::ElementType(99);
  });
  expectCorrupt("tensor too large", [](auto &b) {
    b.entry().inputs[0]->shape[0] = constant(INT64_MAX);
  });
  expectCorrupt("tensor rank", [](auto &b) {
    for (int i = 0; i < 16; ++i)
      b.entry().inputs[0]->shape.push_back(constant(1));
  });
}

TEST_F(Corruption, OfSizeExpressions) {
  using Op = fb::SizeOpcode;
  auto withGroups = [&](const char *what,
                        std::vector<fb::SizeInstruction> code) {
    expectCorrupt(what, [&](auto &b) {
      b.programEntry().commands[0].AsDispatch()->groups = expression(code, 1);
    });
  };
  withGroups("unknown symbol", {{Op::Symbol, 0}});
  withGroups("negative symbol", {{Op::Symbol, -1}});
  withGroups("too few operands", {{Op::Constant, 1}, {Op::Add, 0}});
  withGroups("too many values", {{Op::Constant, 1}, {Op::Constant, 1}});
  withGroups("unknown opcode", {{Op(99), 1}});
  withGroups("overflow",
             {{Op::Constant, INT64_MAX}, {Op::Constant, 2}, {Op::Multiply, 0}});
  withGroups("division by zero",
             {{Op::Constant, 4}, {Op::Constant, 0}, {Op::FloorDivide, 0}});
  withGroups("too long", std::vector<fb::SizeInstruction>(
                             1001, fb::SizeInstruction(Op::Constant, 1)));
  expectCorrupt("symbol that no input gives", [](auto &b) {
    auto n = std::make_unique<fb::SymbolT>();
    n->name = "N";
    n->maximum = 5;
    b.module.symbols.push_back(std::move(n));
    b.programEntry().commands[0].AsDispatch()->groups = symbol(0, 5);
  });
}

TEST_F(Corruption, OfSections) {
  auto unplaced = [&](const char *what,
                      const std::function<void(ModuleBuilder &)> &change) {
    expectCorrupt(what, change, /*recomputePlaces=*/false);
  };
  unplaced("alignment", [](auto &b) { b.module.sections[0]->offset += 64; });
  unplaced("inside the index",
           [](auto &b) { b.module.sections[0]->offset = 0; });
  unplaced("beyond the file",
           [](auto &b) { b.module.sections[1]->offset = 1u << 20; });
  unplaced("size overflows",
           [](auto &b) { b.module.sections[1]->size = UINT64_MAX - 4096; });
  unplaced("overlap", [](auto &b) { b.module.sections[0]->size = 4097; });
  unplaced("kind",
           [](auto &b) { b.module.sections[0]->kind = fb::SectionKind(2); });
}

TEST_F(Corruption, OfCode) {
  auto withCode = [&](const char *what,
                      const std::function<void(std::vector<uint8_t> &)> &f) {
    expectCorrupt(what, [&](auto &b) { f(b.sectionBytes[1]); });
  };
  withCode("empty", [](auto &code) { code.clear(); });
  withCode("text", [](auto &code) { code.assign(100, 'x'); });
  withCode("cut", [](auto &code) { code.resize(code.size() / 8); });
  withCode("another machine", [](auto &code) { code[18] = 0xf3; });
  withCode("32 bits", [](auto &code) { code[4] = 1; });
  // The loader looks at addresses where a check of offsets would not.
  withCode("dynamic section elsewhere", [](auto &code) {
    segmentsOf(code, PT_DYNAMIC).at(0)->p_vaddr += sizeof(Elf64_Dyn);
  });
  withCode("dynamic section longer than what is mapped", [](auto &code) {
    segmentsOf(code, PT_DYNAMIC).at(0)->p_filesz += 4096;
  });
  withCode("dynamic section without an end", [](auto &code) {
    segmentsOf(code, PT_DYNAMIC).at(0)->p_filesz = sizeof(Elf64_Dyn);
  });
  withCode("two dynamic sections", [](auto &code) {
    *segmentsOf(code, PT_GNU_STACK).at(0) = *segmentsOf(code, PT_DYNAMIC).at(0);
  });
  withCode("overlapping segments", [](auto &code) {
    auto loaded = segmentsOf(code, PT_LOAD);
    loaded.at(1)->p_vaddr = loaded.at(0)->p_vaddr;
  });
  withCode("segments out of order", [](auto &code) {
    auto loaded = segmentsOf(code, PT_LOAD);
    std::swap(*loaded.at(0), *loaded.at(1));
  });
  withCode("segment ends beyond memory", [](auto &code) {
    segmentsOf(code, PT_LOAD).back()->p_memsz = UINT64_MAX - 64;
  });
  for (int64_t tag : {DT_FILTER, DT_AUXILIARY, DT_AUDIT, DT_DEPAUDIT, DT_RPATH,
                      DT_RUNPATH, DT_INIT, DT_FINI, DT_TEXTREL})
    withCode("what runs or opens other code",
             [&](auto &code) { spareDynamicEntry(code).d_tag = tag; });
}

TEST_F(Corruption, BytesAppended) {
  ModuleBytes file = sampleModule().build();
  ModuleBytes longer(file.size() + 1);
  memcpy(longer.data(), file.data(), file.size());
  EXPECT_EQ(tryAll(longer, longer.size()), ASHLAR_CORRUPT);
}

TEST_F(Corruption, WeightsBeyondFourGigabytes) {
  // A sparse file: the weight's section lies 5 GiB behind the index.
  constexpr uint64_t far = uint64_t(5) << 30;
  ModuleBuilder builder = sampleModule();
  builder.build();
  fb::SectionT &weights = *builder.module.sections[0];
  weights.offset = far;
  ModuleBytes file = builder.buildUnchecked();
  std::string path = temporaryPath("beyond_four_gigabytes.ash");
  int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  ASSERT_GE(descriptor, 0);
  ashlar_module_header_t header;
  memcpy(&header, file.data(), sizeof(header));
  header.file_size = far + weights.size;
  memcpy(file.data(), &header, sizeof(header));
  ASSERT_EQ(pwrite(descriptor, file.data(), file.size(), 0),
            ssize_t(file.size()));
  ASSERT_EQ(pwrite(descriptor, builder.sectionBytes[0].data(), weights.size,
                   off_t(far)),
            ssize_t(weights.size));
  close(descriptor);
  ashlar_load_options_t options = trusting();
  options.verify_weights = 1;
  ASSERT_OK(ashlar_module_load_file(runtime, path.c_str(), &options, &module));
  start();
  SampleArguments a;
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  a.expectResult();
  unlink(path.c_str());
}

} // namespace
