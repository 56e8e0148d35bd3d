// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the device needs of a vendor's driver, declared here so that the runtime
// builds without anybody's headers. The drivers of GPUs whose memory has
// addresses agree in these functions' arguments.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUAPI_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUAPI_H

#include "../../OwnMemory.h"
#include "../Device.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ashlar::runtime::gpu {

/// The driver's objects, which it owns until they are given back to it.
using Context = struct ContextObject *;
using Module = struct ModuleObject *;
using Function = struct FunctionObject *;
using Stream = struct StreamObject *;
using EventId = struct EventObject *;
using Graph = struct GraphObject *;
/// One that can be launched.
using GraphExec = struct GraphExecObject *;
/// 0 is success.
using Code = int;
/// What gives memory in a stream's order.
using Pool = struct PoolObject *;
/// Of memory without an address yet.
using MemoryHandle = unsigned long long;

/// Whose memory: a device's, by its number.
struct MemoryPlace {
  int type = 1; // a device
  int id = 0;
};
/// How memory is made that other processes can have. The layout is the
/// driver's.
struct MemoryProperties {
  int type = 1;                // stays where it is
  int handleTypes = 1;         // it has file descriptors
  MemoryPlace place;           // whose it is
  void *others = nullptr;      // Windows' alone
  unsigned char flags[8] = {}; // none
};
static_assert(sizeof(MemoryProperties) == 32);
/// Who may use mapped memory, and how. The layout is the driver's.
struct MemoryAccess {
  MemoryPlace place; // who reaches it
  int flags = 3;     // to read and write
};
static_assert(sizeof(MemoryAccess) == 12);

/// What a pool is made of. The layout is the driver's.
struct PoolProperties {
  int type = 1;                // stays where it is
  int handleTypes = 0;         // no other process has it
  MemoryPlace place;           // whose it is
  void *others = nullptr;      // Windows' alone
  unsigned char rest[64] = {}; // none: as large as the device
};
static_assert(sizeof(PoolProperties) == 88);

/// F(result, name, arguments)
#define ASHLAR_GPU_FUNCTIONS(F)                                                \
  F(Code, Init, (unsigned))                                                    \
  F(Code, GetErrorName, (Code, const char **))                                 \
  F(Code, DeviceGetCount, (int *))                                             \
  F(Code, DeviceGet, (int *, int))                                             \
  F(Code, DeviceGetName, (char *, int, int))                                   \
  F(Code, DeviceGetAttribute, (int *, int, int))                               \
  F(Code, DeviceTotalMem, (size_t *, int))                                     \
  F(Code, RetainContext, (Context *, int))                                     \
  F(Code, ReleaseContext, (int))                                               \
  F(Code, PushContext, (Context))                                              \
  F(Code, PopContext, (Context *))                                             \
  F(Code, MemAlloc, (void **, size_t))                                         \
  F(Code, MemFree, (void *))                                                   \
  F(Code, HostAlloc, (void **, size_t, unsigned))                              \
  F(Code, HostFree, (void *))                                                  \
  F(Code, CopyIn, (void *, const void *, size_t, Stream))                      \
  F(Code, CopyOut, (void *, const void *, size_t, Stream))                     \
  F(Code, CopyWithin, (void *, const void *, size_t, Stream))                  \
  F(Code, SetBytes, (void *, unsigned char, size_t, Stream))                   \
  F(Code, StreamCreate, (Stream *, unsigned))                                  \
  F(Code, StreamDestroy, (Stream))                                             \
  F(Code, StreamSynchronize, (Stream))                                         \
  F(Code, StreamQuery, (Stream))                                               \
  F(Code, StreamWaitEvent, (Stream, EventId, unsigned))                        \
  F(Code, EventCreate, (EventId *, unsigned))                                  \
  F(Code, EventDestroy, (EventId))                                             \
  F(Code, EventRecord, (EventId, Stream))                                      \
  F(Code, EventQuery, (EventId))                                               \
  F(Code, EventElapsedTime, (float *, EventId, EventId))                       \
  F(Code, ModuleLoad, (Module *, const void *, unsigned, int *, void **))      \
  F(Code, ModuleUnload, (Module))                                              \
  F(Code, ModuleGetFunction, (Function *, Module, const char *))               \
  F(Code, FunctionGetAttribute, (int *, int, Function))                        \
  F(Code, FunctionSetAttribute, (Function, int, int))                          \
  F(Code, LaunchKernel,                                                        \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))

/// What older drivers lack: all are there or none.
#define ASHLAR_GPU_GRAPH_FUNCTIONS(F)                                          \
  F(Code, BeginCapture, (Stream, int))                                         \
  F(Code, EndCapture, (Stream, Graph *))                                       \
  F(Code, GraphInstantiate, (GraphExec *, Graph, unsigned long long))          \
  F(Code, GraphDestroy, (Graph))                                               \
  F(Code, GraphLaunch, (GraphExec, Stream))                                    \
  F(Code, GraphExecDestroy, (GraphExec))

/// What drivers of GPUs have whose copies are told of tensors.
#define ASHLAR_GPU_TENSOR_FUNCTIONS(F)                                         \
  F(Code, TensorMapEncode,                                                     \
    (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,        \
     const uint32_t *, const uint32_t *, int, int, int, int))

/// Memory that has file descriptors, in the steps that it takes: all or none.
#define ASHLAR_GPU_EXTERNAL_FUNCTIONS(F)                                       \
  F(Code, MemGranularity, (size_t *, const MemoryProperties *, int))           \
  F(Code, MemCreate,                                                           \
    (MemoryHandle *, size_t, const MemoryProperties *, unsigned long long))    \
  F(Code, MemImport, (MemoryHandle *, void *, int))                            \
  F(Code, MemExport, (void *, MemoryHandle, int, unsigned long long))          \
  F(Code, MemReserve, (void **, size_t, size_t, void *, unsigned long long))   \
  F(Code, MemMap, (void *, size_t, size_t, MemoryHandle, unsigned long long))  \
  F(Code, MemSetAccess, (void *, size_t, const MemoryAccess *, size_t))        \
  F(Code, MemUnmap, (void *, size_t))                                          \
  F(Code, MemUnreserve, (void *, size_t))                                      \
  F(Code, MemRelease, (MemoryHandle))

/// Memory that comes and goes in a stream's order: all or none.
#define ASHLAR_GPU_POOL_FUNCTIONS(F)                                           \
  F(Code, PoolCreate, (Pool *, const PoolProperties *))                        \
  F(Code, PoolDestroy, (Pool))                                                 \
  F(Code, PoolAlloc, (void **, size_t, Pool, Stream))                          \
  F(Code, PoolFree, (void *, Stream))

/// A table of the driver's functions. Any thread may call them; most need a
/// current context (CurrentGpu).
struct Functions {
#define ASHLAR_GPU_MEMBER(RESULT, NAME, ARGUMENTS)                             \
  RESULT(*NAME) ARGUMENTS = nullptr;
  ASHLAR_GPU_FUNCTIONS(ASHLAR_GPU_MEMBER)
  ASHLAR_GPU_GRAPH_FUNCTIONS(ASHLAR_GPU_MEMBER)
  ASHLAR_GPU_TENSOR_FUNCTIONS(ASHLAR_GPU_MEMBER)
  ASHLAR_GPU_EXTERNAL_FUNCTIONS(ASHLAR_GPU_MEMBER)
  ASHLAR_GPU_POOL_FUNCTIONS(ASHLAR_GPU_MEMBER)
#undef ASHLAR_GPU_MEMBER

  /// Whether the group is there.
  bool hasGraphs() const { return BeginCapture != nullptr; }
  bool hasExternal() const { return MemGranularity != nullptr; }
  bool hasPools() const { return PoolCreate != nullptr; }
};

/// What a failure means for who runs a model.
enum class Cause {
  Memory,   // there is not enough
  Code,     // the driver does not take the module
  NotFound, // it has no such kernel
  NotReady, // none: work is under way
  Lost,     // the device, for this process
  Interface // a call that should not have failed
};

/// What is asked of a device; each vendor has numbers of its own.
enum class Attribute {
  Processors,
  ThreadsPerProcessor,
  SharedPerProcessor,
  RegistersPerProcessor,
  ReservedSharedPerBlock,
  MaxSharedPerBlock, // where its launch asks for it
  Descriptors,       // whether memory has them
  Clusters,          // whether workgroups run together in such
  Pools,             // whether there are any
  Major,             // of the chip's version
  Minor
};
/// One more than the last.
inline constexpr size_t attributeCount = size_t(Attribute::Minor) + 1;

/// A chip's version, zeros where the driver does not know it.
struct ChipVersion {
  int major = 0, minor = 0;
};

/// Of drivers that keep what a thread had before.
inline Code pushContext(const Functions &functions, Context context,
                        Context &) {
  return functions.PushContext(context);
}
/// The other half: DeviceOps need not look at what it says.
inline void popContext(const Functions &functions, Context) {
  Context popped;
  functions.PopContext(&popped);
}

/// A vendor's driver, opened.
struct Driver {
  ASHLAR_OWN_NEW
  Functions functions;
  /// Of the functions, one behind the other in the order of the table, each
  /// ended.
  const char *names;
  int deviceCount;  // 0: there is no driver, or it finds none
  const char *type; // "cuda", what devices are called by
  /// Whether a device can be given code of a format.
  bool (*takes)(int device, ChipVersion chip, std::string_view format);
  /// DeviceOps::rank
  uint32_t (*rank)(std::string_view format, std::string_view required);
  /// What a code other than 0 means.
  Cause (*causeOf)(Code code);
  /// Of a device: what it runs, as features separated by commas.
  String (*features)(int device, ChipVersion chip);
  /// Parameters of the entry in an image; negative: it has no such entry. Null:
  /// countOf is there.
  int (*countParameters)(const String &image, const String &symbol);
  const int (&attributes)[attributeCount]; // by Attribute
  /// Writes what a kernel is told of a tensor at an address, where the
  /// functions have it.
  Code (*encode)(const Functions &functions, const TensorMap &map,
                 void *address, void *outBlob);
  /// Null: nothing is. What is wrong with an image that a driver may not
  /// survive.
  Status (*verify)(const String &image) = nullptr;
  /// Null: ModuleLoad does, of text or what knows its own size. `log` is what
  /// the driver has to say, ended.
  Code (*load)(const String &image, Module *out, char *log,
               size_t logBytes) = nullptr;
  /// A thread's calls go to a context, until `leave` gives it back the one it
  /// had before. Where `enter` fails, nothing has changed.
  Code (*enter)(const Functions &functions, Context context,
                Context &before) = pushContext;
  /// What `enter` began; never called where that failed.
  void (*leave)(const Functions &functions, Context before) = popContext;
  /// Of a launch, at most.
  uint64_t mostThreads = UINT64_MAX;
  /// Parameters of a function that the driver has found.
  int (*countOf)(Function function) = nullptr;
  String whyNone = {}; // what failed, where that is why there are no devices

  /// Opens `library` and resolves the functions. False, and `whyNone`: there is
  /// no such library, or it lacks a function that must be there.
  bool open(const char *library);
  /// Initialises it, opened, from which on it has devices; or there is
  /// `whyNone`.
  void start();

  /// Of a member of `functions`.
  const char *nameOf(const void *member) const;
  /// "CUDA_ERROR_X", or "error 999" where the driver has no name.
  String codeName(Code code) const;
};

} // namespace ashlar::runtime::gpu

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUAPI_H
