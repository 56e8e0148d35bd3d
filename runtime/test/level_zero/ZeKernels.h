// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SPIR-V run by an OpenCL device that reaches the host's memory.

#ifndef ASHLAR_RUNTIME_TEST_LEVEL_ZERO_ZEKERNELS_H
#define ASHLAR_RUNTIME_TEST_LEVEL_ZERO_ZEKERNELS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::ze {

/// A module that was built.
class Runnable {
public:
  virtual ~Runnable() = default;
  /// Waits for its end. `values` are those of the arguments; a size of 0 is an
  /// address. False: the device has failed.
  virtual bool run(const std::string &kernel,
                   const std::vector<uint32_t> &sizes,
                   const std::vector<std::vector<uint8_t>> &values,
                   uint32_t groups, uint32_t threads) = 0;
  virtual uint64_t localBytes(const std::string &kernel) = 0;
  /// Bytes of each parameter, by kernel; 0: an address.
  std::map<std::string, std::vector<uint32_t>> kernels;
};

/// Whether there is such a device.
bool hasDevice();
/// Null: the device does not take it, and the log says why.
std::shared_ptr<Runnable> buildModule(std::string_view image, bool rounds,
                                      std::string &log);

/// In OpenCL C; what kernels with matrices are linked with.
extern const char *const matrixFunctions;

/// By the SPIR-V specification, unified 1.4, section 3.32.
std::map<std::string, std::vector<uint32_t>>
readKernels(std::string_view image);

} // namespace ashlar::ze

#endif // ASHLAR_RUNTIME_TEST_LEVEL_ZERO_ZEKERNELS_H
