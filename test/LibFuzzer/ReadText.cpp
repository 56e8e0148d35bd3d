// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes as each of the texts that the compiler's tools read, by the first
// one: a machine model, a table of strategies, a precision plan, buffers of the
// planner, ranges of sizes and shapes, a key. Read, or refused in words; what
// was read is written and read again as the same.
#include "Require.h"
#include "SigningKey.h"
#include "ashlar/Cost/Tuning.h"
#include "ashlar/Driver/CompileOptions.h"
#include "ashlar/Machine/MachineFile.h"
#include "ashlar/Planner/PlanFile.h"
#include "ashlar/Transforms/Precision/PrecisionPlan.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace ashlar;
using ashlar::fuzz::MemoryBound;
using ashlar::fuzz::require;

/// For what is read by name.
static std::string fileOf(const std::string &text) {
  static const int file = memfd_create("text", MFD_CLOEXEC);
  require(file >= 0 && ftruncate(file, 0) == 0 &&
          pwrite(file, text.data(), text.size(), 0) == ssize_t(text.size()));
  return "/proc/self/fd/" + std::to_string(file);
}

static void readMachine(const std::string &text) {
  auto machine = parseMachine(text);
  if (!machine) {
    require(!llvm::toString(machine.takeError()).empty());
    return;
  }
  std::string printed = printMachine(*machine);
  auto again = parseMachine(printed);
  require(bool(again));
  require(printMachine(*again) == printed);
}

static void readTuning(const std::string &text) {
  auto table = readTuningTable(fileOf(text));
  if (!table)
    require(!llvm::toString(table.takeError()).empty());
}

static void readPlan(const std::string &text) {
  planner::NamedBuffers buffers;
  if (planner::readPlanFile(text, buffers))
    return;
  require(buffers.ids.size() == buffers.buffers.size());
  std::vector<int64_t> offsets(buffers.buffers.size());
  planner::NamedBuffers again;
  require(
      !planner::readPlanFile(planner::writePlanFile(buffers, offsets), again));
  require(again.buffers.size() == buffers.buffers.size());
}

static void readSizes(const std::string &text) {
  std::vector<SizeRange> sizes;
  std::string why, name;
  size_t line = text.find('\n');
  if (!parseSizeRanges(text.substr(0, line), sizes, why)) {
    require(!why.empty());
    return;
  }
  std::vector<std::string> shape;
  if (line != text.npos &&
      !parseSymbolicShape(text.substr(line + 1), sizes, name, shape, why))
    require(!why.empty());
}

static void readFlags(const std::string &text) {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<std::string> numbers;
  std::vector<TargetRequest> targets;
  uint64_t bytes;
  double tolerance;
  (void)parseShape(text, name, shape);
  (void)parseValue(text, name, numbers);
  (void)parseTargets(text, targets);
  (void)parseByteCount(text, bytes);
  (void)parseTolerance(text, tolerance);
}

static void readKey(const std::string &text) {
  std::string key;
  if (runtime::readPublicKey(fileOf(text), key).empty())
    require(key.size() == 32);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string text(reinterpret_cast<const char *>(data) + 1, size - 1);
  // A byte of JSON may become a value with a name and a place of its own.
  MemoryBound bound(size, 512, 1 << 20);
  PrecisionPlan plan;
  switch (data[0] % 7) {
  case 0:
    readMachine(text);
    break;
  case 1:
    readTuning(text);
    break;
  case 2:
    (void)parsePrecisionPlan(text, plan);
    break;
  case 3:
    readPlan(text);
    break;
  case 4:
    readSizes(text);
    break;
  case 5:
    readFlags(text);
    break;
  default:
    readKey(text);
  }
  return 0;
}
