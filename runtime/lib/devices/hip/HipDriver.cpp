// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD's driver: its library, the names of its functions, its codes and what its
// devices run. Nothing is opened before somebody asks. Only what is the same
// from HIP 5 to HIP 7 is called, which a test lists: no structs, and numbers
// that no version has changed (hip/hip_runtime_api.h of 5.2.3 and later).

#include "../gpu/GpuDeviceOps.h"
#include "HsacoImage.h"
#include "ashlar/runtime/gpu_abi.h"

#include <cstring>

namespace ashlar::runtime {

using namespace gpu;

// In the order of ASHLAR_GPU_FUNCTIONS, then ASHLAR_GPU_GRAPH_FUNCTIONS. What
// HIP does by other arguments, or not at all, has the name of what is called in
// its place; see adapt().
static const char functionNames[] =
    "hipInit\0hipGetErrorName\0hipGetDeviceCount\0hipDeviceGet\0"
    "hipDeviceGetName\0hipDeviceGetAttribute\0hipDeviceTotalMem\0"
    "hipSetDevice\0hipGetDevice\0hipSetDevice\0hipGetDevice\0"
    "hipMalloc\0hipFree\0hipHostMalloc\0hipHostFree\0"
    "hipMemcpyHtoDAsync\0hipMemcpyDtoHAsync\0hipMemcpyDtoDAsync\0"
    "hipMemsetD8Async\0hipStreamCreateWithFlags\0hipStreamDestroy\0"
    "hipStreamSynchronize\0hipStreamQuery\0hipStreamWaitEvent\0"
    "hipEventCreateWithFlags\0hipEventDestroy\0hipEventRecord\0"
    "hipEventQuery\0hipEventElapsedTime\0"
    "hipModuleLoadData\0hipModuleUnload\0hipModuleGetFunction\0"
    "hipFuncGetAttribute\0hipFuncGetAttribute\0hipModuleLaunchKernel\0"
    "hipStreamBeginCapture\0hipStreamEndCapture\0"
    "hipGraphInstantiateWithFlags\0hipGraphDestroy\0hipGraphLaunch\0"
    "hipGraphExecDestroy\0";

// Numbers of hipDeviceAttribute_t, in the order of Attribute: none is reserved
// of shared memory, none has file descriptors or clusters, and pools would be
// made by a struct.
static const int attributes[] = {63, 57, 10002, 71, -1, 74, -1, -1, -1, 23, 61};

static Cause causeOf(Code code) {
  switch (code) {
  case 2:    // hipErrorOutOfMemory
  case 1052: // hipErrorRuntimeMemory
    return Cause::Memory;
  case 98:  // hipErrorInvalidDeviceFunction
  case 200: // hipErrorInvalidImage
  case 209: // hipErrorNoBinaryForGpu
  case 303: // hipErrorSharedObjectInitFailed
    return Cause::Code;
  case 500: // hipErrorNotFound
    return Cause::NotFound;
  case 600: // hipErrorNotReady
    return Cause::NotReady;
  case 4:   // hipErrorDeinitialized
  case 101: // hipErrorInvalidDevice, once one that there was
  case 201: // hipErrorInvalidContext, that of a device which was lost
  case 214: // hipErrorECCNotCorrectable
    return Cause::Lost;
  case 801: // hipErrorNotSupported
    return Cause::Interface;
  default:
    // hipErrorStreamCapture*: of the graph that was being made.
    if (code >= 900 && code <= 908)
      return Cause::Interface;
    // From an illegal address to an unknown error, and the runtime below.
    return code >= 700 ? Cause::Lost : Cause::Interface;
  }
}

/// What is called by arguments of its own.
static struct {
  const char *(*getErrorName)(Code);
  Code (*setDevice)(int);
  Code (*getDevice)(int *);
  Code (*loadData)(Module *, const void *);
} own;

/// A context is a device's number and one, so that none is null.
static Context contextOf(int device) {
  return reinterpret_cast<Context>(intptr_t(device) + 1);
}
static int deviceOf(Context context) {
  return int(reinterpret_cast<intptr_t>(context) - 1);
}

static Code enter(const Functions &, Context context, Context &before) {
  int device = 0;
  if (Code code = own.getDevice(&device))
    return code;
  before = contextOf(device);
  return own.setDevice(deviceOf(context));
}

static void leave(const Functions &, Context before) {
  own.setDevice(deviceOf(before));
}

/// A function that has arguments of its own in a slot of the table.
template <typename To, typename From> static void take(To &to, From from) {
  static_assert(sizeof(to) == sizeof(from));
  std::memcpy(&to, &from, sizeof(to));
}

/// Gives the table what HIP lacks of it.
static void adapt(Functions &all) {
  take(own.getErrorName, all.GetErrorName);
  take(own.setDevice, all.PushContext);
  take(own.getDevice, all.PopContext);
  take(own.loadData, all.ModuleLoad);
  all.GetErrorName = [](Code code, const char **out) -> Code {
    *out = own.getErrorName(code);
    return 0;
  };
  // A device is there as long as the process.
  all.RetainContext = [](Context *out, int device) -> Code {
    *out = contextOf(device);
    return 0;
  };
  all.ReleaseContext = [](int) -> Code { return 0; };
  // Shared memory needs no leave.
  all.FunctionSetAttribute = [](Function, int, int) -> Code { return 0; };
}

/// By the version that a device says it has, major and minor: which of those
/// that share it there is, the driver says when it is given code.
static String features(int, ChipVersion chip) {
  struct Family {
    int major, minor;
    const char *features;
  };
  for (const Family &each :
       {Family{9, 0, "gfx90a"}, Family{9, 4, "gfx942"},
        Family{11, 0, "gfx1100"}, Family{12, 0, "gfx1201"}})
    if (each.major == chip.major && each.minor == chip.minor)
      return each.features;
  return {};
}

static bool takes(int, ChipVersion, std::string_view format) {
  return format == ASHLAR_HSACO_FORMAT;
}

/// A code object is for one chip.
static uint32_t rank(std::string_view, std::string_view) { return 1; }

static Status check(const String &image) { return hip::checkHsaco(image); }

/// It has no options that every version takes, and no log.
static Code loadData(const String &image, Module *out, char *, size_t) {
  return own.loadData(out, image.data());
}

static int countParameters(const String &image, const String &symbol) {
  return hip::countHsacoParameters(image, symbol);
}

/// The newest that there is. Where there is none, the last one says why.
static bool open(Driver &driver) {
  for (const char *name : {"libamdhip64.so.7", "libamdhip64.so.6",
                           "libamdhip64.so.5", "libamdhip64.so"})
    if (driver.open(name))
      return true;
  return false;
}

static const Driver &hipDriver() {
  // Never closed: the driver's threads may outlive whoever opened it.
  static const Driver &known = *[] {
    OwnMemory::Scope ofAll(nullptr); // whichever runtime asks first
    auto *driver = new Driver{
        {},        functionNames, 0,        "hip",           takes,
        rank,      causeOf,       features, countParameters, attributes,
        nullptr,   check,         loadData, enter,           leave,
        UINT32_MAX}; // hipModuleLaunchKernel: threads of a launch
    if (open(*driver)) {
      adapt(driver->functions);
      driver->start();
    }
    return driver;
  }();
  return known;
}

extern const DeviceOps hipDeviceOps;
const DeviceOps hipDeviceOps = gpuDeviceOps<hipDriver>(
    "hip", "AMD's driver (libamdhip64.so) and a GPU that it finds");

} // namespace ashlar::runtime
