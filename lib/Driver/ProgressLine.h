// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_PROGRESSLINE_H
#define ASHLAR_LIB_DRIVER_PROGRESSLINE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace ashlar {

/// One line on a terminal that says what is being done and for how long, from
/// the third second on. Writes nothing anywhere else.
class ProgressLine {
public:
  using Time = std::chrono::steady_clock::time_point;

  /// `begin` is when whoever watches began to wait; absent: now.
  ProgressLine(llvm::raw_ostream &out, bool wanted,
               std::optional<Time> begin = std::nullopt);
  ~ProgressLine();

  /// What is being done from now on.
  void show(llvm::StringRef activity);

  /// Clears the line and runs `write`, which uses the same stream.
  void interrupt(llvm::function_ref<void()> write);

private:
  void run();

  llvm::raw_ostream &out;
  Time begin;
  std::mutex mutex;
  std::condition_variable changed;
  std::string activity;
  bool done = false;
  bool isShown = false;
  std::thread thread;
};

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_PROGRESSLINE_H
