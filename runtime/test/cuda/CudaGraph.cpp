// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams that capture, and the graphs that come of it.

#include "CudaExport.h"

#include <algorithm>

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

static constexpr int threadLocal = 1;

ASHLAR_CUDA_EXPORT cuStreamBeginCapture_v2(CUstream handle, int mode) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  if (reinterpret_cast<uint64_t>(handle) <= 2)
    return call.misuse(STREAM_CAPTURE_UNSUPPORTED,
                       "the standard stream does not capture");
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  if (stream->capturing)
    return call.misuse(ILLEGAL_STATE, "the stream captures already");
  if (mode != threadLocal)
    return call.misuse(INVALID_VALUE, "a mode in which calls of other threads "
                                      "end the capture");
  stream->capturing = std::make_shared<Graph>();
  stream->capturing->context = call.context;
  stream->isCaptureInvalid = false;
  threadCaptures().push_back(stream);
  return SUCCESS;
}

/// However it ends, the stream does not capture any more.
ASHLAR_CUDA_EXPORT cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  Call call(__func__, Call::Current);
  if (!call.context)
    return call.refusal;
  const CUresult refused = call.refusal;
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  ASHLAR_CUDA_NOT_NULL(graph)
  *graph = nullptr;
  if (!stream->capturing)
    return call.misuse(ILLEGAL_STATE, "the stream does not capture");
  auto &captures = threadCaptures();
  auto own = std::find(captures.begin(), captures.end(), stream);
  if (own == captures.end())
    return call.misuse(STREAM_CAPTURE_WRONG_THREAD,
                       "another thread began the capture");
  captures.erase(own);
  std::shared_ptr<Graph> made = std::move(stream->capturing);
  stream->capturing = nullptr;
  if (refused)
    return refused;
  if (stream->isCaptureInvalid)
    return STREAM_CAPTURE_INVALIDATED;
  uint64_t number = state().newHandle();
  state().graphs[number] = std::move(made);
  count(CudaDouble::Graphs, 1);
  *graph = reinterpret_cast<CUgraph>(number);
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuGraphInstantiateWithFlags(CUgraphExec *made, CUgraph from,
                                               unsigned long long flags) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(made)
  auto graph = call.find(state().graphs, from, "graph");
  if (!graph)
    return call.refusal;
  if (flags)
    return call.misuse(INVALID_VALUE, "flags that the double does not know");
  uint64_t number = state().newHandle();
  state().executableGraphs[number] = std::make_shared<Graph>(*graph);
  count(CudaDouble::Graphs, 1);
  *made = reinterpret_cast<CUgraphExec>(number);
  return SUCCESS;
}

/// What its nodes would use is all there; else what is not.
static std::string missingIn(const Context &context, const Graph &graph) {
  auto holds = [](auto &in, Range range, auto sizeOf) {
    auto after = in.upper_bound(range.begin);
    if (after == in.begin())
      return false;
    --after;
    return range.end <= after->first + sizeOf(after->second);
  };
  for (const Task &node : graph.nodes) {
    bool isLoaded = !node.keeps;
    for (auto &[handle, module] : state().modules)
      isLoaded |= module == node.keeps;
    if (!isLoaded)
      return std::string(node.what) + " of a module that was unloaded";
    for (const Range &each : node.uses)
      if (!holds(context.allocations, each,
                 [](const DeviceMemory &memory) {
                   return memory.isBeingFreed ? 0 : memory.size;
                 }) &&
          !holds(context.pinned, each, [](uint64_t size) { return size; }) &&
          !context.memory.onHost(each.begin, each.end - each.begin))
        return std::string(node.what) + " uses memory at " +
               ashlar::ptx::hex(each.begin) + " that was given back";
  }
  return "";
}

ASHLAR_CUDA_EXPORT cuGraphLaunch(CUgraphExec handle, CUstream on) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  auto graph = call.find(state().executableGraphs, handle, "executable graph");
  if (!graph)
    return call.refusal;
  auto stream = call.stream(on);
  if (!stream)
    return call.refusal;
  if (std::string missing = missingIn(*call.context, *graph); !missing.empty())
    return call.misuse(INVALID_VALUE, missing);
  for (const Task &node : graph->nodes)
    submit(stream, node);
  ++ashlar_cuda_double.graphLaunches;
  return SUCCESS;
}

template <class Handle>
static CUresult destroy(Call &call, Handles<Graph> &in, Handle handle,
                        const char *what) {
  if (!call.find(in, handle, what))
    return call.refusal;
  // What is under way of it goes on.
  in.erase(reinterpret_cast<uint64_t>(handle));
  state().gone[reinterpret_cast<uint64_t>(handle)] = what;
  count(CudaDouble::Graphs, -1);
  return call.result;
}
ASHLAR_CUDA_EXPORT cuGraphDestroy(CUgraph graph) {
  ASHLAR_CUDA_BEGIN(Call::Current, true)
  return destroy(call, state().graphs, graph, "graph");
}
ASHLAR_CUDA_EXPORT cuGraphExecDestroy(CUgraphExec graph) {
  ASHLAR_CUDA_BEGIN(Call::Current, true)
  return destroy(call, state().executableGraphs, graph, "executable graph");
}
