// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries a handful of ways to cut a contraction, and takes the one that the
// simulator's counting half finds fastest: it is exact, and reads no data.
#include "Lowering.h"
#include "PackColumns.h"

#include "systolic/Timing.h"

#include <algorithm>
#include <optional>

using namespace ashlar::systolic;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::optional<uint64_t> ashlar::systolic::cyclesOf(const Machine &machine,
                                                   const Kernel &kernel) {
  Timing timing(machine, kernel.regions.size());
  Decoder decoder(machine, kernel);
  Action action;
  while (decoder.next(action))
    timing.add(action);
  if (decoder.failed())
    return std::nullopt;
  timing.finish();
  return timing.cycles();
}

std::vector<Choice> ashlar::systolic::choicesFor(const Problem &problem,
                                                 const Machine &machine,
                                                 int64_t mostTileCycles) {
  std::vector<Choice> choices;
  int64_t rows = problem.count(problem.m);
  int64_t most = std::min<int64_t>(rows, machine.accumulator_rows / 3);
  std::vector<int64_t> counts;
  for (int64_t count = divideUp(rows, most);; count *= 2) {
    counts.push_back(std::max<int64_t>(1, divideUp(rows, count)));
    if (counts.back() == 1)
      break;
  }
  int64_t blocks = divideUp(problem.count(problem.k), machine.dim);
  std::vector<bool> modes = {problem.isDepthwise};
  if (problem.isDepthwise) {
    blocks = problem.count(problem.k);
  } else if (!problem.sideBySide.taps && canReadTapsInPlace(problem)) {
    // More blocks where taps are not packed.
    int64_t columns = 1;
    for (unsigned d : problem.k)
      if (problem.a.strides[d] == 1)
        columns = problem.sizes[d];
    if (columns < problem.count(problem.k)) {
      modes.push_back(true);
      blocks =
          problem.count(problem.k) / columns * divideUp(columns, machine.dim);
    }
  }
  for (int64_t tile = std::max<int64_t>(blocks * 2, 1);; tile /= 2) {
    for (int64_t chunk : counts) {
      if (mostTileCycles && tile > 1 && !problem.isDepthwise &&
          tile * std::max<int64_t>(chunk, machine.dim) > mostTileCycles)
        continue;
      for (bool inPlace : modes)
        for (int64_t cycles : {600, 1200, 2400})
          choices.push_back({inPlace, chunk, tile, cycles});
    }
    if (tile == 1 || problem.isDepthwise)
      break;
  }
  return choices;
}

namespace {
struct Search {
  Found found; ///< the best so far, of all forms of a contraction
  size_t commands = 0;

  void tryAll(const Problem &form, const Machine &machine,
              int64_t mostTileCycles);
};
} // namespace

void Search::tryAll(const Problem &form, const Machine &machine,
                    int64_t mostTileCycles) {
  // Commands that are counted at most, for all choices together.
  uint64_t budget = 400000;
  int64_t feasible = 0, tile = 0, rows = form.count(form.m);
  for (const Choice &tried : choicesFor(form, machine, mostTileCycles)) {
    // Smaller tiles, and fewer rows than the array's, only where nothing else
    // fits.
    if (feasible &&
        (tried.tileBlocks * 2 < tile || budget == 0 || feasible >= 24))
      break;
    if (feasible && tried.chunkRows < std::min<int64_t>(rows, machine.dim))
      continue;
    StreamBuilder builder("", ASHLAR_SYSTOLIC_MAX_BINDINGS);
    std::string why =
        writeStream({Part{&form, tried, "", -1}}, machine, builder);
    if (!why.empty()) {
      if (!found.cycles)
        found.error = why;
      continue;
    }
    if (++feasible == 1)
      tile = tried.tileBlocks;
    uint64_t count = builder.kernel.commands.size();
    budget -= std::min(budget, count);
    std::optional<uint64_t> cycles = cyclesOf(machine, builder.kernel);
    // A longer stream has to be worth it.
    std::optional<uint64_t> best = found.cycles;
    if (cycles && (!best || *cycles * 50 < *best * 49 ||
                   (*cycles <= *best && count <= commands))) {
      commands = count;
      found = {cycles, form, tried, ""};
    }
  }
}

Found ashlar::systolic::chooseAlone(const Problem &problem,
                                    const Machine &machine,
                                    int64_t mostTileCycles) {
  Search search;
  search.tryAll(problem, machine, mostTileCycles);
  if (std::optional<Problem> packed = packColumns(problem, machine))
    search.tryAll(*packed, machine, mostTileCycles);
  return search.found;
}

std::string ashlar::systolic::whyNoChoice(const Problem &problem,
                                          const Machine &machine) {
  std::string error = "it has no rows";
  for (const Choice &choice : choicesFor(problem, machine, 0)) {
    error = whyNotPart({&problem, choice, "", -1}, machine);
    if (error.empty())
      return "";
  }
  return error;
}
