// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device that wraps any other: everything goes through a hook that may look
// on, wait, or fail the call; what is copied to the host may be corrupted. What
// was opened, allocated, loaded and created is counted until it is given back.
// A wrapper offers two devices of its type, ":0" and ":1", both the same one
// inside.

#ifndef ASHLAR_RUNTIME_CONFORMANCE_WRAPPEDDEVICE_H
#define ASHLAR_RUNTIME_CONFORMANCE_WRAPPEDDEVICE_H

#include "devices/Device.h"

#include <atomic>
#include <functional>

namespace ashlar::test {

enum class DeviceCall {
  Open,
  CheckMemory,
  Allocate,
  LoadExecutable,
  FindKernel,
  CreateQueue,
  Copy,
  Submit,
  ReadBack,
  Follow,
  CreateEvent,
  Record,
  WaitFor,
  Wait,
  Encode,
  Capture,
  Launch
};
/// Whether it gives a queue commands to run.
inline bool runsCommands(DeviceCall call) {
  return call == DeviceCall::Submit || call == DeviceCall::Follow ||
         call == DeviceCall::Launch;
}
const char *name(DeviceCall call);

struct DeviceHooks {
  /// Before every call that can fail: what it returns in place of the call
  /// where that is not OK. Any thread. Empty: nothing.
  std::function<runtime::Status(DeviceCall, uint32_t ordinal)> before;
  /// Whether what a copy has just written is to be spoilt. Empty: never.
  std::function<bool(DeviceCall, uint32_t ordinal)> spoils;
  /// Opened, allocated, loaded and created, and not given back yet.
  std::atomic<int64_t> alive{0};
};

/// The wrappers of all devices that the machine has, null left out. One set of
/// hooks at a time.
runtime::Vector<const runtime::DeviceOps *> wrapDevices(DeviceHooks &hooks);

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_CONFORMANCE_WRAPPEDDEVICE_H
