// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a server does with a module on a device, from the first call to the
// last.

#ifndef ASHLAR_RUNTIME_TEST_SERVED_H
#define ASHLAR_RUNTIME_TEST_SERVED_H

#include "Loaded.h"
#include "TemporaryFolder.h"

namespace ashlar::test {

class Served : public testing::Test {
protected:
  /// Loads, runs, traced the last time, and unloads, all of it anew.
  ashlar_status_t serve(const ModuleBytes &file, const char *device) {
    return serve(file, device, said);
  }
  ashlar_status_t serve(const ModuleBytes &file, const char *device,
                        std::string &message) {
    ashlar_runtime_t *runtime = nullptr;
    ashlar_module_t *module = nullptr;
    ashlar_session_t *session = nullptr;
    ashlar_load_options_t options = trusting();
    options.devices = &device;
    options.device_count = 1;
    options.placement = placement;
    ashlar_status_t status = ashlar_runtime_create(&runtimeOptions, &runtime);
    if (status.code == ASHLAR_OK)
      status = ashlar_module_load_memory(runtime, file.data(), file.size(),
                                         &options, &module);
    if (status.code == ASHLAR_OK) {
      ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
      EXPECT_EQ(ashlar_module_query(module, &info).code, ASHLAR_OK);
      loadedOn = info.device;
    }
    ashlar_session_options_t two = withThreads(2);
    if (status.code == ASHLAR_OK)
      status = ashlar_session_create(module, nullptr, &two, &session);
    for (int round = 0; round < rounds && status.code == ASHLAR_OK; ++round) {
      if (round == rounds - 1)
        EXPECT_EQ(ashlar_trace_start(runtime, tracePath.c_str()).code,
                  ASHLAR_OK);
      SampleArguments a;
      status = ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1);
      if (status.code == ASHLAR_OK)
        a.expectResult();
    }
    // The strings are this thread's until its next call.
    message = status.message;
    status.message = message.c_str();
    ashlar_session_release(session);
    ashlar_module_release(module);
    ashlar_runtime_release(runtime);
    return status;
  }

  ashlar_runtime_options_t runtimeOptions = ASHLAR_RUNTIME_OPTIONS_INIT;
  uint32_t placement = ASHLAR_PLACEMENT_STRICT;
  std::string loadedOn; // the device of the last module that was loaded
  std::string said;
  int rounds = 2;
  const std::string tracePath = temporaryPath("shim_trace.json");
};

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_SERVED_H
