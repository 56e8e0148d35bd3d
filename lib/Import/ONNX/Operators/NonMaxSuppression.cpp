// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NonMaxSuppression: of each class the best box that is left, again and again,
// and away with those that overlap it too much. How many there are in the end
// depends on the boxes.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../RunTimeSizes.h"
#include "../ScalarBuilder.h"
#include "../TensorBuilder.h"
#include "LoopNest.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
class Suppression {
public:
  explicit Suppression(NodeImporter &node) : node(node), b(node.b) {}
  LogicalResult run();

private:
  LogicalResult check();
  Value scalarOperand(unsigned i, Type type, TypedAttr otherwise);
  Value candidates();
  SmallVector<Value> corners(OpBuilder &b, Location loc, Value batch,
                             Value box);
  Value overlapsTooMuch(OpBuilder &b, Location loc, ValueRange x, ValueRange y);
  SmallVector<Value> step(OpBuilder &b, Location loc, ValueRange at,
                          ValueRange carried);

  NodeImporter &node;
  ImplicitLocOpBuilder &b;
  int64_t batches = 0, classes = 0, boxes = 0, perClass = 0;
  Value most, threshold;
};
} // namespace

LogicalResult Suppression::check() {
  if (failed(expectOperands(node, 2, 5)) || failed(expectRank(node, 0, 3)) ||
      failed(expectRank(node, 1, 3)))
    return failure();
  batches = node.shape(0)[0], boxes = node.shape(0)[1];
  classes = node.shape(1)[1];
  if (node.shape(0)[2] != 4 || node.shape(1)[0] != batches ||
      node.shape(1)[2] != boxes)
    return node.invalid(
        "boxes (input 0) have shape " + spellShape(node.shape(0)) +
        ", scores (input 1) have shape " + spellShape(node.shape(1)) +
        "; expected BxNx4 and BxCxN");
  for (unsigned i : {2, 3, 4})
    if (node.hasOperand(i) && failed(expectOneElement(node, i)))
      return failure();
  int64_t form = node.intAttribute("center_point_box", 0);
  if (form != 0 && form != 1)
    return node.invalid("attribute 'center_point_box' is " + Twine(form) +
                        "; expected 0 or 1");
  perClass = node.hasOperand(2) ? boxes : 0;
  if (node.hasOperand(2))
    if (DenseElementsAttr known = node.constantOperand(2))
      perClass = std::clamp<int64_t>(
          (*known.getValues<APInt>().begin()).getSExtValue(), 0, boxes);
  return expectSize(node,
                    {batches, classes, std::max<int64_t>(perClass, 1), 3});
}

/// The one element of an operand.
Value Suppression::scalarOperand(unsigned i, Type type, TypedAttr otherwise) {
  if (!node.hasOperand(i))
    return arith::ConstantOp::create(b, otherwise);
  return tensor::ExtractOp::create(b, reshape(b, node.operand(i), {}),
                                   ValueRange());
}

/// Whether a box may still be taken: at first, if it is there and its score is
/// high enough.
Value Suppression::candidates() {
  Value least = node.hasOperand(4) ? reshape(b, node.operand(4), {}) : Value();
  Value scores = node.operand(1);
  return generate(
      b, {batches, classes, boxes}, b.getI1Type(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Value is = scalarIntConstant(b, loc, b.getI1Type(), 1);
        if (least)
          is = arith::CmpFOp::create(
              b, loc, arith::CmpFPredicate::OGT,
              tensor::ExtractOp::create(b, loc, scores, at),
              tensor::ExtractOp::create(b, loc, least, ValueRange()));
        for (auto [operand, axis, index] :
             {std::tuple(0u, 0, 0), std::tuple(0u, 1, 2), std::tuple(1u, 0, 0),
              std::tuple(1u, 1, 1), std::tuple(1u, 2, 2)}) {
          if (!isSized(node.sizes(operand), axis))
            continue;
          Value isThere = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::slt, at[index],
              asIndex(b, loc, sizeOf(node, operand, axis)));
          is = arith::AndIOp::create(b, loc, is, isThere);
        }
        return is;
      });
}

/// Low and high ends along both axes.
SmallVector<Value> Suppression::corners(OpBuilder &b, Location loc, Value batch,
                                        Value box) {
  SmallVector<Value> given;
  for (int64_t i = 0; i != 4; ++i) {
    Value at = arith::ConstantIndexOp::create(b, loc, i);
    given.push_back(tensor::ExtractOp::create(b, loc, node.operand(0),
                                              ValueRange{batch, box, at}));
  }
  FloatScalars s(b, loc, b.getF32Type());
  SmallVector<Value> ends;
  for (int64_t axis : {0, 1}) {
    if (node.intAttribute("center_point_box", 0)) {
      Value half = s.mul(given[axis + 2], s.constant(0.5));
      ends.push_back(s.sub(given[axis], half));
      ends.push_back(s.add(given[axis], half));
    } else {
      ends.push_back(s.min(given[axis], given[axis + 2]));
      ends.push_back(s.max(given[axis], given[axis + 2]));
    }
  }
  return ends;
}

Value Suppression::overlapsTooMuch(OpBuilder &b, Location loc, ValueRange x,
                                   ValueRange y) {
  FloatScalars s(b, loc, b.getF32Type());
  Value zero = s.constant(0);
  auto length = [&](Value low, Value high) {
    return s.max(s.sub(high, low), zero);
  };
  Value common = s.mul(length(s.max(x[0], y[0]), s.min(x[1], y[1])),
                       length(s.max(x[2], y[2]), s.min(x[3], y[3])));
  auto area = [&](ValueRange box) {
    return s.mul(length(box[0], box[1]), length(box[2], box[3]));
  };
  Value all = s.sub(s.add(area(x), area(y)), common);
  Value share = s.div(common, all);
  // A box without area overlaps nothing.
  Value isReal = arith::AndIOp::create(b, loc, s.greater(area(x), zero),
                                       s.greater(area(y), zero));
  return arith::AndIOp::create(b, loc, isReal, s.greater(share, threshold));
}

/// at: batch, class, number of the selection. carried: what is selected, how
/// many, and what is left.
SmallVector<Value> Suppression::step(OpBuilder &b, Location loc, ValueRange at,
                                     ValueRange carried) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value count = arith::ConstantIndexOp::create(b, loc, boxes);
  Value lowest = FloatScalars(b, loc, b.getF32Type()).infinity(true);
  // The first of the best boxes that are left; `count` if there is none.
  auto best = scf::ForOp::create(
      b, loc, zero, count, one, ValueRange{lowest, count},
      [&](OpBuilder &b, Location loc, Value box, ValueRange found) {
        Value score = tensor::ExtractOp::create(b, loc, node.operand(1),
                                                ValueRange{at[0], at[1], box});
        Value left = tensor::ExtractOp::create(b, loc, carried[2],
                                               ValueRange{at[0], at[1], box});
        Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                              found[1], count);
        Value isMore = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                             score, found[0]);
        Value better = arith::AndIOp::create(
            b, loc, left, arith::OrIOp::create(b, loc, isFirst, isMore));
        scf::YieldOp::create(
            b, loc,
            ValueRange{arith::SelectOp::create(b, loc, better, score, found[0]),
                       arith::SelectOp::create(b, loc, better, box, found[1])});
      });
  Type i64 = b.getI64Type();
  Value number = arith::IndexCastOp::create(b, loc, i64, at[2]);
  Value isFound = arith::AndIOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, best.getResult(1),
                            count),
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, number, most));
  // Where there is none, box 0 stands for it and changes nothing.
  Value chosen =
      arith::SelectOp::create(b, loc, isFound, best.getResult(1), zero);
  Value selected = carried[0];
  Value so = tensor::ExtractOp::create(b, loc, carried[1], ValueRange());
  Value row = arith::IndexCastOp::create(b, loc, b.getIndexType(), so);
  Value last =
      arith::ConstantIndexOp::create(b, loc, batches * classes * perClass - 1);
  row = arith::MinSIOp::create(b, loc, row, last);
  Value places[] = {at[0], at[1], chosen};
  for (auto [i, value] : llvm::enumerate(places)) {
    Value column = arith::ConstantIndexOp::create(b, loc, i);
    Value old =
        tensor::ExtractOp::create(b, loc, selected, ValueRange{row, column});
    Value index = arith::IndexCastOp::create(b, loc, i64, value);
    Value entry = arith::SelectOp::create(b, loc, isFound, index, old);
    selected = tensor::InsertOp::create(b, loc, entry, selected,
                                        ValueRange{row, column});
  }
  Value more = arith::ExtUIOp::create(b, loc, i64, isFound);
  Value counted =
      tensor::InsertOp::create(b, loc, arith::AddIOp::create(b, loc, so, more),
                               carried[1], ValueRange());
  SmallVector<Value> kept = corners(b, loc, at[0], chosen);
  auto rest = scf::ForOp::create(
      b, loc, zero, count, one, carried[2],
      [&](OpBuilder &b, Location loc, Value box, ValueRange left) {
        SmallVector<Value> where = {at[0], at[1], box};
        Value old = tensor::ExtractOp::create(b, loc, left[0], where);
        Value isChosen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                               box, chosen);
        Value goes = arith::OrIOp::create(
            b, loc, isChosen,
            overlapsTooMuch(b, loc, kept, corners(b, loc, at[0], box)));
        goes = arith::AndIOp::create(b, loc, goes, isFound);
        Value none = scalarIntConstant(b, loc, b.getI1Type(), 0);
        Value stays = arith::SelectOp::create(b, loc, goes, none, old);
        scf::YieldOp::create(b, loc,
                             ValueRange{tensor::InsertOp::create(
                                 b, loc, stays, left[0], where)});
      });
  return {selected, counted, rest.getResult(0)};
}

LogicalResult Suppression::run() {
  if (failed(check()))
    return failure();
  int64_t bound = batches * classes * perClass;
  if (bound == 0) {
    node.setResult(0, constantTensor(b, {}, {0, 3}), ElementType::I64);
    return success();
  }
  most = scalarOperand(2, b.getI64Type(), b.getI64IntegerAttr(0));
  threshold = scalarOperand(3, b.getF32Type(), b.getF32FloatAttr(0));
  Value zero = scalarIntConstant(b, b.getLoc(), b.getI64Type(), 0);
  SmallVector<Value> results =
      loopOver(b, b.getLoc(), {batches, classes, perClass},
               {fill(b, {bound, 3}, zero), fill(b, {}, zero), candidates()},
               [&](OpBuilder &b, Location loc, ValueRange at,
                   ValueRange carried) { return step(b, loc, at, carried); });
  node.setResult(0, {results[0], ElementType::I64, {results[1], Value()}});
  return success();
}

void ashlar::onnx_import::registerNonMaxSuppressionOperators(
    OperatorRegistry &registry) {
  registry.add("NonMaxSuppression", 10,
               [](NodeImporter &node) { return Suppression(node).run(); });
}
