// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizeConstants.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;

namespace {
class SizeWriter {
public:
  SizeWriter(arith::ConstantOp constant, ArrayAttr formulas)
      : constant(constant), formulas(formulas),
        elements(cast<DenseElementsAttr>(constant.getValue())),
        type(cast<RankedTensorType>(constant.getType())),
        b(constant.getLoc(), constant) {}

  void run() {
    auto dispatch =
        exec::DispatchOp::create(b, TypeRange(type), ValueRange(), uint64_t(0));
    b.createBlock(&dispatch.getBody());
    Operation *empty =
        tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    auto made = linalg::GenericOp::create(
        b, type, ValueRange(), empty->getResult(0),
        b.getMultiDimIdentityMap(type.getRank()), loops,
        [&](OpBuilder &inner, Location at, ValueRange) {
          ImplicitLocOpBuilder body(at, inner);
          linalg::YieldOp::create(body, element(body));
        });
    exec::YieldOp::create(b, made.getResults());
    // As many of them as there are of the constant.
    if (Attribute sizes = constant->getAttr(exec::sizesAttrName))
      for (Operation *op :
           {empty, made.getOperation(), dispatch.getOperation()})
        op->setAttr(exec::sizesAttrName, sizes);
    constant.replaceAllUsesWith(dispatch.getResult(0));
    constant.erase();
  }

private:
  /// The element at the place that the loops are at.
  Value element(ImplicitLocOpBuilder &body) {
    SmallVector<Value> all;
    for (auto [i, formula] : llvm::enumerate(formulas)) {
      auto number = arith::ConstantOp::create(
          body, elements.isSplat() ? elements.getSplatValue<TypedAttr>()
                                   : elements.getValues<TypedAttr>()[i]);
      if (!cast<exec::SizeAttr>(formula).isConstant())
        number->setAttr(exec::attributeSizesAttrName,
                        body.getDictionaryAttr(body.getNamedAttr(
                            "value", body.getArrayAttr(formula))));
      all.push_back(number);
    }
    Value value = all[0];
    for (size_t i = 1; i != all.size(); ++i) {
      Value isHere = arith::CmpIOp::create(
          body, arith::CmpIPredicate::eq, place(body),
          arith::ConstantIndexOp::create(body, int64_t(i)));
      value = arith::SelectOp::create(body, isHere, all[i], value);
    }
    return value;
  }

  /// Row by row, as elements are listed.
  Value place(ImplicitLocOpBuilder &body) {
    Value number;
    for (int64_t d = 0; d != type.getRank(); ++d) {
      Value index = linalg::IndexOp::create(body, d);
      if (number)
        index = arith::AddIOp::create(
            body, index,
            arith::MulIOp::create(
                body, number,
                arith::ConstantIndexOp::create(body, type.getDimSize(d))));
      number = index;
    }
    return number;
  }

  arith::ConstantOp constant;
  ArrayAttr formulas; ///< of one element where all are the same
  DenseElementsAttr elements;
  RankedTensorType type;
  ImplicitLocOpBuilder b;
};
} // namespace

void ashlar::separateConstants(ModuleOp program) {
  SmallVector<arith::ConstantOp> shared;
  program.walk([&](arith::ConstantOp constant) {
    if (isa<IndexType, IntegerType>(constant.getType()) &&
        constant->getParentOfType<exec::DispatchOp>())
      shared.push_back(constant);
  });
  // By readers, since the order of constants hangs on which were equal.
  llvm::DenseSet<Operation *> old(shared.begin(), shared.end());
  program.walk([&](Operation *reader) {
    for (OpOperand &use : reader->getOpOperands())
      if (Operation *made = use.get().getDefiningOp(); old.contains(made)) {
        // Where it was: what is in the region of an op is that op's.
        Operation *own = made->clone();
        OpBuilder(made->getBlock()->findAncestorOpInBlock(*reader)).insert(own);
        use.set(own->getResult(0));
      }
  });
  for (arith::ConstantOp constant : shared)
    constant.erase();
}

void ashlar::computeSizeConstants(ModuleOp program) {
  SmallVector<std::pair<arith::ConstantOp, ArrayAttr>> found;
  program.walk([&](arith::ConstantOp constant) {
    auto all =
        constant->getAttrOfType<DictionaryAttr>(exec::attributeSizesAttrName);
    if (all && isa<DenseElementsAttr>(constant.getValue()) &&
        !constant->getParentOfType<exec::DispatchOp>())
      found.emplace_back(constant, all.getAs<ArrayAttr>("value"));
  });
  for (auto [constant, formulas] : found)
    SizeWriter(constant, formulas).run();
}
