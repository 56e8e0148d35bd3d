// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libcuda.so.1 for tests that needs no device: memory is the host's, a
// stream is a thread, a launch runs the PTX interpreter. It checks arguments,
// handles, order and lifetimes, counts what is alive and fails calls on
// demand. Whoever finds it first in LD_LIBRARY_PATH has it as its driver.
//
// From the environment, when it is first used:
//   ASHLAR_CUDA_DOUBLE_DEVICES   how many devices there are; else of
//                                ASHLAR_DOUBLE_DEVICES, for all vendors; 1
//   ASHLAR_CUDA_DOUBLE_CC        their compute capability; 8.0
//   ASHLAR_CUDA_DOUBLE_MEMORY    bytes of each one's memory; 8 GiB
//   ASHLAR_CUDA_DOUBLE_DRIVER    the driver's version; 12040
//   ASHLAR_CUDA_DOUBLE_MULTIPROCESSORS
//                                how many each one has; as its architecture
//   ASHLAR_CUDA_DOUBLE_DESCRIPTORS
//                                0: memory has no file descriptors; 1
//   ASHLAR_CUDA_DOUBLE_POOLS     0: there are no pools of memory; 1
//   ASHLAR_CUDA_DOUBLE_PTX       the file that machine code was made from,
//   which
//                                is run in its place; without it the double is
//                                a driver too old for any
//   ASHLAR_CUDA_DOUBLE_LOST      the call from which on all fail
//   ASHLAR_CUDA_DOUBLE_HANGS     1: no launch ends
//   ASHLAR_CUDA_DOUBLE_CALLS     1: each call is a line on stderr
//   ASHLAR_CUDA_DOUBLE_MISUSE    "fail": misuse is an error of the call and a
//                                line on stderr; else it ends the process
//   ASHLAR_PTX_LIMIT             instructions of a thread; 2^32
//   ASHLAR_PTX_ALLOW             "races,unwritten,blocks": what kernels may do;
//                                nothing of it

#ifndef ASHLAR_RUNTIME_TEST_CUDA_CUDADOUBLE_H
#define ASHLAR_RUNTIME_TEST_CUDA_CUDADOUBLE_H

#include <atomic>
#include <cstdint>

namespace ashlar::test {

struct CudaDouble {
  /// Calls that can fail so far; what gives back is none, nor is what tells
  /// errors' names, nor a query that finds work under way.
  std::atomic<uint64_t> calls{0};
  /// Fails that call, counted from 1, with `code`; 0: none.
  std::atomic<uint64_t> failing{0};
  std::atomic<int32_t> code{2}; // CUDA_ERROR_OUT_OF_MEMORY
  /// And all later ones; what gives back does so, and fails too.
  std::atomic<bool> isLost{false};
  /// What failed first, "cuMemAlloc_v2"; null: nothing.
  std::atomic<const char *> failed{nullptr};
  /// That was a call of a thread which captured.
  std::atomic<bool> failedInCapture{false};

  /// Launches and copies that have not ended do not end.
  std::atomic<bool> isHanging{false};
  /// Launches do not end, whatever `isHanging` says of copies.
  std::atomic<bool> launchesHang{false};
  /// Launches and copies that have ended.
  std::atomic<uint64_t> finished{0};

  /// Created and not given back.
  enum Kind {
    Contexts,
    DeviceMemory,
    HostMemory,
    Streams,
    Events,
    Modules,
    Graphs,        // executable ones, too
    VirtualMemory, // handles, reservations and mappings
    Pools,
    Kinds
  };
  std::atomic<int64_t> alive[Kinds] = {};
  /// Bytes of device memory alive, and the most at once since start().
  std::atomic<int64_t> bytes{0}, mostBytes{0};
  /// What was left of each kind when its context went.
  std::atomic<int64_t> left[Kinds] = {};

  /// Allocations that may make the host wait for what runs on the device, and
  /// what gives such back.
  std::atomic<uint64_t> waitingAllocations{0};
  /// Copies to the device of more than 64 KiB that are not of pinned memory.
  std::atomic<uint64_t> stagedCopies{0};
  /// Those of graphs count each time.
  std::atomic<uint64_t> launches{0}, instructions{0};
  std::atomic<uint64_t> graphLaunches{0};
  /// Calls that no program may make: each said so on stderr.
  std::atomic<uint64_t> misuses{0};
  /// The PTX that machine code was made from, in place of the environment's.
  std::atomic<const char *> sourceOfCode{nullptr};
  /// Who runs code objects in a double of HIP's driver, a RunCode of HipCode.h;
  /// null: PTX from the same source.
  std::atomic<void *> runCode{nullptr};
  /// Modules of machine code that were loaded.
  std::atomic<uint64_t> codeLoads{0};
  /// Misuse fails the call; else it ends the process.
  std::atomic<bool> isMisuseFailure{false};

  void start(uint64_t failingCall, int32_t with, bool allLater) {
    failing = failingCall;
    code = with;
    isLost = allLater;
    failed = nullptr;
    failedInCapture = false;
    calls = 0;
    mostBytes = bytes.load();
  }
};

} // namespace ashlar::test

/// The double's one, for dlsym.
extern "C" ashlar::test::CudaDouble ashlar_cuda_double;

#endif // ASHLAR_RUNTIME_TEST_CUDA_CUDADOUBLE_H
