// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the layer for GPUs calls a stream: a command queue of the driver's and
// the command lists that it is given, one command behind the other.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZESTREAM_H
#define ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZESTREAM_H

#include "ZeDriver.h"

namespace ashlar::runtime::ze {

/// Commands in a list of the driver's, each of which begins when the one before
/// has ended.
class Commands {
public:
  ASHLAR_OWN_NEW
  explicit Commands(const Gpu &gpu) : gpu(gpu) {}
  ~Commands();
  Commands(const Commands &) = delete;
  /// Once, before it is used.
  Code create();
  /// `append` is given the list and adds one command.
  template <typename Append> Code add(Append append) {
    if (count != 0 || isRepeated)
      if (Code code = barrier())
        return code;
    ++count;
    return append(list);
  }
  /// No more are added. It may be given to a queue from now on.
  Code close();
  /// Empty again. The device has done with it.
  Code reset();

  /// Given to a queue again and again.
  bool isRepeated = false;
  std::atomic<uint32_t> owners{1}; // handles to it: graph and executable graph
  uint32_t count = 0;              // of commands that were added
  ListId list = nullptr;           // null until created

private:
  /// Behind what was added so far.
  Code barrier() {
    return gpu.api.CommandListAppendBarrier(list, nullptr, 0, nullptr);
  }
  const Gpu &gpu; // retained, and outlives it
};

/// Any thread.
class Stream {
public:
  ASHLAR_OWN_NEW
  explicit Stream(Gpu &gpu) : gpu(gpu) {}
  /// What it was given has ended.
  ~Stream();
  Stream(const Stream &) = delete;
  /// Once, before it is used.
  Code create();

  /// `append` is given the list that is being filled, or captured, and adds one
  /// command to it. A list that is long enough is sent.
  template <typename Append> Code add(Append append) {
    std::lock_guard<std::mutex> lock(mutex);
    Commands *into = captured.get();
    if (!into)
      if (Code code = open(into))
        return code;
    if (Code code = into->add(append))
      return code;
    return into != captured.get() && into->count >= longest ? send() : 0;
  }
  /// The driver begins with what was added so far.
  Code flush();
  /// All that was added has ended; notReady: it has not, in that time.
  Code synchronize(uint64_t timeoutNanoseconds);

  /// What is added from now on makes a list that is not run.
  Code beginCapture();
  /// The caller deletes it.
  Code endCapture(Commands *&out);
  /// Commands that were captured, behind all that was added.
  Code run(const Commands &commands);

  Gpu &gpu; // retained, and outlives it

private:
  /// So many commands begin before others are added.
  static constexpr uint32_t longest = 64;
  /// A list of this stream's, filled and sent by turns.
  struct Sent {
    std::unique_ptr<Commands> commands; // its list
    FenceId fence;                      // set when all of it has ended
    bool isUnderWay;                    // it was sent since its fence was reset
  };
  Code open(Commands *&out);
  Code findIdle(Sent *&out);
  Code send();

  std::mutex mutex;
  QueueId queue = nullptr;            // null until created
  Vector<Sent> lists;                 // as many as were ever under way
  Sent *filling = nullptr;            // one of them; null: none is
  std::unique_ptr<Commands> captured; // null: nothing is captured
};

} // namespace ashlar::runtime::ze

#endif // ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZESTREAM_H
