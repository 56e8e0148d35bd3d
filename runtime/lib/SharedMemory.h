// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of a device that goes to others and comes from them by file
// descriptor, charged as long as it is held here.

#ifndef ASHLAR_RUNTIME_LIB_SHAREDMEMORY_H
#define ASHLAR_RUNTIME_LIB_SHAREDMEMORY_H

#include "Runtime.h"

namespace ashlar::runtime {

/// Opened by one thread; then any thread. The device must not be lost.
class SharedMemory {
public:
  explicit SharedMemory(std::shared_ptr<Runtime> runtime)
      : runtime(std::move(runtime)) {}
  ~SharedMemory();
  SharedMemory(const SharedMemory &) = delete;

  /// At most once. New memory where `descriptor` is negative.
  Status open(const ashlar_device_t &on, Budget &budget, const String &name,
              int descriptor, uint64_t bytes);
  /// A descriptor that the caller closes.
  Status share(int *outDescriptor) const;
  /// Where it is, how large, and whose.
  void query(ashlar_memory_info_t &out) const;

  const std::shared_ptr<Runtime> runtime; // which thus lives longer

private:
  std::shared_ptr<ashlar_device_t> device; // so that no part goes meanwhile
  Charge charge;                           // as outputs, while it is open
  ExternalMemory memory;                   // of size 0: none
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_SHAREDMEMORY_H
