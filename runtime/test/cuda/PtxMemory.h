// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a device: allocations on the host under addresses that the
// host cannot use, so that whoever confuses the two falls at once.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXMEMORY_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXMEMORY_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ashlar::ptx {

struct Allocation {
  uint64_t begin = 0, end = 0; // addresses of the device
  uint8_t *host = nullptr;
  bool isReadOnly = false;
  bool isAdopted = false; // its bytes are another's
  std::string name;       // of a variable
};

/// Sorted, disjoint.
using Allocations = std::vector<Allocation>;

/// The one around `address`; null: none.
const Allocation *find(const Allocations &in, uint64_t address);

/// For any number of threads.
class Memory {
public:
  /// What addresses of the device are beyond the host's: not canonical on
  /// x86-64.
  static constexpr uint64_t beyond = 1ull << 47;
  /// What fresh memory holds: a NaN in each float type.
  static constexpr uint8_t fresh = 0xff;

  Memory() : now(std::make_shared<Allocations>()) {}
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// 0: the host has no more.
  uint64_t allocate(uint64_t size, bool isReadOnly = false,
                    std::string name = {});
  /// Bytes that are there; they are not freed.
  void adopt(uint8_t *host, uint64_t size);
  /// False: no allocation begins there.
  bool release(uint64_t address);

  /// As it is now; later changes make a new one.
  std::shared_ptr<const Allocations> allocations() const;

  /// Where the host has these bytes; null: not within one allocation.
  uint8_t *onHost(uint64_t address, uint64_t size) const;

private:
  uint64_t insert(Allocation made);

  mutable std::mutex mutex;
  std::shared_ptr<Allocations> now;
};

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXMEMORY_H
