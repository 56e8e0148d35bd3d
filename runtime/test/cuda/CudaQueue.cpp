// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams as queues that a thread of their own works off.

#include "CudaState.h"

#include <chrono>
#include <cstdio>
#include <cstring>

using namespace ashlar::cuda;

double ashlar::cuda::nowInMilliseconds() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static CUresult codeOf(const ashlar::ptx::Fault &fault) {
  switch (fault.kind) {
  case ashlar::ptx::Fault::IllegalAddress:
    return ILLEGAL_ADDRESS;
  case ashlar::ptx::Fault::Misaligned:
    return MISALIGNED_ADDRESS;
  case ashlar::ptx::Fault::Trap:
    return ILLEGAL_INSTRUCTION;
  case ashlar::ptx::Fault::Limit:
    return LAUNCH_TIMEOUT;
  default:
    return LAUNCH_FAILED;
  }
}

/// Waits as long as the task is one that is not to end.
static void hang(const Task &task) {
  const auto &control = ashlar_cuda_double;
  while (!task.isAlways &&
         (control.isHanging || (task.isLaunch && control.launchesHang)))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

static void work(std::shared_ptr<Stream> stream) {
  State &all = state();
  Lock lock(all.mutex);
  while (true) {
    all.changed.wait(
        lock, [&] { return stream->isClosing || !stream->queue.empty(); });
    if (stream->queue.empty())
      return;
    Task task = std::move(stream->queue.front());
    stream->queue.pop_front();
    stream->current = &task;
    Context &context = *stream->context;
    if (context.fault == SUCCESS || task.isAlways) {
      lock.unlock();
      CUresult fault = SUCCESS;
      std::string said;
      try {
        hang(task);
        task.run();
      } catch (const ashlar::ptx::Fault &thrown) {
        fault = codeOf(thrown);
        said = thrown.what();
      }
      lock.lock();
      if (fault && context.fault == SUCCESS) {
        context.fault = fault;
        std::fprintf(stderr, "cuda double: device %d: %s\n",
                     context.device->ordinal, said.c_str());
        std::fflush(stderr);
      }
    }
    stream->current = nullptr;
    ++stream->completed;
    ashlar_cuda_double.finished += !task.isAlways;
    all.changed.notify_all();
  }
}

std::shared_ptr<Stream> ashlar::cuda::openStream(Context &context,
                                                 bool isBlocking) {
  auto made = std::make_shared<Stream>();
  made->context = &context;
  made->isBlocking = isBlocking;
  made->thread = std::thread(work, made);
  return made;
}

void ashlar::cuda::closeStream(Lock &lock,
                               const std::shared_ptr<Stream> &stream) {
  stream->isClosing = true;
  state().changed.notify_all();
  lock.unlock();
  stream->thread.join();
  lock.lock();
}

static Task waitTask(std::shared_ptr<Stream> other, uint64_t ticket) {
  Task task;
  task.what = "a wait for another stream";
  task.isAlways = true;
  task.run = [other = std::move(other), ticket] {
    Lock lock(state().mutex);
    waitFor(lock, *other, ticket);
  };
  return task;
}

uint64_t ashlar::cuda::submit(const std::shared_ptr<Stream> &stream,
                              Task task) {
  if (stream->capturing) {
    stream->capturing->nodes.push_back(std::move(task));
    return stream->completed;
  }
  Context &context = *stream->context;
  ashlar_cuda_double.launches += task.isLaunch;
  auto add = [&](Task each) {
    stream->queue.push_back(std::move(each));
    ++stream->submitted;
  };
  if (stream == context.standard) {
    for (auto &[handle, other] : state().streams)
      if (other->context == &context && other->isBlocking &&
          other->completed < other->submitted)
        add(waitTask(other, other->submitted));
  } else if (stream->isBlocking &&
             context.standard->completed < context.standard->submitted) {
    add(waitTask(context.standard, context.standard->submitted));
  }
  add(std::move(task));
  state().changed.notify_all();
  return stream->submitted;
}

void ashlar::cuda::waitFor(Lock &lock, const Stream &stream, uint64_t ticket) {
  state().changed.wait(lock, [&] { return stream.completed >= ticket; });
}

void ashlar::cuda::waitForMark(Lock &lock, const std::shared_ptr<Mark> &mark) {
  state().changed.wait(lock, [&] { return mark->isDone; });
}

void ashlar::cuda::waitForAll(Lock &lock, Context &context) {
  std::vector<std::shared_ptr<Stream>> streams{context.standard};
  for (auto &[handle, stream] : state().streams)
    if (stream->context == &context)
      streams.push_back(stream);
  for (auto &stream : streams)
    waitFor(lock, *stream, stream->submitted);
}

const char *ashlar::cuda::userOf(Context &context, Range range,
                                 const Stream *except) {
  auto uses = [&](const Task &task) {
    for (const Range &each : task.uses)
      if (each.begin < range.end && range.begin < each.end)
        return true;
    return false;
  };
  auto in = [&](const Stream &stream) -> const char * {
    if (&stream == except || context.fault)
      return nullptr;
    if (stream.current && uses(*stream.current))
      return stream.current->what;
    for (const Task &task : stream.queue)
      if (uses(task))
        return task.what;
    return nullptr;
  };
  if (const char *what = in(*context.standard))
    return what;
  for (auto &[handle, stream] : state().streams)
    if (stream->context == &context)
      if (const char *what = in(*stream))
        return what;
  return nullptr;
}

std::vector<Range> ashlar::cuda::usedBy(const Context &context,
                                        const std::vector<uint8_t> &bytes) {
  std::vector<Range> uses;
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    uint64_t value;
    std::memcpy(&value, bytes.data() + at, 8);
    auto after = context.allocations.upper_bound(value);
    if (after == context.allocations.begin())
      continue;
    --after;
    if (value - after->first < after->second.size)
      uses.push_back({after->first, after->first + after->second.size});
  }
  return uses;
}
