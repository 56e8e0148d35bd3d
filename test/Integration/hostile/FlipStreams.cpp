// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// flip-streams FILE COUNT [SEED]: takes the streams of a compiled module, flips
// one to three bits in their commands, COUNT times for each kernel, and runs
// them on both halves of the simulator. Each must end, by itself or with an
// error that names an instruction. Memory that a kernel may touch lies between
// pages that nobody may touch, and what it may only read is so for the system,
// too: whatever else is touched ends this program.
#include "RunOnce.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace ashlar::systolic;

namespace {
// Streams that loop on for longer than this are well as far as that goes.
constexpr uint64_t mostActions = 30000;

unsigned long currentCase = 0;
const char *currentKernel = "";

void sayWhere(int signal) {
  char text[200];
  int length = std::snprintf(text, sizeof(text), "%s, case %lu: signal %d\n",
                             currentKernel, currentCase, signal);
  if (write(STDERR_FILENO, text, size_t(length)) < 0)
    _exit(3);
  _exit(2);
}

/// Bytes that end where a page begins that nobody may touch.
class GuardedBytes {
public:
  explicit GuardedBytes(uint64_t bytes) : size(bytes) {
    whole = (bytes + page - 1) / page * page;
    base = static_cast<uint8_t *>(mmap(nullptr, whole + 2 * page, PROT_NONE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    allow(PROT_READ | PROT_WRITE);
  }
  GuardedBytes(const GuardedBytes &) = delete;
  GuardedBytes(GuardedBytes &&other) noexcept
      : size(other.size), whole(other.whole), base(other.base) {
    other.base = nullptr;
  }
  ~GuardedBytes() {
    if (base)
      munmap(base, whole + 2 * page);
  }
  void allow(int what) { mprotect(base + page, whole, what); }
  uint8_t *data() { return base + page + whole - size; }
  uint64_t size;

private:
  static constexpr uint64_t page = 4096;
  uint64_t whole;
  uint8_t *base;
};

struct Extent {
  uint64_t bytes = 1;
  bool isWritten = false;
};

/// What a kernel touches of each binding as it was compiled.
std::vector<Extent> extentsOf(const Machine &machine, const Kernel &kernel) {
  std::vector<Extent> extents(kernel.bindings);
  Decoder decoder(machine, kernel);
  for (Action action; decoder.next(action);) {
    bool isTable = action.kind == Action::Table;
    bool isStore = action.kind == Action::Store;
    if ((!isTable && !isStore && action.kind != Action::Load) || action.isNull)
      continue;
    int64_t least = 0, greatest = 0;
    if (!isTable)
      action.chip.walk.byteBounds(least, greatest);
    uint64_t end =
        action.offset + uint64_t(greatest) +
        (isTable ? sizeof(ashlar_systolic_table_t)
                 : uint64_t(action.chip.columns) * action.elementBytes);
    Extent &extent = extents[action.binding];
    extent.bytes = std::max(extent.bytes, end);
    extent.isWritten |= isStore;
  }
  return extents;
}

class Flipper {
public:
  Flipper(const Machine &machine, const Kernel &kernel, unsigned long seed)
      : machine(machine), original(kernel), random(seed), function(machine) {
    for (const Extent &extent : extentsOf(machine, kernel)) {
      memories.emplace_back(extent.bytes);
      GuardedBytes &memory = memories.back();
      for (uint64_t i = 0; i < memory.size; ++i)
        memory.data()[i] = uint8_t(random());
      if (!extent.isWritten)
        memory.allow(PROT_READ);
      bindings.push_back({memory.data(), memory.size, extent.isWritten});
    }
  }

  void run(unsigned long count, unsigned long (&outcomes)[4]) {
    currentKernel = original.name.c_str();
    for (currentCase = 0; currentCase < count; ++currentCase) {
      Kernel kernel = original;
      for (unsigned flips = 1 + random() % 3; flips; --flips)
        flip(kernel.commands[random() % kernel.commands.size()]);
      std::string why;
      // As a hostile writer counts them.
      if (!countIssued(kernel.commands, kernel.issued, why))
        ++outcomes[Stopped];
      else
        ++outcomes[runOne(kernel)];
    }
  }

private:
  Outcome runOne(const Kernel &kernel) {
    std::string why;
    Outcome outcome =
        runOnce(machine, kernel, function, bindings, mostActions, why);
    if (outcome == Wrong)
      std::fprintf(stderr, "%s, case %lu: it only says '%s'\n", currentKernel,
                   currentCase, why.c_str());
    return outcome;
  }

  /// Registers more often than the rest.
  void flip(Command &command) {
    unsigned bit = random() % 160;
    auto *bytes = reinterpret_cast<uint8_t *>(&command);
    if (bit >= 128)
      bytes[0] ^= uint8_t(1u << bit % 8);
    else
      bytes[8 + bit / 8] ^= uint8_t(1u << bit % 8);
    if (random() % 16 == 0)
      command.unit ^= uint8_t(1u << random() % 8);
  }

  const Machine machine;
  const Kernel original;
  std::mt19937_64 random;
  Function function;
  std::vector<GuardedBytes> memories;
  Vector<Binding> bindings;
};
} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fputs("Usage: flip-streams FILE COUNT [SEED]\n", stderr);
    return 2;
  }
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(signal, sayWhere);
  std::ifstream file(argv[1], std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const unsigned long count = std::strtoul(argv[2], nullptr, 10);
  const unsigned long seed = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1;
  unsigned long outcomes[4] = {}, kernels = 0, loops = 0;
  const std::string magic(ASHLAR_SYSTOLIC_MAGIC, 8);
  for (size_t at = bytes.find(magic); at != std::string::npos;
       at = bytes.find(magic, at + 1)) {
    ashlar_systolic_header_t header;
    if (bytes.size() - at < sizeof(header))
      break;
    std::memcpy(&header, &bytes[at], sizeof(header));
    Image image;
    if (!readImage(&bytes[at], std::min(header.image_bytes, bytes.size() - at),
                   image)
             .empty())
      continue;
    for (const Kernel &kernel : image.kernels) {
      ++kernels;
      for (const Command &command : kernel.commands)
        loops += command.funct == ASHLAR_SYSTOLIC_LOOP;
      Flipper(image.machine, kernel, seed + kernels).run(count, outcomes);
    }
  }
  std::printf("%lu kernels, %lu loops: %lu stopped, %lu ran, %lu cut short\n",
              kernels, loops, outcomes[Stopped], outcomes[Ran],
              outcomes[CutShort]);
  return kernels == 0 || outcomes[Wrong] ? 1 : 0;
}
