// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands of one contraction of a stream, by what they are for. Who comes
// before whom is WriteStream's.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_PARTWRITER_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_PARTWRITER_H

#include "ArraySteps.h"
#include "WriteEpilogue.h"
#include "WriteRows.h"

#include <functional>

namespace ashlar::systolic {

/// Masks for sync.
constexpr uint32_t loadQueue = 1u << ASHLAR_SYSTOLIC_LOAD;
constexpr uint32_t storeQueue = 1u << ASHLAR_SYSTOLIC_STORE;
constexpr uint32_t vectorQueue = 1u << ASHLAR_SYSTOLIC_VECTOR;
constexpr uint32_t arrayQueues =
    ASHLAR_SYSTOLIC_ALL_QUEUES & ~((1u << ASHLAR_SYSTOLIC_EXECUTE) - 1);

using Commands = std::vector<std::function<void()>>;

/// The second's commands spread evenly among the first's: a queue that is full
/// holds up what is issued after it.
void interleave(const Commands &first, const Commands &second);

class PartWriter {
public:
  /// Takes rows at the beginning of `areas` for what stays in its place.
  PartWriter(const Contraction &contraction, const Machine &machine,
             const Choice &choice, const Cuts *cuts, const Areas &areas,
             StreamWriter &writer);

  const ChipLayout layout;
  EpilogueWriter epilogue;
  RowsWriter rows;

  /// With what is taken.
  const Areas &areas() const { return taken; }
  bool fits() const;
  bool hasLanes() const {
    return layout.contraction.isDepthwise || layout.choice.isOnLanes;
  }
  /// Lanes are computed by the vector unit, and so is what follows, at once.
  bool hasVector() const {
    return !hasLanes() && (!epilogue.isEmpty() || !rows.isEmpty());
  }
  /// Its results stay on chip; isStored: they are in memory, too. What is
  /// unrounded is neither's.
  bool keeps() const { return layout.contraction.result.kept != nullptr; }
  bool isStored() const {
    return !keeps() || layout.contraction.result.kept->isStored;
  }
  /// Or something else is: stores read its places.
  bool hasStores() const {
    return isStored() || layout.contraction.unrounded.has_value();
  }
  bool hasMargins() const { return !layout.contraction.margins.empty(); }
  /// The queues that read A and B.
  uint32_t engine() const;

  /// A step that a stream begins with, or after a pause: starts with the first
  /// rows that are there.
  void writeFirstStep(const Steps &plan, const StreamStep &step);
  void writeMargins();
  /// Loads of what the epilogue keeps.
  std::vector<Transfer> constantLoads() const;
  void collectConstants(Commands &commands) const;
  /// Loads of what steps behind `after` up to `last` finish; `after` -2: and of
  /// what no step writes.
  void collectLoads(const StreamStep &step, int64_t after, int64_t last,
                    Commands &commands) const;
  void collectFolds(const Steps &plan, const StreamStep &step,
                    Commands &commands);
  void collectStores(const Steps &plan, const StreamStep &step,
                     Commands &commands) const;
  /// `kept`, if given, is called with each plane of the last rows as soon as it
  /// lies where it stays on chip; all else of the step is there before.
  using Callback = std::function<void(int64_t)>;
  void writeEpilogues(const Steps &plan, const StreamStep &step,
                      const Callback &kept = nullptr);
  /// Whether the last rows that a step finishes come plane by plane.
  bool keepsPlanes(const StreamStep &step) const;
  /// Which plane of A, on chip, each of collectFolds' commands reads.
  std::vector<int64_t> planesOf(const Steps &plan,
                                const StreamStep &step) const;

private:
  void collect(const std::vector<Transfer> &transfers, unsigned id,
               Commands &commands) const;
  Fold foldOf(const Steps &plan, const Unit &unit, int64_t block) const;
  std::vector<ArrayStep> stepsOf(const Steps &plan, const Unit &unit) const;
  void writeLanes(const Steps &plan, const StreamStep &step);
  void writeTaps(const Steps &plan, const Unit &unit);
  void writeTerms(const Steps &plan, const Unit &unit);

  StreamWriter &writer;
  Areas taken;
  uint32_t marginRow = 0; ///< full of what margins hold
  /// As many as the vector unit adds to in a cycle: sums of one result.
  uint32_t partialRow = 0, partialRows = 0;
};

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_PARTWRITER_H
