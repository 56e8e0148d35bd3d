// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A runtime, module and session that tests start from, and arguments for the
// sample modules.

#ifndef ASHLAR_RUNTIME_TEST_LOADED_H
#define ASHLAR_RUNTIME_TEST_LOADED_H

#include "SampleModules.h"
#include "ashlar/runtime/api.h"

#include <cstring>
#include <gtest/gtest.h>

namespace ashlar::test {

#define EXPECT_CODE(wanted, call)                                              \
  do {                                                                         \
    ashlar_status_t status_ = (call);                                          \
    EXPECT_STREQ(ashlar_status_code_name(wanted),                              \
                 ashlar_status_code_name(status_.code))                        \
        << status_.message << " [" << status_.place << "]";                    \
  } while (false)
#define ASSERT_OK(call)                                                        \
  do {                                                                         \
    ashlar_status_t status_ = (call);                                          \
    ASSERT_EQ(status_.code, ASHLAR_OK)                                         \
        << status_.message << " [" << status_.place << "]";                    \
  } while (false)

inline void expectSays(ashlar_status_t status, ashlar_status_code_t code,
                       const char *words) {
  EXPECT_CODE(code, status);
  EXPECT_NE(std::strstr(status.message, words), nullptr) << status.message;
}

inline ashlar_load_options_t trusting() {
  ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
  options.allow_native_code = 1;
  options.name = "sample";
  return options;
}

inline ashlar_session_options_t withThreads(uint32_t threads) {
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  options.threads = threads;
  options.poison = 1;
  return options;
}

/// Floats at an address of a chosen alignment.
class Floats {
public:
  explicit Floats(size_t count, size_t misalignment = 0)
      : storage(count + 64), offset(misalignment / sizeof(float)) {
    while (reinterpret_cast<uintptr_t>(storage.data() + first) % 64)
      ++first;
  }
  float *data() { return storage.data() + first + offset; }
  float &operator[](size_t i) { return data()[i]; }

private:
  std::vector<float> storage;
  size_t first = 0;
  size_t offset;
};

inline ashlar_tensor_t tensorOf(float *data, int64_t count) {
  ashlar_tensor_t tensor = {};
  tensor.data = data;
  tensor.capacity = uint64_t(count) * sizeof(float);
  tensor.type = ASHLAR_TYPE_F32;
  tensor.rank = 1;
  tensor.shape[0] = count;
  return tensor;
}

/// The conditions of controlModule.
inline ashlar_tensor_t flagsOf(uint8_t *flags) {
  ashlar_tensor_t tensor = {};
  tensor.data = flags;
  tensor.capacity = 2;
  tensor.type = ASHLAR_TYPE_BOOL;
  tensor.rank = 1;
  tensor.shape[0] = 2;
  return tensor;
}

/// The numbers that sampleModule computes from.
struct SampleArguments {
  explicit SampleArguments(int64_t count = sampleCount, size_t misalignment = 0)
      : count(count), x(size_t(count), misalignment),
        y(size_t(count), misalignment), z(size_t(count), misalignment) {
    for (int64_t i = 0; i < count; ++i) {
      x[size_t(i)] = float(i % 17) - 3;
      y[size_t(i)] = float(i % 5) * 0.25f;
      z[size_t(i)] = -999;
    }
    inputs[0] = tensorOf(x.data(), count);
    inputs[1] = tensorOf(y.data(), count);
    outputs[0] = tensorOf(z.data(), count);
  }
  void expectResult() {
    auto *result = static_cast<const float *>(outputs[0].data);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(result[i],
                2 * (x[size_t(i)] + sampleStep * float(i)) + y[size_t(i)])
          << "element " << i;
  }

  int64_t count;
  Floats x, y, z;
  ashlar_tensor_t inputs[2];
  ashlar_tensor_t outputs[1];
};

class RuntimeTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_OK(ashlar_runtime_create(nullptr, &runtime)); }
  void TearDown() override {
    ashlar_session_release(session);
    ashlar_module_release(module);
    ashlar_budget_release(budget);
    ashlar_runtime_release(runtime);
  }
  /// Keeps the bytes for as long as the module.
  void load(ModuleBuilder builder) { loadOn(nullptr, std::move(builder)); }
  /// For a device, null for any.
  void loadOn(const char *device, ModuleBuilder builder) {
    bytes = std::make_unique<ModuleBytes>(builder.build());
    ashlar_load_options_t options = trusting();
    options.budget = budget;
    options.devices = &device;
    options.device_count = device ? 1 : 0;
    ASSERT_OK(ashlar_module_load_memory(runtime, bytes->data(), bytes->size(),
                                        &options, &module));
    ASSERT_OK(ashlar_module_entry_at(module, 0, &entry));
  }
  void start(uint32_t threads = 1) {
    ashlar_session_options_t options = withThreads(threads);
    ASSERT_OK(ashlar_session_create(module, budget, &options, &session));
  }

  /// The module, after `what` was done to it, is refused as corrupt; the
  /// message says `why`.
  void expectCorrupt(ModuleBuilder builder, const char *what,
                     const char *why = "") {
    ModuleBytes file = builder.build();
    ashlar_load_options_t options = trusting();
    ashlar_module_t *tried = nullptr;
    ashlar_status_t status = ashlar_module_load_memory(
        runtime, file.data(), file.size(), &options, &tried);
    EXPECT_EQ(status.code, ASHLAR_CORRUPT) << what << status.message;
    EXPECT_NE(std::strstr(status.message, why), nullptr) << status.message;
    ashlar_module_release(tried);
  }

  ashlar_runtime_t *runtime = nullptr;
  ashlar_budget_t *budget = nullptr;
  ashlar_module_t *module = nullptr;
  ashlar_entry_t *entry = nullptr;
  ashlar_session_t *session = nullptr;
  std::unique_ptr<ModuleBytes> bytes;
};

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_LOADED_H
