// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WrappedDevice.h"

#include <cstring>

using namespace ashlar::runtime;

namespace ashlar::test {

const char *name(DeviceCall call) {
  static const char *const names[] = {
      "open",           "checkMemory", "allocate",    "copyIn", "copyOut",
      "loadExecutable", "findKernel",  "createQueue", "execute"};
  return names[int(call)];
}

// Tables of functions have no place for what they wrap.
static DeviceHooks *currentHooks;
static constexpr size_t mostTypes = 8;
static const DeviceOps *innerOps[mostTypes];

namespace {
struct Wrapped {
  const DeviceOps &ops;
  DeviceHooks &hooks;
  uint32_t ordinal;
  void *state = nullptr;

  Status before(DeviceCall call) const {
    return hooks.before ? hooks.before(call, ordinal) : Status();
  }
  void spoil(DeviceCall call, void *bytes, uint64_t size) const {
    if (size != 0 && hooks.spoils && hooks.spoils(call, ordinal))
      static_cast<char *>(bytes)[size - 1] ^= char(0x80);
  }
};
/// An executable or a queue.
struct Part {
  const Wrapped &device;
  void *inner;
};
} // namespace

static Wrapped &of(void *device) { return *static_cast<Wrapped *>(device); }
static Part &partOf(void *part) { return *static_cast<Part *>(part); }

static uint32_t count() { return 2; }

template <size_t Type> static Status open(uint32_t ordinal, void **out) {
  auto device = std::make_unique<Wrapped>(
      Wrapped{*innerOps[Type], *currentHooks, ordinal});
  ASHLAR_RETURN_IF_ERROR(device->before(DeviceCall::Open));
  ASHLAR_RETURN_IF_ERROR(device->ops.open(0, &device->state));
  ++device->hooks.alive;
  *out = device.release();
  return {};
}

static void close(void *device) {
  of(device).ops.close(of(device).state);
  --of(device).hooks.alive;
  delete &of(device);
}

static std::string features(void *device) {
  return of(device).ops.features(of(device).state);
}

static bool accepts(void *device, std::string_view format) {
  return of(device).ops.accepts(of(device).state, format);
}

static Status checkMemory(void *device, uint64_t size) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::CheckMemory));
  return of(device).ops.checkMemory(of(device).state, size);
}

static Status allocate(void *device, uint64_t size, void **out) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::Allocate));
  ASHLAR_RETURN_IF_ERROR(of(device).ops.allocate(of(device).state, size, out));
  ++of(device).hooks.alive;
  return {};
}

static void release(void *device, void *address, uint64_t size) {
  of(device).ops.free(of(device).state, address, size);
  --of(device).hooks.alive;
}

static Status copyIn(void *device, void *target, const void *source,
                     uint64_t size) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::CopyIn));
  return of(device).ops.copyIn(of(device).state, target, source, size);
}

static Status copyOut(void *device, void *target, const void *source,
                      uint64_t size) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::CopyOut));
  ASHLAR_RETURN_IF_ERROR(
      of(device).ops.copyOut(of(device).state, target, source, size));
  of(device).spoil(DeviceCall::CopyOut, target, size);
  return {};
}

static Status loadExecutable(void *device, const void *image, uint64_t size,
                             void **out) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::LoadExecutable));
  void *inner = nullptr;
  ASHLAR_RETURN_IF_ERROR(
      of(device).ops.loadExecutable(of(device).state, image, size, &inner));
  ++of(device).hooks.alive;
  *out = new Part{of(device), inner};
  return {};
}

static void unloadExecutable(void *device, void *executable) {
  of(device).ops.unloadExecutable(of(device).state, partOf(executable).inner);
  --of(device).hooks.alive;
  delete &partOf(executable);
}

static Status findKernel(void *executable, const char *symbol,
                         const void **out) {
  const Wrapped &device = partOf(executable).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::FindKernel));
  return device.ops.findKernel(partOf(executable).inner, symbol, out);
}

static Status createQueue(void *device, const QueueOptions &options,
                          void **out) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::CreateQueue));
  void *inner = nullptr;
  ASHLAR_RETURN_IF_ERROR(
      of(device).ops.createQueue(of(device).state, options, &inner));
  ++of(device).hooks.alive;
  *out = new Part{of(device), inner};
  return {};
}

static void destroyQueue(void *queue) {
  const Wrapped &device = partOf(queue).device;
  device.ops.destroyQueue(partOf(queue).inner);
  --device.hooks.alive;
  delete &partOf(queue);
}

static Status execute(void *queue, Sequencer &sequencer, CommandRange part) {
  const Wrapped &device = partOf(queue).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::Execute));
  return device.ops.execute(partOf(queue).inner, sequencer, part);
}

template <size_t Type> static const DeviceOps *wrap(const DeviceOps &inner) {
  static DeviceOps table;
  innerOps[Type] = &inner;
  table = {inner.type,
           inner.sharesHostMemory,
           inner.runsNativeCode,
           inner.isOffered,
           count,
           open<Type>,
           close,
           features,
           accepts,
           checkMemory,
           allocate,
           release,
           copyIn,
           copyOut,
           loadExecutable,
           unloadExecutable,
           findKernel,
           createQueue,
           destroyQueue,
           execute};
  return &table;
}

std::vector<const DeviceOps *> wrapDevices(DeviceHooks &hooks) {
  using Wrap = const DeviceOps *(*)(const DeviceOps &);
  static const Wrap wraps[mostTypes] = {wrap<0>, wrap<1>, wrap<2>, wrap<3>,
                                        wrap<4>, wrap<5>, wrap<6>, wrap<7>};
  currentHooks = &hooks;
  std::vector<const DeviceOps *> result;
  for (const DeviceOps *inner : allDevices())
    if (std::strcmp(inner->type, "null") != 0 && inner->count() != 0 &&
        result.size() < mostTypes)
      result.push_back(wraps[result.size()](*inner));
  return result;
}

} // namespace ashlar::test
