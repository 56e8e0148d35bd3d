// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPUs of a vendor's driver as the runtime sees them. A vendor has a function
// that gives the driver, and an instance of this.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUDEVICEOPS_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUDEVICEOPS_H

#include "../../OwnMemory.h"
#include "GpuQueue.h"

namespace ashlar::runtime {

/// DeviceOps' functions for every vendor: what each promises stands there.
namespace gpu {
Status open(const Driver &driver, uint32_t ordinal, void **outDevice);
void close(void *device);
String features(void *device);
bool accepts(void *device, std::string_view format);
uint32_t rank(void *device, std::string_view format, std::string_view required);
Status checkMemory(void *device, uint64_t size);
Status allocate(void *device, uint64_t size, ashlar_memory_kind_t use,
                DeviceAddress *outAddress);
void free(void *device, DeviceAddress address, uint64_t size);
Status load(void *device, const void *image, uint64_t size,
            void **outExecutable);
void unload(void *device, void *executable);
Status findKernel(void *executable, const KernelForm &form,
                  const void **outKernel);
Status createQueue(void *device, const QueueOptions &options, void **outQueue);
void destroyQueue(void *queue);
Status copy(void *queue, CopyKind kind, DeviceAddress to, DeviceAddress from,
            uint64_t size);
Status submit(void *queue, const Submission &given);
Status readBack(void *queue, DeviceAddress from, void *host, uint64_t size);
Status capture(void *queue, const CommandList &list, CommandRange range,
               void **outGraph);
Status launch(void *queue, void *graph, RunControl &control);
void destroyGraph(void *graph);
Status encode(void *device, const TensorMap &map, DeviceAddress address,
              void *outBlob);
Status createEvent(void *device, void **outEvent);
void destroyEvent(void *event);
Status record(void *queue, void *event);
Status waitFor(void *queue, void *event);
Status wait(void *event, uint64_t timeoutNanoseconds, bool *outCame);
void limitWaits(void *device, uint64_t nanoseconds);
extern const ExternalOps externalOps;
} // namespace gpu

/// The table of a vendor's device. `driver` opens the library at the first call
/// and gives the same one ever after; `type` and `needs` are DeviceOps'.
template <const gpu::Driver &(*driver)()>
constexpr DeviceOps gpuDeviceOps(const char *type, const char *needs) {
  return {type,
          /*programs=*/type, MemoryKind::Device,
          // A kernel may reach all memory that this process has on the GPU.
          /*runsNativeCode=*/true,
          /*isOffered=*/true,
          /*returnsEarly=*/true, [] { return uint32_t(driver().deviceCount); },
          [](uint32_t ordinal, void **outDevice) {
            return gpu::open(driver(), ordinal, outDevice);
          },
          gpu::close, gpu::features, gpu::accepts, gpu::checkMemory,
          gpu::allocate, gpu::free, gpu::load, gpu::unload, gpu::findKernel,
          gpu::createQueue, gpu::destroyQueue, gpu::copy, gpu::submit,
          gpu::readBack,
          /*follow=*/nullptr, gpu::createEvent, gpu::destroyEvent, gpu::record,
          gpu::waitFor, gpu::wait, gpu::encode, gpu::capture, gpu::launch,
          gpu::destroyGraph,
          /*useCache=*/nullptr, needs, gpu::rank,
          /*takesStreams=*/true, &gpu::externalOps,
          [] { return driver().whyNone; }, gpu::limitWaits};
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_GPUDEVICEOPS_H
