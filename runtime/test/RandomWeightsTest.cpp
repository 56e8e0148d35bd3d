// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights that the loader makes of a seed: every element in its place, on each
// kind of device, charged like others, and nothing made of what makes no sense.

#include "../lib/RandomWeights.h"
#include "Loaded.h"
#include "ashlar/runtime/module_format.h"

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

constexpr uint64_t seed = 7, number = 3; // as randomModule has them
constexpr float scale = 0.0001f;

fb::RandomWeightT &randomOf(ModuleBuilder &b) {
  return *b.module.weights[0]->random;
}
fb::SectionT &sectionOf(ModuleBuilder &b) {
  return *b.module.sections[b.module.weights[0]->section];
}

class RandomWeights : public RuntimeTest {
protected:
  /// Runs the module that is loaded; `place` says which element of the source
  /// is element i of w, from one number on, or a number below zero: none.
  void expectWeights(int64_t (*place)(int64_t)) {
    start();
    SampleArguments a;
    ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
    for (int64_t i = 0; i < sampleCount; ++i) {
      float w = place(i) < 0 ? 0
                             : ashlar::randomElement(seed, number,
                                                     uint64_t(place(i)), scale);
      ASSERT_EQ(a.z[size_t(i)], 2 * (a.x[size_t(i)] + w) + a.y[size_t(i)])
          << "element " << i;
    }
  }
  template <typename Change> void refused(const char *why, Change change) {
    ModuleBuilder b = randomModule();
    change(b);
    expectCorrupt(std::move(b), "", why);
  }
};

TEST_F(RandomWeights, AreThoseOfTheirSeedNumberAndPlace) {
  load(randomModule());
  expectWeights([](int64_t i) { return i; });
}

TEST_F(RandomWeights, LieInPanels) {
  // 40 columns in panels of 16, pairs of 5 x 2 terms each for all of them; the
  // source has columns outermost.
  ModuleBuilder b = randomModule();
  fb::RandomWeightT &random = randomOf(b);
  random.rows = {2, 4};
  random.strides = {16 * 8, 2, 8, 1};
  random.panel = 16;
  random.group = 2;
  random.clip = 20;
  load(std::move(b));
  expectWeights([](int64_t i) {
    int64_t term = i % 2, column = i / 2 % 16, row = i / 32 % 4,
            panel = i / 128;
    return panel * 16 + column < 20 ? (panel * 16 + column) * 8 + row * 2 + term
                                    : -1;
  });
}

TEST_F(RandomWeights, AreOfSeveralSources) {
  ModuleBuilder b = randomModule();
  randomOf(b).numbers = {number, number};
  randomOf(b).scales = {scale, scale};
  randomOf(b).elements = sampleCount / 2;
  load(std::move(b));
  expectWeights([](int64_t i) { return i % (sampleCount / 2); });
}

TEST_F(RandomWeights, AreChargedAsWeights) {
  ASSERT_OK(ashlar_budget_create(runtime, "small", 1 << 20, &budget));
  ModuleBuilder b = randomModule();
  b.module.weights[0]->size = sectionOf(b).size = 2 << 20;
  bytes = std::make_unique<ModuleBytes>(b.build());
  ashlar_load_options_t options = trusting();
  options.budget = budget;
  EXPECT_CODE(ASHLAR_OUT_OF_BUDGET,
              ashlar_module_load_memory(runtime, bytes->data(), bytes->size(),
                                        &options, &module));
}

TEST_F(RandomWeights, AreNobodyElses) {
  ASSERT_OK(ashlar_budget_create(runtime, "all", ASHLAR_UNLIMITED, &budget));
  ModuleBuilder b = randomModule();
  bytes = std::make_unique<ModuleBytes>(b.build());
  ashlar_load_options_t options = trusting();
  options.budget = budget;
  options.share_content = 1;
  ashlar_module_t *other = nullptr;
  for (ashlar_module_t **each : {&other, &module})
    ASSERT_OK(ashlar_module_load_memory(runtime, bytes->data(), bytes->size(),
                                        &options, each));
  ashlar_module_release(other);
  expectWeights([](int64_t i) { return i; });
}

TEST_F(RandomWeights, ThatMakeNoSenseAreRefused) {
  refused("needs the feature random-weights",
          [](auto &b) { b.program().required_features.clear(); });
  refused("is not a section of weights",
          [](auto &b) { b.module.weights[0]->random.reset(); });
  refused("is not a section of weights",
          [](auto &b) { b.module.weights[0]->section = 0; });
  refused("behind the file's end", [](auto &b) { sectionOf(b).offset = 4096; });
  refused("behind the file's end", [](auto &b) {
    sectionOf(b).size = ASHLAR_MODULE_MAX_RANDOM_SIZE + 1;
  });
  refused("one section of them at most", [](auto &b) {
    b.module.sections.push_back(std::make_unique<fb::SectionT>(sectionOf(b)));
  });
  refused("exceeds its section", [](auto &b) { sectionOf(b).size = 64; });
  refused("before the one in front of it ends", [](auto &b) {
    b.module.weights.push_back(
        std::make_unique<fb::WeightT>(*b.module.weights[0]));
  });
  refused("is of f32, f16 or bf16",
          [](auto &b) { b.module.weights[0]->type = fb::ElementType::I32; });
  refused("each of an element or more",
          [](auto &b) { randomOf(b).elements = 0; });
  refused("each of an element or more",
          [](auto &b) { randomOf(b).numbers.clear(); });
  refused("each of an element or more",
          [](auto &b) { randomOf(b).scales.clear(); });
  auto pack = [](ModuleBuilder &b) -> fb::RandomWeightT & {
    fb::RandomWeightT &random = randomOf(b);
    random.rows = {16};
    random.strides = {16, 1, 0};
    random.panel = 16;
    random.group = 1;
    random.clip = sampleCount;
    return random;
  };
  ModuleBuilder sound = randomModule();
  pack(sound);
  load(std::move(sound));
  expectWeights([](int64_t i) { return i; });
  const char *panels = "panels of a weight that is made do not fit";
  refused(panels, [&](auto &b) { pack(b).panel = 17; });
  refused(panels, [&](auto &b) { pack(b).panel = -16; });
  refused(panels, [&](auto &b) { pack(b).group = 0; });
  refused(panels, [&](auto &b) { pack(b).clip = -1; });
  refused(panels, [&](auto &b) { pack(b).rows = {}; });
  refused(panels, [&](auto &b) { pack(b).rows = {-16}; });
  refused(panels, [&](auto &b) { pack(b).strides = {16, 1}; });
  refused(panels, [&](auto &b) {
    pack(b).rows = {int64_t(1) << 62, int64_t(1) << 62, 16};
    randomOf(b).strides = {1, 1, 1, 1, 1};
  });
  // Places beyond the sources are zeros.
  session = (ashlar_session_release(session), nullptr);
  module = (ashlar_module_release(module), nullptr);
  ModuleBuilder far = randomModule();
  pack(far).strides = {int64_t(1) << 60, int64_t(1) << 61, 0};
  load(std::move(far));
  start();
  SampleArguments a;
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
}

} // namespace
