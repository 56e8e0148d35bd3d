// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy, from the front, innermost loops first: each round takes what repeats
// next to itself, and what it made is a unit of the next round.
#include "CompressLoops.h"

#include <algorithm>

using namespace ashlar::systolic;

namespace {
/// A command, or a loop with all that stands in it.
struct Unit {
  Vector<Command> commands;
  unsigned depth = 0; ///< of loops
};

bool isControl(const Command &command) {
  return command.funct == ASHLAR_SYSTOLIC_LOOP ||
         command.funct == ASHLAR_SYSTOLIC_END ||
         command.funct == ASHLAR_SYSTOLIC_ADVANCE;
}

/// Whether two units differ in registers alone.
bool isAlike(const Unit &a, const Unit &b) {
  return std::equal(a.commands.begin(), a.commands.end(), b.commands.begin(),
                    b.commands.end(), [](const Command &x, const Command &y) {
                      return x.funct == y.funct && x.unit == y.unit &&
                             x.funct != ASHLAR_SYSTOLIC_REGION &&
                             (!isControl(x) ||
                              (x.rs1 == y.rs1 && x.rs2 == y.rs2));
                    });
}

/// Whether b to c is the same step as a to b.
bool isSameStep(const Unit &a, const Unit &b, const Unit &c) {
  for (size_t i = 0; i < a.commands.size(); ++i) {
    const Command &x = a.commands[i], &y = b.commands[i], &z = c.commands[i];
    if (y.rs1 - x.rs1 != z.rs1 - y.rs1 || y.rs2 - x.rs2 != z.rs2 - y.rs2)
      return false;
  }
  return true;
}

/// How often the `period` units at `at` repeat.
size_t repeatsAt(const std::vector<Unit> &units, size_t at, size_t period) {
  auto matches = [&](size_t round) {
    size_t begin = at + round * period;
    if (begin + period > units.size())
      return false;
    for (size_t i = 0; i < period; ++i)
      if (!isAlike(units[at + i], units[begin + i]) ||
          (round > 1 &&
           !isSameStep(units[begin + i - 2 * period], units[begin + i - period],
                       units[begin + i])))
        return false;
    return true;
  };
  size_t count = 1;
  while (matches(count))
    ++count;
  return count;
}

Unit makeLoop(const std::vector<Unit> &units, size_t at, size_t period,
              size_t count) {
  Unit loop;
  auto control = [](uint8_t funct, uint64_t rs1, uint64_t rs2,
                    uint8_t unit = 0) {
    return Command{funct, unit, 0, 0, rs1, rs2};
  };
  loop.commands.push_back(control(ASHLAR_SYSTOLIC_LOOP, count, 0));
  for (size_t i = 0; i < period; ++i) {
    const Unit &first = units[at + i], &second = units[at + period + i];
    loop.depth = std::max(loop.depth, first.depth + 1);
    unsigned inside = 0; // loops within the new one around the command
    for (size_t j = 0; j < first.commands.size(); ++j) {
      const Command &command = first.commands[j];
      inside += command.funct == ASHLAR_SYSTOLIC_LOOP;
      inside -= command.funct == ASHLAR_SYSTOLIC_END;
      uint64_t step1 = second.commands[j].rs1 - command.rs1;
      uint64_t step2 = second.commands[j].rs2 - command.rs2;
      if (!isControl(command) && (step1 || step2))
        loop.commands.push_back(
            control(ASHLAR_SYSTOLIC_ADVANCE, step1, step2, uint8_t(inside)));
      loop.commands.push_back(command);
    }
  }
  loop.commands.push_back(control(ASHLAR_SYSTOLIC_END, 0, 0));
  return loop;
}

size_t sizeOf(const std::vector<Unit> &units, size_t begin, size_t count) {
  size_t size = 0;
  for (size_t i = begin; i < begin + count; ++i)
    size += units[i].commands.size();
  return size;
}

std::vector<Unit> compressOnce(const std::vector<Unit> &units) {
  constexpr size_t mostPeriod = 96;
  std::vector<Unit> result;
  for (size_t at = 0; at < units.size();) {
    size_t bestPeriod = 0, bestCount = 0, bestSaved = 0;
    for (size_t period = 1; period <= mostPeriod; ++period) {
      if (at + 2 * period > units.size())
        break;
      size_t count = repeatsAt(units, at, period);
      if (count < 2)
        continue;
      size_t once = sizeOf(units, at, period);
      // What an advance before each would cost, and the loop itself.
      size_t whole = sizeOf(units, at, period * count);
      size_t cost = 2 * once + 2;
      size_t saved = whole > cost ? whole - cost : 0;
      if (saved > bestSaved) {
        bestSaved = saved;
        bestPeriod = period;
        bestCount = count;
      }
    }
    unsigned depth = 0;
    for (size_t i = at; i < at + bestPeriod; ++i)
      depth = std::max(depth, units[i].depth);
    if (bestPeriod == 0 || depth + 1 > ASHLAR_SYSTOLIC_MAX_LOOPS) {
      result.push_back(units[at++]);
      continue;
    }
    result.push_back(makeLoop(units, at, bestPeriod, bestCount));
    at += bestPeriod * bestCount;
  }
  return result;
}
} // namespace

Vector<Command>
ashlar::systolic::compressLoops(const Vector<Command> &commands) {
  std::vector<Unit> units;
  units.reserve(commands.size());
  for (const Command &command : commands)
    units.push_back({{command}, 0});
  for (;;) {
    std::vector<Unit> next = compressOnce(units);
    if (next.size() == units.size())
      break;
    units = std::move(next);
  }
  Vector<Command> result;
  for (const Unit &unit : units)
    result.insert(result.end(), unit.commands.begin(), unit.commands.end());
  return result;
}
