// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the double needs of the CUDA driver API's types and numbers, by its
// public reference manual.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_CUDAAPI_H
#define ASHLAR_RUNTIME_TEST_CUDA_CUDAAPI_H

#include <cstddef>
#include <cstdint>

namespace ashlar::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUmemoryPool = struct CUmemPoolHandle_st *;
/// cuTensorMapEncodeTiled writes it, kernels take it by value.
struct alignas(64) CUtensorMap {
  uint64_t opaque[16];
};
struct CUmemLocation {
  int type, id;
};
struct CUmemAllocationProp {
  int type, requestedHandleTypes;
  CUmemLocation location;
  void *win32HandleMetaData;
  unsigned char allocFlags[8];
};
struct CUmemPoolProps {
  int allocType, handleTypes;
  CUmemLocation location;
  void *win32SecurityAttributes;
  size_t maxSize;
  unsigned char reserved[56];
};
static_assert(sizeof(CUmemPoolProps) == 88);
struct CUmemAccessDesc {
  CUmemLocation location;
  int flags;
};
struct CUuuid {
  char bytes[16];
};

/// Error codes, with their names and sentences.
#define ASHLAR_CUDA_ERRORS(ERROR)                                              \
  ERROR(SUCCESS, 0, "no error")                                                \
  ERROR(INVALID_VALUE, 1, "invalid argument")                                  \
  ERROR(OUT_OF_MEMORY, 2, "out of memory")                                     \
  ERROR(NOT_INITIALIZED, 3, "initialization error")                            \
  ERROR(DEINITIALIZED, 4, "driver shutting down")                              \
  ERROR(DEVICE_UNAVAILABLE, 46, "device(s) is/are busy or unavailable")        \
  ERROR(NO_DEVICE, 100, "no CUDA-capable device is detected")                  \
  ERROR(INVALID_DEVICE, 101, "invalid device ordinal")                         \
  ERROR(INVALID_IMAGE, 200, "device kernel image is invalid")                  \
  ERROR(INVALID_CONTEXT, 201, "invalid device context")                        \
  ERROR(NO_BINARY_FOR_GPU, 209,                                                \
        "no kernel image is available for execution on the device")            \
  ERROR(ECC_UNCORRECTABLE, 214, "uncorrectable ECC error encountered")         \
  ERROR(INVALID_PTX, 218, "a PTX JIT compilation failed")                      \
  ERROR(UNSUPPORTED_PTX_VERSION, 222,                                          \
        "the provided PTX was compiled with an unsupported toolchain")         \
  ERROR(INVALID_HANDLE, 400, "invalid resource handle")                        \
  ERROR(ILLEGAL_STATE, 401,                                                    \
        "the operation cannot be performed in the present state")              \
  ERROR(NOT_FOUND, 500, "named symbol not found")                              \
  ERROR(NOT_READY, 600, "device not ready")                                    \
  ERROR(ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered")      \
  ERROR(LAUNCH_OUT_OF_RESOURCES, 701,                                          \
        "too many resources requested for launch")                             \
  ERROR(LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated")        \
  ERROR(CONTEXT_IS_DESTROYED, 709, "context is destroyed")                     \
  ERROR(ILLEGAL_INSTRUCTION, 715, "an illegal instruction was encountered")    \
  ERROR(MISALIGNED_ADDRESS, 716, "misaligned address")                         \
  ERROR(LAUNCH_FAILED, 719, "unspecified launch failure")                      \
  ERROR(NOT_SUPPORTED, 801, "operation not supported")                         \
  ERROR(STREAM_CAPTURE_UNSUPPORTED, 900,                                       \
        "operation not permitted when stream is capturing")                    \
  ERROR(STREAM_CAPTURE_INVALIDATED, 901,                                       \
        "operation failed due to a previous error during capture")             \
  ERROR(STREAM_CAPTURE_WRONG_THREAD, 908,                                      \
        "attempt to terminate a thread-local capture sequence from another "   \
        "thread")                                                              \
  ERROR(INVALID_CLUSTER_SIZE, 912, "invalid cluster size")                     \
  ERROR(UNKNOWN, 999, "unknown error")

enum : CUresult {
#define ASHLAR_CUDA_ERROR(NAME, CODE, TEXT) NAME = CODE,
  ASHLAR_CUDA_ERRORS(ASHLAR_CUDA_ERROR)
#undef ASHLAR_CUDA_ERROR
};

enum StreamFlags : unsigned { StreamNonBlocking = 1 };
enum EventFlags : unsigned {
  EventBlockingSync = 1,
  EventDisableTiming = 2,
  EventInterprocess = 4,
};
enum HostFlags : unsigned {
  HostPortable = 1,
  HostDeviceMap = 2,
  HostWriteCombined = 4
};

enum FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedSizeBytes = 1,
  ConstSizeBytes = 2,
  LocalSizeBytes = 3,
  NumRegs = 4,
  PtxVersion = 5,
  BinaryVersion = 6,
  CacheModeCa = 7,
  MaxDynamicSharedSizeBytes = 8,
  PreferredSharedMemoryCarveout = 9,
  ClusterSizeMustBeSet = 10,
  RequiredClusterWidth = 11,
  RequiredClusterHeight = 12,
  RequiredClusterDepth = 13,
  NonPortableClusterSizeAllowed = 14,
};

enum JitOption : int {
  JitMaxRegisters = 0,
  JitThreadsPerBlock = 1,
  JitWallTime = 2,
  JitInfoLogBuffer = 3,
  JitInfoLogBufferSize = 4,
  JitErrorLogBuffer = 5,
  JitErrorLogBufferSize = 6,
  JitOptimizationLevel = 7,
  JitTargetFromContext = 8,
  JitTarget = 9,
  JitFallbackStrategy = 10,
  JitGenerateDebugInfo = 11,
  JitLogVerbose = 12,
  JitGenerateLineInfo = 13,
  JitCacheMode = 14,
};

enum LaunchAttribute : int {
  LaunchIgnore = 0,
  LaunchCooperative = 2,
  LaunchClusterDimension = 4,
  LaunchClusterSchedulingPolicy = 5,
  LaunchProgrammaticStreamSerialization = 6,
  LaunchPriority = 8,
};
struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
  } value;
};
struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};

} // namespace ashlar::cuda

#endif // ASHLAR_RUNTIME_TEST_CUDA_CUDAAPI_H
