// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A systolic stream of any commands: read as an image, or taken as a kernel of
// a machine that is sound, printed, timed and run on both halves of the
// simulator. It ends by itself or with an error that names an instruction, and
// touches nothing but its bindings.

#include "Require.h"
#include "RunOnce.h"
#include "SystolicMachines.h"
#include "systolic/Disassemble.h"

#include <cstring>
#include <memory>

using namespace ashlar::systolic;
using ashlar::fuzz::Choices;
using ashlar::fuzz::MemoryBound;
using ashlar::fuzz::require;

// Streams that loop on for longer are well as far as that goes.
static constexpr uint64_t mostActions = 2000;

static void run(const Machine &machine, const Kernel &kernel,
                uint32_t bindingBytes) {
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  Vector<Binding> bindings;
  for (uint32_t i = 0; i < kernel.bindings; ++i) {
    memory.emplace_back(new uint8_t[bindingBytes]());
    bindings.push_back({memory.back().get(), bindingBytes, i % 2 == 1});
  }
  Function function(machine);
  std::string why;
  require(runOnce(machine, kernel, function, bindings, mostActions, why) !=
          Wrong);
}

/// The rest of the input as commands.
static void runCommands(const Machine &machine, Choices &choices) {
  Kernel kernel;
  kernel.name = "fuzzed";
  kernel.bindings = 1 + choices.below(4);
  kernel.regions.resize(choices.below(3));
  uint32_t bindingBytes = 64u << choices.below(8);
  kernel.commands.resize(choices.left() / sizeof(Command));
  if (!kernel.commands.empty())
    std::memcpy(kernel.commands.data(), choices.rest(),
                kernel.commands.size() * sizeof(Command));
  std::string why;
  // As a hostile writer counts them.
  if (!countIssued(kernel.commands, kernel.issued, why)) {
    require(!why.empty());
    return;
  }
  // Whoever writes an image checks no more than that.
  Image image = {machine, {kernel}};
  std::string bytes = writeImage(image);
  if (!readImage(bytes.data(), bytes.size(), image).empty())
    return;
  require(disassemble(image, image.kernels[0]).size() <=
          4096 + 4096 * kernel.commands.size());
  run(machine, image.kernels[0], bindingBytes);
}

static void readAsImage(const uint8_t *data, size_t size) {
  // Machines that are larger than the file says are only looked at.
  MemoryBound bound(size, 64, 1 << 20);
  std::vector<uint8_t> bytes(data, data + size);
  ashlar_systolic_header_t header;
  if (size >= sizeof(header)) {
    std::memcpy(&header, data, sizeof(header));
    header.image_bytes = size;
    std::memcpy(bytes.data(), &header, sizeof(header));
  }
  Image image;
  std::string wrong = readImage(bytes.data(), bytes.size(), image);
  if (!wrong.empty())
    return;
  require(checkMachine(image.machine).empty());
  // What was read is written as it was meant.
  std::string again = writeImage(image);
  Image same;
  require(readImage(again.data(), again.size(), same).empty());
  require(same.kernels.size() == image.kernels.size());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Choices choices(data, size);
  uint8_t form = choices.byte();
  if (form % 2 == 0) {
    readAsImage(choices.rest(), choices.left());
    return 0;
  }
  const Machine machines[] = {small(4, ASHLAR_SYSTOLIC_S8),
                              small(4, ASHLAR_SYSTOLIC_BF16),
                              small(8, ASHLAR_SYSTOLIC_S8), gemminiWS()};
  runCommands(machines[form / 2 % 4], choices);
  return 0;
}
