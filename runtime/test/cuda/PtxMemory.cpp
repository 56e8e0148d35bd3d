// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxMemory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace ashlar::ptx;

/// What the driver aligns allocations to, at least.
static constexpr uint64_t allocationAlign = 512;

const Allocation *ashlar::ptx::find(const Allocations &in, uint64_t address) {
  auto after = std::upper_bound(
      in.begin(), in.end(), address,
      [](uint64_t at, const Allocation &each) { return at < each.begin; });
  if (after == in.begin())
    return nullptr;
  const Allocation &found = *(after - 1);
  return address < found.end ? &found : nullptr;
}

Memory::~Memory() {
  for (const Allocation &each : *now)
    if (!each.isAdopted)
      std::free(each.host);
}

uint64_t Memory::allocate(uint64_t size, bool isReadOnly, std::string name) {
  void *host = nullptr;
  if (size == 0 || size >> 46 ||
      posix_memalign(&host, allocationAlign, size) != 0)
    return 0;
  std::memset(host, fresh, size);
  Allocation made;
  made.host = static_cast<uint8_t *>(host);
  made.begin = reinterpret_cast<uint64_t>(host) + beyond;
  made.end = made.begin + size;
  made.isReadOnly = isReadOnly;
  made.name = std::move(name);
  return insert(std::move(made));
}

void Memory::adopt(uint8_t *host, uint64_t size) {
  Allocation made;
  made.host = host;
  made.begin = reinterpret_cast<uint64_t>(host) + beyond;
  made.end = made.begin + size;
  made.isAdopted = true;
  insert(std::move(made));
}

uint64_t Memory::insert(Allocation made) {
  std::lock_guard<std::mutex> lock(mutex);
  auto next = std::make_shared<Allocations>(*now);
  auto at = std::upper_bound(
      next->begin(), next->end(), made.begin,
      [](uint64_t at, const Allocation &each) { return at < each.begin; });
  uint64_t address = made.begin;
  next->insert(at, std::move(made));
  now = std::move(next);
  return address;
}

bool Memory::release(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  const Allocation *found = find(*now, address);
  if (!found || found->begin != address)
    return false;
  uint8_t *host = found->isAdopted ? nullptr : found->host;
  auto next = std::make_shared<Allocations>(*now);
  next->erase(next->begin() + (found - now->data()));
  now = std::move(next);
  std::free(host);
  return true;
}

std::shared_ptr<const Allocations> Memory::allocations() const {
  std::lock_guard<std::mutex> lock(mutex);
  return now;
}

uint8_t *Memory::onHost(uint64_t address, uint64_t size) const {
  std::lock_guard<std::mutex> lock(mutex);
  const Allocation *found = find(*now, address);
  if (!found || size > found->end - address)
    return nullptr;
  return found->host + (address - found->begin);
}
