// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of what was dequantized become products of the bytes themselves:
//
//   sum (x - p) s (w - q) t = s t (sum x w - p sum (w - q) - q sum x)
//
// With constant weights the second sum is a constant, and the third is there
// only where weights have zero points. What makes up for the zero points and
// scales the sums is elementwise and becomes the contraction's epilogue with
// whatever follows, such as the quantization of the result.
//
// Of bytes that are codes of floats, products are of these floats, into f32.
#include "IntegerProduct.h"
#include "ashlar/Analysis/ConstantBytes.h"
#include "ashlar/Analysis/MapElements.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Analysis/Zeros.h"
#include "ashlar/Cost/Core.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Precision/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_FORMINTEGERCONTRACTIONSPASS
#include "ashlar/Transforms/Precision/Passes.h.inc"
} // namespace ashlar

namespace {
/// The factor of the body's product: an argument, as it is or extended.
std::optional<unsigned> findArgument(linalg::GenericOp op, Value value,
                                     bool &isUnsigned) {
  if (Operation *cast = value.getDefiningOp()) {
    if (!isa<arith::ExtSIOp, arith::ExtUIOp>(cast))
      return std::nullopt;
    isUnsigned = isa<arith::ExtUIOp>(cast);
    value = cast->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= 2)
    return std::nullopt;
  return argument.getArgNumber();
}

/// Bytes of a constant behind reshapes, in the shape of `value`.
ArrayRef<char> weightBytes(const QuantizedTensor &tensor) {
  if (!llvm::all_of(tensor.path, [](Operation *op) {
        return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
      }))
    return {};
  return constantBytes(constantBehindReshapes(tensor.root));
}

struct FormIntegerContractions
    : ashlar::impl::FormIntegerContractionsPassBase<FormIntegerContractions> {
  using FormIntegerContractionsPassBase::FormIntegerContractionsPassBase;
  explicit FormIntegerContractions(const MachineModel &machine)
      : machine(machine) {}

  LogicalResult initialize(MLIRContext *context) override {
    return readMachineOption(context, machineName, machine);
  }
  void runOnOperation() override {
    SmallVector<IntegerProduct, 0> products;
    getOperation().walk([&](linalg::GenericOp op) {
      if (std::optional<IntegerProduct> product = match(op))
        products.push_back(std::move(*product));
    });
    // In the order of the program, so that the same model gives the same IR.
    llvm::SetVector<Value> flips;
    for (IntegerProduct &product : products)
      if (std::optional<unsigned> wanted = wantsFlip(product)) {
        IntegerFactor &factor = product.factors[*wanted];
        factor.changesSign = factor.isConstant();
        if (!factor.changesSign)
          flips.insert(factor.tensor.root);
      }
    llvm::DenseMap<Value, Value> flipped;
    for (Value root : flips)
      flipped[root] = flip(root);
    for (IntegerProduct &product : products) {
      for (IntegerFactor &factor : product.factors)
        if (factor.changesSign || flipped.contains(factor.tensor.root))
          factor.tensor.flip();
      if (!changes(product, flipped))
        continue;
      remark::passed(
          product.op.getLoc(),
          about(product.op,
                product.isFloat() ? "Float8Contraction" : "IntegerContraction",
                "precision"))
          << (product.isFloat()
                  ? "multiplies floats of a byte and adds them up in f32"
                  : "multiplies bytes and adds them up in 32 bits");
      writeIntegerProduct(product, flipped);
      ++numFormed;
    }
    // Whoever is read by nobody now would count as a reader.
    getOperation().walk<WalkOrder::PostOrder, ReverseIterator>(
        [](Operation *op) {
          if (isOpTriviallyDead(op))
            op->erase();
        });
  }

private:
  /// What may come before the sum is made: both operands were bytes, and the
  /// sum cannot overflow.
  std::optional<IntegerProduct> match(linalg::GenericOp op) {
    if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
        op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() ||
        op.hasIndexSemantics() || !isFilledWithZero(op.getDpsInits()[0]))
      return std::nullopt;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    if (llvm::any_of(ranges, [](int64_t range) {
          return ShapedType::isDynamic(range) || range == 0;
        }))
      return std::nullopt;
    Operation *add =
        op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
      return std::nullopt;
    Value sum = op.getRegionOutputArgs()[0];
    Value term = add->getOperand(add->getOperand(0) == sum ? 1 : 0);
    Operation *multiply = term.getDefiningOp();
    if (!llvm::is_contained(add->getOperands(), sum) ||
        !isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply) ||
        !(sum.getType().isF32() || sum.getType().isInteger(32)))
      return std::nullopt;
    IntegerProduct product{op, {}, std::nullopt, 0};
    bool seen[2] = {false, false};
    unsigned numQuantized = 0;
    for (Value value : multiply->getOperands()) {
      bool isUnsigned = false;
      std::optional<unsigned> argument = findArgument(op, value, isUnsigned);
      if (!argument || seen[*argument])
        return std::nullopt;
      seen[*argument] = true;
      OpOperand *operand = op.getDpsInputOperand(*argument);
      auto tensor = findQuantized(operand->get(), isUnsigned);
      if (!tensor || tensor->isScaled != sum.getType().isF32())
        continue;
      ++numQuantized;
      IntegerFactor &factor = product.factors[*argument];
      factor.tensor = std::move(*tensor);
      factor.map = op.getMatchingIndexingMap(operand);
    }
    if (numQuantized == 0)
      return std::nullopt;
    if (numQuantized == 1)
      return refuse(op, "one operand was no bytes, or got there in a way that "
                        "is not followed");
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!result.isProjectedPermutation() ||
        result.getNumResults() != op.getNumParallelLoops())
      return std::nullopt;
    for (IntegerFactor &factor : product.factors)
      if (factor.map.isProjectedPermutation())
        factor.weights = weightBytes(factor.tensor);
    if (product.factors[0].isConstant() && product.factors[1].isConstant())
      return std::nullopt;
    if (product.isFloat() != bool(product.factors[1].tensor.code))
      return refuse(op, "one operand holds integers, the other one floats");
    if (product.isFloat() && !findTypes(product, ranges))
      return std::nullopt;
    if (!parametersFit(product))
      return refuse(op, "zero points or scales follow a summed dim, both "
                        "operands, or one that is computed");
    if (product.isFloat())
      return product;
    if (overflows(product, ranges))
      return refuse(op, "sums of so many terms might overflow 32 bits");
    findChannel(product, ranges);
    return product;
  }

  /// What floats of a byte are multiplied as: as they are where a unit takes
  /// them; else as numbers of 16 bits of a matrix unit, which hold them all.
  bool findTypes(IntegerProduct &product, ArrayRef<int64_t> ranges) const {
    FloatType left = product.factors[0].tensor.code,
              right = product.factors[1].tensor.code;
    Builder b(left.getContext());
    auto takes = [&](Type x, Type y) {
      const MultiplyUnit *unit = machine.unit(productOf(x, y, b.getF32Type()));
      return unit && unit->fragment &&
             2 * longestRun(product, ranges) >= unit->k;
    };
    if (takes(left, right) || takes(right, left))
      return true;
    for (FloatType type :
         {FloatType(b.getF16Type()), FloatType(b.getBF16Type())})
      if (takes(type, type)) {
        product.decoded = type;
        return true;
      }
    return false;
  }

  /// Of terms one by one in both operands: units take no fewer than half of a
  /// step's, and whoever multiplies without them would decode each one again.
  static int64_t longestRun(const IntegerProduct &product,
                            ArrayRef<int64_t> ranges) {
    int64_t longest = 1;
    for (auto [dim, range] : llvm::enumerate(ranges)) {
      AffineExpr expr = getAffineDimExpr(dim, product.op->getContext());
      if (llvm::all_of(product.factors,
                       [&](const IntegerFactor &factor) {
                         return factor.map.getResultPosition(expr).has_value();
                       }) &&
          linalg::GenericOp(product.op).getIteratorTypesArray()[dim] ==
              utils::IteratorType::reduction)
        longest = std::max(longest, range);
    }
    return longest;
  }

  static std::nullopt_t refuse(linalg::GenericOp op, StringRef why) {
    remark::missed(op.getLoc(), about(op, "IntegerContraction", "precision"))
        << "multiplies what bytes were turned into: " << why.str();
    return std::nullopt;
  }

  /// Parameters of an operand whose elements others share are uniform; those
  /// of the weights may follow dims of the result.
  bool parametersFit(const IntegerProduct &product) {
    linalg::GenericOp op = product.op;
    auto followsResult = [&](const IntegerFactor &factor,
                             ArrayRef<int64_t> shape) {
      for (auto [expr, size] : llvm::zip(factor.map.getResults(), shape)) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (size != 1 &&
            (!dim || op.getIteratorTypesArray()[dim.getPosition()] !=
                         utils::IteratorType::parallel))
          return false;
      }
      return true;
    };
    unsigned varying = 0;
    for (const IntegerFactor &factor : product.factors) {
      const QuantizedTensor &tensor = factor.tensor;
      bool isUniform = tensor.zeroPoint.isUniform() && tensor.scale.isUniform();
      // What sums of constants come to is written down.
      if (tensor.computedZero && (factor.isConstant() || !isUniform))
        return false;
      varying += !isUniform;
      if (!isUniform && !factor.isConstant())
        return false;
      if (!followsResult(factor, tensor.zeroPoint.shape) ||
          !followsResult(factor, tensor.scale.shape))
        return false;
    }
    return varying < 2;
  }

  static bool overflows(const IntegerProduct &product,
                        ArrayRef<int64_t> ranges) {
    int64_t terms = 1;
    for (auto [range, loop] : llvm::zip(
             ranges, linalg::GenericOp(product.op).getIteratorTypesArray()))
      if (loop == utils::IteratorType::reduction &&
          llvm::MulOverflow(terms, range, terms))
        return true;
    constexpr int64_t largest = 255 * 255;
    // i32 sums of the model wrap as it says.
    return product.factors[0].tensor.isScaled &&
           terms > std::numeric_limits<int32_t>::max() / largest;
  }

  void findChannel(IntegerProduct &product, ArrayRef<int64_t> ranges) {
    linalg::GenericOp op = product.op;
    for (auto [dim, loop] : llvm::enumerate(op.getIteratorTypesArray())) {
      AffineExpr expr = getAffineDimExpr(dim, op.getContext());
      bool inBoth =
          llvm::all_of(product.factors, [&](const IntegerFactor &factor) {
            return factor.map.getResultPosition(expr).has_value();
          });
      if (loop != utils::IteratorType::reduction || !inBoth || ranges[dim] == 1)
        continue;
      if (product.channel) {
        product.channel.reset();
        return;
      }
      product.channel = dim;
    }
    if (!product.channel)
      return;
    // Zeros behind a few channels make groups of them.
    int64_t group = groupFor(false, true), channels = ranges[*product.channel];
    bool anyConstant =
        llvm::any_of(product.factors, [](const IntegerFactor &each) {
          return each.isConstant();
        });
    if (anyConstant && group > 1 && channels % group != 0 && channels > 1)
      product.padding = group - channels % group;
  }

  const MultiplyUnit *unitFor(bool leftUnsigned, bool rightUnsigned) const {
    return machine.vectorUnit(
        {leftUnsigned ? "u8" : "s8", rightUnsigned ? "u8" : "s8", "s32"});
  }
  int64_t groupFor(bool left, bool right) const {
    const MultiplyUnit *unit = unitFor(left, right);
    return unit ? unit->k : 1;
  }
  double rateFor(bool left, bool right) const {
    const MultiplyUnit *unit = unitFor(left, right);
    return unit ? unit->flopsPerCycle() : 0;
  }

  /// The operand whose bytes the machine would rather have with the other sign.
  std::optional<unsigned> wantsFlip(const IntegerProduct &product) const {
    if (!product.channel)
      return std::nullopt;
    bool signs[2] = {product.factors[0].tensor.isUnsigned,
                     product.factors[1].tensor.isUnsigned};
    double best = rateFor(signs[0], signs[1]);
    std::optional<unsigned> found;
    // Constants first: they cost nothing.
    unsigned first = product.factors[0].isConstant() ? 0 : 1;
    for (unsigned i : {first, 1 - first}) {
      double rate = rateFor(signs[0] != (i == 0), signs[1] != (i == 1));
      // Signed weights stay: they would get zero points that somebody has to
      // make up for.
      const IntegerFactor &factor = product.factors[i];
      bool stays = factor.isConstant()
                       ? !factor.tensor.isUnsigned
                       : isConstantBehindReshapes(factor.tensor.root);
      if (rate > best * 1.2 && !stays) {
        best = rate;
        found = i;
      }
    }
    return found;
  }

  /// Whether anything is to be written.
  static bool changes(const IntegerProduct &product,
                      const llvm::DenseMap<Value, Value> &flipped) {
    if (product.factors[0].tensor.isScaled || product.padding != 0)
      return true;
    return llvm::any_of(product.factors, [&](const IntegerFactor &factor) {
      return factor.changesSign || flipped.contains(factor.tensor.root) ||
             !factor.tensor.hasNoZeroPoint() ||
             getElementTypeOrSelf(factor.tensor.root) !=
                 getElementTypeOrSelf(
                     linalg::GenericOp(product.op)
                         .getDpsInputs()[&factor - product.factors]);
    });
  }

  /// The bytes of the other sign, made where they are made; elementwise readers
  /// turn them back, so that whoever makes them has one reader.
  static Value flip(Value root) {
    OpBuilder b(root.getContext());
    b.setInsertionPointAfterValue(root);
    auto type = cast<RankedTensorType>(root.getType());
    auto turn = [](OpBuilder &inner, Location at, Value byte) -> Value {
      Value top =
          arith::ConstantOp::create(inner, at, inner.getI8IntegerAttr(-128));
      return arith::XOrIOp::create(inner, at, byte, top);
    };
    auto flipped =
        mapElements(b, root.getLoc(), root, type.getElementType(), turn);
    for (OpOperand &use : llvm::make_early_inc_range(root.getUses())) {
      auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!reader || reader == flipped || reader.getNumReductionLoops() != 0 ||
          !reader.isDpsInput(&use))
        continue;
      BlockArgument argument = reader.getMatchingBlockArgument(&use);
      OpBuilder inner = OpBuilder::atBlockBegin(reader.getBody());
      Value back = turn(inner, reader.getLoc(), argument);
      argument.replaceAllUsesExcept(back, back.getDefiningOp());
      use.set(flipped.getResult(0));
    }
    return flipped.getResult(0);
  }

  MachineModel machine = MachineModel::generic();
};
} // namespace

std::unique_ptr<Pass>
ashlar::createFormIntegerContractionsPass(const MachineModel &machine) {
  return std::make_unique<FormIntegerContractions>(machine);
}
