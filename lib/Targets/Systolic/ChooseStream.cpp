// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries a handful of ways to cut a contraction, and takes the one that the
// simulator's counting half finds fastest: it is exact, and reads no data.
#include "CompressLoops.h"
#include "Lowering.h"
#include "PackColumns.h"

#include "systolic/Timing.h"

#include <algorithm>
#include <optional>

using namespace ashlar::systolic;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Cycles until the last result has left.
static std::optional<uint64_t> cyclesOf(const Machine &machine,
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
                                                 const Machine &machine) {
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
    for (int64_t chunk : counts)
      for (bool inPlace : modes)
        for (int64_t cycles : {600, 1200, 2400})
          choices.push_back({inPlace, chunk, tile, cycles});
    if (tile == 1 || problem.isDepthwise)
      break;
  }
  return choices;
}

namespace {
/// The best stream so far, of all forms of a contraction.
class Search {
public:
  Search(const Machine &machine, const std::string &name, uint32_t bindings,
         const ashlar_systolic_region_t &region)
      : machine(machine), name(name), bindings(bindings), region(region) {}

  void tryAll(const Problem &problem);

  std::optional<uint64_t> best; ///< cycles
  Kernel kernel;
  std::string error = "it has no rows";

private:
  const Machine &machine;
  const std::string &name;
  uint32_t bindings;
  ashlar_systolic_region_t region;
};
} // namespace

void Search::tryAll(const Problem &problem) {
  // Commands that are counted at most, for all choices together.
  uint64_t budget = 400000;
  int64_t feasible = 0, tile = 0, rows = problem.count(problem.m);
  for (const Choice &choice : choicesFor(problem, machine)) {
    // Smaller tiles, and fewer rows than the array's, only where nothing else
    // fits.
    if (feasible &&
        (choice.tileBlocks * 2 < tile || budget == 0 || feasible >= 24))
      break;
    if (feasible && choice.chunkRows < std::min<int64_t>(rows, machine.dim))
      continue;
    StreamBuilder builder(name, bindings);
    builder.region(name, region.kind, region.multiply_adds);
    std::string why = writeContract(problem, machine, choice, builder);
    if (!why.empty()) {
      if (!best)
        error = why;
      continue;
    }
    if (++feasible == 1)
      tile = choice.tileBlocks;
    uint64_t commands = builder.kernel.commands.size();
    budget -= std::min(budget, commands);
    std::optional<uint64_t> cycles = cyclesOf(machine, builder.kernel);
    // A longer stream has to be worth it.
    if (cycles && (!best || *cycles * 50 < *best * 49 ||
                   (*cycles <= *best && commands <= kernel.commands.size()))) {
      best = cycles;
      kernel = std::move(builder.kernel);
    }
  }
}

std::string ashlar::systolic::lowerContract(const Problem &problem,
                                            const Machine &machine,
                                            const std::string &name,
                                            uint32_t bindings, Kernel &kernel) {
  ashlar_systolic_region_t region = {};
  region.multiply_adds = uint64_t(problem.multiplyAdds());
  region.kind = problem.isDepthwise ? ASHLAR_SYSTOLIC_DEPTHWISE
                                    : ASHLAR_SYSTOLIC_CONTRACTION;
  Search search(machine, name, bindings, region);
  search.tryAll(problem);
  if (std::optional<Problem> packed = packColumns(problem, machine))
    search.tryAll(*packed);
  if (!search.best)
    return search.error;
  kernel = std::move(search.kernel);
  // A short stream is as easily read as it is.
  constexpr size_t few = 1000;
  if (kernel.commands.size() > few)
    kernel.commands = compressLoops(kernel.commands);
  return "";
}

std::string ashlar::systolic::whyNoChoice(const Problem &problem,
                                          const Machine &machine) {
  std::string error = "it has no rows";
  for (const Choice &choice : choicesFor(problem, machine)) {
    error = whyNotChoice(problem, machine, choice);
    if (error.empty())
      return "";
  }
  return error;
}
