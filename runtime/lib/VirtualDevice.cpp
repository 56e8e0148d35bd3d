// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of Runtime that cuts devices into parts.

#include "VirtualDevice.h"

#include "Runtime.h"

namespace ashlar::runtime {

static bool isName(std::string_view name) {
  constexpr size_t longest = 63;
  return !name.empty() && name.size() <= longest &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
             name.npos;
}

Status Runtime::virtualDevice(std::string_view name, size_t slash,
                              std::shared_ptr<ashlar_device_t> &out) {
  ashlar_device_t *whole = nullptr;
  ASHLAR_RETURN_IF_ERROR(device(name.substr(0, slash), whole));
  std::lock_guard<std::mutex> lock(mutex);
  auto found = devices.find(concat(whole->name, name.substr(slash)));
  if (found == devices.end())
    return failure(ASHLAR_NOT_FOUND,
                   concat("no device ", name,
                          "; ashlar_virtual_device_create cuts it off ",
                          whole->name),
                   name);
  out = found->second;
  return {};
}

Status Runtime::createVirtual(std::string_view name, uint64_t bytes,
                              uint32_t workers, ashlar_device_t *&out) {
  size_t slash = name.find('/');
  if (slash == name.npos || !isName(name.substr(slash + 1)))
    return invalidArgument(
        concat("'", name,
               "' is no name of a virtual device; expected a device's, '/' and "
               "1 to 63 letters, digits, '.', '_' or '-': cpu:0/tenant-a"),
        "name");
  ashlar_device_t *whole = nullptr;
  ASHLAR_RETURN_IF_ERROR(device(name.substr(0, slash), whole));
  ASHLAR_RETURN_IF_ERROR(whole->status());
  String fullName = concat(whole->name, name.substr(slash));
  auto part = makeShared<VirtualPart>();
  std::lock_guard<std::mutex> lock(mutex);
  if (devices.count(fullName))
    return invalidArgument(
        concat("there is a device ", fullName,
               " already; destroy it first, or take another name"),
        "name");
  uint64_t all = workers, room = bytes;
  for (const auto &[each, other] : devices) {
    if (!other->part || &other->whole != whole)
      continue;
    ashlar_budget_statistics_t held = ASHLAR_BUDGET_STATISTICS_INIT;
    root->query(other.get(), held);
    room += held.limit - held.current;
    all += other->part->workers;
  }
  if (all > threads)
    return invalidArgument(concat("virtual devices of ", whole->name,
                                  " would have ", all,
                                  " workers together; there are ", threads,
                                  ", as the runtime's option threads says"),
                           "options.workers");
  // What is held is given back with the part where something fails.
  part->setAside = makeShared<Budget>(fullName, bytes, root);
  ASHLAR_RETURN_IF_ERROR(part->setAside->reserve(whole, bytes));
  ASHLAR_RETURN_IF_ERROR(whole->ops.checkMemory(whole->state, room));
  part->workers = workers;
  part->gate.open(workers);
  auto made = makeShared<ashlar_device_t>(*whole, fullName, part);
  root->addPart(*made, bytes);
  out = made.get();
  devices[fullName] = std::move(made);
  return {};
}

Status Runtime::destroyVirtual(const ashlar_device_t &device) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto at = devices.begin(); at != devices.end(); ++at) {
    if (at->second.get() != &device)
      continue;
    if (!device.part)
      return invalidArgument(
          concat(device.name, " is no virtual device; it lives as long as the "
                              "runtime"),
          "device");
    long users = at->second.use_count() - 1;
    if (users)
      return invalidArgument(
          concat(device.name, " is in use by ", users,
                 " modules or memories; release them and their sessions first"),
          "device");
    devices.erase(at);
    return {};
  }
  return invalidArgument("the device is none of this runtime's", "device");
}

} // namespace ashlar::runtime
