// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuDeviceOps.h"

namespace ashlar::runtime {

static GpuDevice &deviceOf(void *device) {
  return *static_cast<GpuDevice *>(device);
}
static GpuQueue &queueOf(void *queue) {
  return *static_cast<GpuQueue *>(queue);
}
static GpuEvent &eventOf(void *event) {
  return *static_cast<GpuEvent *>(event);
}

Status gpu::open(const Driver &driver, uint32_t ordinal, void **outDevice) {
  auto device = std::make_unique<GpuDevice>(driver);
  ASHLAR_RETURN_IF_ERROR(device->open(ordinal));
  *outDevice = device.release();
  return {};
}

void gpu::close(void *device) { delete &deviceOf(device); }

String gpu::features(void *device) { return deviceOf(device).features(); }

bool gpu::accepts(void *device, std::string_view format) {
  return deviceOf(device).takes(format);
}

uint32_t gpu::rank(void *device, std::string_view format,
                   std::string_view required) {
  return deviceOf(device).driver.rank(format, required);
}

Status gpu::checkMemory(void *device, uint64_t size) {
  return deviceOf(device).checkMemory(size);
}

Status gpu::allocate(void *device, uint64_t size, ashlar_memory_kind_t,
                     DeviceAddress *outAddress) {
  void *memory = nullptr;
  ASHLAR_RETURN_IF_ERROR(deviceOf(device).allocate(size, memory));
  *outAddress = {memory, 0};
  return {};
}

void gpu::free(void *device, DeviceAddress address, uint64_t size) {
  deviceOf(device).free(address.base, size);
}

Status gpu::load(void *device, const void *image, uint64_t size,
                 void **outExecutable) {
  auto program = std::make_unique<GpuProgram>(deviceOf(device));
  ASHLAR_RETURN_IF_ERROR(program->load(image, size));
  *outExecutable = program.release();
  return {};
}

void gpu::unload(void *, void *executable) {
  delete static_cast<GpuProgram *>(executable);
}

Status gpu::encode(void *device, const TensorMap &map, DeviceAddress address,
                   void *outBlob) {
  const GpuDevice &own = deviceOf(device);
  const bool has = own.api.TensorMapEncode != nullptr;
  const Code code =
      has ? own.driver.encode(own.api, map, address.pointer(), outBlob) : -1;
  if (code == 0)
    return {};
  // The device goes on: it was never asked.
  return failure(ASHLAR_UNSUPPORTED,
                 concat(own.driver.nameOf(&own.api.TensorMapEncode),
                        " does not take a tensor map of ", map.rank, " dims, ",
                        map.sizes[0], " elements and boxes of ", map.box[0],
                        " in the innermost"),
                 own.name);
}

Status gpu::findKernel(void *executable, const KernelForm &form,
                       const void **outKernel) {
  return static_cast<GpuProgram *>(executable)->find(form, outKernel);
}

Status gpu::createQueue(void *device, const QueueOptions &options,
                        void **outQueue) {
  auto queue = std::make_unique<GpuQueue>(deviceOf(device), options);
  ASHLAR_RETURN_IF_ERROR(queue->start());
  *outQueue = queue.release();
  return {};
}

void gpu::destroyQueue(void *queue) { delete &queueOf(queue); }

Status gpu::copy(void *queue, CopyKind kind, DeviceAddress to,
                 DeviceAddress from, uint64_t size) {
  return queueOf(queue).copy(kind, to, from, size);
}

Status gpu::submit(void *queue, const Submission &given) {
  return queueOf(queue).submit(given);
}

Status gpu::readBack(void *queue, DeviceAddress from, void *host,
                     uint64_t size) {
  return queueOf(queue).readBack(from, host, size);
}

Status gpu::capture(void *queue, const CommandList &list, CommandRange range,
                    void **outGraph) {
  std::unique_ptr<GpuGraph> graph;
  ASHLAR_RETURN_IF_ERROR(queueOf(queue).capture(list, range, graph));
  *outGraph = graph.release();
  return {};
}

Status gpu::launch(void *queue, void *graph, RunControl &control) {
  return queueOf(queue).launch(*static_cast<GpuGraph *>(graph), control);
}

void gpu::destroyGraph(void *graph) { delete static_cast<GpuGraph *>(graph); }

Status gpu::createEvent(void *device, void **outEvent) {
  auto event = std::make_unique<GpuEvent>(deviceOf(device));
  ASHLAR_RETURN_IF_ERROR(event->create());
  *outEvent = event.release();
  return {};
}

void gpu::destroyEvent(void *event) { delete &eventOf(event); }

Status gpu::record(void *queue, void *event) {
  return queueOf(queue).record(eventOf(event));
}

Status gpu::waitFor(void *queue, void *event) {
  return queueOf(queue).waitFor(eventOf(event));
}

Status gpu::wait(void *event, uint64_t timeoutNanoseconds, bool *outCame) {
  return eventOf(event).wait(timeoutNanoseconds, outCame);
}

void gpu::limitWaits(void *device, uint64_t nanoseconds) {
  deviceOf(device).limitWaits(nanoseconds);
}

const ExternalOps gpu::externalOps = {
    [](void *device, uint64_t *outBytes) {
      return deviceOf(device).externalGranularity(*outBytes);
    },
    [](void *device, int descriptor, uint64_t size, ExternalMemory *out) {
      return deviceOf(device).openExternal(descriptor, size, *out);
    },
    [](void *device, const ExternalMemory &memory, int *outDescriptor) {
      return deviceOf(device).shareExternal(memory, *outDescriptor);
    },
    [](void *device, const ExternalMemory &memory) {
      deviceOf(device).closeExternal(memory);
    }};

} // namespace ashlar::runtime
