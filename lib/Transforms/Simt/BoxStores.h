// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_BOXSTORES_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_BOXSTORES_H

#include "RowDrain.h"
#include "ashlar/Transforms/Tile/TensorBox.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ashlar::simt {

/// Drains whose results leave by an engine of boxes. Each group of lanes has
/// places of its own in the workgroup's memory for boxes: its lanes store what
/// they hold there, and one tells the engine of it. A place is written again
/// once the engine has read it, also by the next part of the kernel.
class BoxStores {
public:
  BoxStores(const Threads &threads, llvm::StringRef engine)
      : threads(threads), engine(engine) {}

  /// Those of a kernel that name the engine and whose results are rows of
  /// boxes, as long as it has no more than so many bytes of a workgroup's
  /// memory together with what is there; adds their tensor maps.
  void plan(mlir::Operation *kernel, int64_t bytes,
            llvm::SmallVectorImpl<mlir::Attribute> &maps);
  bool has(tile::DrainOp op) const { return boxes.contains(op); }
  /// `rows` is of the same drain.
  void write(tile::DrainOp op, const Share &share, RowDrain &rows,
             ThreadWriter &w, RowDrain::ValueAt valueAt) const;

private:
  struct Store {
    TensorBox box;
    int64_t map;
  };
  int64_t groups() const { return threads.count / threads.lanes; }
  bool takes(tile::DrainOp op, TensorBox &box) const;
  void allocate(mlir::scf::ForallOp parts);
  /// From value `first` of each lane on, into place `slot` of its group.
  void writeBox(tile::DrainOp op, const Share &share, RowDrain &rows,
                ThreadWriter &w, RowDrain::ValueAt valueAt, int64_t first,
                int64_t slot) const;
  void storeMatrices(RowDrain &rows, ThreadWriter &w, RowDrain::ValueAt valueAt,
                     int64_t first, mlir::Value place) const;
  void storeBox(tile::DrainOp op, const Share &share, ThreadWriter &w,
                int64_t first, mlir::Value place) const;
  mlir::Value lane(mlir::ImplicitLocOpBuilder &b) const;
  mlir::Value placeOf(mlir::ImplicitLocOpBuilder &b, int64_t slot) const;
  mlir::Operation *byFirstLane(mlir::ImplicitLocOpBuilder &b,
                               llvm::function_ref<void()> write) const;

  const Threads &threads;
  llvm::StringRef engine; ///< empty: there is none
  llvm::DenseMap<mlir::Operation *, Store> boxes;
  mlir::Value memory;
  int64_t slots = 1; ///< of each group of lanes
};

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_BOXSTORES_H
