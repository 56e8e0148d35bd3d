// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machines for tests of the systolic device.

#ifndef ASHLAR_RUNTIME_TEST_SYSTOLICMACHINES_H
#define ASHLAR_RUNTIME_TEST_SYSTOLICMACHINES_H

#include "systolic/Image.h"

#include <cstring>

namespace ashlar::systolic {

/// The figures of lib/Targets/Systolic/Machines/gemmini.json.
inline Machine gemmini() {
  Machine m = {};
  std::strcpy(m.name, "gemmini");
  m.clock_hz = 1000000000;
  m.memory_bytes = uint64_t(4) << 30;
  m.dim = 16;
  m.arrays = 1;
  m.input = ASHLAR_SYSTOLIC_S8;
  m.flags = ASHLAR_SYSTOLIC_INTERLOCKED | ASHLAR_SYSTOLIC_SHADOW;
  m.scratchpad_rows = 16384;
  m.accumulator_rows = 1024;
  m.scratchpad_banks = 4;
  m.accumulator_banks = 2;
  m.bank_rows_per_cycle = 1;
  m.command_rows = 16;
  m.command_row_bytes = 64;
  m.issue_cycles = 1;
  m.queue_depth = 8;
  m.memory_latency = 100;
  m.memory_bytes_per_1024_cycles = 16 * 1024;
  m.memory_burst_bytes = 16;
  m.vector_lanes = 16;
  m.special_lanes = 16;
  m.vector_latency = 4;
  m.array_sum_bits = 20;
  m.least_depth = 16;
  m.requests_in_flight = 16;
  m.request_bytes = 64;
  return m;
}

/// Those of gemmini-ws.json.
inline Machine gemminiWS() {
  Machine m = gemmini();
  std::strcpy(m.name, "gemmini-ws");
  m.flags |= ASHLAR_SYSTOLIC_WEIGHTS_STAY | ASHLAR_SYSTOLIC_NARROW_RESULTS;
  m.scratchpad_rows = 4096;
  m.accumulator_rows = 512;
  m.least_depth = 0;
  return m;
}

/// Those of tpu-128.json.
inline Machine tpu128() {
  Machine m = {};
  std::strcpy(m.name, "tpu-128");
  m.clock_hz = 1500000000;
  m.memory_bytes = uint64_t(16) << 30;
  m.dim = 128;
  m.arrays = 1;
  m.input = ASHLAR_SYSTOLIC_BF16;
  m.flags = ASHLAR_SYSTOLIC_SHADOW | ASHLAR_SYSTOLIC_EXTENDED;
  m.scratchpad_rows = 49152;
  m.accumulator_rows = 8192;
  m.scratchpad_banks = 16;
  m.accumulator_banks = 4;
  m.bank_rows_per_cycle = 8;
  m.command_rows = 8192;
  m.command_row_bytes = 0;
  m.issue_cycles = 1;
  m.queue_depth = 64;
  m.memory_latency = 600;
  m.memory_bytes_per_1024_cycles = 559104;
  m.memory_burst_bytes = 64;
  m.vector_lanes = 1024;
  m.special_lanes = 256;
  m.vector_latency = 16;
  return m;
}

/// A small machine with everything.
inline Machine small(uint32_t dim, uint32_t input) {
  Machine m = tpu128();
  std::strcpy(m.name, "small");
  m.dim = dim;
  m.input = input;
  m.scratchpad_rows = 4096;
  m.accumulator_rows = 2048;
  m.command_rows = 2048;
  m.vector_lanes = dim;
  m.special_lanes = dim;
  return m;
}

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_TEST_SYSTOLICMACHINES_H
