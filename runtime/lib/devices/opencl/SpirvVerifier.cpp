// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SpirvVerifier.h"

#include "ashlar/runtime/opencl_abi.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime {

// Of the SPIR-V specification, unified 1.4, sections 2.3 and 3.
static constexpr uint32_t magic = 0x07230203, firstVersion = 0x00010000,
                          lastVersion = 0x00010400, headerWords = 5;
static constexpr uint32_t opMemoryModel = 14, opEntryPoint = 15,
                          opFunction = 54, opFunctionEnd = 56;
static constexpr uint32_t physical64 = 2, modelOpenCL = 2;

Status verifySpirv(const void *image, uint64_t size) {
  auto refuse = [](const Words &why) {
    return corrupt(
        concat("the code is no SPIR-V module for OpenCL: ", why.text()),
        ASHLAR_OPENCL_FORMAT);
  };
  uint64_t count = size / 4;
  auto word = [&](uint64_t index) {
    uint32_t value;
    std::memcpy(&value, static_cast<const char *>(image) + 4 * index,
                sizeof(value));
    return value;
  };
  if (size % 4 != 0 || count <= headerWords || word(0) != magic)
    return refuse("it does not begin like one");
  if (word(1) < firstVersion || word(1) > lastVersion)
    return refuse(concat("it is of version ", word(1) >> 16, ".",
                         word(1) >> 8 & 255, "; expected 1.0 to 1.4"));
  uint32_t last = 0;
  bool hasModel = false;
  Vector<uint32_t> kernels, functions;
  for (uint64_t at = headerWords; at < count;) {
    uint32_t length = word(at) >> 16;
    last = word(at) & 0xFFFF;
    if (length == 0 || length > count - at)
      return refuse("it is cut off");
    if (last == opEntryPoint && length > 2)
      kernels.push_back(word(at + 2));
    if (last == opFunction && length > 2)
      functions.push_back(word(at + 2));
    if (last == opMemoryModel && length == 3)
      hasModel = word(at + 1) == physical64 && word(at + 2) == modelOpenCL;
    at += length;
  }
  if (!hasModel)
    return refuse("its memory model is not Physical64 OpenCL");
  // A program may have no kernels.
  if (!kernels.empty() && last != opFunctionEnd)
    return refuse("it does not end with a function");
  std::sort(kernels.begin(), kernels.end());
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  std::sort(functions.begin(), functions.end());
  if (!std::includes(functions.begin(), functions.end(), kernels.begin(),
                     kernels.end()))
    return refuse("it lacks the function of a kernel");
  return {};
}

bool isBitcode(const void *image, uint64_t size) {
  static constexpr char begin[] = {'B', 'C', '\xC0', '\xDE'};
  return size >= sizeof(begin) && std::memcmp(image, begin, sizeof(begin)) == 0;
}

} // namespace ashlar::runtime
