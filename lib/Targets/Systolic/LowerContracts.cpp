// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions of a stream: how each is cut depends on the one before, whose
// results it waits for.
#include "CompressLoops.h"
#include "ContractForm.h"
#include "Lowering.h"
#include "WriteSums.h"

#include <map>
#include <memory>

using namespace ashlar::systolic;

namespace {
/// Half of both memories, but for what stays on chip.
Machine halved(Machine machine, int64_t keptRows) {
  machine.scratchpad_rows =
      uint32_t(keptRows + (machine.scratchpad_rows - keptRows) / 2);
  machine.accumulator_rows /= 2;
  return machine;
}

class StreamJoiner {
public:
  StreamJoiner(const Machine &machine, const SearchOptions &options)
      : machine(machine), half(halved(machine, options.keptRows)),
        options(options) {}

  /// Returns why it cannot be computed.
  std::string add(const Contraction &contraction, const std::string &name);

  /// Of those that were added. Returns why they are no stream; `cycles` are
  /// those that it takes, where that is known.
  std::string finish(Chosen &chosen, std::optional<uint64_t> &cycles);

private:
  using FoundPointer = std::shared_ptr<const Found>;
  FoundPointer choose(const Contraction &contraction, const std::string &form,
                      const Machine &area, const SearchOptions &search);
  void consider(const FoundPointer &found, const Contraction &contraction,
                Part part);
  size_t bestCandidate() const;

  const Machine &machine;
  const Machine half;
  const SearchOptions options;
  /// Of parts and of what is considered.
  std::vector<std::shared_ptr<const Contraction>> owners;
  std::vector<Part> candidates;
  /// What has been found for contractions of the same form, and which of its
  /// candidates was best behind one of which form.
  std::map<std::string, FoundPointer> found;
  std::map<std::string, size_t> behind;
  std::string last; ///< the form and the choice before
  /// Chosen one after the other, and each as it is best alone.
  std::vector<Part> parts, apart;
  std::vector<std::vector<Alternative>> alternatives; ///< by part
};
} // namespace

StreamJoiner::FoundPointer StreamJoiner::choose(const Contraction &contraction,
                                                const std::string &form,
                                                const Machine &area,
                                                const SearchOptions &search) {
  FoundPointer &known = found[form + std::to_string(area.scratchpad_rows) +
                              ' ' + std::to_string(search.mostTileCycles)];
  if (!known)
    known =
        std::make_shared<const Found>(chooseAlone(contraction, area, search));
  return known;
}

/// What was found, for the operands that there are.
void StreamJoiner::consider(const FoundPointer &found,
                            const Contraction &contraction, Part part) {
  auto own = std::make_shared<const Contraction>(
      withPlacesOf(found->contraction, contraction));
  part.contraction = own.get();
  part.choice = found->choice;
  owners.push_back(std::move(own));
  candidates.push_back(part);
}

std::string StreamJoiner::add(const Contraction &contraction,
                              const std::string &name) {
  candidates.clear();
  std::string form = formOf(contraction);
  Part part;
  part.name = name;
  part.multiplyAdds = uint64_t(contraction.multiplyAdds());
  part.keptRows = options.keptRows;
  // With all of both memories, and therefore after everything else.
  FoundPointer alone = choose(contraction, form, machine, options);
  if (!alone->cycles)
    return alone->error;
  alternatives.push_back(alone->alternatives);
  // The smaller a tile, the earlier its operands are all there.
  SearchOptions smaller = options;
  smaller.dataflow = alone->alternatives.front().dataflow;
  consider(alone, contraction, part);
  apart.push_back(candidates.back());
  part.half = parts.empty() || parts.back().half == 1 ? 0 : 1;
  for (int64_t cycles : {256, 512, 1024}) {
    smaller.mostTileCycles = cycles;
    FoundPointer found = choose(contraction, form, half, smaller);
    if (found->cycles)
      consider(found, contraction, part);
  }
  last += '|' + form + std::to_string(part.half);
  auto known = behind.find(last);
  if (known == behind.end())
    known = behind.insert({last, bestCandidate()}).first;
  parts.push_back(candidates[known->second]);
  last = form + std::to_string(known->second) + std::to_string(part.half);
  return "";
}

/// That which ends first behind the part before.
size_t StreamJoiner::bestCandidate() const {
  std::optional<uint64_t> best;
  size_t chosen = 0;
  for (const Part &candidate : candidates) {
    std::vector<Part> both;
    if (!parts.empty())
      both.push_back(parts.back());
    both.push_back(candidate);
    StreamBuilder builder("", ASHLAR_SYSTOLIC_MAX_BINDINGS);
    if (!writeStream(both, machine, builder).empty())
      continue;
    std::string error;
    std::optional<uint64_t> cycles = cyclesOf(machine, builder.kernel, error);
    // Whatever comes next would have to wait for it.
    if (cycles && candidate.half < 0)
      *cycles += 2 * (machine.memory_latency + machine.dim);
    if (cycles && (!best || *cycles < *best)) {
      best = cycles;
      chosen = size_t(&candidate - candidates.data());
    }
  }
  return chosen;
}

/// Of a stream; returns why there is none.
static std::string timeStream(const std::vector<Part> &parts,
                              const Machine &machine,
                              std::optional<uint64_t> &cycles) {
  StreamBuilder builder("", ASHLAR_SYSTOLIC_MAX_BINDINGS);
  std::string why = writeStream(parts, machine, builder), error;
  if (why.empty())
    cycles = cyclesOf(machine, builder.kernel, error);
  return why;
}

std::string StreamJoiner::finish(Chosen &chosen,
                                 std::optional<uint64_t> &cycles) {
  // Halves cost more than overlapping saves where everything is large.
  std::optional<uint64_t> joined, ofApart;
  std::string why = timeStream(parts, machine, joined);
  std::string whyApart = timeStream(apart, machine, ofApart);
  bool isApart = whyApart.empty() &&
                 (!why.empty() || (ofApart && (!joined || *joined > *ofApart)));
  if (!isApart && !why.empty())
    return why;
  chosen.parts = isApart ? std::move(apart) : std::move(parts);
  cycles = isApart ? ofApart : joined;
  chosen.contractions = std::move(owners);
  chosen.lowered.alternatives = std::move(alternatives);
  return "";
}

/// Contractions that are one stream.
static std::string join(const std::vector<Contraction> &contractions,
                        const std::vector<std::string> &names,
                        const Machine &machine, const SearchOptions &options,
                        Chosen &chosen, std::optional<uint64_t> &cycles) {
  StreamJoiner joiner(machine, options);
  for (size_t i = 0; i < contractions.size(); ++i)
    if (contractions[i].isSum)
      return "a sum of two operands is a stream of its own";
    else if (std::string why = joiner.add(contractions[i], names[i]);
             !why.empty())
      return why;
  return joiner.finish(chosen, cycles);
}

/// The same with values between them on chip, if that is faster.
static void joinOnChip(std::vector<Contraction> contractions,
                       const std::vector<std::string> &names,
                       const Machine &machine, SearchOptions options,
                       std::optional<uint32_t> inner, Chosen &chosen,
                       std::optional<uint64_t> cycles) {
  Chosen other;
  KeptValues &kept = other.kept;
  kept = keepValues(contractions, machine, inner, mostKeptRows(machine));
  if (kept.values.empty())
    return;
  options.keptRows = kept.rows;
  std::optional<uint64_t> ofKept;
  if (!join(contractions, names, machine, options, other, ofKept).empty())
    return;
  if (!ofKept || (cycles && *ofKept > *cycles))
    return;
  other.lowered.keptValues = int64_t(kept.values.size());
  other.lowered.keptRows = kept.rows;
  other.lowered.savedBytes = kept.savedBytes;
  chosen = std::move(other);
}

/// One is a stream of its own.
static std::string chooseOne(const Contraction &contraction,
                             const std::string &name, const Machine &machine,
                             const SearchOptions &options, Chosen &chosen) {
  Found alone = chooseAlone(contraction, machine, options);
  if (!alone.cycles)
    return alone.error;
  chosen.lowered.alternatives.push_back(std::move(alone.alternatives));
  chosen.contractions.push_back(
      std::make_shared<const Contraction>(std::move(alone.contraction)));
  chosen.parts.push_back({chosen.contractions.back().get(), alone.choice, name,
                          -1, uint64_t(contraction.multiplyAdds())});
  return "";
}

std::string ashlar::systolic::chooseParts(std::vector<Contraction> contractions,
                                          const std::vector<std::string> &names,
                                          const Machine &machine,
                                          const SearchOptions &options,
                                          std::optional<uint32_t> inner,
                                          Chosen &chosen) {
  if (contractions.size() == 1)
    return chooseOne(contractions[0], names[0], machine, options, chosen);
  std::optional<uint64_t> cycles;
  std::string why = join(contractions, names, machine, options, chosen, cycles);
  if (why.empty() && options.keepsValues)
    joinOnChip(std::move(contractions), names, machine, options, inner, chosen,
               cycles);
  return why;
}

std::string ashlar::systolic::writeParts(const std::vector<Part> &parts,
                                         const Machine &machine,
                                         const std::string &name,
                                         uint32_t bindings, Kernel &kernel) {
  StreamBuilder builder(name, bindings);
  const Part &first = parts.front();
  std::string why =
      first.contraction->isSum
          ? writeSum(*first.contraction, machine, first.name, builder)
          : writeStream(parts, machine, builder);
  if (!why.empty())
    return why;
  kernel = std::move(builder.kernel);
  // A short stream is as easily read as it is.
  constexpr size_t few = 1000;
  if (kernel.commands.size() > few)
    kernel.commands = compressLoops(kernel.commands);
  return "";
}
