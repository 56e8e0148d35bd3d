// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Machines.h"
#include "ashlar/Machine/EmbeddedMachines.h"
#include "ashlar/runtime/systolic_isa.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace ashlar;
using llvm::formatv;
using llvm::StringRef;

namespace {
const EmbeddedMachine files[] = {
#include "SystolicMachines.inc"
};

/// Where the figures of a systolic machine stand in its model.
struct Parts {
  const MultiplyUnit *array = nullptr;
  const Memory *accumulator = nullptr, *scratchpad = nullptr, *far = nullptr;
  const CopyEngine *load = nullptr;
  bool isBF16 = false;
  int64_t inputBytes() const { return isBF16 ? 2 : 1; }
};

template <typename T>
const T *named(const std::vector<T> &all, StringRef name) {
  auto found = llvm::find_if(all, [&](const T &x) { return x.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Parts partsOf(const MachineModel &machine) {
  Parts parts;
  parts.array = named(machine.units, "array");
  parts.accumulator = machine.memory("accumulator");
  parts.scratchpad = machine.memory("scratchpad");
  parts.far = &machine.memories.back();
  parts.load = named(machine.copyEngines, "load");
  parts.isBF16 = parts.array && parts.array->takes({"bf16", "bf16", "f32"});
  return parts;
}
} // namespace

const std::vector<std::string> &ashlar::systolic::presets() {
  static const std::vector<std::string> names = {
      "tpu-128", "tpu-v5e", "tpu-256", "gemmini", "gemmini-ws"};
  return names;
}

MachineModel ashlar::systolic::machineFor(StringRef preset) {
  return findEmbedded(files, preset);
}

/// A memory of rows; at least `least` of them.
static std::string checkRows(const char *name, const Memory &memory,
                             int64_t rowBytes, int64_t least) {
  if (memory.lineBytes != rowBytes)
    return formatv("memories '{0}'.line_bytes: expected a row of the array, "
                   "{1}, found {2}",
                   name, rowBytes, memory.lineBytes);
  if (memory.bytes < least * rowBytes)
    return formatv("memories '{0}'.bytes: cannot hold one tile; expected at "
                   "least {1}, found {2}",
                   name, least * rowBytes, memory.bytes);
  if (memory.bytes % (rowBytes * memory.banks))
    return formatv("memories '{0}'.banks: expected as many rows in each, found "
                   "{1} banks for {2} bytes",
                   name, memory.banks, memory.bytes);
  return "";
}

std::string
ashlar::systolic::checkSystolicMachine(const MachineModel &machine) {
  Parts parts = partsOf(machine);
  if (machine.code.format != ASHLAR_SYSTOLIC_FORMAT)
    return formatv("code.format: expected '" ASHLAR_SYSTOLIC_FORMAT
                   "', found '{0}'",
                   machine.code.format);
  if (!machine.systolic)
    return "systolic: is missing; expected an object";
  if (machine.name.size() >= sizeof(ashlar_systolic_machine_t::name))
    return formatv("name: expected at most {0} letters, found {1}",
                   sizeof(ashlar_systolic_machine_t::name) - 1,
                   machine.name.size());
  if (!parts.array || !parts.accumulator || !parts.scratchpad || !parts.load)
    return "expected a unit 'array', memories 'accumulator' and 'scratchpad', "
           "and a copy engine 'load'";
  const MultiplyUnit &array = *parts.array;
  if (array.m != 1 || array.n != array.k || array.n > 1024)
    return formatv("units 'array': expected one row of a square of at most "
                   "1024, found {0} x {1} x {2}",
                   array.m, array.n, array.k);
  if (!parts.isBF16 && !array.takes({"s8", "s8", "s32"}))
    return "units 'array'.types: expected bf16 into f32, or s8 into s32";
  // What strategies name beside it.
  const SystolicControl &told = *machine.systolic;
  for (auto [unit, flag, isThere, value] :
       {std::tuple("array-sums", "weights_stay", !told.weightsStay, "false"),
        std::tuple("vector-unit", "extended", told.extended, "true")})
    if ((named(machine.units, unit) != nullptr) != isThere)
      return formatv("units: expected '{0}' where systolic.{1} is {2}, and "
                     "nowhere else",
                     unit, flag, value);
  if (machine.workers.count > ASHLAR_SYSTOLIC_MAX_ARRAYS)
    return formatv("workers.count: expected at most {0} arrays, found {1}",
                   int(ASHLAR_SYSTOLIC_MAX_ARRAYS), machine.workers.count);
  if (parts.far->bytes == 0 || parts.far->latencyCycles < 1)
    return formatv("memories '{0}': expected bytes and a latency of at least "
                   "one cycle, found {1} and {2}",
                   parts.far->name, parts.far->bytes, parts.far->latencyCycles);
  // One tile of A and one of B; one of C.
  std::string error = checkRows("scratchpad", *parts.scratchpad,
                                array.n * parts.inputBytes(), 2 * array.n);
  if (error.empty())
    error = checkRows("accumulator", *parts.accumulator, array.n * 4, array.n);
  if (!error.empty())
    return error;
  if (machine.systolic->commandRows < array.n ||
      machine.systolic->commandRows > 65535)
    return formatv("systolic.command_rows: expected {0} to 65535, found {1}",
                   array.n, machine.systolic->commandRows);
  const SystolicControl &control = *machine.systolic;
  if (control.arraySumBits > 32)
    return formatv("systolic.array_sum_bits: expected at most 32, found {0}",
                   control.arraySumBits);
  if (control.leastDepth > array.n)
    return formatv("systolic.least_depth: expected at most {0}, found {1}",
                   array.n, control.leastDepth);
  if (control.requestsInFlight > 4096)
    return formatv("systolic.requests_in_flight: expected at most 4096, found "
                   "{0}",
                   control.requestsInFlight);
  bool isAsked = control.requestsInFlight || control.requestBytes;
  if (isAsked && (!llvm::isPowerOf2_64(uint64_t(control.requestBytes)) ||
                  control.requestBytes > 65536 ||
                  control.requestBytes < parts.load->minimumBytes))
    return formatv("systolic.request_bytes: expected a power of two of {0} to "
                   "65536, found {1}",
                   parts.load->minimumBytes, control.requestBytes);
  return "";
}

ashlar_systolic_machine_t
ashlar::systolic::streamMachine(const MachineModel &machine) {
  Parts parts = partsOf(machine);
  const SystolicControl &control = *machine.systolic;
  ashlar_systolic_machine_t m = {};
  std::strcpy(m.name, machine.name.c_str());
  m.clock_hz = uint64_t(machine.clock.hz);
  m.memory_bytes = uint64_t(parts.far->bytes);
  m.dim = uint32_t(parts.array->n);
  m.arrays = uint32_t(machine.workers.count);
  m.input = parts.isBF16 ? ASHLAR_SYSTOLIC_BF16 : ASHLAR_SYSTOLIC_S8;
  m.flags = (control.interlocked ? ASHLAR_SYSTOLIC_INTERLOCKED : 0) |
            (control.shadow ? ASHLAR_SYSTOLIC_SHADOW : 0) |
            (control.extended ? ASHLAR_SYSTOLIC_EXTENDED : 0) |
            (control.weightsStay ? ASHLAR_SYSTOLIC_WEIGHTS_STAY : 0) |
            (control.narrowResults ? ASHLAR_SYSTOLIC_NARROW_RESULTS : 0);
  m.scratchpad_rows =
      uint32_t(parts.scratchpad->bytes / parts.scratchpad->lineBytes);
  m.accumulator_rows =
      uint32_t(parts.accumulator->bytes / parts.accumulator->lineBytes);
  m.scratchpad_banks = uint32_t(parts.scratchpad->banks);
  m.accumulator_banks = uint32_t(parts.accumulator->banks);
  m.bank_rows_per_cycle = uint32_t(control.bankRowsPerCycle);
  m.command_rows = uint32_t(control.commandRows);
  m.command_row_bytes = uint32_t(control.commandRowBytes);
  m.issue_cycles = uint32_t(control.issueCycles);
  m.queue_depth = uint32_t(control.queueDepth);
  m.memory_latency = uint32_t(parts.far->latencyCycles);
  m.memory_bytes_per_1024_cycles =
      uint32_t(machine.readBytesPerCycle(*parts.far) * 1024);
  m.memory_burst_bytes = uint32_t(parts.load->minimumBytes);
  m.vector_lanes = uint32_t(machine.vectors.bytes / 4);
  m.special_lanes = uint32_t(control.specialLanes);
  m.vector_latency = uint32_t(control.vectorLatencyCycles);
  m.array_sum_bits = uint32_t(control.arraySumBits);
  m.least_depth = uint32_t(control.leastDepth);
  m.requests_in_flight = uint32_t(control.requestsInFlight);
  m.request_bytes = uint32_t(control.requestBytes);
  return m;
}
