// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops, support and configuration; DecodeActions.cpp has the rest.

#include "Decoder.h"

#include "Fields.h"
#include "Numbers.h"

namespace ashlar::systolic {

Decoder::Decoder(const Machine &machine, const Kernel &kernel)
    : machine(machine), kernel(kernel) {
  for (LoadState &load : loads)
    load.blockStride = machine.dim;
}

bool Decoder::fail(const std::string &why) {
  std::string name = nameOf(kernel.commands[current].funct);
  message = "instruction " + text(int64_t(current)) +
            (name.empty() ? "" : " (" + name + ")") + ": " + why;
  return false;
}

bool Decoder::next(Action &action) {
  uint64_t add1 = 0, add2 = 0;
  while (message.empty() && at < kernel.commands.size()) {
    current = at++;
    const Command &command = kernel.commands[current];
    switch (command.funct) {
    case ASHLAR_SYSTOLIC_LOOP:
      loops.push_back({at, command.rs1, 0});
      continue;
    case ASHLAR_SYSTOLIC_END:
      if (++loops.back().done < loops.back().count)
        at = loops.back().body;
      else
        loops.pop_back();
      continue;
    case ASHLAR_SYSTOLIC_ADVANCE: {
      uint64_t done = loops[loops.size() - 1 - command.unit].done;
      add1 += command.rs1 * done;
      add2 += command.rs2 * done;
      continue;
    }
    default:
      break;
    }
    Command full = command;
    full.rs1 += add1;
    full.rs2 += add2;
    action = Action();
    action.index = current;
    action.funct = full.funct;
    return decode(full, action);
  }
  return false;
}

bool Decoder::isSupported(const Command &command) {
  uint32_t funct = command.funct;
  if (nameOf(funct).empty())
    return fail("there is no function " + text(funct));
  if (command.reserved0 || command.reserved1)
    return fail("reserved bytes are not zero");
  bool usesArray = funct == ASHLAR_SYSTOLIC_PRELOAD ||
                   funct == ASHLAR_SYSTOLIC_COMPUTE_PRELOADED ||
                   funct == ASHLAR_SYSTOLIC_COMPUTE_ACCUMULATED;
  uint32_t units = usesArray ? machine.arrays : 1;
  if (command.unit >= units)
    return fail("unit: expected less than " + text(units) + ", found " +
                text(command.unit));
  bool isExtended = (funct >= ASHLAR_SYSTOLIC_CONFIG_STREAM &&
                     funct < ASHLAR_SYSTOLIC_SYNC) ||
                    funct >= ASHLAR_SYSTOLIC_VECTOR_FIRST;
  if (isExtended && !(machine.flags & ASHLAR_SYSTOLIC_EXTENDED))
    return fail(std::string("machine ") + machine.name +
                " does not have this instruction");
  return true;
}

bool Decoder::decode(const Command &command, Action &action) {
  if (!isSupported(command))
    return false;
  switch (command.funct) {
  case ASHLAR_SYSTOLIC_CONFIG:
    return decodeConfig(command);
  case ASHLAR_SYSTOLIC_MVIN:
    return decodeLoad(command, action, 0);
  case ASHLAR_SYSTOLIC_MVIN2:
    return decodeLoad(command, action, 1);
  case ASHLAR_SYSTOLIC_MVIN3:
    return decodeLoad(command, action, 2);
  case ASHLAR_SYSTOLIC_MVOUT:
    return decodeStore(command, action);
  case ASHLAR_SYSTOLIC_PRELOAD:
    return decodePreload(command, action);
  case ASHLAR_SYSTOLIC_COMPUTE_PRELOADED:
    return decodeCompute(command, action, true);
  case ASHLAR_SYSTOLIC_COMPUTE_ACCUMULATED:
    return decodeCompute(command, action, false);
  case ASHLAR_SYSTOLIC_FLUSH:
    return true;
  case ASHLAR_SYSTOLIC_CONFIG_STREAM:
    return decodeStream(command);
  case ASHLAR_SYSTOLIC_CONFIG_COLUMNS:
    return decodeColumns(command);
  case ASHLAR_SYSTOLIC_CONFIG_VECTOR:
    if (command.rs1 >> 3 || command.rs2 || bits(command.rs1, 1, 2) == 3)
      return fail("rs1 " + text(int64_t(command.rs1)) +
                  ": expected a type and a way to read the right operand");
    isInteger = bits(command.rs1, 0, 1) == ASHLAR_SYSTOLIC_S32;
    right = bits(command.rs1, 1, 2);
    return true;
  case ASHLAR_SYSTOLIC_TABLE:
    return decodeTable(command, action);
  case ASHLAR_SYSTOLIC_SYNC:
    if ((command.rs1 | command.rs2) & ~uint64_t(ASHLAR_SYSTOLIC_ALL_QUEUES))
      return fail("expected masks of queues, at most " +
                  text(ASHLAR_SYSTOLIC_ALL_QUEUES));
    action.kind = Action::Sync;
    action.from = uint32_t(command.rs1);
    action.to = uint32_t(command.rs2);
    if (machine.flags & ASHLAR_SYSTOLIC_INTERLOCKED)
      action.from = action.to = ASHLAR_SYSTOLIC_ALL_QUEUES;
    return true;
  case ASHLAR_SYSTOLIC_REGION:
    if (command.rs1 >= kernel.regions.size() || command.rs2)
      return fail("expected a region below " +
                  text(int64_t(kernel.regions.size())) + ", found " +
                  text(int64_t(command.rs1)));
    action.kind = Action::Region;
    action.region = uint32_t(command.rs1);
    action.isIssued = false;
    return true;
  default:
    return decodeVector(command, action);
  }
}

//===-- Configuration -----------------------------------------------------===//

bool Decoder::decodeConfigEx(const Command &command) {
  uint32_t activation = bits(command.rs1, 3, 2);
  if (activation > ASHLAR_SYSTOLIC_RELU)
    return fail("config_ex: expected no activation or relu, found " +
                text(activation));
  bool newA = bits(command.rs1, 8, 1), newB = bits(command.rs1, 9, 1);
  bool newOutputStationary = bits(command.rs1, 2, 1) == 0;
  exConfigured = true;
  aStride = bits(command.rs1, 16, 16);
  cStride = bits(command.rs2, 48, 16);
  if (bits(command.rs1, 7, 1))
    return true;
  if (newOutputStationary && machine.flags & ASHLAR_SYSTOLIC_WEIGHTS_STAY)
    return fail(std::string("config_ex: machine ") + machine.name +
                " is weight-stationary only");
  // Gemmini's table of what its one transposer can do.
  if (newOutputStationary ? newB && !newA : newA && newB)
    return fail("config_ex: these transposes are not possible with this "
                "dataflow");
  if (bits(command.rs2, 0, 32) > 31)
    return fail("config_ex: expected a shift of at most 31, found " +
                text(bits(command.rs2, 0, 32)));
  outputStationary = newOutputStationary;
  exRelu = activation == ASHLAR_SYSTOLIC_RELU;
  aTransposed = newA;
  bTransposed = newB;
  shift = bits(command.rs2, 0, 32);
  return true;
}

bool Decoder::decodeConfig(const Command &command) {
  switch (bits(command.rs1, 0, 2)) {
  case ASHLAR_SYSTOLIC_CONFIG_EX:
    return decodeConfigEx(command);
  case ASHLAR_SYSTOLIC_CONFIG_LD: {
    uint32_t id = bits(command.rs1, 3, 2);
    if (id > 2)
      return fail("config_ld: expected 0, 1 or 2 for mvin, mvin2 or mvin3, "
                  "found 3");
    LoadState &load = loads[id];
    load.configured = true;
    load.narrow = bits(command.rs1, 2, 1);
    load.pixels = bits(command.rs1, 8, 8);
    if (load.pixels == 0)
      load.pixels = 1;
    load.blockStride = bits(command.rs1, 16, 16);
    load.scale = bitsAs<float>(bits(command.rs1, 32, 32));
    load.stride = command.rs2;
    if (load.stride >> 40)
      return fail("config_ld: expected a stride below 2^40 bytes");
    return true;
  }
  case ASHLAR_SYSTOLIC_CONFIG_ST: {
    uint32_t activation = bits(command.rs1, 2, 2);
    if (activation > ASHLAR_SYSTOLIC_RELU)
      return fail("config_st: expected no activation or relu, found " +
                  text(activation));
    stConfigured = true;
    storeRelu = activation == ASHLAR_SYSTOLIC_RELU;
    storeStride = bits(command.rs2, 0, 32);
    storeScale = bitsAs<float>(bits(command.rs2, 32, 32));
    pooling = Pooling();
    pooling.stride = bits(command.rs1, 4, 2);
    pooling.size = bits(command.rs1, 6, 2);
    pooling.upperPadding = bits(command.rs1, 8, 2);
    pooling.leftPadding = bits(command.rs1, 10, 2);
    pooling.outputWidth = bits(command.rs1, 24, 8);
    pooling.outputRows = bits(command.rs1, 32, 8);
    pooling.outputColumns = bits(command.rs1, 40, 8);
    pooling.rows = bits(command.rs1, 48, 8);
    pooling.columns = bits(command.rs1, 56, 8);
    return true;
  }
  default:
    return fail("expected config_ex, config_ld or config_st, found 3");
  }
}

bool Decoder::decodeStream(const Command &command) {
  uint32_t stream = bits(command.rs1, 0, 8), level = bits(command.rs1, 8, 8);
  uint32_t count = bits(command.rs1, 16, 16);
  auto step = int32_t(bits(command.rs1, 32, 32));
  auto bytes = int64_t(command.rs2);
  if (stream >= ASHLAR_SYSTOLIC_STREAMS || level >= ASHLAR_SYSTOLIC_LEVELS)
    return fail("expected a stream below " + text(ASHLAR_SYSTOLIC_STREAMS) +
                " and a level below " + text(ASHLAR_SYSTOLIC_LEVELS) +
                ", found " + text(stream) + " and " + text(level));
  constexpr int64_t most = int64_t(1) << 40;
  bool isMemory = stream >= ASHLAR_SYSTOLIC_STREAM_MVIN;
  if (isMemory ? bytes >= most || bytes <= -most : bytes != 0)
    return fail(
        "stream " + text(stream) + ": expected " +
        (isMemory ? "steps in memory below 2^40" : "no step in memory") +
        ", found " + text(bytes));
  StreamLevels &levels = streams[stream];
  if (level == 0)
    levels = StreamLevels();
  if (count == 0) {
    if (level != 0)
      return fail("level " + text(level) + ": expected a count of at least 1");
    return true;
  }
  if (level && levels.levels == 0)
    return fail("level " + text(level) + " of stream " + text(stream) +
                ": level 0 is off");
  levels.levels = level + 1 > levels.levels ? level + 1 : levels.levels;
  levels.walk.counts[level] = count;
  levels.walk.steps[level] = step;
  levels.walk.bytes[level] = bytes;
  return true;
}

bool Decoder::decodeColumns(const Command &command) {
  if (command.rs1 < ASHLAR_SYSTOLIC_STREAM_MVIN ||
      command.rs1 > ASHLAR_SYSTOLIC_STREAM_MVOUT)
    return fail("expected a stream of mvin, mvin2, mvin3 or mvout, found " +
                text(int64_t(command.rs1)));
  bool isStore = command.rs1 == ASHLAR_SYSTOLIC_STREAM_MVOUT;
  uint32_t first = bits(command.rs2, 0, 16), stride = bits(command.rs2, 32, 32);
  if (first >= machine.dim || bits(command.rs2, 16, 16) || (stride && !isStore))
    return fail("expected a first column below " + text(machine.dim) +
                (isStore ? "" : " and no block stride") + ", found " +
                text(first) + " and " + text(stride));
  firstColumns[command.rs1 - ASHLAR_SYSTOLIC_STREAM_MVIN] = first;
  if (isStore)
    storeBlockStride = stride;
  return true;
}

} // namespace ashlar::systolic
