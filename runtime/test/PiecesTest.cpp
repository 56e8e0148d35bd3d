// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries that have a program for each of several parts of the sizes.

#include "Loaded.h"

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

std::unique_ptr<fb::SizeRangeT> range(int64_t minimum, int64_t maximum,
                                      int64_t step = 1) {
  auto made = std::make_unique<fb::SizeRangeT>();
  made->minimum = minimum;
  made->maximum = maximum;
  made->step = step;
  return made;
}

std::vector<std::unique_ptr<fb::TensorDescriptionT>>
copyOf(const std::vector<std::unique_ptr<fb::TensorDescriptionT>> &tensors) {
  std::vector<std::unique_ptr<fb::TensorDescriptionT>> copies;
  for (auto &tensor : tensors)
    copies.push_back(std::make_unique<fb::TensorDescriptionT>(*tensor));
  return copies;
}

/// For N from 101 on what the sample computes; up to 50, y as it is, without an
/// arena. None is for sizes between.
ModuleBuilder modulePieces() {
  ModuleBuilder b = growingModule();
  b.programEntry().ranges.push_back(range(101, sampleCount));
  b.programEntry().outputs = copyOf(b.entry().outputs);
  auto bytes = [] {
    return expression({{fb::SizeOpcode::Symbol, 0},
                       {fb::SizeOpcode::Constant, sizeof(float)},
                       {fb::SizeOpcode::Multiply, 0}},
                      50 * int64_t(sizeof(float)));
  };
  auto piece = std::make_unique<fb::ProgramEntryT>();
  auto first = std::move(b.program().entries[0]);
  b.program().entries[0] = std::move(piece);
  b.copy(b.bind(fb::Storage::Input, 1, constant(0), bytes(), false),
         b.bind(fb::Storage::Output, 0, constant(0), bytes(), true));
  piece = std::move(b.program().entries[0]);
  b.program().entries[0] = std::move(first);
  piece->contract = std::make_unique<fb::ContractT>();
  piece->contract->staging_bytes = 2 * 50 * sizeof(float);
  piece->ranges.push_back(range(1, 50));
  piece->outputs = copyOf(b.entry().outputs);
  piece->outputs[0]->shape[0] = symbol(0, 50);
  b.program().pieces.push_back(std::move(piece));
  b.program().required_features.push_back("pieces");
  return b;
}

class Pieces : public RuntimeTest {
protected:
  ashlar_status_t run(SampleArguments &arguments) {
    return ashlar_session_run(session, "main", arguments.inputs, 2,
                              arguments.outputs, 1);
  }
  void runLarge(int64_t count) {
    SampleArguments arguments(count);
    ASSERT_OK(run(arguments));
    arguments.expectResult();
  }
  /// Of a run into the session's own outputs: what was said of it before, and
  /// what is charged after.
  void runCharged(int64_t count, ashlar_contract_t &contract,
                  ashlar_budget_statistics_t &charged) {
    SampleArguments arguments(count);
    arguments.outputs[0] = {};
    contract = ASHLAR_CONTRACT_INIT;
    ASSERT_OK(ashlar_entry_contract_at(entry, arguments.inputs, 2, &contract));
    ASSERT_OK(run(arguments));
    charged = ASHLAR_BUDGET_STATISTICS_INIT;
    ASSERT_OK(ashlar_budget_query(budget, &charged));
  }
  void runSmall(int64_t count) {
    SampleArguments arguments(count);
    ASSERT_OK(run(arguments));
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(arguments.z[size_t(i)], arguments.y[size_t(i)]);
  }
};

TEST_F(Pieces, TheSizesOfEachCallTakeOne) {
  load(modulePieces());
  start();
  runLarge(101);
  runSmall(50);
  runSmall(1);
  runLarge(sampleCount);
  runSmall(17);
  runLarge(150);
}

TEST_F(Pieces, BindingsKeepTheirs) {
  load(modulePieces());
  start();
  SampleArguments large(200), small(20);
  ashlar_bindings_t *first = nullptr, *second = nullptr;
  ASSERT_OK(ashlar_bindings_create(session, entry, large.inputs, 2,
                                   large.outputs, 1, &first));
  ASSERT_OK(ashlar_bindings_create(session, entry, small.inputs, 2,
                                   small.outputs, 1, &second));
  for (int i = 0; i < 2; ++i) {
    large.z[0] = small.z[0] = -999;
    ASSERT_OK(ashlar_bindings_run(second));
    ASSERT_OK(ashlar_bindings_run(first));
    large.expectResult();
    EXPECT_EQ(small.z[0], small.y[0]);
  }
  ashlar_bindings_release(first);
  ashlar_bindings_release(second);
}

TEST_F(Pieces, SizesOfNoneAreRefusedWithAllRanges) {
  load(modulePieces());
  start();
  runLarge(120);
  for (int i = 0; i < 2; ++i) {
    SampleArguments arguments(60);
    ashlar_status_t status = run(arguments);
    EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(status.message, "N=60: the module was compiled for "
                                          "N=101..256; N=1..50"),
              nullptr)
        << status.message;
  }
  runSmall(30);
}

TEST_F(Pieces, OfManyTheFirstAreListed) {
  ModuleBuilder b = modulePieces();
  fb::ProgramEntryT &piece = *b.program().pieces[0];
  for (int i = 0; i < 16; ++i)
    b.program().pieces.push_back(std::make_unique<fb::ProgramEntryT>(piece));
  load(std::move(b));
  start();
  SampleArguments arguments(60);
  ashlar_status_t status = run(arguments);
  EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(status.message, "N=1..50; and 2 more"), nullptr)
      << status.message;
}

TEST_F(Pieces, TheContractHoldsAll) {
  ModuleBuilder b = modulePieces();
  uint64_t arena = b.contract().arena_bytes;
  b.program().pieces[0]->contract->staging_bytes = uint64_t(1) << 20;
  load(std::move(b));
  ashlar_contract_t contract = ASHLAR_CONTRACT_INIT;
  ASSERT_OK(ashlar_entry_contract(entry, &contract));
  EXPECT_EQ(contract.arena_bytes, arena);
  EXPECT_EQ(contract.staging_bytes, uint64_t(1) << 20);
  EXPECT_EQ(contract.peak_bytes,
            contract.weights_bytes + contract.code_bytes +
                contract.arena_bytes + contract.outputs_bytes +
                contract.staging_bytes + contract.scratch_bytes_per_worker);
}

/// The contract at a size, beside what a session is charged that runs it.
TEST_F(Pieces, TheContractOfASizeIsWhatItsCallIsCharged) {
  ASSERT_OK(ashlar_budget_create(runtime, "all", UINT64_MAX, &budget));
  load(modulePieces());
  ashlar_contract_t whole = ASHLAR_CONTRACT_INIT;
  ASSERT_OK(ashlar_entry_contract(entry, &whole));
  for (int64_t count : {1, 50, 101, 150, int(sampleCount)}) {
    start();
    // Inputs lie where they need no copy.
    ashlar_contract_t contract;
    ashlar_budget_statistics_t charged;
    ASSERT_NO_FATAL_FAILURE(runCharged(count, contract, charged));
    EXPECT_EQ(contract.peak_bytes - contract.staging_bytes -
                  contract.scratch_bytes_per_worker,
              charged.current - whole.scratch_bytes_per_worker)
        << count;
    ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
    ASSERT_OK(ashlar_session_query(session, &statistics));
    EXPECT_EQ(contract.arena_bytes, statistics.arena_bytes) << count;
    EXPECT_EQ(contract.staging_bytes, 2 * contract.outputs_bytes);
    uint64_t lines = (uint64_t(count) * sizeof(float) + 63) / 64;
    EXPECT_EQ(contract.outputs_bytes, lines * 64);
    EXPECT_EQ(contract.arena_lower_bound_bytes, contract.arena_bytes) << count;
    EXPECT_EQ(contract.weights_bytes, whole.weights_bytes);
    EXPECT_EQ(contract.code_bytes, whole.code_bytes);
    ashlar_session_release(session);
    session = nullptr;
  }
}

/// An output that has one size in each piece is not as large as the largest.
TEST_F(Pieces, OutputsOfOneSizeEachTakeWhatTheirsNeeds) {
  ASSERT_OK(ashlar_budget_create(runtime, "all", UINT64_MAX, &budget));
  ModuleBuilder b = modulePieces();
  fb::ProgramEntryT &piece = *b.program().pieces[0];
  b.programEntry().ranges[0] = range(200, 200);
  b.programEntry().outputs[0]->shape[0] = constant(200);
  b.entry().outputs[0]->shape[0] = constant(200);
  piece.ranges[0] = range(50, 50);
  piece.outputs[0]->shape[0] = constant(50);
  load(std::move(b));
  start();
  for (int64_t count : {50, 200}) {
    ashlar_contract_t contract;
    ashlar_budget_statistics_t charged;
    ASSERT_NO_FATAL_FAILURE(runCharged(count, contract, charged));
    EXPECT_EQ(charged.current_of[ASHLAR_MEMORY_OUTPUTS], contract.outputs_bytes)
        << count;
  }
}

TEST_F(Pieces, TheContractOfASizeIsOfShapesAlone) {
  load(modulePieces());
  ashlar_contract_t contract = ASHLAR_CONTRACT_INIT;
  SampleArguments arguments(120), between(60), beyond(300);
  for (ashlar_tensor_t &input : arguments.inputs) {
    input.data = nullptr;
    input.capacity = 0;
  }
  ASSERT_OK(ashlar_entry_contract_at(entry, arguments.inputs, 2, &contract));
  EXPECT_EQ(contract.arena_bytes, 2 * 512u);
  auto refuse = [&](const ashlar_tensor_t *inputs, size_t count,
                    const char *why) {
    ashlar_status_t status =
        ashlar_entry_contract_at(entry, inputs, count, &contract);
    EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(status.message, why), nullptr) << status.message;
  };
  refuse(between.inputs, 2, "N=60: the module was compiled for N=101..256");
  refuse(beyond.inputs, 2, "N is 300; the module was compiled for 1 to 256");
  refuse(arguments.inputs, 1, "takes 2 inputs, found 1");
  refuse(nullptr, 2, "inputs is NULL");
  arguments.inputs[1].shape[0] = 121;
  refuse(arguments.inputs, 2, "N is 121 here and 120 in an earlier dimension");
  arguments.inputs[1].type = ASHLAR_TYPE_I64;
  refuse(arguments.inputs, 2, "expected elements of type");
  EXPECT_CODE(
      ASHLAR_INVALID_ARGUMENT,
      ashlar_entry_contract_at(nullptr, arguments.inputs, 2, &contract));
}

TEST_F(Pieces, MemoryIsWhatTheCallsNeed) {
  load(modulePieces());
  start();
  runSmall(50);
  ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
  ASSERT_OK(ashlar_session_query(session, &statistics));
  EXPECT_EQ(statistics.arena_bytes, 0u);
  runLarge(sampleCount);
  ASSERT_OK(ashlar_session_query(session, &statistics));
  EXPECT_EQ(statistics.arena_bytes, 2 * sampleCount * sizeof(float));
}

TEST_F(Pieces, WhoseDescriptionIsUnsoundAreRefused) {
  auto refuse = [&](const char *why, auto change) {
    ModuleBuilder b = modulePieces();
    change(b, *b.program().pieces[0]);
    expectCorrupt(std::move(b), why, why);
  };
  refuse("has no ranges of sizes", [](ModuleBuilder &, fb::ProgramEntryT &p) {
    p.ranges.clear();
    p.outputs.clear();
  });
  refuse("has no ranges of sizes", [](ModuleBuilder &b, fb::ProgramEntryT &) {
    b.programEntry().ranges.clear();
    b.programEntry().outputs.clear();
  });
  refuse("2 ranges for 1 symbols", [](ModuleBuilder &, fb::ProgramEntryT &p) {
    p.ranges.push_back(range(1, 2));
  });
  refuse("is for 0 to 50 by 1 of N", [](ModuleBuilder &, fb::ProgramEntryT &p) {
    p.ranges[0]->minimum = 0;
  });
  refuse("which ranges from 1 to 256",
         [](ModuleBuilder &, fb::ProgramEntryT &p) {
           p.ranges[0]->maximum = 257;
         });
  refuse("by 0 of N",
         [](ModuleBuilder &, fb::ProgramEntryT &p) { p.ranges[0]->step = 0; });
  refuse("has 2 outputs, its entry 1",
         [](ModuleBuilder &b, fb::ProgramEntryT &p) {
           p.outputs.push_back(std::move(copyOf(b.entry().outputs)[0]));
         });
  refuse("or another state", [](ModuleBuilder &, fb::ProgramEntryT &p) {
    p.outputs[0]->state_bytes = 1 << 20;
  });
  refuse("of another type or rank", [](ModuleBuilder &, fb::ProgramEntryT &p) {
    p.outputs[0]->shape.push_back(constant(1));
  });
  refuse("of another type or rank", [](ModuleBuilder &, fb::ProgramEntryT &p) {
    p.outputs[0]->type = fb::ElementType::I32;
  });
  refuse("has the size 257, its entry's 256",
         [](ModuleBuilder &, fb::ProgramEntryT &p) {
           p.outputs[0]->shape[0] = constant(257);
         });
  refuse("has too many bytes", [](ModuleBuilder &, fb::ProgramEntryT &p) {
    p.outputs[0]->shape[0] = constant(int64_t(1) << 62);
  });
  refuse("pieces[0]: entry 1 of 1",
         [](ModuleBuilder &, fb::ProgramEntryT &p) { p.entry = 1; });
  refuse("pieces[0]: the memory contract is missing",
         [](ModuleBuilder &, fb::ProgramEntryT &p) { p.contract.reset(); });
}

using Binding = RuntimeTest;

TEST_F(Binding, ThatFailsLeavesNothingOfOtherSizes) {
  load(symbolicModule());
  start();
  SampleArguments few(8), many(200);
  ASSERT_OK(ashlar_session_run(session, "main", few.inputs, 2, few.outputs, 1));
  // The sizes are read before it is seen that the output lies on an input.
  ashlar_tensor_t on = many.inputs[0];
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_run(session, "main", many.inputs, 2, &on, 1));
  ASSERT_OK(
      ashlar_session_run(session, "main", many.inputs, 2, many.outputs, 1));
  many.expectResult();
}

} // namespace
