// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that reduce the same tensor along the same dims, such as its mean and
// its maximum, become one that reads it once. What finished one of them in
// place finishes it still.
#include "RowGroup.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_MERGEREDUCTIONSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// A dispatch that is a reduction, and maybe an elementwise op on its result.
struct Reduction {
  exec::DispatchOp dispatch;
  linalg::GenericOp sum, finish; ///< `finish` may be null
  OpOperand *read;               ///< of `sum`, the largest tensor

  /// The tensor outside.
  Value source() { return outside(read->get()); }
  Value outside(Value argument) {
    return dispatch.getOperands()[cast<BlockArgument>(argument).getArgNumber()];
  }
  linalg::GenericOp last() const { return finish ? finish : sum; }
  /// What the sums begin with.
  linalg::FillOp begin() const {
    linalg::GenericOp op = sum;
    return op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  }
};

bool isPlain(linalg::GenericOp op) {
  return op->getNumResults() == 1 && op.hasPureTensorSemantics() &&
         !op.hasIndexSemantics();
}

std::optional<Reduction> match(exec::DispatchOp dispatch) {
  Reduction found{dispatch, {}, {}, nullptr};
  if (dispatch.getDevice() != 0)
    return std::nullopt;
  for (Operation &op : dispatch.getBody().front().without_terminator()) {
    if (isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp>(op))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !isPlain(generic) || found.finish)
      return std::nullopt;
    (found.sum ? found.finish : found.sum) = generic;
  }
  if (!found.sum || found.sum.getNumReductionLoops() == 0 ||
      dispatch.getYield().getOperands() != found.last()->getResults() ||
      !found.begin() ||
      !found.begin().getOutputs()[0].getDefiningOp<tensor::EmptyOp>())
    return std::nullopt;
  if (linalg::GenericOp finish = found.finish) {
    AffineMap result =
        finish.getMatchingIndexingMap(finish.getDpsInitOperand(0));
    OpOperand *sum = nullptr;
    for (OpOperand *input : finish.getDpsInputOperands())
      if (input->get() == found.sum->getResult(0))
        sum = sum ? nullptr : input;
    if (finish.getNumReductionLoops() != 0 || !result.isIdentity() || !sum ||
        !found.sum->hasOneUse() ||
        !finish.getMatchingIndexingMap(sum).isIdentity())
      return std::nullopt;
  }
  for (OpOperand *input : found.sum.getDpsInputOperands()) {
    // What says how many terms parts have, and nothing else.
    if (found.sum->hasAttr(partsAttrName) &&
        input->get().getDefiningOp<tensor::EmptyOp>())
      continue;
    if (!isa<BlockArgument>(input->get()))
      return std::nullopt;
    if (!found.read || byteSize(input->get().getType()) >
                           byteSize(found.read->get().getType()))
      found.read = input;
  }
  return found.read ? std::optional(found) : std::nullopt;
}

/// What keeps `other` from being computed with `first`; empty: nothing.
StringRef whyApart(Reduction &first, Reduction &other) {
  linalg::GenericOp x = first.sum, y = other.sum;
  if (x.getStaticLoopRanges() != y.getStaticLoopRanges() ||
      x.getIteratorTypesArray() != y.getIteratorTypesArray())
    return "it reduces other dims";
  if (x.getMatchingIndexingMap(first.read) !=
          y.getMatchingIndexingMap(other.read) ||
      x.getMatchingIndexingMap(x.getDpsInitOperand(0)) !=
          y.getMatchingIndexingMap(y.getDpsInitOperand(0)))
    return "it reads or writes in another order";
  for (Value operand : other.dispatch.getOperands()) {
    Operation *op = operand.getDefiningOp();
    if (op && op->getBlock() == first.dispatch->getBlock() &&
        !isa<arith::ConstantOp>(op) && !op->isBeforeInBlock(first.dispatch))
      return "what it reads besides is made later";
  }
  return {};
}

using Siblings = SmallVector<Reduction, 2>;

/// Writes the dispatch of several.
class Writer {
public:
  explicit Writer(Siblings &siblings)
      : siblings(siblings), b(siblings.front().dispatch) {}

  void run() {
    SmallVector<Location> locations;
    SmallVector<Type> types;
    llvm::SetVector<Value> operands;
    for (Reduction &each : siblings) {
      locations.push_back(each.dispatch.getLoc());
      llvm::append_range(types, each.dispatch.getResultTypes());
      operands.insert_range(each.dispatch.getOperands());
    }
    // Constants may stand behind the first.
    for (Value operand : operands)
      if (Operation *op = operand.getDefiningOp();
          isa_and_nonnull<arith::ConstantOp>(op) &&
          op->getBlock() == siblings.front().dispatch->getBlock() &&
          siblings.front().dispatch->isBeforeInBlock(op))
        op->moveBefore(siblings.front().dispatch);
    auto merged = exec::DispatchOp::create(b, b.getFusedLoc(locations), types,
                                           operands.getArrayRef(),
                                           /*device=*/uint64_t(0));
    Block *body = b.createBlock(&merged.getBody());
    for (Value operand : operands)
      body->addArgument(operand.getType(), operand.getLoc());
    for (Reduction &each : siblings)
      for (auto [argument, operand] :
           llvm::zip(each.dispatch.getBody().getArguments(),
                     each.dispatch.getOperands()))
        mapping.map(argument, body->getArgument(llvm::find(operands, operand) -
                                                operands.begin()));
    b.setInsertionPointToStart(body);
    for (Reduction &each : siblings)
      for (Operation &op : each.dispatch.getBody().front().without_terminator())
        if (!isa<linalg::GenericOp>(op))
          b.clone(op, mapping);
    SmallVector<linalg::GenericOp> ops;
    for (Reduction &each : siblings)
      ops.push_back(each.sum);
    linalg::GenericOp last = write(ops, {});
    if (llvm::any_of(siblings, [](const Reduction &r) { return r.finish; })) {
      for (auto [op, each] : llvm::zip(ops, siblings))
        op = each.finish;
      last = write(ops, last->getResults());
    }
    exec::YieldOp::create(b, merged.getLoc(), last->getResults());
    unsigned number = 0;
    for (Reduction &each : siblings)
      each.dispatch->replaceAllUsesWith(
          ValueRange(merged->getResult(number++)));
    for (Reduction &each : siblings)
      each.dispatch.erase();
  }

private:
  /// One op that does what all of `ops` do. Where one is null, its result is
  /// the one of `sums` as it is.
  linalg::GenericOp write(ArrayRef<linalg::GenericOp> ops, ValueRange sums) {
    SmallVector<Value> inputs, inits;
    SmallVector<AffineMap> inputMaps, initMaps;
    SmallVector<Location> locations;
    auto place = [&](Value value, AffineMap map) -> unsigned {
      for (auto [i, known] : llvm::enumerate(inputs))
        if (known == value && inputMaps[i] == map)
          return i;
      inputs.push_back(value);
      inputMaps.push_back(map);
      return inputs.size() - 1;
    };
    // Of each op, which input each argument of its body is.
    SmallVector<SmallVector<unsigned>> places;
    for (unsigned i = 0; i != ops.size(); ++i) {
      linalg::GenericOp op = ops[i];
      SmallVector<unsigned> &own = places.emplace_back();
      if (!op) {
        auto type = cast<RankedTensorType>(sums[i].getType());
        AffineMap map = b.getMultiDimIdentityMap(type.getRank());
        own.push_back(place(sums[i], map));
        inits.push_back(mapping.lookup(siblings[i].begin().getOutputs()[0]));
        initMaps.push_back(map);
        continue;
      }
      locations.push_back(op.getLoc());
      for (OpOperand *input : op.getDpsInputOperands())
        own.push_back(place(mapping.lookup(input->get()),
                            op.getMatchingIndexingMap(input)));
      inits.push_back(mapping.lookup(op.getDpsInits()[0]));
      initMaps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
    }
    linalg::GenericOp model = *llvm::find_if(ops, [](auto op) { return op; });
    llvm::append_range(inputMaps, initMaps);
    auto written = linalg::GenericOp::create(
        b, b.getFusedLoc(locations), TypeRange(ValueRange(inits)), inputs,
        inits, inputMaps, model.getIteratorTypesArray(),
        [&](OpBuilder &inner, Location at, ValueRange arguments) {
          SmallVector<Value> results;
          for (unsigned i = 0; i != ops.size(); ++i) {
            linalg::GenericOp op = ops[i];
            if (!op) {
              results.push_back(arguments[places[i].front()]);
              continue;
            }
            IRMapping body = mapping;
            for (auto [argument, place] :
                 llvm::zip(op.getBody()->getArguments(), places[i]))
              body.map(argument, arguments[place]);
            body.map(op.getRegionOutputArgs()[0], arguments[inputs.size() + i]);
            for (Operation &one : op.getBody()->without_terminator())
              inner.clone(one, body);
            results.push_back(body.lookupOrDefault(
                op.getBody()->getTerminator()->getOperand(0)));
          }
          linalg::YieldOp::create(inner, at, results);
        });
    for (auto [i, op] : llvm::enumerate(ops))
      if (op)
        mapping.map(op->getResult(0), written->getResult(i));
    return written;
  }

  Siblings &siblings;
  OpBuilder b;
  IRMapping mapping;
};

/// Sums that a kernel keeps in registers beside each other.
constexpr size_t mostSiblings = 4;

void merge(Siblings &siblings) {
  Reduction &first = siblings.front();
  if (wantsRemarks(first.dispatch)) {
    SmallVector<Location> others;
    for (Reduction &each : llvm::drop_begin(siblings))
      others.push_back(each.dispatch.getLoc());
    remark::passed(first.dispatch.getLoc(),
                   about(first.dispatch, "Reductions", "fusion"))
        << "reduces what it reads in one kernel with "
        << nodeName(FusedLoc::get(first.dispatch.getContext(), others))
        << ", saving "
        << remark::metric("BytesSaved", int64_t(siblings.size() - 1) *
                                            byteSize(first.source().getType()))
        << " bytes";
  }
  Writer(siblings).run();
}

struct MergeReductions
    : ashlar::impl::MergeReductionsPassBase<MergeReductions> {
  void runOnOperation() override {
    llvm::MapVector<std::pair<Block *, Value>, SmallVector<Siblings>> found;
    getOperation().walk([&](exec::DispatchOp dispatch) {
      std::optional<Reduction> reduction = match(dispatch);
      if (!reduction)
        return;
      SmallVector<Siblings> &groups =
          found[{dispatch->getBlock(), reduction->source()}];
      for (Siblings &group : groups)
        if (group.size() < mostSiblings &&
            whyApart(group.front(), *reduction).empty()) {
          group.push_back(*reduction);
          return;
        }
      if (!groups.empty())
        explain(groups.front().front(), *reduction);
      groups.push_back({*reduction});
    });
    for (auto &[at, groups] : found)
      for (Siblings &group : groups)
        if (group.size() > 1)
          merge(group);
  }

  static void explain(Reduction &first, Reduction &other) {
    exec::DispatchOp op = other.dispatch;
    if (!wantsRemarks(op))
      return;
    StringRef why = whyApart(first, other);
    remark::missed(op.getLoc(), about(op, "Reductions", "fusion"))
        << "reduces what " << nodeName(first.dispatch.getLoc())
        << " reduces, but stays apart: "
        << remark::metric("Reason", why.empty()
                                        ? "more would not fit the registers"
                                        : why.str())
        << "; " << remark::metric("Bytes", byteSize(other.source().getType()))
        << " bytes are read again";
  }
};
} // namespace
