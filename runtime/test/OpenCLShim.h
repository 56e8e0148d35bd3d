// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libOpenCL.so.1 for tests, in front of the system's: it counts what is
// created and released, and fails a call on demand. Whoever finds it first in
// LD_LIBRARY_PATH has it as its loader.

#ifndef ASHLAR_RUNTIME_TEST_OPENCLSHIM_H
#define ASHLAR_RUNTIME_TEST_OPENCLSHIM_H

#include <atomic>
#include <cstdint>

namespace ashlar::test {

struct OpenCLShim {
  /// Calls that can fail so far; what gives back is none.
  std::atomic<uint64_t> calls{0};
  /// Fails that call, counted from 1, with `code`; 0: none.
  uint64_t failing = 0;
  int32_t code = -6; // CL_OUT_OF_HOST_MEMORY
  /// And all later ones.
  bool isLost = false;
  /// What failed first, "clFlush"; null: nothing.
  std::atomic<const char *> failed{nullptr};
  /// Created and not released: contexts, buffers, programs, kernels, queues,
  /// events, shared memory, command buffers.
  static constexpr int kinds = 8;
  std::atomic<int64_t> alive[kinds] = {};
  /// Command buffers given to a queue, and allocations of shared memory.
  std::atomic<uint64_t> recorded{0}, shared{0};

  /// What devices say they have of a workgroup's; 0: as the driver says.
  std::atomic<uint64_t> localBytes{0}, threads{0};

  /// Programs created so far, from SPIR-V and from what was compiled before.
  std::atomic<uint64_t> fromSpirv{0}, fromBinary{0};

  void start(uint64_t failingCall, int32_t with, bool allLater) {
    failing = failingCall;
    code = with;
    isLost = allLater;
    failed = nullptr;
    calls = 0;
  }
};

} // namespace ashlar::test

/// The shim's one, for dlsym. From the environment: ASHLAR_SHIM_LOST, the
/// number of the call from which on all fail; ASHLAR_SHIM_GPU, whatever it is:
/// devices say that they are GPUs.
extern "C" ashlar::test::OpenCLShim ashlar_opencl_shim;

#endif // ASHLAR_RUNTIME_TEST_OPENCLSHIM_H
