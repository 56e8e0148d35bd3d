// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_PHASERING_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_PHASERING_H

#include "Threads.h"
#include "ashlar/Transforms/Tile/TensorBox.h"

namespace ashlar::simt {

/// A ring between roles: each slot has two words that count arrivals, one of
/// whoever fills it and one of those who are done with it. Each thread numbers
/// slots for itself, and whether it comes to them an odd time: it is of one
/// side, so that one number serves both. Where workgroups of a cluster fill it
/// together, all their slots are filled and free at once: each fills its share
/// of all of them, once those of all are done with them.
class PhaseRing {
public:
  /// Makes the words. `memory`: of the slots, one behind the other.
  /// `sharers`: workgroups of a cluster that fill each other's slots.
  PhaseRing(mlir::ImplicitLocOpBuilder &b, tile::RingType type,
            mlir::Value memory, int64_t sharers, const Threads &threads);
  bool isShared() const { return sharers != 1; }

  /// What one thread does in front of all roles, and behind them.
  void begin(mlir::ImplicitLocOpBuilder &b) const;
  void end(mlir::ImplicitLocOpBuilder &b) const;

  /// Waits until the next slot is free and begins to fill it with a box, by
  /// number `map` of the kernel's tensor maps.
  void fill(mlir::ImplicitLocOpBuilder &b, const TensorBox &box,
            int64_t map) const;
  /// Waits until the next slot is full; where it begins in the memory.
  mlir::Value take(mlir::ImplicitLocOpBuilder &b) const;
  /// One lane of each group says that all of them are done with the slot; where
  /// others fill it, one says so to each.
  void release(mlir::ImplicitLocOpBuilder &b, mlir::Value place) const;

private:
  struct Turn {
    mlir::Value slot, parity;
  };
  /// The present turn; the thread goes on to the next one.
  Turn next(mlir::ImplicitLocOpBuilder &b) const;
  int64_t slots() const { return type.getSlots(); }
  int64_t pitch() const { return type.getSlotType().getSize(); }
  /// Of what is free, behind that of what is full.
  mlir::Value freeOf(mlir::ImplicitLocOpBuilder &b, mlir::Value slot) const;
  void forEachWord(
      mlir::ImplicitLocOpBuilder &b,
      llvm::function_ref<void(mlir::Value word, bool isFull)> visit) const;

  tile::RingType type;
  mlir::Value memory, phases;
  mlir::Value turn; ///< of a thread: behind the slots, those of odd parity
  int64_t sharers;
  const Threads &threads;
};

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_PHASERING_H
