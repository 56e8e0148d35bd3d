// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each queue may take for finished. A queue knows all that syncs told it:
// of every other queue, how many of its commands have ended.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_ORDERING_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_ORDERING_H

#include "Decoder.h"

namespace ashlar::systolic {

constexpr uint32_t queueCount = ASHLAR_SYSTOLIC_MAX_QUEUES;

/// "load", "store", "vector", "execute 0"...
std::string queueName(uint32_t queue);

/// Of one kernel, in the order of issue.
class Ordering {
public:
  /// The number of the next command of a queue; the first has 1.
  uint32_t issue(uint32_t queue);

  /// Masks of queues: each of `to` then knows what was issued to each of
  /// `from`, and what that knew.
  void sync(uint32_t from, uint32_t to);

  /// Whether `queue` knows that command `number` of `other` has ended.
  bool knows(uint32_t queue, uint32_t other, uint32_t number) const {
    return queue == other || number <= known[queue][other];
  }

  /// Up to which command of `other` that is.
  uint32_t knownOf(uint32_t queue, uint32_t other) const {
    return known[queue][other];
  }

private:
  uint32_t issued[queueCount] = {};            // commands of each queue
  uint32_t known[queueCount][queueCount] = {}; // by queue: of each other one
  /// What a queue knew when it was last given a command: once that has ended,
  /// so has this. What it has been told since then is for commands to come.
  uint32_t awaited[queueCount][queueCount] = {};
};

/// Stores and loads in memory that not every queue knows to have ended.
class MemoryOrder {
public:
  /// Rows of memory that a command touches.
  struct Access {
    uint32_t queue, number;      // of the command
    const uint8_t *begin;        // of the first row
    uint64_t rowBytes;           // of each row
    Walk walk;                   // over the rows
    const uint8_t *lowest, *end; // of all rows
  };

  /// Null, or an access of another queue that overlaps and may go on, one of
  /// the two a store. Keeps the access.
  const Access *add(const Access &access, const Ordering &ordering);
  /// After a sync.
  void forget(const Ordering &ordering);

private:
  /// Whether a byte is in both.
  static bool overlap(const Access &a, const Access &b);
  Vector<Access> accesses; // that some queue does not know to have ended
  Access conflict;         // what `add` has given
};

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_ORDERING_H
