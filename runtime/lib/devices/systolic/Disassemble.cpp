// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Disassemble.h"

#include "Decoder.h"
#include "Fields.h"
#include "Numbers.h"

#include <cstdio>

namespace ashlar::systolic {

namespace {
std::string real(float value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.9g", double(value));
  return buffer;
}

std::string memory(uint64_t address) {
  if (address == 0)
    return "zeros";
  uint64_t offset =
      address & ((uint64_t(1) << ASHLAR_SYSTOLIC_BINDING_SHIFT) - 1);
  return "binding " +
         text(int64_t(address >> ASHLAR_SYSTOLIC_BINDING_SHIFT) - 1) + " + " +
         text(int64_t(offset));
}

std::string row(uint32_t address) {
  if (address == ASHLAR_SYSTOLIC_GARBAGE)
    return "none";
  std::string result =
      address & ASHLAR_SYSTOLIC_ACCUMULATOR ? "accumulator " : "scratchpad ";
  result += text(address & ASHLAR_SYSTOLIC_ROW_MASK);
  if (address & ASHLAR_SYSTOLIC_ACCUMULATE)
    result += " adding";
  if (address & ASHLAR_SYSTOLIC_FULL_WIDTH)
    result += " at full width";
  return result;
}

std::string matrix(uint64_t registers) {
  return row(uint32_t(registers)) + ", " + text(bits(registers, 48, 16)) +
         " x " + text(bits(registers, 32, 16));
}

std::string queues(uint64_t mask) {
  if (mask == ASHLAR_SYSTOLIC_ALL_QUEUES)
    return "all";
  static const char *const names[] = {"load",      "store",     "vector",
                                      "execute 0", "execute 1", "execute 2",
                                      "execute 3"};
  std::string result;
  for (unsigned q = 0; q < ASHLAR_SYSTOLIC_MAX_QUEUES; ++q)
    if (mask >> q & 1)
      result += (result.empty() ? "" : ", ") + std::string(names[q]);
  return result.empty() ? "none" : result;
}

std::string stream(uint32_t number) {
  static const char *const names[] = {
      "a", "c", "left", "right", "result", "mvin", "mvin2", "mvin3", "mvout"};
  return number < ASHLAR_SYSTOLIC_STREAMS ? names[number] : text(number);
}

std::string activation(uint32_t number) {
  return number == ASHLAR_SYSTOLIC_NO_ACTIVATION ? ""
         : number == ASHLAR_SYSTOLIC_RELU ? ", relu"
                                          : ", activation " + text(number);
}

std::string config(const Command &command) {
  const uint64_t rs1 = command.rs1, rs2 = command.rs2;
  switch (bits(rs1, 0, 2)) {
  case ASHLAR_SYSTOLIC_CONFIG_EX: {
    std::string strides = "config_ex a step " + text(bits(rs1, 16, 16)) +
                          ", c step " + text(bits(rs2, 48, 16));
    if (bits(rs1, 7, 1))
      return strides;
    return strides +
           (bits(rs1, 2, 1) ? ", weight-stationary" : ", output-stationary") +
           (bits(rs1, 8, 1) ? ", a transposed" : "") +
           (bits(rs1, 9, 1) ? ", b transposed" : "") +
           activation(bits(rs1, 3, 2)) + ", shift " + text(bits(rs2, 0, 32));
  }
  case ASHLAR_SYSTOLIC_CONFIG_LD: {
    uint32_t id = bits(rs1, 3, 2), pixels = bits(rs1, 8, 8);
    return "config_ld " + stream(ASHLAR_SYSTOLIC_STREAM_MVIN + id) +
           " stride " + text(int64_t(rs2)) + ", block step " +
           text(bits(rs1, 16, 16)) + ", scale " +
           real(bitsAs<float>(bits(rs1, 32, 32))) +
           (pixels > 1 ? ", " + text(pixels) + " pixels" : "") +
           (bits(rs1, 2, 1) ? ", inputs" : "");
  }
  case ASHLAR_SYSTOLIC_CONFIG_ST: {
    std::string result = "config_st stride " + text(bits(rs2, 0, 32)) +
                         ", scale " + real(bitsAs<float>(bits(rs2, 32, 32))) +
                         activation(bits(rs1, 2, 2));
    if (uint32_t stride = bits(rs1, 4, 2))
      result += ", pool " + text(bits(rs1, 6, 2)) + " step " + text(stride) +
                " of " + text(bits(rs1, 48, 8)) + " x " +
                text(bits(rs1, 56, 8)) + " to " + text(bits(rs1, 32, 8)) +
                " x " + text(bits(rs1, 40, 8));
    return result;
  }
  default:
    return "config 3";
  }
}

std::string vector(const Command &command) {
  uint32_t funct = command.funct, left = uint32_t(command.rs2);
  uint32_t right = uint32_t(command.rs2 >> 32);
  std::string result = nameOf(funct) + " " + matrix(command.rs1);
  if (funct != ASHLAR_SYSTOLIC_FILL)
    result += ", left " + row(left);
  if (funct > ASHLAR_SYSTOLIC_COPY && funct < ASHLAR_SYSTOLIC_FILL)
    return result + ", right " + row(right);
  if (funct >= ASHLAR_SYSTOLIC_FILL &&
      funct <= ASHLAR_SYSTOLIC_MINIMUM_IMMEDIATE)
    return result + ", immediate " + real(bitsAs<float>(right)) + " (" +
           text(int32_t(right)) + ")";
  if (funct == ASHLAR_SYSTOLIC_LOOKUP)
    return result + ", table " + text(right);
  return result;
}

std::string array(const Command &command) {
  return command.unit ? " [" + text(command.unit) + "]" : "";
}
} // namespace

std::string disassemble(const Command &command, const Kernel &kernel) {
  const uint64_t rs1 = command.rs1, rs2 = command.rs2;
  const std::string name = nameOf(command.funct);
  switch (command.funct) {
  case ASHLAR_SYSTOLIC_CONFIG:
    return config(command);
  case ASHLAR_SYSTOLIC_MVIN:
  case ASHLAR_SYSTOLIC_MVIN2:
  case ASHLAR_SYSTOLIC_MVIN3:
  case ASHLAR_SYSTOLIC_MVOUT:
    return name + " " + memory(rs1) + ", " + matrix(rs2);
  case ASHLAR_SYSTOLIC_PRELOAD:
    return name + array(command) + " " + matrix(rs1) + "; c " + matrix(rs2);
  case ASHLAR_SYSTOLIC_COMPUTE_PRELOADED:
  case ASHLAR_SYSTOLIC_COMPUTE_ACCUMULATED:
    return name + array(command) + " a " + matrix(rs1) + "; " + matrix(rs2);
  case ASHLAR_SYSTOLIC_FLUSH:
  case ASHLAR_SYSTOLIC_END:
    return name;
  case ASHLAR_SYSTOLIC_CONFIG_STREAM:
    return name + " " + stream(bits(rs1, 0, 8)) + " level " +
           text(bits(rs1, 8, 8)) + ": " + text(bits(rs1, 16, 16)) + " times " +
           text(int32_t(rs1 >> 32)) + " rows, " + text(int64_t(rs2)) + " bytes";
  case ASHLAR_SYSTOLIC_CONFIG_COLUMNS:
    return name + " " + stream(uint32_t(rs1)) + " from " +
           text(bits(rs2, 0, 16)) + ", block step " + text(bits(rs2, 32, 32));
  case ASHLAR_SYSTOLIC_CONFIG_VECTOR: {
    static const char *const rights[] = {"each row", "one row", "one column",
                                         "?"};
    return name + (rs1 & 1 ? " s32, " : " f32, ") + rights[bits(rs1, 1, 2)];
  }
  case ASHLAR_SYSTOLIC_TABLE:
    return name + " " + text(int64_t(rs2)) + ", " + memory(rs1);
  case ASHLAR_SYSTOLIC_SYNC:
    return name + " " + queues(rs2) + " after " + queues(rs1);
  case ASHLAR_SYSTOLIC_REGION:
    return name + " " +
           (rs1 < kernel.regions.size() ? std::string(kernel.regions[rs1].name)
                                        : text(int64_t(rs1)));
  case ASHLAR_SYSTOLIC_LOOP:
    return name + " " + text(int64_t(rs1));
  case ASHLAR_SYSTOLIC_ADVANCE:
    return name + " " + text(command.unit) + ": " + text(int64_t(rs1)) + ", " +
           text(int64_t(rs2));
  default:
    return name.empty() ? "funct " + text(command.funct) : vector(command);
  }
}

std::string disassemble(const Image &image, const Kernel &kernel) {
  std::string result = std::string(kernel.name) + " for " + image.machine.name +
                       ", " + text(int64_t(kernel.commands.size())) +
                       " instructions, " + text(int64_t(kernel.issued)) +
                       " issued\n";
  size_t depth = 0;
  for (size_t i = 0; i < kernel.commands.size(); ++i) {
    const Command &command = kernel.commands[i];
    if (command.funct == ASHLAR_SYSTOLIC_END && depth)
      --depth;
    std::string index = text(int64_t(i));
    result += std::string(index.size() < 7 ? 7 - index.size() : 0, ' ') +
              index + "  " + std::string(2 * depth, ' ') +
              disassemble(command, kernel) + "\n";
    if (command.funct == ASHLAR_SYSTOLIC_LOOP)
      ++depth;
  }
  return result;
}

} // namespace ashlar::systolic
