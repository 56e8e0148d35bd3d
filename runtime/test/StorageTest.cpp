// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever a module's indices name: it is refused, or what they name is there
// when a call reads or writes it. Each binding of the sample modules is given
// each storage and number; what is accepted runs.

#include "Loaded.h"

#include <functional>
#include <random>

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

using Modules = std::vector<std::function<ModuleBuilder()>>;

/// Sizes of outputs are bindings, too.
ModuleBuilder withOutputSize(ModuleBuilder builder) {
  auto size = std::make_unique<fb::OutputSizeT>();
  size->value =
      builder.bind(fb::Storage::Input, 0, constant(0), constant(8), false);
  builder.programEntry().output_sizes.push_back(std::move(size));
  return builder;
}

Modules samples() {
  return {[] { return withOutputSize(sampleModule()); },
          [] { return withOutputSize(symbolicModule()); },
          [] { return withOutputSize(randomModule()); },
          [] { return withOutputSize(controlModule()); },
          [] { return withOutputSize(systolicModule()); },
          [] { return withOutputSize(sharedModule()); }};
}

void collect(std::vector<fb::CommandUnion> &commands,
             std::vector<fb::BindingT *> &out) {
  auto block = [&](const std::unique_ptr<fb::BlockT> &inner) {
    if (inner)
      collect(inner->commands, out);
  };
  auto add = [&](const std::unique_ptr<fb::BindingT> &binding) {
    if (binding)
      out.push_back(binding.get());
  };
  for (fb::CommandUnion &command : commands) {
    if (auto *dispatch = command.AsDispatch())
      for (auto &binding : dispatch->bindings)
        add(binding);
    if (auto *copy = command.AsCopy())
      add(copy->source), add(copy->target);
    if (auto *check = command.AsCheck())
      add(check->condition);
    if (auto *branches = command.AsIf())
      add(branches->condition), block(branches->then),
          block(branches->otherwise);
    if (auto *loop = command.AsLoop())
      add(loop->condition), block(loop->body);
  }
}

std::vector<fb::BindingT *> bindingsOf(ModuleBuilder &builder) {
  std::vector<fb::BindingT *> bindings;
  collect(builder.programEntry().commands, bindings);
  for (auto &size : builder.programEntry().output_sizes)
    bindings.push_back(size->value.get());
  return bindings;
}

class Storages : public RuntimeTest {
protected:
  /// True if the module is accepted; then, with `run`, it ran, for better or
  /// worse.
  bool tryModule(ModuleBuilder &builder, bool run) {
    ModuleBytes file = builder.build();
    ashlar_load_options_t options = trusting();
    ashlar_module_t *tried = nullptr;
    ashlar_status_t status = ashlar_module_load_memory(
        runtime, file.data(), file.size(), &options, &tried);
    if (status.code != ASHLAR_OK) {
      EXPECT_NE(*status.message, 0);
      return false;
    }
    if (run)
      runOnce(tried);
    ashlar_module_release(tried);
    return true;
  }

  void runOnce(ashlar_module_t *tried) {
    ashlar_session_t *runner = nullptr;
    ashlar_session_options_t options = withThreads(1);
    ashlar_entry_t *first = nullptr;
    ASSERT_OK(ashlar_module_entry_at(tried, 0, &first));
    if (ashlar_session_create(tried, nullptr, &options, &runner).code !=
        ASHLAR_OK)
      return;
    std::vector<Floats> memory;
    std::vector<ashlar_tensor_t> inputs,
        outputs(ashlar_entry_output_count(first));
    for (size_t i = 0; i < ashlar_entry_input_count(first); ++i) {
      ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
      ASSERT_OK(ashlar_entry_input(first, i, &info));
      memory.emplace_back(info.maximum_bytes / sizeof(float) + 1);
      std::memset(memory.back().data(), 1, info.maximum_bytes);
      ashlar_tensor_t input = {};
      input.data = memory.back().data();
      input.capacity = info.maximum_bytes;
      input.type = info.type;
      input.rank = info.rank;
      std::copy(info.maximum, info.maximum + info.rank, input.shape);
      inputs.push_back(input);
    }
    ashlar_session_run(runner, "main", inputs.data(), inputs.size(),
                       outputs.data(), outputs.size());
    ashlar_session_release(runner);
  }
};

TEST_F(Storages, EveryBindingWithEveryStorageAndNumber) {
  size_t accepted = 0, refused = 0;
  for (auto &make : samples()) {
    ModuleBuilder counted = make();
    size_t bindings = bindingsOf(counted).size();
    for (size_t i = 0; i < bindings; ++i)
      for (int storage = 0; storage <= 4; ++storage)
        for (uint32_t index = 0; index < 3; ++index)
          for (uint32_t buffer = 0; buffer < 2; ++buffer) {
            ModuleBuilder builder = make();
            fb::BindingT &binding = *bindingsOf(builder)[i];
            binding.storage = fb::Storage(storage);
            binding.index = index;
            binding.buffer = buffer;
            ++(tryModule(builder, /*run=*/true) ? accepted : refused);
          }
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(refused, 1000u);
}

TEST_F(Storages, TheSizeOfAnOutputInAWeightOfACompanion) {
  ModuleBuilder builder = withOutputSize(sharedModule());
  fb::BindingT &value = *builder.programEntry().output_sizes[0]->value;
  value.storage = fb::Storage::Weights;
  ASSERT_TRUE(tryModule(builder, /*run=*/true));
}

TEST_F(Storages, SeveralBindingsAtRandom) {
  std::mt19937 random(7);
  auto below = [&](uint32_t limit) { return uint32_t(random() % limit); };
  Modules makers = samples();
  size_t accepted = 0;
  for (size_t round = 0; round < 1000; ++round) {
    ModuleBuilder builder = makers[round % makers.size()]();
    std::vector<fb::BindingT *> bindings = bindingsOf(builder);
    for (uint32_t changes = 1 + below(3); changes != 0; --changes) {
      fb::BindingT &binding = *bindings[below(uint32_t(bindings.size()))];
      // Lengths stay: a kernel may count on them.
      binding.storage = fb::Storage(below(4));
      binding.index = below(2);
      if (below(2))
        binding.offset = constant(64 * int64_t(below(10)));
    }
    accepted += tryModule(builder, /*run=*/true);
  }
  EXPECT_GT(accepted, 50u);
}

TEST_F(Storages, EveryIndexOfATable) {
  // Not run: another kernel does with its bindings what it is told.
  using Change = std::function<void(ModuleBuilder &, uint32_t)>;
  const Change changes[] = {
      [](ModuleBuilder &b, uint32_t n) {
        for (auto &command : b.programEntry().commands)
          if (auto *dispatch = command.AsDispatch())
            dispatch->kernel = n;
      },
      [](ModuleBuilder &b, uint32_t n) { b.programEntry().entry = n; },
      [](ModuleBuilder &b, uint32_t n) {
        b.programEntry().output_sizes[0]->output = n;
      },
      [](ModuleBuilder &b, uint32_t n) {
        b.programEntry().output_sizes[0]->dimension = n;
      },
      [](ModuleBuilder &b, uint32_t n) {
        b.program().kernels.back()->executable = n;
      },
      [](ModuleBuilder &b, uint32_t n) {
        b.program().executables.back()->section = n;
      },
      [](ModuleBuilder &b, uint32_t n) {
        b.program().executables.back()->device = n;
      },
      [](ModuleBuilder &b, uint32_t n) {
        for (auto &weight : b.module.weights)
          weight->section = n;
      }};
  for (auto &make : samples())
    for (const Change &change : changes)
      for (uint32_t n : {0u, 1u, 2u, 3u, 4u, 0x7fffffffu, 0xffffffffu}) {
        ModuleBuilder builder = make();
        change(builder, n);
        tryModule(builder, /*run=*/false);
      }
}

} // namespace
