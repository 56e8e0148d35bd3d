// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of a few bits are unpacked by who copies them to a unit: nothing but
// what is stored goes through memory.
#include "DecodeOperand.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace ashlar;

/// Whether it does nothing but compute elements, each from others at places
/// that its own says, and what it captures are numbers; a table that it looks
/// up belongs to a kernel of its own. Where elements are repeated as they are,
/// engines copy them.
static bool isElementwise(linalg::GenericOp op) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 &&
         op.getBody()->getTerminator()->getOperand(0).getDefiningOp() &&
         op.getNumReductionLoops() == 0 &&
         cast<ShapedType>(op.getResult(0).getType()).hasStaticShape() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
         llvm::all_of(op.getDpsInputs(),
                      [](Value input) {
                        auto type = dyn_cast<RankedTensorType>(input.getType());
                        return type && type.hasStaticShape();
                      }) &&
         llvm::all_of(captured, [](Value value) {
           return value.getType().isIntOrIndexOrFloat() &&
                  isa_and_nonnull<arith::ConstantOp>(value.getDefiningOp());
         });
}

/// Each of the op's loops by the dims of the tensor that its result is read as:
/// collapsed, and expanded again, either of which may be none.
static SmallVector<AffineExpr> loopsBehind(tensor::CollapseShapeOp collapse,
                                           tensor::ExpandShapeOp expand,
                                           linalg::GenericOp op) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> dims, loops(op.getNumLoops());
  int64_t rank =
      collapse ? collapse.getResultType().getRank() : op.getNumLoops();
  for (int64_t d = 0; d != rank; ++d) {
    AffineExpr place = getAffineConstantExpr(0, context);
    if (expand)
      for (int64_t inner : expand.getReassociationIndices()[d])
        place = place * expand.getResultType().getDimSize(inner) +
                getAffineDimExpr(inner, context);
    dims.push_back(expand ? place : getAffineDimExpr(d, context));
  }
  if (!collapse)
    return dims;
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  for (auto [d, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    int64_t stride = 1;
    for (int64_t inner : llvm::reverse(group)) {
      AffineExpr place = dims[d].floorDiv(stride);
      loops[inner] =
          inner == group.front() ? place : AffineExpr(place % shape[inner]);
      stride *= shape[inner];
    }
  }
  return loops;
}

static tile::DecodeOp makeDecode(OpBuilder &b, RankedTensorType type,
                                 linalg::GenericOp op,
                                 ArrayRef<AffineExpr> loops) {
  auto behind = [&](AffineMap map) {
    return simplifyAffineMap(
        map.replaceDimsAndSymbols(loops, {}, type.getRank(), 0));
  };
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands())
    maps.push_back(behind(op.getMatchingIndexingMap(input)));
  auto decode = tile::DecodeOp::create(b, op.getLoc(), type, op.getDpsInputs(),
                                       b.getAffineMapArrayAttr(maps),
                                       /*padded=*/false);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&decode.getBody());
  IRMapping mapping;
  for (auto [input, argument] :
       llvm::zip(op.getDpsInputs(), op.getBody()->getArguments()))
    mapping.map(argument, body->addArgument(argument.getType(), op.getLoc()));
  SmallVector<OpFoldResult> place;
  for (int64_t d = 0; d != type.getRank(); ++d)
    place.push_back(body->addArgument(b.getIndexType(), op.getLoc()));
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value constant : captured)
    mapping.map(constant, b.clone(*constant.getDefiningOp())->getResult(0));
  for (Operation &inner : op.getBody()->without_terminator())
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(),
                  affine::makeComposedAffineApply(
                      b, op.getLoc(),
                      simplifyAffineMap(AffineMap::get(type.getRank(), 0,
                                                       loops[index.getDim()])),
                      place)
                      .getResult());
    else
      b.clone(inner, mapping);
  tile::DecodedOp::create(
      b, op.getLoc(),
      mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0)));
  return decode;
}

std::optional<int64_t> ashlar::decodeOperand(tile::ContractOp op) {
  // Variants of one contraction are of one node.
  std::function<bool(Value)> isTheirs = [&](Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      auto expand = dyn_cast<tensor::ExpandShapeOp>(user);
      return expand
                 ? isTheirs(expand)
                 : isa<tile::ContractOp>(user) && user->getLoc() == op.getLoc();
    });
  };
  for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()}) {
    Value value = operand->get();
    auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
    Value whole = expand ? expand.getSrc() : value;
    auto collapse = whole.getDefiningOp<tensor::CollapseShapeOp>();
    auto generic = (collapse ? collapse.getSrc() : whole)
                       .getDefiningOp<linalg::GenericOp>();
    if (!generic || !isTheirs(whole) || (collapse && !generic->hasOneUse()) ||
        generic->getBlock() != op->getBlock() || !isElementwise(generic))
      continue;
    int64_t bytes = 0, made = byteSize(value.getType());
    for (Value input : generic.getDpsInputs())
      bytes += byteSize(input.getType());
    if (2 * bytes > made)
      continue;
    OpBuilder b(op);
    operand->set(makeDecode(b, cast<RankedTensorType>(value.getType()), generic,
                            loopsBehind(collapse, expand, generic)));
    // Its own, which would keep the op in front alive.
    if (expand && expand->use_empty())
      expand.erase();
    return bytes + made;
  }
  return std::nullopt;
}
