// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ZeStream.h"

namespace ashlar::runtime::ze {

Commands::~Commands() {
  if (list)
    gpu.api.CommandListDestroy(list);
}

Code Commands::create() {
  List how;
  how.ordinal = gpu.ordinal;
  return gpu.api.CommandListCreate(gpu.context, gpu.device, &how, &list);
}

/// What the queue is given behind it begins when all of it has ended.
Code Commands::close() {
  if (Code code = barrier())
    return code;
  return gpu.api.CommandListClose(list);
}

Code Commands::reset() {
  count = 0;
  return gpu.api.CommandListReset(list);
}

Code Stream::create() {
  Queue how;
  how.ordinal = gpu.ordinal;
  return gpu.api.CommandQueueCreate(gpu.context, gpu.device, &how, &queue);
}

Stream::~Stream() {
  captured.reset();
  for (Sent &each : lists) {
    each.commands.reset();
    gpu.api.FenceDestroy(each.fence);
  }
  if (queue)
    gpu.api.CommandQueueDestroy(queue);
}

/// Null: all are under way.
Code Stream::findIdle(Sent *&out) {
  out = nullptr;
  for (Sent &each : lists) {
    if (each.isUnderWay) {
      const Code code = gpu.api.FenceQueryStatus(each.fence);
      if (code == notReady)
        continue;
      if (code != 0)
        return code;
    }
    out = &each;
    return 0;
  }
  return 0;
}

/// The list that commands are added to.
Code Stream::open(Commands *&out) {
  if (!filling) {
    Sent *idle;
    if (Code code = findIdle(idle))
      return code;
    if (idle && idle->isUnderWay) {
      if (Code code = gpu.api.FenceReset(idle->fence))
        return code;
      if (Code code = idle->commands->reset())
        return code;
      idle->isUnderWay = false;
    }
    if (!idle) {
      Sent made = {std::make_unique<Commands>(gpu), nullptr, false};
      if (Code code = made.commands->create())
        return code;
      const Fence how;
      if (Code code = gpu.api.FenceCreate(queue, &how, &made.fence))
        return code;
      lists.push_back(std::move(made));
      idle = &lists.back();
    }
    filling = idle;
  }
  out = filling->commands.get();
  return 0;
}

/// It is not added to any more, whatever comes of it.
Code Stream::send() {
  Sent *sent = filling;
  if (!sent)
    return 0;
  filling = nullptr;
  sent->isUnderWay = true;
  if (Code code = sent->commands->close())
    return code;
  return gpu.api.CommandQueueExecuteCommandLists(
      queue, 1, &sent->commands->list, sent->fence);
}

Code Stream::flush() {
  std::lock_guard<std::mutex> lock(mutex);
  return send();
}

Code Stream::synchronize(uint64_t timeoutNanoseconds) {
  std::lock_guard<std::mutex> lock(mutex);
  // What was sent before ends in any case: the caller takes its memory back.
  const Code sent = send();
  const Code code = gpu.api.CommandQueueSynchronize(queue, timeoutNanoseconds);
  return sent != 0 ? sent : code;
}

Code Stream::beginCapture() {
  std::lock_guard<std::mutex> lock(mutex);
  auto made = std::make_unique<Commands>(gpu);
  if (Code code = made->create())
    return code;
  made->isRepeated = true;
  captured = std::move(made);
  return 0;
}

Code Stream::endCapture(Commands *&out) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Commands> made = std::move(captured);
  if (Code code = made->close())
    return code;
  out = made.release();
  return 0;
}

Code Stream::run(const Commands &commands) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Code code = send())
    return code;
  ListId list = commands.list;
  return gpu.api.CommandQueueExecuteCommandLists(queue, 1, &list, nullptr);
}

} // namespace ashlar::runtime::ze
