// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes over the pipes, little endian. A launch: the object's number, the
// image's size and its bytes (0: it was sent before), the chip, the kernel's
// name, workgroups, threads, arguments, and where allocations lie. Then the
// emulator asks for the bytes of an allocation ('r'), hands over bytes that the
// kernel changed ('w'), and ends with 'd' (done: instructions) or 'f' (a fault,
// in words; 'a' is one of an address).

#include "HipEmulator.h"

#include "CudaState.h"
#include "PtxThread.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

using namespace ashlar::cuda;
using ashlar::ptx::Fault;

namespace {

class Emulator {
public:
  void run(const CodeLaunch &launch);

private:
  void start();
  void send(const CodeLaunch &launch);
  template <typename Step> void transfer(size_t size, const Step &step);
  void put(const void *bytes, size_t size);
  void get(void *bytes, size_t size);
  void putNumber(uint64_t number) { put(&number, sizeof(number)); }
  uint64_t getNumber();
  void putBytes(const void *bytes, size_t size);
  std::string getText();
  [[noreturn]] void fail(const char *why);
  uint8_t *find(const CodeLaunch &launch, uint64_t at, uint64_t size);

  std::mutex mutex;
  int line = -1; // to and from the process
  std::map<std::shared_ptr<const CodeObject>, uint64_t> sent;
};

} // namespace

void Emulator::fail(const char *why) {
  throw Fault(Fault::Trap, std::string("the emulator of code objects: ") + why);
}

void Emulator::start() {
  int both[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0)
    fail("no socket for it");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, both[1], 0);
  posix_spawn_file_actions_adddup2(&actions, both[1], 1);
  const std::string command =
      std::string("exec ") + std::getenv("ASHLAR_HIP_DOUBLE_EMULATOR");
  const char *words[] = {"sh", "-c", command.c_str(), nullptr};
  pid_t process;
  const int failed = posix_spawn(&process, "/bin/sh", &actions, nullptr,
                                 const_cast<char **>(words), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(both[1]);
  line = both[0];
  if (failed)
    fail("its shell does not start");
}

/// Until all of it has gone through the line.
template <typename Step>
void Emulator::transfer(size_t size, const Step &step) {
  for (size_t at = 0; at < size;) {
    const ssize_t done = step(at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      fail("its process ended");
    at += size_t(done);
  }
}

void Emulator::put(const void *bytes, size_t size) {
  const auto *from = static_cast<const char *>(bytes);
  transfer(size, [&](size_t at) {
    return ::send(line, from + at, size - at, MSG_NOSIGNAL);
  });
}

void Emulator::get(void *bytes, size_t size) {
  auto *to = static_cast<char *>(bytes);
  transfer(size, [&](size_t at) { return read(line, to + at, size - at); });
}

uint64_t Emulator::getNumber() {
  uint64_t number;
  get(&number, sizeof(number));
  return number;
}

void Emulator::putBytes(const void *bytes, size_t size) {
  putNumber(size);
  put(bytes, size);
}

std::string Emulator::getText() {
  std::string text(getNumber(), '\0');
  get(text.data(), text.size());
  return text;
}

void Emulator::send(const CodeLaunch &launch) {
  auto [number, isNew] =
      sent.try_emplace(launch.object->shared_from_this(), sent.size());
  putNumber(number->second);
  const std::vector<uint8_t> &image = launch.object->image;
  putBytes(image.data(), isNew ? image.size() : 0);
  putNumber(launch.object->chip);
  putBytes(launch.kernel->name.data(), launch.kernel->name.size());
  for (const uint32_t *each : {launch.grid, launch.block})
    for (unsigned axis = 0; axis != 3; ++axis)
      putNumber(each[axis]);
  putBytes(launch.arguments.data(), launch.arguments.size());
  const auto all = launch.memory->allocations();
  putNumber(all->size());
  for (const ashlar::ptx::Allocation &each : *all) {
    putNumber(each.begin);
    putNumber(each.end - each.begin);
    putNumber(each.isReadOnly);
  }
}

uint8_t *Emulator::find(const CodeLaunch &launch, uint64_t at, uint64_t size) {
  uint8_t *host = launch.memory->onHost(at, size);
  if (!host)
    fail("it wants memory that is no longer there");
  return host;
}

void Emulator::run(const CodeLaunch &launch) {
  if (launch.dynamicShared)
    fail("it knows no LDS that a launch asks for");
  std::lock_guard<std::mutex> lock(mutex);
  if (line < 0)
    start();
  send(launch);
  while (true) {
    char what;
    get(&what, 1);
    if (what == 'd') {
      ashlar_cuda_double.instructions += getNumber();
      return;
    }
    if (what == 'f' || what == 'a')
      throw Fault(what == 'a' ? Fault::IllegalAddress : Fault::Trap, getText());
    const uint64_t at = getNumber(), size = getNumber();
    uint8_t *host = find(launch, at, size);
    if (what == 'r')
      put(host, size);
    else
      get(host, size);
  }
}

static void emulate(const CodeLaunch &launch) {
  // Never taken apart: streams run until the process ends.
  static Emulator &one = *new Emulator;
  one.run(launch);
}

RunCode ashlar::cuda::emulator() {
  return std::getenv("ASHLAR_HIP_DOUBLE_EMULATOR") ? emulate : nullptr;
}
