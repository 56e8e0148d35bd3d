// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of OpenCL's codes, and what they mean for who runs a model.

#include "OpenCLDevice.h"

#include <cstring>

namespace ashlar::runtime {

using namespace opencl;

// From 0 down, each ended; numbers without a name are empty. In one piece, as
// a table of pointers would be three times as large.
static const char codeNames[] =
    "SUCCESS\0DEVICE_NOT_FOUND\0DEVICE_NOT_AVAILABLE\0COMPILER_NOT_AVAILABLE\0"
    "MEM_OBJECT_ALLOCATION_FAILURE\0OUT_OF_RESOURCES\0OUT_OF_HOST_MEMORY\0"
    "PROFILING_INFO_NOT_AVAILABLE\0MEM_COPY_OVERLAP\0IMAGE_FORMAT_MISMATCH\0"
    "IMAGE_FORMAT_NOT_SUPPORTED\0BUILD_PROGRAM_FAILURE\0MAP_FAILURE\0"
    "MISALIGNED_SUB_BUFFER_OFFSET\0EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST\0"
    "COMPILE_PROGRAM_FAILURE\0LINKER_NOT_AVAILABLE\0LINK_PROGRAM_FAILURE\0"
    "DEVICE_PARTITION_FAILED\0KERNEL_ARG_INFO_NOT_AVAILABLE\0"
    "\0\0\0\0\0\0\0\0\0\0" // 20 to 29
    "INVALID_VALUE\0INVALID_DEVICE_TYPE\0INVALID_PLATFORM\0INVALID_DEVICE\0"
    "INVALID_CONTEXT\0INVALID_QUEUE_PROPERTIES\0INVALID_COMMAND_QUEUE\0"
    "INVALID_HOST_PTR\0INVALID_MEM_OBJECT\0INVALID_IMAGE_FORMAT_DESCRIPTOR\0"
    "INVALID_IMAGE_SIZE\0INVALID_SAMPLER\0INVALID_BINARY\0"
    "INVALID_BUILD_OPTIONS\0INVALID_PROGRAM\0INVALID_PROGRAM_EXECUTABLE\0"
    "INVALID_KERNEL_NAME\0INVALID_KERNEL_DEFINITION\0INVALID_KERNEL\0"
    "INVALID_ARG_INDEX\0INVALID_ARG_VALUE\0INVALID_ARG_SIZE\0"
    "INVALID_KERNEL_ARGS\0INVALID_WORK_DIMENSION\0INVALID_WORK_GROUP_SIZE\0"
    "INVALID_WORK_ITEM_SIZE\0INVALID_GLOBAL_OFFSET\0INVALID_EVENT_WAIT_LIST\0"
    "INVALID_EVENT\0INVALID_OPERATION\0INVALID_GL_OBJECT\0"
    "INVALID_BUFFER_SIZE\0INVALID_MIP_LEVEL\0INVALID_GLOBAL_WORK_SIZE\0"
    "INVALID_PROPERTY";
static constexpr Code lastCode = -64;

String openclCodeName(Code code) {
  if (code <= 0 && code >= lastCode) {
    const char *name = codeNames;
    for (Code at = 0; at != code; --at)
      name += std::strlen(name) + 1;
    if (*name)
      return concat("CL_", name);
  }
  return concat("error ", code);
}

Status OpenCLDevice::failed(const char *call, Code code) const {
  ashlar_status_code_t kind = ASHLAR_INTERNAL;
  const char *advice = "the driver refuses what it should take: try another "
                       "version of it";
  switch (code) {
  case deviceNotAvailable:
  case outOfResources:
    kind = ASHLAR_DEVICE_LOST;
    advice = "the device is lost: load the module again, there or elsewhere";
    break;
  case memObjectAllocationFailure:
  case outOfHostMemory:
    kind = ASHLAR_OUT_OF_BUDGET;
    advice = "it has no more memory: run fewer sessions or a smaller model";
    break;
  default:
    break;
  }
  return failure(kind,
                 concat(call, " failed with ", openclCodeName(code), " on ",
                        name, "; ", advice),
                 name);
}

Status OpenCLDevice::lacksMemory(const char *call, Code code,
                                 uint64_t size) const {
  if (code != memObjectAllocationFailure && code != outOfResources &&
      code != outOfHostMemory && code != invalidBufferSize)
    return failed(call, code);
  return failure(ASHLAR_OUT_OF_BUDGET,
                 concat(call, " failed with ", openclCodeName(code), " on ",
                        name, ": it has no ", size,
                        " bytes; run fewer sessions or a smaller model"),
                 name);
}

} // namespace ashlar::runtime
