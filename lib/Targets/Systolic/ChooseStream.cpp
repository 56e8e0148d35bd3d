// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries a handful of ways to cut a contraction, and takes the one that the
// simulator's counting half finds fastest: it is exact, and reads no data.
#include "ExchangeRoles.h"
#include "Lowering.h"
#include "PackColumns.h"
#include "WriteSums.h"

#include "systolic/Timing.h"

#include <algorithm>
#include <optional>

using namespace ashlar::systolic;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::optional<uint64_t> ashlar::systolic::cyclesOf(const Machine &machine,
                                                   const Kernel &kernel,
                                                   std::string &error) {
  Timing timing(machine, kernel.regions.size());
  Decoder decoder(machine, kernel);
  Action action;
  while (decoder.next(action))
    timing.add(action);
  if (decoder.failed()) {
    error = "its stream would be refused: " + decoder.error();
    return std::nullopt;
  }
  timing.finish();
  return timing.cycles();
}

const char *ashlar::systolic::nameOf(Dataflow dataflow) {
  return dataflow == Dataflow::None ? "on the vector unit"
                                    : dataflowName(uint32_t(dataflow));
}

/// Terms that follow each other in memory: all but the taps.
static int64_t columnsOfA(const Contraction &contraction) {
  int64_t columns = 1;
  for (unsigned d : contraction.k)
    if (contraction.a.strides[d] == 1)
      columns = contraction.sizes[d];
  return columns;
}

/// Folds of A if each tap has its own.
static int64_t blocksInPlace(const Contraction &contraction,
                             const Machine &machine) {
  int64_t columns = columnsOfA(contraction);
  return contraction.count(contraction.k) / columns *
         divideUp(columns, machine.dim);
}

std::vector<Choice> ashlar::systolic::choicesFor(const Contraction &contraction,
                                                 const Machine &machine,
                                                 const SearchOptions &options) {
  const bool isOutputStationary =
      options.dataflow == Dataflow::OutputStationary;
  std::vector<Choice> choices;
  int64_t rows = contraction.count(contraction.m);
  int64_t most = std::min<int64_t>(rows, machine.accumulator_rows / 3);
  // Blocks of all columns lie side by side, beside what is made of them.
  if (contraction.rows.exist())
    most = std::max<int64_t>(
        1, std::min<int64_t>(rows,
                             machine.accumulator_rows /
                                 (2 * divideUp(contraction.count(contraction.n),
                                               machine.dim) +
                                  int64_t(contraction.rows.values.size()))));
  // An array holds the sums of as many rows at once.
  int64_t least = isOutputStationary ? std::min<int64_t>(rows, machine.dim) : 1;
  std::vector<int64_t> counts;
  for (int64_t count = divideUp(rows, most);; count *= 2) {
    counts.push_back(std::max(least, divideUp(rows, count)));
    if (counts.back() == least)
      break;
  }
  int64_t blocks = divideUp(contraction.count(contraction.k), machine.dim);
  std::vector<bool> modes = {contraction.isDepthwise};
  if (contraction.isDepthwise) {
    blocks = contraction.count(contraction.k);
  } else if (contraction.a.kept) {
    // Nothing else is there to read.
    modes = {true};
    blocks = blocksInPlace(contraction, machine);
  } else if (!contraction.sideBySide.taps && canReadTapsInPlace(contraction)) {
    // More blocks where taps are not packed.
    if (columnsOfA(contraction) < contraction.count(contraction.k)) {
      modes.push_back(true);
      if (!options.packsTaps)
        modes = {true};
      blocks = blocksInPlace(contraction, machine);
    }
  }
  const bool isOnLanes = options.dataflow == Dataflow::None;
  if (isOnLanes)
    modes = {false};
  for (int64_t tile = std::max<int64_t>(blocks * 2, 1);; tile /= 2) {
    for (int64_t chunk : counts) {
      if (options.mostTileCycles && tile > 1 && !contraction.isDepthwise &&
          tile * std::max<int64_t>(chunk, machine.dim) > options.mostTileCycles)
        continue;
      for (bool inPlace : modes)
        for (int64_t cycles : {600, 1200, 2400})
          choices.push_back(
              {inPlace, chunk, tile, cycles, isOutputStationary, isOnLanes});
    }
    if (tile == 1 || contraction.isDepthwise)
      break;
  }
  return choices;
}

namespace {
class Search {
public:
  explicit Search(const Machine &machine) : machine(machine) {}

  /// Nothing where it cannot be better than the best so far.
  void tryAll(const Contraction &contraction, Dataflow dataflow,
              const SearchOptions &options);

  Found found; ///< the best so far, of all forms of a contraction

private:
  const Machine &machine;
  size_t commands = 0; ///< of the best
};
} // namespace

/// Why sums cannot stay in an array; empty: they can.
static std::string whyNoSumStays(const Contraction &contraction,
                                 const Machine &machine) {
  if (machine.flags & ASHLAR_SYSTOLIC_WEIGHTS_STAY)
    return "the machine is weight-stationary only";
  const int64_t bits = machine.array_sum_bits;
  if (bits && bits < 32 && (!contraction.sumBits || contraction.sumBits > bits))
    return "its sums are not known to fit in the array's " +
           std::to_string(bits) + " bits";
  return "";
}

/// What the arrays take if they never wait, or transfers that move a row for
/// each element.
static uint64_t leastCycles(const Contraction &contraction,
                            const Machine &machine, bool isOutputStationary) {
  int64_t rows = contraction.count(contraction.m),
          columns = contraction.count(contraction.n);
  int64_t terms = contraction.count(contraction.k), dim = machine.dim;
  // The last terms of each sum take their time, too.
  int64_t depth = terms / dim * dim;
  if (terms % dim)
    depth += std::max<int64_t>(terms % dim, machine.least_depth);
  int64_t folds = isOutputStationary
                      ? divideUp(rows, dim) * std::max(depth, dim)
                      : divideUp(terms, dim) * std::max(rows, dim);
  int64_t batches = contraction.count(contraction.batch);
  int64_t least = batches * divideUp(columns, dim) * folds / machine.arrays;
  Choice choice;
  choice.isOutputStationary = isOutputStationary;
  int64_t single = singleElements(contraction, machine, choice);
  return uint64_t(
      std::max<int64_t>(least, single / machine.bank_rows_per_cycle));
}

void Search::tryAll(const Contraction &contraction, Dataflow dataflow,
                    const SearchOptions &options) {
  if (options.dataflow && dataflow != *options.dataflow &&
      !contraction.isDepthwise)
    return;
  const bool isOutputStationary = dataflow == Dataflow::OutputStationary;
  if (std::string why =
          isOutputStationary ? whyNoSumStays(contraction, machine) : "";
      !why.empty()) {
    if (!found.cycles)
      found.error = why;
    return;
  }
  auto note = [&](uint64_t cycles, bool isBound) {
    for (Alternative &one : found.alternatives)
      if (one.dataflow == dataflow) {
        if (cycles < one.cycles)
          one = {dataflow, cycles, isBound};
        return;
      }
    found.alternatives.push_back({dataflow, cycles, isBound});
  };
  uint64_t bound = contraction.isDepthwise || dataflow == Dataflow::None
                       ? 0
                       : leastCycles(contraction, machine, isOutputStationary);
  if (found.cycles && bound >= *found.cycles)
    return note(bound, true);
  // Commands that are counted at most, for all choices together.
  uint64_t budget = 400000;
  int64_t feasible = 0, tile = 0, rows = contraction.count(contraction.m);
  // What the machine has no command for in any size; by readsTapsInPlace.
  bool isImpossible[2] = {false, false};
  SearchOptions ofThis = options;
  ofThis.dataflow = dataflow;
  for (const Choice &choice : choicesFor(contraction, machine, ofThis)) {
    // Smaller tiles, and fewer rows than the array's, only where nothing else
    // fits.
    if (feasible &&
        (choice.tileBlocks * 2 < tile || budget == 0 || feasible >= 24))
      break;
    if (feasible && choice.chunkRows < std::min<int64_t>(rows, machine.dim))
      continue;
    StreamBuilder builder("", ASHLAR_SYSTOLIC_MAX_BINDINGS);
    if (isImpossible[choice.readsTapsInPlace])
      continue;
    bool fits;
    std::string why =
        writeStream({Part{&contraction, choice, "", -1, 0, options.keptRows}},
                    machine, builder, &fits);
    if (!why.empty()) {
      isImpossible[choice.readsTapsInPlace] = fits;
      if (!found.cycles)
        found.error = why;
      continue;
    }
    if (++feasible == 1)
      tile = choice.tileBlocks;
    uint64_t count = builder.kernel.commands.size();
    budget -= std::min(budget, count);
    std::optional<uint64_t> cycles =
        cyclesOf(machine, builder.kernel, found.cycles ? why : found.error);
    if (cycles)
      note(*cycles, false);
    // A longer stream has to be worth it.
    std::optional<uint64_t> best = found.cycles;
    if (cycles && (!best || *cycles * 50 < *best * 49 ||
                   (*cycles <= *best && count <= commands))) {
      found.cycles = cycles;
      found.contraction = contraction;
      found.choice = choice;
      commands = count;
    }
  }
}

/// A sum of two operands: nothing stays in the array.
static Found onlyWayTo(const Contraction &sum, const Machine &machine) {
  Found found;
  found.contraction = sum;
  StreamBuilder builder("", ASHLAR_SYSTOLIC_MAX_BINDINGS);
  ashlar::Refusal why = whyNoSum(sum, machine);
  found.error = why ? *why : writeSum(sum, machine, "", builder);
  if (found.error.empty())
    found.cycles = cyclesOf(machine, builder.kernel, found.error);
  if (found.cycles)
    found.alternatives.push_back({Dataflow::None, *found.cycles, false});
  return found;
}

Found ashlar::systolic::chooseAlone(const Contraction &contraction,
                                    const Machine &machine,
                                    const SearchOptions &options) {
  if (contraction.isSum)
    return onlyWayTo(contraction, machine);
  Search search(machine);
  // Forms of the same, each better than the others somewhere.
  std::vector<Contraction> forms = {contraction};
  // What stays on chip lies there as it does in memory.
  bool isKept = contraction.a.kept || contraction.result.kept;
  for (const Access &operand : contraction.operands)
    isKept |= operand.kept != nullptr;
  if (options.packsColumns && !isKept)
    for (Contraction &packed : packingsOf(contraction, machine))
      forms.push_back(std::move(packed));
  // The most promising first: what cannot be better is not tried.
  std::rotate(forms.begin(), forms.begin() + 1, forms.end());
  for (const Contraction &form : forms)
    search.tryAll(form, Dataflow::WeightStationary, options);
  if (!contraction.isDepthwise)
    for (const Contraction &form : forms)
      search.tryAll(form, Dataflow::OutputStationary, options);
  if (canRunOnLanes(contraction, machine))
    search.tryAll(contraction, Dataflow::None, options);
  if (std::optional<Contraction> exchanged = exchangeRoles(contraction);
      exchanged && !isKept)
    search.tryAll(*exchanged, Dataflow::InputStationary, options);
  std::stable_sort(search.found.alternatives.begin(),
                   search.found.alternatives.end(),
                   [](const Alternative &a, const Alternative &b) {
                     return a.cycles < b.cycles;
                   });
  return std::move(search.found);
}

std::string ashlar::systolic::whyNoChoice(const Contraction &contraction,
                                          const Machine &machine) {
  if (contraction.isSum)
    return whyNoSum(contraction, machine).value_or("");
  std::string error = "it has no rows";
  for (const Choice &choice : choicesFor(contraction, machine)) {
    error = whyNotPart({&contraction, choice, "", -1}, machine);
    if (error.empty())
      return "";
  }
  if (std::optional<Contraction> exchanged = exchangeRoles(contraction))
    for (const Choice &choice : choicesFor(*exchanged, machine))
      if (whyNotPart({&*exchanged, choice, "", -1}, machine).empty())
        return "";
  return error;
}
