// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's driver: its library, the names of its functions, its codes and what
// its devices run. Nothing is opened before somebody asks. Numbers are those of
// the CUDA Driver API, which no version has changed.

#include "../gpu/GpuDeviceOps.h"
#include "CubinImage.h"
#include "CudaChips.h"

namespace ashlar::runtime {

using namespace gpu;

// In the order of ASHLAR_GPU_FUNCTIONS, then ASHLAR_GPU_GRAPH_FUNCTIONS,
// ASHLAR_GPU_TENSOR_FUNCTIONS, ASHLAR_GPU_EXTERNAL_FUNCTIONS and
// ASHLAR_GPU_POOL_FUNCTIONS.
static const char functionNames[] =
    "cuInit\0cuGetErrorName\0cuDeviceGetCount\0cuDeviceGet\0cuDeviceGetName\0"
    "cuDeviceGetAttribute\0cuDeviceTotalMem_v2\0cuDevicePrimaryCtxRetain\0"
    "cuDevicePrimaryCtxRelease_v2\0cuCtxPushCurrent_v2\0cuCtxPopCurrent_v2\0"
    "cuMemAlloc_v2\0cuMemFree_v2\0cuMemHostAlloc\0cuMemFreeHost\0"
    "cuMemcpyHtoDAsync_v2\0cuMemcpyDtoHAsync_v2\0cuMemcpyDtoDAsync_v2\0"
    "cuMemsetD8Async\0cuStreamCreate\0cuStreamDestroy_v2\0"
    "cuStreamSynchronize\0cuStreamQuery\0cuStreamWaitEvent\0cuEventCreate\0"
    "cuEventDestroy_v2\0cuEventRecord\0cuEventQuery\0"
    "cuEventElapsedTime\0cuModuleLoadDataEx\0cuModuleUnload\0"
    "cuModuleGetFunction\0cuFuncGetAttribute\0cuFuncSetAttribute\0cuLaunchKerne"
    "l\0"
    // From CUDA 11.4 on.
    "cuStreamBeginCapture_v2\0cuStreamEndCapture\0"
    "cuGraphInstantiateWithFlags\0cuGraphDestroy\0cuGraphLaunch\0"
    "cuGraphExecDestroy\0"
    // From CUDA 12.0 on.
    "cuTensorMapEncodeTiled\0"
    // From CUDA 10.2 on.
    "cuMemGetAllocationGranularity\0cuMemCreate\0"
    "cuMemImportFromShareableHandle\0cuMemExportToShareableHandle\0"
    "cuMemAddressReserve\0cuMemMap\0cuMemSetAccess\0cuMemUnmap\0"
    "cuMemAddressFree\0cuMemRelease\0"
    // From CUDA 11.2 on.
    "cuMemPoolCreate\0cuMemPoolDestroy\0cuMemAllocFromPoolAsync\0"
    "cuMemFreeAsync\0";

// Numbers of CUdevice_attribute, in the order of Attribute.
static const int attributes[] = {16,  39,  81,  82, 111, 97,
                                 103, 120, 115, 75, 76};

static Cause causeOf(Code code) {
  switch (code) {
  case 2: // CUDA_ERROR_OUT_OF_MEMORY
    return Cause::Memory;
  case 200: // CUDA_ERROR_INVALID_IMAGE
  case 209: // CUDA_ERROR_NO_BINARY_FOR_GPU
  case 218: // CUDA_ERROR_INVALID_PTX
  case 221: // CUDA_ERROR_JIT_COMPILER_NOT_FOUND
  case 222: // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    return Cause::Code;
  case 500: // CUDA_ERROR_NOT_FOUND
    return Cause::NotFound;
  case 600: // CUDA_ERROR_NOT_READY
    return Cause::NotReady;
  case 4:   // CUDA_ERROR_DEINITIALIZED
  case 101: // CUDA_ERROR_INVALID_DEVICE, once one that there was
  case 201: // CUDA_ERROR_INVALID_CONTEXT, that of a device which was lost
  case 214: // CUDA_ERROR_ECC_UNCORRECTABLE
  case 220: // CUDA_ERROR_NVLINK_UNCORRECTABLE
  case 709: // CUDA_ERROR_CONTEXT_IS_DESTROYED
    return Cause::Lost;
  case 800: // CUDA_ERROR_NOT_PERMITTED
  case 801: // CUDA_ERROR_NOT_SUPPORTED
    return Cause::Interface;
  default:
    // CUDA_ERROR_STREAM_CAPTURE_*: of the graph that was being made.
    if (code >= 900 && code <= 908)
      return Cause::Interface;
    // From an illegal address to an unknown error: what a kernel did leaves the
    // context without use.
    return code >= 700 ? Cause::Lost : Cause::Interface;
  }
}

/// 0: it does not say.
static int numberOf(ChipVersion chip) { return 10 * chip.major + chip.minor; }

static String features(int, ChipVersion chip) {
  const int number = numberOf(chip);
  return number == 0 ? String() : cuda::featuresOf(number);
}

static bool takes(int, ChipVersion chip, std::string_view format) {
  return cuda::takes(numberOf(chip), format);
}

/// Reads the head of the entry, of which LLVM writes a line for each parameter:
/// CUDA has a function for it from 12.4 on only.
static int countParameters(const String &image, const String &symbol) {
  if (cuda::isCubin(image))
    return cuda::countCubinParameters(image, symbol);
  const String head = ".entry " + symbol + "(";
  size_t begin = image.find(head);
  if (begin == image.npos)
    return -1;
  const size_t end = image.find(')', begin);
  int count = 0;
  for (size_t at = image.find(".param", begin); at < end;
       at = image.find(".param", at + 1))
    ++count;
  return count;
}

/// Numbers of CUtensorMapDataType; negative: it has no such.
static int tensorType(uint32_t elementType) {
  switch (elementType) {
  case ASHLAR_TYPE_U8:
  case ASHLAR_TYPE_I8:
  case ASHLAR_TYPE_BOOL:
    return 0;
  case ASHLAR_TYPE_U16:
  case ASHLAR_TYPE_I16:
    return 1;
  case ASHLAR_TYPE_U32:
    return 2;
  case ASHLAR_TYPE_I32:
    return 3;
  case ASHLAR_TYPE_F16:
    return 6;
  case ASHLAR_TYPE_F32:
    return 7;
  case ASHLAR_TYPE_BF16:
    return 9;
  default:
    return -1;
  }
}

/// Zeros lie outside of the tensor, and what is read is fetched into L2 in
/// pieces of 256 bytes.
static Code encode(const Functions &api, const TensorMap &map, void *address,
                   void *outBlob) {
  uint64_t sizes[TensorMap::maximumRank], strides[TensorMap::maximumRank];
  for (uint32_t i = 0; i < map.rank; ++i) {
    sizes[i] = uint64_t(map.sizes[i]);
    strides[i] = uint64_t(map.strides[i]);
  }
  int swizzle = 0; // none, 32, 64 or 128 bytes are 0 to 3
  for (uint32_t bytes = map.swizzle; bytes >= 32; bytes /= 2)
    ++swizzle;
  return api.TensorMapEncode(outBlob, tensorType(map.elementType), map.rank,
                             address, sizes, strides + 1, map.box, map.steps,
                             /*interleave=*/0, swizzle, /*promotion=*/3,
                             /*fill=*/0);
}

static const Driver &cudaDriver() {
  // Never closed: the driver's threads may outlive whoever opened it.
  static const Driver &known = *[] {
    OwnMemory::Scope ofAll(nullptr); // whichever runtime asks first
    auto *driver = new Driver{{},         functionNames, 0,
                              "cuda",     takes,         cuda::rank,
                              causeOf,    features,      countParameters,
                              attributes, encode};
    if (driver->open("libcuda.so.1"))
      driver->start();
    return driver;
  }();
  return known;
}

extern const DeviceOps cudaDeviceOps;
const DeviceOps cudaDeviceOps = gpuDeviceOps<cudaDriver>(
    "cuda", "NVIDIA's driver (libcuda.so.1) and a GPU that it finds");

} // namespace ashlar::runtime
