// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two contractions with a softmax between them become one op, and get the
// levels by which workers share it out.
#include "AttentionLevels.h"
#include "AttentionProblem.h"
#include "Dispatches.h"
#include "MatchAttention.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_FORMATTENTIONPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
class AttentionFormer {
public:
  AttentionFormer(const AttentionMatch &match, ArrayRef<Attribute> levels,
                  bool shared)
      : m(match), levels(levels), shared(shared), b(match.values) {}

  /// In front of what it stands for, which stays.
  tile::AttentionOp make() {
    SmallVector<Location> locations;
    for (Operation *op : m.ops())
      locations.push_back(op->getLoc());
    SmallVector<Value> hiding;
    SmallVector<Attribute> hideMaps;
    if (m.hide)
      for (auto [i, input] : llvm::enumerate(m.hide.getDpsInputs()))
        if (input != m.scores->getResult(0)) {
          hiding.push_back(input);
          hideMaps.push_back(
              AffineMapAttr::get(m.hide.getIndexingMapsArray()[i]));
        }
    ArrayAttr scoresMaps =
        b.getArrayAttr(m.scores.getMaps().getValue().drop_back());
    auto op = tile::AttentionOp::create(
        b, b.getFusedLoc(locations), TypeRange(m.values.getInit().getType()),
        m.scores.getA(), m.scores.getB(), m.values.getB(),
        m.scores.getEpilogue(), hiding, m.values.getEpilogue(),
        m.values.getInit(), m.scores.getParallel(), m.scores.getReduced(),
        scoresMaps, b.getArrayAttr(hideMaps), m.values.getParallel(),
        m.values.getReduced(), m.values.getMaps(), m.zeroRows,
        levels.empty() ? ArrayAttr() : b.getArrayAttr(levels),
        shared ? tile::StrategyAttr() : m.scores.getStrategyAttr(),
        shared ? tile::StrategyAttr() : m.values.getStrategyAttr());
    IRMapping none;
    m.scores.getBody().cloneInto(&op.getScore(), none);
    widenScores(op);
    m.values.getBody().cloneInto(&op.getBody(), none);
    moveHide(op);
    moveWeigh(op);
    addPredictions(op);
    return op;
  }

  void form() {
    tile::AttentionOp op = make();
    m.values->getResult(0).replaceAllUsesWith(op->getResult(0));
    SmallVector<Operation *> ops = m.ops();
    for (Operation *old : llvm::reverse(ops))
      old->erase();
  }

private:
  void yield(Block &from, IRMapping &mapping, Value value) {
    tile::YieldOp::create(b, from.getTerminator()->getLoc(),
                          mapping.lookupOrDefault(value));
  }

  Value widened(Location loc, Value value) {
    return value.getType() == m.type
               ? value
               : arith::ExtFOp::create(b, loc, m.type, value).getResult();
  }

  /// Scores that the model rounds are rounded still, but in the wider type.
  void widenScores(tile::AttentionOp op) {
    OpBuilder::InsertionGuard guard(b);
    Operation *yield = op.getScore().front().getTerminator();
    b.setInsertionPoint(yield);
    yield->setOperand(0, widened(yield->getLoc(), yield->getOperand(0)));
  }

  void moveHide(tile::AttentionOp op) {
    OpBuilder::InsertionGuard guard(b);
    Block *to = b.createBlock(&op.getHide());
    // The score comes first.
    Value score = to->addArgument(m.type, m.scores.getLoc());
    if (!m.hide) {
      tile::YieldOp::create(b, m.scores.getLoc(), score);
      return;
    }
    Block &from = *m.hide.getBody();
    IRMapping mapping;
    if (Type own = getElementTypeOrSelf(m.scores->getResult(0)); own != m.type)
      score = arith::TruncFOp::create(b, m.scores.getLoc(), own, score);
    for (auto [input, argument] :
         llvm::zip(m.hide.getDpsInputs(), from.getArguments()))
      mapping.map(argument,
                  input == m.scores->getResult(0)
                      ? score
                      : to->addArgument(argument.getType(), argument.getLoc()));
    for (Operation &inner : from.without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        mapping.map(index.getResult(),
                    tile::IndexOp::create(b, index.getLoc(), b.getIndexType(),
                                          index.getDim())
                        .getResult());
      else
        b.clone(inner, mapping);
    }
    Location loc = from.getTerminator()->getLoc();
    Value hidden = mapping.lookupOrDefault(from.getTerminator()->getOperand(0));
    tile::YieldOp::create(b, loc, widened(loc, hidden));
  }

  /// What follows the division.
  void moveWeigh(tile::AttentionOp op) {
    OpBuilder::InsertionGuard guard(b);
    Block &from = *m.weights.getBody();
    Block *to = b.createBlock(&op.getWeigh());
    IRMapping mapping;
    mapping.map(m.normalized,
                to->addArgument(m.normalized.getType(), m.weights.getLoc()));
    bool isBehind = false;
    for (Operation &inner : from.without_terminator()) {
      if (isBehind)
        b.clone(inner, mapping);
      isBehind |= &inner == m.normalized.getDefiningOp();
    }
    yield(from, mapping, from.getTerminator()->getOperand(0));
  }

  /// The cycles of both products, bound by what the longer one is.
  void addPredictions(tile::AttentionOp op) {
    int64_t cycles = 0, most = -1;
    for (tile::ContractOp part : {m.scores, m.values})
      if (auto one = part->getAttrOfType<IntegerAttr>(exec::cyclesAttrName)) {
        cycles += one.getInt();
        if (one.getInt() > most)
          op->setAttr(exec::boundAttrName, part->getAttr(exec::boundAttrName));
        most = std::max(most, one.getInt());
      }
    if (most >= 0)
      op->setAttr(exec::cyclesAttrName, b.getI64IntegerAttr(cycles));
  }

  AttentionMatch m;
  SmallVector<Attribute> levels;
  bool shared;
  OpBuilder b;
};

struct FormAttention : ashlar::impl::FormAttentionPassBase<FormAttention> {
  using FormAttentionPassBase::FormAttentionPassBase;
  FormAttention(FormAttentionPassOptions options, const MachineModel &machine)
      : FormAttentionPassBase(std::move(options)), machine(machine) {}
  LogicalResult initialize(MLIRContext *context) override {
    return readMachineOption(context, machineName, machine);
  }
  void runOnOperation() override {
    SmallVector<tile::ContractOp> contracts;
    getOperation().walk([&](tile::ContractOp op) { contracts.push_back(op); });
    for (tile::ContractOp op : contracts)
      if (std::optional<AttentionMatch> match = matchAttention(op))
        form(*match);
  }

private:
  void form(AttentionMatch &match) {
    std::optional<AttentionTiles> tiles =
        chooseAttentionTiles(match, scoreBytes, openSizes, shared);
    if (!tiles)
      return explainRefusal(match);
    if (openSizes && shared) {
      // What threads hold has tiles of its own.
      std::string why = whyApart(match);
      if (why.empty())
        tiles->keys = 0;
      else if (tiles->keys == 0)
        return explainRefusal(match, why);
    }
    explainDispatch(match.ops());
    explainLoop(match, *tiles);
    if (scratchBytes != 0)
      saveScratch(match, *tiles);
    AttentionFormer(match,
                    tiles->toLevels(&getContext(), match.values.getParallel(),
                                    match.values.getReduced().size()),
                    shared)
        .form();
  }

  /// Why threads cannot hold scores whose number callers choose.
  std::string whyApart(AttentionMatch &match) {
    tile::AttentionOp op = AttentionFormer(match, {}, shared).make();
    std::string why = whyNotHeld(op, machine);
    op.erase();
    return why;
  }

  /// Fewer rows, where the scores of a worker are more than it should take.
  void saveScratch(AttentionMatch &match, AttentionTiles &tiles) {
    // With the scores lie their exponentials and the weights.
    constexpr int64_t buffers = 4;
    std::optional<AttentionTiles> smaller = chooseAttentionTiles(
        match,
        std::min<int64_t>(scoreBytes,
                          std::max<int64_t>(1, scratchBytes / buffers)),
        openSizes, shared);
    int64_t before = tiles.countBoxes(match.values.getParallel());
    int64_t after =
        smaller ? smaller->countBoxes(match.values.getParallel()) : 0;
    if (after <= before)
      return;
    tiles = *smaller;
    // What each box reads whole: keys and values.
    int64_t whole = byteSize(match.scores.getB().getType()) +
                    byteSize(match.values.getB().getType());
    remark::passed(match.values.getLoc(),
                   about(match.values, "Scratch", "schedule"))
        << "is computed in " << remark::metric("Boxes", after)
        << " boxes instead of " << remark::metric("BoxesBefore", before)
        << ", so that a worker needs less scratch; predicted are "
        << remark::metric("Bytes", whole * (after - before) / before)
        << " bytes that are read again";
  }

  void explainLoop(AttentionMatch &match, const AttentionTiles &tiles) {
    if (tiles.keys == 0 || !wantsRemarks(match.values))
      return;
    int64_t all = match.scores.getParallel().back(),
            each = all / match.values.getReduced()[tiles.keyDim];
    remark::passed(match.values.getLoc(),
                   about(match.values, "Attention", "fusion"))
        << "takes " << remark::metric("Keys", tiles.keys * each) << " of "
        << remark::metric("AllKeys", all)
        << " keys at a time, and corrects its sums as larger scores come: "
           "the scores of all do not stay near";
  }

  void explainRefusal(AttentionMatch &match, const std::string &why = "") {
    tile::ContractOp values = match.values;
    if (!wantsRemarks(values))
      return;
    int64_t bytes = byteSize(match.scores.getInit().getType());
    remark::missed(values.getLoc(), about(values, "Dispatch", "fusion"))
        << nodeName(match.scores->getLoc())
        << " and what lies between stay apart"
        << (!openSizes ? ": no number of rows divides them and keeps their "
                         "scores near"
            : shared   ? ": no loop takes some keys at a time"
                       : ": at the largest size, the scores of a few rows do "
                         "not stay near")
        << (why.empty() ? "" : ", and threads hold none: " + why) << "; "
        << remark::metric("Bytes", bytes) << " bytes are read back";
  }

  MachineModel machine = MachineModel::generic();
};
} // namespace

std::unique_ptr<Pass>
ashlar::createFormAttentionPass(FormAttentionPassOptions options,
                                const MachineModel &machine) {
  return std::make_unique<FormAttention>(std::move(options), machine);
}
