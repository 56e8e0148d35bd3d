// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TermsInside.h"
#include "PackOperand.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/MapElements.h"
#include "ashlar/Cost/Core.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;

/// Of an operand, the place of the dim that is the innermost of the terms, if
/// terms lie along one dim.
static std::optional<unsigned> termsOf(AffineMap map) {
  unsigned terms = map.getNumDims() - 1;
  std::optional<unsigned> found;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(terms))
      continue;
    if (found || !isa<AffineDimExpr>(expr))
      return std::nullopt;
    found = i;
  }
  return found;
}

/// A copy of the operand whose dim `terms` is the last one.
static void turn(tile::ContractOp op, unsigned number, unsigned terms) {
  OpBuilder b(op);
  OpOperand &operand = op->getOpOperand(number);
  auto type = cast<RankedTensorType>(operand.get().getType());
  SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<AffineExpr> read, place(maps[number].getResults());
  for (unsigned d = 0; d != shape.size(); ++d)
    read.push_back(b.getAffineDimExpr(d));
  auto moveToEnd = [&](auto &list) {
    std::rotate(list.begin() + terms, list.begin() + terms + 1, list.end());
  };
  moveToEnd(shape);
  moveToEnd(place);
  // Loops go through the copy in its order.
  std::rotate(read.begin() + terms, read.end() - 1, read.end());
  linalg::GenericOp copy = copyElements(
      b, op.getLoc(), operand.get(),
      AffineMap::get(shape.size(), 0, read, op.getContext()), shape);
  operand.set(copy.getResult(0));
  maps[number] =
      AffineMap::get(maps[number].getNumDims(), 0, place, op.getContext());
  op.setMapsAttr(b.getAffineMapArrayAttr(maps));
}

std::optional<RowCopies> ashlar::bringTermsInside(tile::ContractOp op,
                                                  const MachineModel &machine) {
  ProductTypes types = productOf(op);
  const MultiplyUnit *unit = nullptr;
  for (const MultiplyUnit &one : machine.units)
    if (one.fragment && one.termsInside && machine.takes(one, types))
      unit = &one;
  // Fewer terms than half of what a step takes are not worth it.
  if (!unit || op.getReduced().empty() || 2 * op.getReduced().back() < unit->k)
    return std::nullopt;
  AffineMap both[] = {op.getAMap(), op.getBMap()};
  std::optional<RowCopies> copies;
  for (unsigned i : {0u, 1u}) {
    std::optional<unsigned> place = termsOf(both[i]);
    auto type = dyn_cast<RankedTensorType>(op->getOperand(i).getType());
    if (!place || !type || !type.hasStaticShape())
      return std::nullopt;
    if (*place + 1 == both[i].getNumResults())
      continue;
    // No memory has it.
    if (op->getOperand(i).getDefiningOp<tile::DecodeOp>())
      return std::nullopt;
    if (!copies)
      copies.emplace();
    if (i == 1 && packRows(op, /*alignment=*/1, both[i].getNumDims() - 1))
      continue;
    turn(op, i, *place);
    copies->bytes += 2 * byteSize(type);
    ++copies->kernels;
  }
  return copies;
}
