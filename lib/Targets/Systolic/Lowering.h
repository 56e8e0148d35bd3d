// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a contraction to commands.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H

#include "KeptValues.h"
#include "Steps.h"

#include <optional>

namespace ashlar::systolic {

/// What stays in the array while the rest goes by.
enum class Dataflow : uint16_t {
  None = ASHLAR_SYSTOLIC_KEEPS_NOTHING, ///< the vector unit's
  WeightStationary = ASHLAR_SYSTOLIC_KEEPS_WEIGHTS,
  InputStationary = ASHLAR_SYSTOLIC_KEEPS_INPUTS,
  OutputStationary = ASHLAR_SYSTOLIC_KEEPS_SUMS
};

/// "weight-stationary"
const char *nameOf(Dataflow dataflow);

/// What a search may use; measurements leave things out.
struct SearchOptions {
  std::optional<Dataflow> dataflow = std::nullopt; ///< that one alone
  bool packsTaps = true;                           ///< several taps in one fold
  bool packsColumns = true; ///< neighbouring results side by side
  /// Operands come in tiles of no more cycles, if there are smaller ones; 0: of
  /// any.
  int64_t mostTileCycles = 0;
  bool keepsValues = true; ///< between contractions, on chip
  int64_t keptRows = 0;    ///< as Part has them
};

/// The best that a dataflow would do: cycles of the stream alone, or, where
/// none was written, what they cannot be less than.
struct Alternative {
  Dataflow dataflow;
  uint64_t cycles;
  bool isBound;
};

/// A contraction of a stream.
struct Part {
  const Contraction *contraction = nullptr;
  Choice choice;
  std::string name;
  /// 0 or 1: it has that half of both memories, so that the next one's operands
  /// come while it still computes; -1: all of them.
  int half = -1;
  uint64_t multiplyAdds = 0; ///< that the model asks for
  /// So many rows at the beginning of the scratchpad hold values between
  /// contractions.
  int64_t keptRows = 0;
  /// Of the loops of a strategy; null: by the sizes of the choice.
  std::shared_ptr<const Cuts> cuts = nullptr;

  uint16_t regionKind() const {
    return contraction->isDepthwise ? ASHLAR_SYSTOLIC_DEPTHWISE
                                    : ASHLAR_SYSTOLIC_CONTRACTION;
  }
  uint16_t dataflow() const {
    return contraction->isDepthwise || choice.isOnLanes
               ? ASHLAR_SYSTOLIC_KEEPS_NOTHING
           : choice.isOutputStationary ? ASHLAR_SYSTOLIC_KEEPS_SUMS
           : contraction->isExchanged  ? ASHLAR_SYSTOLIC_KEEPS_INPUTS
                                       : ASHLAR_SYSTOLIC_KEEPS_WEIGHTS;
  }
};

/// Appends the commands of contractions that run one after the other, each in a
/// region of its own; later ones may read what earlier ones write. Assumes
/// nothing of what is on chip, and leaves all queues to themselves. Returns why
/// it cannot be done so; empty: it was done. `fits`, if given: false where
/// smaller chunks or tiles may help.
std::string writeStream(const std::vector<Part> &parts, const Machine &machine,
                        StreamBuilder &builder, bool *fits = nullptr);

/// Why writeStream would fail for one, without writing where that is not
/// needed.
std::string whyNotPart(const Part &part, const Machine &machine);

/// The choices worth trying, most promising first.
std::vector<Choice> choicesFor(const Contraction &contraction,
                               const Machine &machine,
                               const SearchOptions &options = {});

/// Cycles of a kernel until the last result has left; none: it is no stream,
/// and `error` says why.
std::optional<uint64_t> cyclesOf(const Machine &machine, const Kernel &kernel,
                                 std::string &error);

/// A choice, and the form of the contraction that it is for.
struct Found {
  std::optional<uint64_t> cycles; ///< of a stream by itself; none: none fits
  Contraction contraction;
  Choice choice;
  std::string error = "it has no rows";
  /// One for each dataflow that can be, fewest cycles first.
  std::vector<Alternative> alternatives;
};

/// The best choice for a contraction by itself.
Found chooseAlone(const Contraction &contraction, const Machine &machine,
                  const SearchOptions &options = {});

/// What came of a search for contractions in succession.
struct Lowered {
  /// Found's, for each contraction.
  std::vector<std::vector<Alternative>> alternatives;
  int64_t keptValues = 0; ///< that stay on chip
  int64_t keptRows = 0;   ///< of the scratchpad, for them
  int64_t savedBytes = 0; ///< that need not pass the port
};

/// Contractions in succession as they are computed, and what they point to.
struct Chosen {
  std::vector<Part> parts;
  std::vector<std::shared_ptr<const Contraction>> contractions;
  KeptValues kept;
  Lowered lowered;
};

/// The best choices for `contractions`, one after the other, that the
/// simulator's count of cycles finds. `names` are those of regions. `inner`: a
/// binding that nobody else reads. Returns why there are none.
std::string chooseParts(std::vector<Contraction> contractions,
                        const std::vector<std::string> &names,
                        const Machine &machine, const SearchOptions &options,
                        std::optional<uint32_t> inner, Chosen &chosen);

/// Rows of the scratchpad for what stays on chip, at most: operands pass
/// through the rest.
inline int64_t mostKeptRows(const Machine &machine) {
  return int64_t(machine.scratchpad_rows) * 5 / 8;
}

/// The commands that compute them, long ones in loops. Returns why there are
/// none.
std::string writeParts(const std::vector<Part> &parts, const Machine &machine,
                       const std::string &name, uint32_t bindings,
                       Kernel &kernel);

/// Why no choice fits the machine, without writing a command; empty: one does.
std::string whyNoChoice(const Contraction &contraction, const Machine &machine);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_LOWERING_H
