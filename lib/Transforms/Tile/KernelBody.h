// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dispatch's body inside its kernel. Where sizes have symbols, the kernel
// takes them as parameters: its memrefs get dims that are values, and so does
// every op of the body.
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_KERNELBODY_H
#define ASHLAR_LIB_TRANSFORMS_TILE_KERNELBODY_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace ashlar {

class KernelBody {
public:
  explicit KernelBody(exec::DispatchOp dispatch);

  /// The sizes that the kernel must be told, in the order of its parameters.
  llvm::ArrayRef<exec::SizeAttr> parameters() const {
    return sizes.getArrayRef();
  }

  /// Writes the body into `kernel`, whose arguments are the memory of operands
  /// and results and then the parameters.
  mlir::LogicalResult writeInto(mlir::func::FuncOp kernel);

private:
  unsigned numBuffers() {
    return dispatch.getNumOperands() + dispatch.getNumResults();
  }
  mlir::OpFoldResult size(exec::SizeAttr formula);
  llvm::SmallVector<mlir::OpFoldResult> sizesOf(mlir::Value value);
  /// The type with dims that are values where the sizes are.
  mlir::RankedTensorType typeOf(mlir::Value value);
  /// An attribute of `op` that lists sizes.
  llvm::SmallVector<mlir::OpFoldResult> numbers(mlir::Operation *op,
                                                llvm::StringRef name,
                                                llvm::ArrayRef<int64_t> fixed);
  /// `memory` as a memref with the sizes of `value`.
  mlir::Value withSizes(mlir::Value memory, mlir::Value value);
  mlir::Value insert(mlir::Value part, mlir::Value whole,
                     llvm::ArrayRef<mlir::OpFoldResult> offsets,
                     llvm::ArrayRef<mlir::OpFoldResult> lengths);
  mlir::Value sizeConstant(mlir::arith::ConstantOp constant);
  mlir::LogicalResult write(mlir::Operation &op);
  mlir::LogicalResult writeLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult writeConstant(mlir::arith::ConstantOp constant);
  mlir::LogicalResult writePad(mlir::tensor::PadOp pad);
  void writeConcat(mlir::tensor::ConcatOp concat);
  mlir::LogicalResult writeSlice(mlir::OffsetSizeAndStrideOpInterface slice);
  mlir::LogicalResult writeStructured(mlir::Operation &op);
  void noteDims(mlir::Operation &op, mlir::Operation *copy);
  mlir::LogicalResult refuse(mlir::Operation &op);

  exec::DispatchOp dispatch;
  mlir::ImplicitLocOpBuilder b;
  mlir::IRMapping mapping;
  llvm::SetVector<exec::SizeAttr> sizes;
  mlir::func::FuncOp kernel;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_KERNELBODY_H
