// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TraceTiles.h"
#include "ashlar/Transforms/Tile/ExpandContract.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::systolic;

namespace {
using Dims = SmallVector<unsigned>;

/// Of a, of b, and of the result; where an operand lies is the machine's.
struct OperandDims {
  explicit OperandDims(const Contraction &contraction) {
    auto add = [](Dims &to, ArrayRef<unsigned> dims) {
      llvm::append_range(to, dims);
      llvm::sort(to);
    };
    for (Dims &dims : of)
      add(dims, contraction.batch);
    unsigned a = contraction.isExchanged ? 1 : 0;
    for (unsigned i : {a, 2u})
      add(of[i], contraction.m);
    for (unsigned i : {1 - a, 2u})
      add(of[i], contraction.n);
    if (contraction.isDepthwise)
      add(of[a], contraction.n);
    for (unsigned i : {0, 1})
      add(of[i], contraction.k);
  }

  Dims of[3];
};
} // namespace

/// A function of the same contraction, of operands that lie as its dims do: a
/// part of one says itself which points it is for.
static OwningOpRef<ModuleOp> writeContract(const Contraction &contraction,
                                           const OperandDims &operands,
                                           tile::StrategyAttr strategy) {
  Location loc = UnknownLoc::get(strategy.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  auto b = ImplicitLocOpBuilder::atBlockEnd(loc, module->getBody());
  size_t numParallel = operands.of[2].size(),
         numDims = contraction.sizes.size();
  SmallVector<AffineMap> maps;
  SmallVector<Type> types;
  for (const Dims &dims : operands.of) {
    SmallVector<AffineExpr> places;
    SmallVector<int64_t> shape;
    for (unsigned d : dims) {
      places.push_back(b.getAffineDimExpr(d));
      shape.push_back(contraction.sizes[d]);
    }
    bool isResult = &dims == &operands.of[2];
    maps.push_back(AffineMap::get(isResult ? numParallel : numDims, 0, places,
                                  b.getContext()));
    types.push_back(MemRefType::get(shape, b.getF32Type()));
  }
  auto function =
      func::FuncOp::create(b, "tiles", b.getFunctionType(types, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  ArrayRef<int64_t> sizes(contraction.sizes);
  auto op = tile::ContractOp::create(
      b, TypeRange(), function.getArgument(0), function.getArgument(1),
      ValueRange(), function.getArgument(2), /*unrounded=*/Value(),
      b.getDenseI64ArrayAttr(sizes.take_front(numParallel)),
      b.getDenseI64ArrayAttr(sizes.drop_front(numParallel)),
      b.getAffineMapArrayAttr(maps), /*aUnsigned=*/UnitAttr(),
      /*bUnsigned=*/UnitAttr(),
      /*pad=*/TypedAttr(), strategy, /*device=*/IntegerAttr());
  func::ReturnOp::create(b);
  Block *body = b.createBlock(&op.getBody(), {}, b.getF32Type(), loc);
  tile::YieldOp::create(b, body->getArgument(0));
  return module;
}

namespace {
/// Goes through loops as they would run.
class LoopWalker {
public:
  LoopWalker(const Contraction &contraction, const OperandDims &operands,
             std::vector<TracedBlock> &blocks)
      : contraction(contraction), operands(operands), blocks(blocks) {}

  Refusal run(Block &body);

private:
  int64_t valueOf(OpFoldResult number);
  Refusal runLoop(scf::ForOp loop);
  void note(memref::SubViewOp part);
  Refusal note(tile::StepOp step);
  Refusal note(tile::DrainOp drain);

  const Contraction &contraction;
  const OperandDims &operands;
  std::vector<TracedBlock> &blocks;
  TracedBlock steps; ///< since the last drain
  llvm::DenseMap<Value, int64_t> numbers;
  /// Points that a part of an operand or its copy is for, by the operand's
  /// dims.
  llvm::DenseMap<Value, DimBox> boxes;
};
} // namespace

int64_t LoopWalker::valueOf(OpFoldResult number) {
  if (std::optional<int64_t> known = getConstantIntValue(number))
    return *known;
  auto value = cast<Value>(number);
  auto found = numbers.find(value);
  if (found != numbers.end())
    return found->second;
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  SmallVector<Attribute> operands;
  for (Value operand : apply.getMapOperands())
    operands.push_back(
        IntegerAttr::get(operand.getType(), valueOf(OpFoldResult(operand))));
  SmallVector<Attribute, 1> result;
  (void)apply.getAffineMap().constantFold(operands, result);
  return cast<IntegerAttr>(result.front()).getInt();
}

Refusal LoopWalker::runLoop(scf::ForOp loop) {
  int64_t end = valueOf(loop.getUpperBound());
  int64_t step = valueOf(loop.getStep());
  for (int64_t i = valueOf(loop.getLowerBound()); i < end; i += step) {
    numbers[loop.getInductionVar()] = i;
    if (Refusal why = run(*loop.getBody()))
      return why;
  }
  return std::nullopt;
}

void LoopWalker::note(memref::SubViewOp part) {
  DimBox &box = boxes[part];
  box.begin.clear();
  for (OpFoldResult offset : part.getMixedOffsets())
    box.begin.push_back(valueOf(offset));
  box.size.assign(part.getStaticSizes().begin(), part.getStaticSizes().end());
}

Refusal LoopWalker::note(tile::StepOp step) {
  DimBox points{SmallVector<int64_t>(contraction.sizes.size(), 0),
                contraction.sizes};
  const Value factors[] = {step.getA(), step.getB()};
  for (auto [dims, factor] : llvm::zip(operands.of, factors)) {
    const DimBox &own = boxes[factor];
    for (auto [d, begin, size] : llvm::zip_equal(dims, own.begin, own.size)) {
      points.begin[d] = begin;
      points.size[d] = size;
    }
  }
  // What is copied for several steps has a dim that one of them has less of.
  int64_t terms = 1;
  for (int64_t count : step.getReduced())
    terms *= count;
  for (unsigned d : contraction.k)
    terms = points.size[d] && terms % points.size[d] == 0
                ? terms / points.size[d]
                : 0;
  if (terms != 1)
    return "its rings are filled for more than one step";
  steps.push_back(std::move(points));
  return std::nullopt;
}

Refusal LoopWalker::note(tile::DrainOp drain) {
  DimBox &result = boxes[drain.getTarget()];
  for (const DimBox &step : steps)
    for (auto [d, begin, size] :
         llvm::zip_equal(operands.of[2], result.begin, result.size))
      if (step.begin[d] != begin || step.size[d] != size)
        return "its rings are filled for more than one step";
  blocks.push_back(std::exchange(steps, {}));
  return std::nullopt;
}

Refusal LoopWalker::run(Block &body) {
  for (Operation &op : body) {
    Refusal why =
        llvm::TypeSwitch<Operation *, Refusal>(&op)
            .Case([&](scf::ForOp loop) { return runLoop(loop); })
            .Case([&](memref::SubViewOp part) {
              note(part);
              return std::nullopt;
            })
            .Case([&](tile::CopyOp copy) {
              DimBox points = boxes[copy.getSource()];
              boxes[copy.getSlot()] = std::move(points);
              return std::nullopt;
            })
            .Case([&](tile::StepOp step) { return note(step); })
            .Case([&](tile::DrainOp drain) { return note(drain); })
            .Case<arith::ConstantOp, affine::AffineApplyOp, tile::AllocOp,
                  tile::InitOp, tile::WaitOp, tile::ReleaseOp, scf::YieldOp,
                  func::ReturnOp>([](Operation *) { return std::nullopt; })
            .Default([](Operation *other) {
              return llvm::formatv("its loops have a '{0}', which no stream "
                                   "does",
                                   other->getName())
                  .str();
            });
    if (why)
      return why;
  }
  return std::nullopt;
}

Refusal ashlar::systolic::traceTiles(const Contraction &contraction,
                                     tile::StrategyAttr strategy,
                                     std::vector<TracedBlock> &blocks) {
  OperandDims operands(contraction);
  OwningOpRef<ModuleOp> module = writeContract(contraction, operands, strategy);
  auto function = *module->getOps<func::FuncOp>().begin();
  auto op = *function.getOps<tile::ContractOp>().begin();
  if (failed(expandContract(op)))
    return "its strategy has no loops";
  return LoopWalker(contraction, operands, blocks)
      .run(function.getBody().front());
}
