// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions of one tensor with several constants, such as the projections
// to queries, keys and values, become one: their constants lie one behind the
// other, and so do their results, which readers see as views.
#include "ChooseStrategy.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_MERGECONTRACTSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
using Siblings = SmallVector<tile::ContractOp, 3>;

/// Whether both can be sources of one `#tile.stacked`.
bool canStack(TypedAttr x, TypedAttr y) {
  return x && y && x.getType() == y.getType() &&
         isa<tile::RoundedAttr>(x) == isa<tile::RoundedAttr>(y);
}

/// Whether `value`, as it is or reshaped, leaves its block: it is then written
/// where the reader wants it, which a part of a larger tensor cannot be.
bool leavesBlock(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      return true;
    return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) &&
           leavesBlock(user->getResult(0));
  });
}

/// What keeps a contraction from being part of any other; empty: nothing.
StringRef whyAlone(tile::ContractOp op) {
  if (!constantBehindReshapes(op.getB()))
    return "its second operand is not constant";
  if (op.getPadAttr())
    return "it writes a padding";
  if (leavesBlock(op.getResult(0)))
    return "its result leaves the function or block";
  constexpr int64_t alignment = 64; // of what kernels are given
  if (byteSize(op.getResult(0).getType()) % alignment != 0)
    return "the next result would begin at no multiple of 64 bytes";
  return {};
}

/// What keeps `other` from being computed with `first`; empty: nothing.
StringRef whyApart(tile::ContractOp first, tile::ContractOp other) {
  if (StringRef why = whyAlone(other); !why.empty())
    return why;
  if (first.getParallel() != other.getParallel() ||
      first.getReduced() != other.getReduced())
    return "it has other sizes";
  if (first.getDevice() != other.getDevice())
    return "it runs on another device";
  if (!canStack(constantBehindReshapes(first.getB()),
                constantBehindReshapes(other.getB())) ||
      first.getResult(0).getType() != other.getResult(0).getType() ||
      first.getAUnsigned() != other.getAUnsigned() ||
      first.getBUnsigned() != other.getBUnsigned())
    return "it has other types";
  if (!OperationEquivalence::isRegionEquivalentTo(
          &first.getBody(), &other.getBody(),
          OperationEquivalence::IgnoreLocations))
    return "what follows its sums is another computation";
  if (first.getAMap() != other.getAMap() ||
      first.getBMap() != other.getBMap() ||
      first.getResultMap() != other.getResultMap())
    return "it reads or writes in another order";
  for (auto [i, x, y] :
       llvm::enumerate(first.getEpilogue(), other.getEpilogue()))
    if (first.getEpilogueMap(i) != other.getEpilogueMap(i) ||
        (x != y &&
         !canStack(constantBehindReshapes(x), constantBehindReshapes(y))))
      return "what follows its sums reads a tensor of its own";
  return {};
}

/// Bytes of a that all but the first of `siblings` need not read.
int64_t bytesSaved(Siblings &siblings) {
  return int64_t(siblings.size() - 1) *
         byteSize(siblings.front().getA().getType());
}

/// Contracts of one block that read the same a, with those that fit each other
/// together.
class Merger {
public:
  Merger(Siblings &readers, const MachineModel &machine, bool openSizes)
      : readers(readers), machine(machine), openSizes(openSizes) {}

  void run() {
    SmallVector<Siblings> groups;
    for (tile::ContractOp op : readers)
      if (!join(groups, op))
        groups.push_back({op});
    for (Siblings &group : groups)
      if (group.size() > 1)
        merge(group);
  }

private:
  bool join(SmallVectorImpl<Siblings> &groups, tile::ContractOp op) {
    if (groups.empty())
      return false;
    for (Siblings &group : groups)
      if (whyAlone(group.front()).empty() &&
          whyApart(group.front(), op).empty()) {
        group.push_back(op);
        return true;
      }
    if (wantsRemarks(op)) {
      tile::ContractOp first = groups.front().front();
      StringRef why = whyAlone(first);
      remark::missed(op.getLoc(), about(op, "Siblings", "fusion"))
          << "reads what " << nodeName(first.getLoc())
          << " reads, but stays apart: "
          << remark::metric("Reason",
                            (why.empty() ? whyApart(first, op) : why).str())
          << "; " << remark::metric("Bytes", byteSize(op.getA().getType()))
          << " bytes are read again";
    }
    return false;
  }

  static Value stack(OpBuilder &b, Location location, ArrayRef<Value> values) {
    SmallVector<TypedAttr> sources;
    for (Value value : values)
      sources.push_back(constantBehindReshapes(value));
    auto one = cast<RankedTensorType>(sources.front().getType());
    SmallVector<int64_t> shape = {int64_t(sources.size())};
    llvm::append_range(shape, one.getShape());
    auto type = RankedTensorType::get(shape, one.getElementType());
    return arith::ConstantOp::create(
        b, location,
        cast<TypedAttr>(tile::StackedAttr::get(b.getContext(), sources, type)));
  }

  /// As one, if that takes no longer than all of them with their launches.
  void merge(Siblings &siblings) {
    tile::ContractOp first = siblings.front();
    // The machine model is the host's.
    if (first.getDevice()) {
      remark::passed(first.getLoc(), about(first, "Siblings", "fusion"))
          << "one contraction with " << others(siblings) << ", saving "
          << remark::metric("BytesSaved", bytesSaved(siblings))
          << " bytes and the starts of its device";
      return replace(siblings, write(siblings));
    }
    double apart = double(siblings.size() - 1) * machine.costs.launchNs * 1e-9 *
                   machine.clock.hz;
    for (tile::ContractOp op : siblings)
      apart += predictStrategy(op, machine, openSizes).cycles();
    tile::ContractOp merged = write(siblings);
    double together = predictStrategy(merged, machine, openSizes).cycles();
    bool pays = together <= apart;
    auto identity = about(first, "Siblings", "fusion");
    auto line = pays ? remark::passed(first.getLoc(), identity)
                     : remark::missed(first.getLoc(), identity);
    line << (pays ? "one contraction with " : "stays apart from ")
         << others(siblings) << (pays ? ", saving " : ", which read the same ")
         << remark::metric(pays ? "BytesSaved" : "Bytes", bytesSaved(siblings))
         << " bytes: " << remark::metric("Cycles", int64_t(together))
         << " cycles predicted for one instead of "
         << remark::metric("ApartCycles", int64_t(apart))
         << " with their launches";
    if (pays)
      replace(siblings, merged);
    else
      merged.erase();
  }

  static tile::ContractOp write(Siblings &siblings) {
    tile::ContractOp first = siblings.front();
    OpBuilder b(first);
    int64_t count = siblings.size();
    SmallVector<Location> locations;
    for (tile::ContractOp op : siblings)
      locations.push_back(op.getLoc());
    Location location = b.getFusedLoc(locations);

    // The new dim is the first: whoever it counts, each has the same place.
    SmallVector<AffineMap> maps;
    for (AffineMap map : first.getMaps().getAsValueRange<AffineMapAttr>())
      maps.push_back(map.shiftDims(1));
    auto addDim = [&](AffineMap &map) {
      map = map.insertResult(b.getAffineDimExpr(0), 0);
    };
    addDim(maps[1]);
    addDim(maps.back());
    SmallVector<Value> weights, epilogue;
    for (tile::ContractOp op : siblings)
      weights.push_back(op.getB());
    for (auto [i, value] : llvm::enumerate(first.getEpilogue())) {
      SmallVector<Value> each;
      for (tile::ContractOp op : siblings)
        each.push_back(op.getEpilogue()[i]);
      bool isShared = llvm::all_equal(each);
      epilogue.push_back(isShared ? value : stack(b, location, each));
      if (!isShared)
        addDim(maps[2 + i]);
    }
    auto addSize = [&](ArrayRef<int64_t> sizes) {
      SmallVector<int64_t> all = {count};
      llvm::append_range(all, sizes);
      return all;
    };
    auto part = cast<RankedTensorType>(first.getResult(0).getType());
    auto type =
        RankedTensorType::get(addSize(part.getShape()), part.getElementType());
    Value init = tensor::EmptyOp::create(b, location, type.getShape(),
                                         type.getElementType());
    auto merged = tile::ContractOp::create(
        b, location, type, first.getA(), stack(b, location, weights), epilogue,
        init, /*unrounded=*/Value(),
        b.getDenseI64ArrayAttr(addSize(first.getParallel())),
        first.getReducedAttr(), b.getAffineMapArrayAttr(maps),
        first.getAUnsignedAttr(), first.getBUnsignedAttr(),
        /*pad=*/TypedAttr(), /*strategy=*/tile::StrategyAttr(),
        first.getDeviceAttr());
    IRMapping mapping;
    first.getBody().cloneInto(&merged.getBody(), mapping);
    return merged;
  }

  static void replace(Siblings &siblings, tile::ContractOp merged) {
    OpBuilder b(siblings.front());
    auto part = cast<RankedTensorType>(siblings.front().getResult(0).getType());
    auto type = cast<RankedTensorType>(merged.getResult(0).getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
        strides(type.getRank(), b.getIndexAttr(1)), sizes = {b.getIndexAttr(1)};
    for (int64_t size : part.getShape())
      sizes.push_back(b.getIndexAttr(size));
    for (auto [i, sibling] : llvm::enumerate(siblings)) {
      tile::ContractOp op = sibling;
      offsets[0] = b.getIndexAttr(i);
      Value view = tensor::ExtractSliceOp::create(
          b, op.getLoc(), part, merged.getResult(0), offsets, sizes, strides);
      op.getResult(0).replaceAllUsesWith(view);
    }
    for (tile::ContractOp op : siblings)
      op.erase();
  }

  static std::string others(Siblings &siblings) {
    SmallVector<Location> locations;
    for (tile::ContractOp op : llvm::drop_begin(siblings))
      locations.push_back(op.getLoc());
    return nodeName(FusedLoc::get(siblings.front().getContext(), locations));
  }

  Siblings &readers;
  const MachineModel &machine;
  bool openSizes;
};

struct MergeContracts : ashlar::impl::MergeContractsPassBase<MergeContracts> {
  using MergeContractsPassBase::MergeContractsPassBase;
  MergeContracts(const MachineModel &machine, bool openSizes)
      : machine(machine), openSizes(openSizes) {}
  LogicalResult initialize(MLIRContext *context) override {
    return readMachineOption(context, machineName, machine);
  }
  void runOnOperation() override {
    llvm::MapVector<std::pair<Block *, Value>, Siblings> byOperand;
    getOperation().walk([&](tile::ContractOp op) {
      if (!op.getStrategyAttr())
        byOperand[{op->getBlock(), op.getA()}].push_back(op);
    });
    for (auto &[at, readers] : byOperand)
      Merger(readers, machine, openSizes).run();
  }

private:
  MachineModel machine = MachineModel::generic();
  bool openSizes = false;
};
} // namespace

std::unique_ptr<Pass>
ashlar::createMergeContractsPass(const MachineModel &machine, bool openSizes) {
  return std::make_unique<MergeContracts>(machine, openSizes);
}
