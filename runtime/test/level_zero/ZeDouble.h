// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libze_loader.so.1 for tests that needs no GPU: memory is the host's, a
// queue is a thread, a launch runs the kernel's SPIR-V on the first OpenCL
// device that takes it. It checks arguments, handles, order and lifetimes,
// counts what is alive and fails calls on demand. Whoever finds it first in
// LD_LIBRARY_PATH has it as its driver.
//
// From the environment, when it is first used:
//   ASHLAR_ZE_DOUBLE_DEVICES  how many GPUs there are; 1, or 0 without OpenCL
//   ASHLAR_ZE_DOUBLE_MEMORY   bytes of each one's memory; 8 GiB
//   ASHLAR_ZE_DOUBLE_LOCAL    bytes that a workgroup may share; 64 KiB
//   ASHLAR_ZE_DOUBLE_THREADS  of a workgroup; 1024
//   ASHLAR_ZE_DOUBLE_SPIRV    1: the GPUs take no SPIR-V
//   ASHLAR_ZE_DOUBLE_SILENT   1: builds that fail are reported as success
//   ASHLAR_ZE_DOUBLE_LOST     the call from which on all fail
//   ASHLAR_ZE_DOUBLE_CHIP     each one's number on the bus; 0xbd5, which is pvc

#ifndef ASHLAR_RUNTIME_TEST_LEVEL_ZERO_ZEDOUBLE_H
#define ASHLAR_RUNTIME_TEST_LEVEL_ZERO_ZEDOUBLE_H

#include <atomic>
#include <cstdint>

namespace ashlar::test {

struct ZeDouble {
  /// Calls that can fail so far; what gives back is none, nor is a question
  /// for what has not ended.
  std::atomic<uint64_t> calls{0};
  /// Fails that call, counted from 1, with `code`; 0: none.
  std::atomic<uint64_t> failing{0};
  std::atomic<int32_t> code{0x70000003}; // ERROR_OUT_OF_DEVICE_MEMORY
  /// And all later ones.
  std::atomic<bool> isLost{false};
  /// What failed first, "zeMemAllocDevice"; null: nothing.
  std::atomic<const char *> failed{nullptr};

  /// No command that has not ended does.
  std::atomic<bool> isHanging{false};

  /// Created and not given back.
  enum Kind {
    Contexts,
    Memory,
    Queues,
    Lists,
    Fences,
    Pools,
    Events,
    Modules,
    Logs,
    Kernels,
    Kinds
  };
  std::atomic<int64_t> alive[Kinds] = {};

  std::atomic<uint64_t> launches{0}; // those of lists count each time
  /// Lists that were given to a queue more than once.
  std::atomic<uint64_t> repeated{0};
  /// Modules of machine code that were built.
  std::atomic<uint64_t> fromCode{0};
  /// Calls that no program may make: each said so on stderr.
  std::atomic<uint64_t> misuses{0};

  void start(uint64_t failingCall, int32_t with, bool allLater) {
    failing = failingCall;
    code = with;
    isLost = allLater;
    failed = nullptr;
    calls = 0;
  }
};

} // namespace ashlar::test

/// The double's one, for dlsym.
extern "C" ashlar::test::ZeDouble ashlar_ze_double;

#endif // ASHLAR_RUNTIME_TEST_LEVEL_ZERO_ZEDOUBLE_H
