// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of few rows, as one step of decoding has them: a unit's step has 16
// or 64 rows and as few as 8 columns, so the weights' columns are its rows.
#include "ExchangeSides.h"
#include "ashlar/Analysis/ContractDims.h"
#include "ashlar/Cost/Core.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ashlar;

bool ashlar::hasFewRows(tile::ContractOp op, const MachineModel &machine) {
  ContractDims dims = dimsOf(op);
  int64_t rows = dims.count(dims.m);
  if (dims.m.empty() || dims.n.empty() || rows >= dims.count(dims.n))
    return false;
  ProductTypes types = productOf(op);
  return llvm::any_of(machine.units, [&](const MultiplyUnit &unit) {
    return unit.fragment && machine.takes(unit, types) && rows <= unit.m / 2 &&
           unit.n < unit.m;
  });
}

/// Whether each result is at a place of its own, and of nothing but its sum.
static bool isPlain(tile::ContractOp op) {
  AffineMap result = op.getResultMap();
  return op->getNumResults() == 1 && !op.getUnrounded() && !op.getPad() &&
         result.isPermutation() && op.getAMap().isProjectedPermutation() &&
         op.getBMap().isProjectedPermutation() &&
         llvm::none_of(
             op.getBody().front().without_terminator(), [](Operation &each) {
               return isa_and_present<tile::TileDialect>(each.getDialect());
             });
}

std::optional<tile::ContractOp> ashlar::exchangeSides(tile::ContractOp op) {
  if (!isPlain(op))
    return std::nullopt;
  ContractDims dims = dimsOf(op);
  // The longest of the rows' dims is the one that a tile has several of.
  llvm::stable_sort(dims.m, [&](unsigned x, unsigned y) {
    return dims.sizes[x] < dims.sizes[y];
  });
  SmallVector<unsigned> order(dims.batch);
  for (ArrayRef<unsigned> some :
       {ArrayRef<unsigned>(dims.rest), ArrayRef<unsigned>(dims.n),
        ArrayRef<unsigned>(dims.m)})
    llvm::append_range(order, some);
  OpBuilder b(op);
  // What a dim is called from now on.
  SmallVector<AffineExpr> names(dims.sizes.size());
  for (auto [now, before] : llvm::enumerate(order))
    names[before] = b.getAffineDimExpr(now);
  for (unsigned d : dims.k)
    names[d] = b.getAffineDimExpr(d);
  auto rename = [&](AffineMap map) {
    return map.replaceDimsAndSymbols(
        ArrayRef(names).take_front(map.getNumDims()), {}, map.getNumDims(), 0);
  };
  SmallVector<AffineMap> maps;
  for (AffineMap map : op.getMaps().getAsValueRange<AffineMapAttr>())
    maps.push_back(rename(map));
  std::swap(maps[0], maps[1]);
  SmallVector<int64_t> parallel;
  for (unsigned d : order)
    parallel.push_back(dims.sizes[d]);
  auto made = tile::ContractOp::create(
      b, op.getLoc(), op->getResultTypes(), op.getB(), op.getA(),
      op.getEpilogue(), op.getInit(), /*unrounded=*/Value(),
      b.getDenseI64ArrayAttr(parallel), op.getReducedAttr(),
      b.getAffineMapArrayAttr(maps), op.getBUnsignedAttr(),
      op.getAUnsignedAttr(), /*pad=*/TypedAttr(), tile::StrategyAttr(),
      op.getDeviceAttr());
  made.getBody().takeBody(op.getBody());
  op.replaceAllUsesWith(made);
  op.erase();
  return made;
}
