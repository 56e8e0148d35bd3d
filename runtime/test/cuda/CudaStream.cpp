// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams and events.

#include "CudaExport.h"

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

/// How often somebody asks is chance.
static CUresult underWay() {
  --ashlar_cuda_double.calls;
  return NOT_READY;
}

static CUresult createStream(Call &call, CUstream *stream, unsigned flags,
                             int priority) {
  if (!stream)
    return call.misuse(INVALID_VALUE, "stream is null");
  if (flags & ~unsigned(StreamNonBlocking))
    return call.misuse(INVALID_VALUE, "flags that there are not");
  auto made = openStream(*call.context, !(flags & StreamNonBlocking));
  made->priority = priority;
  uint64_t handle = state().newHandle();
  made->handle = reinterpret_cast<CUstream>(handle);
  state().streams[handle] = made;
  count(CudaDouble::Streams, 1);
  *stream = made->handle;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuStreamCreate(CUstream *stream, unsigned flags) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return createStream(call, stream, flags, 0);
}
ASHLAR_CUDA_EXPORT cuStreamCreateWithPriority(CUstream *stream, unsigned flags,
                                              int priority) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return createStream(call, stream, flags, priority);
}

ASHLAR_CUDA_EXPORT cuStreamDestroy_v2(CUstream handle) {
  ASHLAR_CUDA_BEGIN(Call::Current, true)
  if (reinterpret_cast<uint64_t>(handle) <= 2)
    return call.misuse(INVALID_HANDLE, "the standard stream is not destroyed");
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  state().streams.erase(reinterpret_cast<uint64_t>(handle));
  state().gone[reinterpret_cast<uint64_t>(handle)] = "stream";
  count(CudaDouble::Streams, -1);
  // What it has to do, it does; the driver does not wait, we may.
  closeStream(call.lock, stream);
  return call.result;
}

ASHLAR_CUDA_EXPORT cuStreamSynchronize(CUstream handle) {
  Call call(__func__, Call::Current);
  if (!call.context || call.refusal == STREAM_CAPTURE_UNSUPPORTED)
    return call.refusal;
  CUresult refused = call.refusal;
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  // Who is refused takes back what may still be in use.
  waitFor(call.lock, *stream, stream->submitted);
  trimPools();
  return refused ? refused : call.context->fault;
}

ASHLAR_CUDA_EXPORT cuStreamQuery(CUstream handle) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  return stream->completed < stream->submitted ? underWay() : SUCCESS;
}

ASHLAR_CUDA_EXPORT cuStreamGetCtx(CUstream handle, CUcontext *context) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(context)
  auto found = state().streams.find(reinterpret_cast<uint64_t>(handle));
  // Of any context: who asks does not know.
  if (found != state().streams.end()) {
    *context = found->second->context->handle;
    return SUCCESS;
  }
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  *context = stream->context->handle;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuStreamGetPriority(CUstream handle, int *priority) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(priority)
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  *priority = stream->priority;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuStreamGetFlags(CUstream handle, unsigned *flags) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(flags)
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  *flags = stream->isBlocking ? 0 : unsigned(StreamNonBlocking);
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuStreamWaitEvent(CUstream handle, CUevent event,
                                     unsigned flags) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  if (flags)
    return call.misuse(INVALID_VALUE, "flags are not 0");
  auto found = state().events.find(reinterpret_cast<uint64_t>(event));
  // Events of other contexts are allowed here.
  if (found == state().events.end()) {
    call.find(state().events, event, "event");
    return call.refusal;
  }
  std::shared_ptr<Mark> mark = found->second->mark;
  if (!mark)
    return SUCCESS;
  Task task;
  task.what = "a wait for an event";
  task.isAlways = true;
  task.run = [mark] {
    Lock lock(state().mutex);
    waitForMark(lock, mark);
  };
  submit(stream, std::move(task));
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuEventCreate(CUevent *event, unsigned flags) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(event)
  if (flags & ~unsigned(EventBlockingSync | EventDisableTiming))
    return call.misuse(INVALID_VALUE, "flags that the double does not know");
  auto made = std::make_shared<Event>();
  made->context = call.context;
  made->flags = flags;
  uint64_t handle = state().newHandle();
  state().events[handle] = made;
  count(CudaDouble::Events, 1);
  *event = reinterpret_cast<CUevent>(handle);
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuEventDestroy_v2(CUevent handle) {
  ASHLAR_CUDA_BEGIN(Call::Current, true)
  if (!call.find(state().events, handle, "event"))
    return call.refusal;
  state().events.erase(reinterpret_cast<uint64_t>(handle));
  state().gone[reinterpret_cast<uint64_t>(handle)] = "event";
  count(CudaDouble::Events, -1);
  return call.result;
}

ASHLAR_CUDA_EXPORT cuEventRecord(CUevent handle, CUstream of) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  auto event = call.find(state().events, handle, "event");
  if (!event)
    return call.refusal;
  auto stream = call.stream(of);
  if (!stream)
    return call.refusal;
  auto mark = std::make_shared<Mark>();
  event->mark = mark;
  Task task;
  task.what = "a record of an event";
  task.isAlways = true;
  task.run = [mark] {
    Lock lock(state().mutex);
    mark->milliseconds = nowInMilliseconds();
    mark->isDone = true;
    state().changed.notify_all();
  };
  submit(stream, std::move(task));
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuEventQuery(CUevent handle) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  auto event = call.find(state().events, handle, "event");
  if (!event)
    return call.refusal;
  return event->mark && !event->mark->isDone ? underWay() : SUCCESS;
}

ASHLAR_CUDA_EXPORT cuEventSynchronize(CUevent handle) {
  Call call(__func__, Call::Current);
  if (!call.context)
    return call.refusal;
  CUresult refused = call.refusal;
  auto event = call.find(state().events, handle, "event");
  if (!event)
    return call.refusal;
  // Who is refused takes back what may still be in use.
  if (auto mark = event->mark)
    waitForMark(call.lock, mark);
  return refused ? refused : call.context->fault;
}

static CUresult elapsed(Call &call, float *milliseconds, CUevent begin,
                        CUevent end) {
  if (!milliseconds)
    return call.misuse(INVALID_VALUE, "milliseconds is null");
  auto first = call.find(state().events, begin, "event");
  if (!first)
    return call.refusal;
  auto last = call.find(state().events, end, "event");
  if (!last)
    return call.refusal;
  if ((first->flags | last->flags) & EventDisableTiming)
    return call.misuse(INVALID_HANDLE, "an event without timing");
  if (!first->mark || !last->mark)
    return call.misuse(INVALID_HANDLE, "an event that was never recorded");
  if (!first->mark->isDone || !last->mark->isDone)
    return NOT_READY;
  *milliseconds = float(last->mark->milliseconds - first->mark->milliseconds);
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuEventElapsedTime(float *milliseconds, CUevent begin,
                                      CUevent end) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return elapsed(call, milliseconds, begin, end);
}
ASHLAR_CUDA_EXPORT cuEventElapsedTime_v2(float *milliseconds, CUevent begin,
                                         CUevent end) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return elapsed(call, milliseconds, begin, end);
}
