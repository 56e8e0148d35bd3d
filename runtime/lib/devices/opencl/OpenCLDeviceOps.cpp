// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OpenCL devices as the runtime sees them. Where memory is buffers, an address
// is a handle of the driver's.

#include "OpenCLLoader.h"
#include "OpenCLQueue.h"

namespace ashlar::runtime {

using namespace opencl;

static OpenCLDevice &deviceOf(void *device) {
  return *static_cast<OpenCLDevice *>(device);
}
static OpenCLQueue &queueOf(void *queue) {
  return *static_cast<OpenCLQueue *>(queue);
}
static OpenCLEvent &eventOf(void *event) {
  return *static_cast<OpenCLEvent *>(event);
}

static uint32_t openclCount() { return uint32_t(drivers().devices.size()); }

static Status openclOpen(uint32_t ordinal, void **outDevice) {
  const Drivers::Device &found = drivers().devices[ordinal];
  auto device = std::make_unique<OpenCLDevice>(drivers().functions, found.id);
  ASHLAR_RETURN_IF_ERROR(device->open(found.platform, ordinal));
  *outDevice = device.release();
  return {};
}

static void openclClose(void *device) { delete &deviceOf(device); }

/// The driver separates them by one space or more.
static String openclFeatures(void *device) {
  String features;
  if (deviceOf(device).number(deviceType) & deviceTypeCpu)
    features = hostProcessorFeature + String(",");
  for (char letter : deviceOf(device).text(deviceExtensions)) {
    if (letter != ' ')
      features += letter;
    else if (!features.empty() && features.back() != ',')
      features += ',';
  }
  return features;
}

static bool openclAccepts(void *device, std::string_view format) {
  return (deviceOf(device).createProgram && format == ASHLAR_OPENCL_FORMAT) ||
         (deviceOf(device).takesSpir && format == ASHLAR_OPENCL_SPIR_FORMAT);
}

static Status openclAllocate(void *device, uint64_t size, ashlar_memory_kind_t,
                             DeviceAddress *outAddress) {
  void *base = nullptr;
  ASHLAR_RETURN_IF_ERROR(deviceOf(device).allocate(size, base));
  *outAddress = {base, 0};
  return {};
}

static void openclFree(void *device, DeviceAddress address, uint64_t size) {
  deviceOf(device).free(address.base, size);
}

static Status openclLoad(void *device, const void *image, uint64_t size,
                         void **outExecutable) {
  auto program = std::make_unique<OpenCLProgram>(deviceOf(device));
  ASHLAR_RETURN_IF_ERROR(program->load(image, size));
  *outExecutable = program.release();
  return {};
}

static Status openclCreateQueue(void *device, const QueueOptions &options,
                                void **outQueue) {
  auto queue = std::make_unique<OpenCLQueue>(deviceOf(device), options);
  ASHLAR_RETURN_IF_ERROR(queue->start());
  *outQueue = queue.release();
  return {};
}

static Status openclCreateEvent(void *device, void **outEvent) {
  *outEvent = new OpenCLEvent(deviceOf(device));
  return {};
}

const DeviceOps openclDeviceOps = {
    "opencl",
    /*programs=*/"opencl",
    MemoryKind::Device,
    // A processor's driver compiles kernels into this very process.
    /*runsNativeCode=*/true,
    /*isOffered=*/true,
    /*returnsEarly=*/true,
    openclCount,
    openclOpen,
    openclClose,
    openclFeatures,
    openclAccepts,
    [](void *device, uint64_t size) {
      return deviceOf(device).checkMemory(size);
    },
    openclAllocate,
    openclFree,
    openclLoad,
    [](void *, void *executable) {
      delete static_cast<OpenCLProgram *>(executable);
    },
    [](void *executable, const KernelForm &form, const void **outKernel) {
      return static_cast<OpenCLProgram *>(executable)->find(form, outKernel);
    },
    openclCreateQueue,
    [](void *queue) { delete &queueOf(queue); },
    [](void *queue, CopyKind kind, DeviceAddress to, DeviceAddress from,
       uint64_t size) { return queueOf(queue).copy(kind, to, from, size); },
    [](void *queue, const Submission &given) {
      return queueOf(queue).submit(given);
    },
    [](void *queue, DeviceAddress from, void *host, uint64_t size) {
      return queueOf(queue).readBack(from, host, size);
    },
    /*follow=*/nullptr,
    openclCreateEvent,
    [](void *event) { delete &eventOf(event); },
    [](void *queue, void *event) {
      return queueOf(queue).record(eventOf(event));
    },
    [](void *queue, void *event) {
      return queueOf(queue).waitFor(eventOf(event));
    },
    [](void *event, uint64_t timeoutNanoseconds, bool *outCame) {
      return eventOf(event).wait(timeoutNanoseconds, outCame);
    },
    /*encode=*/nullptr,
    [](void *queue, const CommandList &list, CommandRange range,
       void **outGraph) {
      std::unique_ptr<OpenCLGraph> graph;
      ASHLAR_RETURN_IF_ERROR(queueOf(queue).capture(list, range, graph));
      *outGraph = graph.release();
      return Status();
    },
    [](void *queue, void *graph, RunControl &control) {
      return queueOf(queue).launch(*static_cast<OpenCLGraph *>(graph), control);
    },
    [](void *graph) { delete static_cast<OpenCLGraph *>(graph); },
    [](void *device, const char *folder, const Logger &logger) {
      deviceOf(device).cache = std::make_unique<DriverCache>(folder, logger);
    },
    "an OpenCL driver that takes SPIR-V",
};

} // namespace ashlar::runtime
