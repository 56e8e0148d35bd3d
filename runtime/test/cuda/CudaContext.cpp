// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which context is current, and its end.

#include "CudaExport.h"
#include "CudaLimits.h"

#include <cstdio>
#include <cstdlib>

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

/// Removes what lives in the context; how many that were.
template <class Object>
static int64_t drop(Handles<Object> &from, Context &context, const char *what) {
  int64_t count = 0;
  for (auto at = from.begin(); at != from.end();) {
    if (at->second->context != &context) {
      ++at;
      continue;
    }
    state().gone[at->first] = what;
    at = from.erase(at);
    ++count;
  }
  return count;
}

void ashlar::cuda::closeContext(Lock &lock,
                                const std::shared_ptr<Context> &context) {
  State &all = state();
  context->isGone = true;
  std::vector<std::shared_ptr<Stream>> streams;
  for (auto &[handle, stream] : all.streams)
    if (stream->context == context.get())
      streams.push_back(stream);
  waitForAll(lock, *context);
  for (auto &stream : streams) {
    if (stream->capturing) {
      ++ashlar_cuda_double.misuses;
      std::fprintf(stderr, "cuda double: misuse: a capture never ended\n");
    }
    closeStream(lock, stream);
  }
  closeStream(lock, context->standard);
  auto leave = [](CudaDouble::Kind kind, int64_t count) {
    ashlar_cuda_double.left[kind] += count;
    ashlar::cuda::count(kind, -count);
  };
  leave(CudaDouble::Streams, drop(all.streams, *context, "stream"));
  leave(CudaDouble::Events, drop(all.events, *context, "event"));
  leave(CudaDouble::Graphs,
        drop(all.graphs, *context, "graph") +
            drop(all.executableGraphs, *context, "executable graph"));
  drop(all.kernels, *context, "function");
  leave(CudaDouble::Modules, drop(all.modules, *context, "module"));
  std::vector<CUdeviceptr> mapped;
  for (auto &[address, memory] : context->allocations)
    if (memory.isMapped)
      mapped.push_back(address);
  leave(CudaDouble::VirtualMemory, int64_t(mapped.size()));
  for (CUdeviceptr address : mapped) {
    unmap(address);
    count(CudaDouble::VirtualMemory, 1);
  }
  leave(CudaDouble::DeviceMemory, int64_t(context->allocations.size()));
  while (!context->allocations.empty()) {
    CUdeviceptr address = context->allocations.begin()->first;
    releaseMemory(*context, address);
    count(CudaDouble::DeviceMemory, 1);
  }
  leave(CudaDouble::HostMemory, int64_t(context->pinned.size()));
  for (auto [address, size] : context->pinned)
    std::free(reinterpret_cast<void *>(address));
  context->pinned.clear();
  uint64_t handle = reinterpret_cast<uint64_t>(context->handle);
  all.gone[handle] = "context";
  all.contexts.erase(handle);
  count(CudaDouble::Contexts, -1);
}

CUcontext ashlar::cuda::contextByDefault() { return nullptr; }

/// Null: misuse.
static Context *contextOf(Call &call, CUcontext handle) {
  auto &all = state().contexts;
  auto found = all.find(reinterpret_cast<uint64_t>(handle));
  if (found != all.end())
    return found->second.get();
  bool isGone = state().gone.count(reinterpret_cast<uint64_t>(handle));
  call.refusal =
      call.misuse(isGone ? CONTEXT_IS_DESTROYED : INVALID_CONTEXT,
                  isGone ? "the context was released" : "no such context");
  return nullptr;
}

ASHLAR_CUDA_EXPORT cuCtxSetCurrent(CUcontext context) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  auto &stack = currentContexts();
  if (context && !contextOf(call, context))
    return call.refusal;
  if (!stack.empty())
    stack.pop_back();
  if (context)
    stack.push_back(context);
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuCtxGetCurrent(CUcontext *context) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(context)
  auto &stack = currentContexts();
  *context = stack.empty() ? nullptr : stack.back();
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuCtxPushCurrent_v2(CUcontext context) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  if (!contextOf(call, context))
    return call.refusal;
  currentContexts().push_back(context);
  return SUCCESS;
}

// What it takes off is what was pushed: giving back.
ASHLAR_CUDA_EXPORT cuCtxPopCurrent_v2(CUcontext *context) {
  ASHLAR_CUDA_BEGIN(Call::Initialized, true)
  auto &stack = currentContexts();
  if (stack.empty())
    return call.misuse(INVALID_CONTEXT, "no context is current");
  if (context)
    *context = stack.back();
  stack.pop_back();
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuCtxGetDevice(CUdevice *device) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(device)
  *device = call.context->device->ordinal;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuCtxSynchronize() {
  Call call(__func__, Call::Current);
  // Who is refused takes back what may still be in use.
  if (call.context)
    waitForAll(call.lock, *call.context);
  return call.refusal ? call.refusal : call.context->fault;
}

ASHLAR_CUDA_EXPORT cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return SUCCESS;
}
