// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch costs on opencl:0, in microseconds a kernel: by OpenCL's own
// functions, and by the device's queue; and as part of what the driver has
// recorded, where the device records. The kernel adds 16 floats. With the shim
// (LD_LIBRARY_PATH) and ASHLAR_SHIM_GPU=1 a processor's device records as well.

#include "NeedsOpenCL.h"
#include "devices/opencl/OpenCLLoader.h"
#include "devices/opencl/OpenCLProgram.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

using namespace ashlar::runtime;
using namespace ashlar::test;

static constexpr int64_t elements = 16;

/// The least of nine times, by the kernel.
static double measure(int launches, const std::function<void(int)> &run) {
  double best = 1e9;
  for (int round = 0; round < 9; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 2000 / launches; ++i)
      run(launches);
    std::chrono::duration<double, std::micro> took =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / (2000 / launches * launches));
  }
  return best;
}

int main() {
  if (std::string why = whyNoOpenCL(); !why.empty()) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  const DeviceOps &ops = openclDeviceOps;
  ashlar_device_t device(ops, "opencl:0");
  std::vector<uint8_t> code = openclKernels();
  void *program, *queue, *event;
  const void *kernel;
  DeviceAddress memory;
  QueueOptions options = {};
  options.workers = 2;
  bool sound =
      device.open(0).ok() &&
      ops.loadExecutable(device.state, code.data(), code.size(), &program)
          .ok() &&
      ops.findKernel(program, {"add_f32", 3, 2, {}, {1, 1, 1}, 0, {}}, &kernel)
          .ok() &&
      ops.createQueue(device.state, options, &queue).ok() &&
      ops.createEvent(device.state, &event).ok() &&
      ops.allocate(device.state, 4096, ASHLAR_MEMORY_ARENA, &memory).ok();
  if (!sound)
    return 1;

  // A list with as many dispatches as are launched at a time.
  CommandList list;
  for (int i = 0; i < 100; ++i) {
    Command command = {};
    command.loop = command.launch = Command::none;
    command.kernel = kernel;
    command.pointers = 3;
    command.extent = 1;
    list.commands.push_back(command);
  }
  list.addresses = {memory, memory + 1024, memory + 2048};
  list.parameters = {elements, elements};
  RunControl control;
  LoopCounters counters = {};
  auto ours = [&](int launches) {
    bool came;
    sound &= ops.submit(queue, {list, {0, size_t(launches)}, control, counters})
                 .ok() &&
             ops.record(queue, event).ok() &&
             ops.wait(event, UINT64_MAX, &came).ok();
  };

  const opencl::Functions &cl = opencl::drivers().functions;
  auto &opened = *static_cast<OpenCLDevice *>(device.state);
  opencl::Code failed = 0;
  opencl::Kernel own =
      static_cast<const OpenCLKernel *>(kernel)->make(opened, failed);
  opencl::CommandQueue ownQueue =
      cl.CreateCommandQueue(opened.context, opened.id, 0, &failed);
  const size_t one = 1;
  auto setArguments = [&](uint32_t number) {
    uint32_t at = 0;
    auto set = [&](auto value) {
      failed |= cl.SetKernelArg(own, at++, sizeof(value), &value);
    };
    auto give = [&] {
      failed |= opened.memory.give(own, at++, memory.base).code;
    };
    for (int j = 0; j < 3; ++j)
      give();
    for (uint64_t j = 0; j < 3; ++j)
      set(j * 1024);
    set(elements), set(elements);
    give(), set(uint64_t(0)), set(uint64_t(0)), set(int64_t(1));
    give(), set(number);
  };
  auto raw = [&](int launches) {
    for (int i = 0; i < launches; ++i) {
      setArguments(uint32_t(i));
      failed |= cl.EnqueueNDRangeKernel(ownQueue, own, 1, nullptr, &one, &one,
                                        0, nullptr, nullptr);
    }
    failed |= cl.Finish(ownQueue);
  };
  const opencl::CommandBufferFunctions *recorder =
      opened.recorder ? &*opened.recorder : nullptr;
  opencl::CommandBuffer recorded = nullptr;
  auto record = [&](int launches) {
    recorded = recorder->CreateCommandBufferKHR(1, &ownQueue, nullptr, &failed);
    for (int i = 0; i < launches; ++i) {
      setArguments(uint32_t(i));
      failed |= recorder->CommandNDRangeKernelKHR(recorded, nullptr, nullptr,
                                                  own, 1, nullptr, &one, &one,
                                                  0, nullptr, nullptr, nullptr);
    }
    failed |= recorder->FinalizeCommandBufferKHR(recorded);
  };
  auto rawRecorded = [&](int) {
    failed |= recorder->EnqueueCommandBufferKHR(0, nullptr, recorded, 0,
                                                nullptr, nullptr);
    failed |= cl.Finish(ownQueue);
  };
  void *graph = nullptr;
  auto oursRecorded = [&](int) {
    bool came;
    sound &= ops.launch(queue, graph, control).ok() &&
             ops.record(queue, event).ok() &&
             ops.wait(event, UINT64_MAX, &came).ok();
  };

  std::printf("%s\nlaunches   raw  ours%s\n", opened.name.c_str(),
              recorder ? "  recorded: raw  ours" : "");
  for (int launches : {1, 10, 100}) {
    double theirs = measure(launches, raw), mine = measure(launches, ours);
    std::printf("%8d %5.2f %5.2f", launches, theirs, mine);
    // One kernel is not recorded.
    if (recorder && launches > 1) {
      record(launches);
      sound &=
          ops.capture(queue, list, {0, size_t(launches)}, &graph).ok() && graph;
      if (!sound)
        return 1;
      std::printf("           %5.2f %5.2f", measure(launches, rawRecorded),
                  measure(launches, oursRecorded));
      failed |= recorder->ReleaseCommandBufferKHR(recorded);
      ops.destroyGraph(graph);
    }
    std::printf("\n");
  }
  cl.ReleaseKernel(own);
  cl.ReleaseCommandQueue(ownQueue);
  ops.destroyQueue(queue);
  ops.destroyEvent(event);
  ops.free(device.state, memory, 4096);
  ops.unloadExecutable(device.state, program);
  return sound && failed == 0 ? 0 : 1;
}
