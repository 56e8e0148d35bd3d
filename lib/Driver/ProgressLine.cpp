// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProgressLine.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ashlar;
using namespace std::chrono_literals;

ProgressLine::ProgressLine(llvm::raw_ostream &out, bool wanted,
                           std::optional<Time> begin)
    : out(out), begin(begin ? *begin : std::chrono::steady_clock::now()) {
  if (wanted && out.is_displayed())
    thread = std::thread([this] { run(); });
}

ProgressLine::~ProgressLine() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  changed.notify_one();
  thread.join();
}

void ProgressLine::show(llvm::StringRef what) {
  std::lock_guard<std::mutex> lock(mutex);
  activity = what.str();
}

void ProgressLine::interrupt(llvm::function_ref<void()> write) {
  std::lock_guard<std::mutex> lock(mutex);
  if (isShown)
    out << "\r\x1b[K";
  isShown = false;
  write();
}

void ProgressLine::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!changed.wait_for(lock, 200ms, [this] { return done; })) {
    auto elapsed = std::chrono::steady_clock::now() - begin;
    if (elapsed < 2s)
      continue;
    isShown = true;
    out << llvm::formatv("\r\x1b[K{0}: {1:f1} s", activity,
                         std::chrono::duration<double>(elapsed).count());
    out.flush();
  }
  if (isShown)
    out << "\r\x1b[K";
}
