// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contexts that threads go to, streams and events that are used again and
// again, functions that are given all values at once: what Level Zero has under
// other forms.

#include "GpuFunctions.h"
#include "ZeEvent.h"
#include "ZeModule.h"

#include <cstring>

namespace ashlar::runtime {

using gpu::Code;

namespace {

/// The layer's handles are our objects.
template <typename Object, typename Handle> Object &of(Handle *handle) {
  return *reinterpret_cast<Object *>(handle);
}
template <typename Handle, typename Object> Handle handleOf(Object *object) {
  return reinterpret_cast<Handle>(object);
}
/// Made and started; nothing is left of one that did not start.
template <typename Object, typename Handle, typename... Given>
Code make(Handle *out, Given &&...given) {
  auto made = std::make_unique<Object>(std::forward<Given>(given)...);
  if (Code code = made->create())
    return code;
  *out = handleOf<Handle>(made.release());
  return 0;
}
template <typename Object, typename Handle> Code drop(Handle handle) {
  delete &of<Object>(handle);
  return 0;
}

Code getErrorName(Code code, const char **name) {
  *name = ze::nameOf(code);
  return *name ? 0 : ze::invalidArgument;
}

Code getDeviceName(char *name, int size, int id) {
  ze::DeviceProperties said = {};
  const ze::Gpu &own = ze::gpuAt(id);
  if (Code code = own.api.DeviceGetProperties(own.device, &said))
    return code;
  std::strncpy(name, said.name, size_t(size) - 1);
  return 0;
}

/// There is no memory of a workgroup beyond what the code declares, and the
/// layer asks for nothing else.
Code getDeviceAttribute(int *value, int, int) {
  *value = 0;
  return 0;
}

Code getTotalMemory(size_t *bytes, int id) {
  const ze::Gpu &own = ze::gpuAt(id);
  uint32_t count = 0;
  if (Code code =
          own.api.DeviceGetMemoryProperties(own.device, &count, nullptr))
    return code;
  Vector<ze::MemoryProperties> all(count);
  if (Code code =
          own.api.DeviceGetMemoryProperties(own.device, &count, all.data()))
    return code;
  // What is allocated lies in the first.
  *bytes = all.empty() ? 0 : size_t(all[0].bytes);
  return 0;
}

Code allocateMemory(void **out, size_t bytes) {
  constexpr size_t alignment = 64;
  const ze::Gpu &own = ze::current();
  const ze::DeviceMemory how;
  return own.api.MemAllocDevice(own.context, &how, bytes, alignment, own.device,
                                out);
}
Code allocateHost(void **out, size_t bytes, unsigned) {
  constexpr size_t alignment = 64;
  const ze::Gpu &own = ze::current();
  const ze::HostMemory how;
  return own.api.MemAllocHost(own.context, &how, bytes, alignment, out);
}
Code freeMemory(void *memory) {
  return ze::current().api.MemFree(ze::current().context, memory);
}

/// The driver knows by the addresses which side is the host's.
Code copy(void *to, const void *from, size_t bytes, gpu::Stream stream) {
  auto &own = of<ze::Stream>(stream);
  // Drivers refuse what overlaps; ranges do in no other way.
  if (to == from)
    return 0;
  return own.add([&](ze::ListId list) {
    return own.gpu.api.CommandListAppendMemoryCopy(list, to, from, bytes,
                                                   nullptr, 0, nullptr);
  });
}
Code setBytes(void *to, unsigned char value, size_t bytes, gpu::Stream stream) {
  auto &own = of<ze::Stream>(stream);
  return own.add([&](ze::ListId list) {
    return own.gpu.api.CommandListAppendMemoryFill(list, to, &value, 1, bytes,
                                                   nullptr, 0, nullptr);
  });
}

Code createEvent(gpu::EventId *out, unsigned flags) {
  constexpr unsigned withoutTiming = 2;
  return make<ze::Mark>(out, ze::current(), (flags & withoutTiming) == 0);
}

/// Milliseconds.
Code getElapsed(float *out, gpu::EventId from, gpu::EventId to) {
  const auto &begin = of<ze::Mark>(from), &end = of<ze::Mark>(to);
  const ze::DeviceProperties &said = begin.gpu.properties;
  uint64_t ticks = end.time() - begin.time();
  if (said.timestampBits > 0 && said.timestampBits < 64)
    ticks &= (uint64_t(1) << said.timestampBits) - 1;
  if (said.timerResolution == 0)
    return ze::unsupportedVersion;
  *out = float(double(ticks) * double(said.timerResolution) / 1e6);
  return 0;
}

Code findFunction(gpu::Function *out, gpu::Module module, const char *name) {
  ze::Function *found = nullptr;
  if (Code code = of<ze::LoadedModule>(module).find(name, found))
    return code;
  // A driver would say so at the first launch.
  if (found->properties.localBytes > ze::current().compute.localBytes)
    return ze::unsupportedSize;
  *out = handleOf<gpu::Function>(found);
  return 0;
}

/// The one that is asked for is the most threads of a workgroup.
Code getFunctionAttribute(int *value, int, gpu::Function) {
  *value = int(ze::current().compute.groupSize);
  return 0;
}

Code launch(gpu::Function function, unsigned groups, unsigned, unsigned,
            unsigned threads, unsigned, unsigned, unsigned, gpu::Stream stream,
            void **values, void **) {
  return of<ze::Function>(function).launch(of<ze::Stream>(stream), groups,
                                           threads, values);
}

Code beginCapture(gpu::Stream stream, int) {
  return of<ze::Stream>(stream).beginCapture();
}
Code endCapture(gpu::Stream stream, gpu::Graph *out) {
  ze::Commands *made = nullptr;
  if (Code code = of<ze::Stream>(stream).endCapture(made))
    return code;
  *out = handleOf<gpu::Graph>(made);
  return 0;
}
/// A list that is closed can be run.
Code instantiate(gpu::GraphExec *out, gpu::Graph graph, unsigned long long) {
  ++of<ze::Commands>(graph).owners;
  *out = handleOf<gpu::GraphExec>(&of<ze::Commands>(graph));
  return 0;
}
template <typename Handle> Code disown(Handle handle) {
  auto &commands = of<ze::Commands>(handle);
  return --commands.owners == 0 ? drop<ze::Commands>(handle) : 0;
}

// In the order of ASHLAR_GPU_FUNCTIONS, then ASHLAR_GPU_GRAPH_FUNCTIONS and
// ASHLAR_GPU_TENSOR_FUNCTIONS: what each asks of the driver.
} // namespace

const char ze::gpuFunctionNames[] =
    "zeInit\0zeResultName\0zeDeviceGet\0zeDeviceGet\0zeDeviceGetProperties\0"
    "zeDeviceGetProperties\0zeDeviceGetMemoryProperties\0zeContextCreate\0"
    "zeContextDestroy\0zeContext\0zeContext\0zeMemAllocDevice\0zeMemFree\0"
    "zeMemAllocHost\0zeMemFree\0zeCommandListAppendMemoryCopy\0"
    "zeCommandListAppendMemoryCopy\0zeCommandListAppendMemoryCopy\0"
    "zeCommandListAppendMemoryFill\0zeCommandQueueCreate\0"
    "zeCommandQueueDestroy\0zeCommandQueueSynchronize\0"
    "zeCommandQueueSynchronize\0zeCommandListAppendWaitOnEvents\0"
    "zeEventCreate\0zeEventDestroy\0zeCommandListAppendSignalEvent\0"
    "zeEventHostSynchronize\0"
    "zeCommandListAppendWriteGlobalTimestamp\0zeModuleCreate\0zeModuleDestroy\0"
    "zeKernelCreate\0zeDeviceGetComputeProperties\0zeKernelSetAttribute\0"
    "zeCommandListAppendLaunchKernel\0zeCommandListCreate\0"
    "zeCommandListClose\0zeCommandListClose\0zeCommandListDestroy\0"
    "zeCommandQueueExecuteCommandLists\0zeCommandListDestroy\0tensor maps\0";

const gpu::Functions ze::gpuFunctions = {
    [](unsigned) { return 0; },
    getErrorName,
    [](int *count) {
      *count = int(ze::drivers().gpus.size());
      return 0;
    },
    [](int *id, int ordinal) {
      *id = ordinal;
      return 0;
    },
    getDeviceName,
    getDeviceAttribute,
    getTotalMemory,
    [](gpu::Context *out, int id) {
      if (Code code = ze::gpuAt(id).retain())
        return code;
      *out = handleOf<gpu::Context>(&ze::gpuAt(id));
      return 0;
    },
    [](int id) {
      ze::gpuAt(id).release();
      return 0;
    },
    [](gpu::Context context) { return ze::push(&of<ze::Gpu>(context)); },
    [](gpu::Context *out) {
      ze::Gpu *popped;
      const Code code = ze::pop(&popped);
      *out = handleOf<gpu::Context>(popped);
      return code;
    },
    allocateMemory,
    freeMemory,
    allocateHost,
    freeMemory,
    copy,
    copy,
    copy,
    setBytes,
    [](gpu::Stream *out, unsigned) {
      return make<ze::Stream>(out, ze::current());
    },
    drop<ze::Stream, gpu::Stream>,
    [](gpu::Stream stream) {
      return of<ze::Stream>(stream).synchronize(UINT64_MAX);
    },
    [](gpu::Stream stream) { return of<ze::Stream>(stream).synchronize(0); },
    [](gpu::Stream stream, gpu::EventId event, unsigned) {
      return of<ze::Mark>(event).waitIn(of<ze::Stream>(stream));
    },
    createEvent,
    drop<ze::Mark, gpu::EventId>,
    [](gpu::EventId event, gpu::Stream stream) {
      return of<ze::Mark>(event).record(of<ze::Stream>(stream));
    },
    [](gpu::EventId event) { return of<ze::Mark>(event).query(); },
    getElapsed,
    /*ModuleLoad=*/nullptr, // Driver::load does
    drop<ze::LoadedModule, gpu::Module>,
    findFunction,
    getFunctionAttribute,
    [](gpu::Function, int, int) { return Code(ze::unsupportedSize); },
    launch,
    beginCapture,
    endCapture,
    instantiate,
    disown<gpu::Graph>,
    [](gpu::GraphExec graph, gpu::Stream stream) {
      return of<ze::Stream>(stream).run(of<ze::Commands>(graph));
    },
    disown<gpu::GraphExec>,
    // Neither tensor maps nor memory that has file descriptors.
};

int ze::countParameters(gpu::Function function) {
  return int(of<ze::Function>(function).properties.arguments);
}

Code ze::loadModule(const String &image, gpu::Module *out, char *log,
                    size_t logBytes) {
  auto made = std::make_unique<ze::LoadedModule>(ze::current());
  if (Code code = made->build(image, log, logBytes))
    return code;
  *out = handleOf<gpu::Module>(made.release());
  return 0;
}

} // namespace ashlar::runtime
