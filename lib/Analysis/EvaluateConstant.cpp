// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/EvaluateConstant.h"
#include "ashlar/Analysis/ConstantBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar;

/// A bound for what evaluation of one op asks for beyond operandsOf().
static constexpr unsigned maximumDepth = 32;

namespace {
using Elements = SmallVector<Attribute>;

/// Walks all indices of `shape` in row-major order.
template <typename Function>
void forEachIndex(ArrayRef<int64_t> shape, Function function) {
  int64_t count = ShapedType::getNumElements(shape);
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i != count; ++i) {
    function(index);
    for (int64_t d = shape.size() - 1; d >= 0; --d) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

int64_t linearize(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t linear = 0;
  for (auto [i, dim] : llvm::zip(index, shape))
    linear = linear * dim + i;
  return linear;
}

bool isInside(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip(index, shape), [](auto pair) {
    auto [i, dim] = pair;
    return i >= 0 && i < dim;
  });
}

Elements elementsOf(DenseElementsAttr attribute) {
  return llvm::to_vector(attribute.getValues<Attribute>());
}

/// One tensor seen by element, without expanding a splat.
struct Reader {
  DenseElementsAttr attribute;
  Elements elements;
  explicit Reader(DenseElementsAttr attribute) : attribute(attribute) {
    if (attribute.getNumElements() == 0)
      return;
    if (attribute.isSplat())
      elements.push_back(attribute.getSplatValue<Attribute>());
    else
      elements = elementsOf(attribute);
  }
  Attribute at(ArrayRef<int64_t> index) const {
    if (elements.size() == 1)
      return elements[0];
    return elements[linearize(index, attribute.getType().getShape())];
  }
};

/// Interprets one linalg op. Inputs and initial values are known.
class GenericInterpreter {
public:
  GenericInterpreter(linalg::LinalgOp op,
                     llvm::function_ref<DenseElementsAttr(Value)> evaluate)
      : op(op), evaluate(evaluate) {}

  DenseElementsAttr run(unsigned result) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(result).getType());
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    if (!type || !op.hasPureTensorSemantics() ||
        llvm::any_of(ranges, ShapedType::isDynamic))
      return {};
    // Every step makes a few attributes: bound the work, not just the result.
    int64_t work = 1;
    for (int64_t range : ranges)
      if (llvm::MulOverflow(work, range, work) || work > (int64_t(1) << 18))
        return {};
    SmallVector<Reader> inputs;
    for (Value input : op.getDpsInputs()) {
      DenseElementsAttr constant = evaluate(input);
      if (!constant)
        return {};
      inputs.emplace_back(constant);
    }
    SmallVector<Elements> outputs;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      auto initType = cast<RankedTensorType>(init.get().getType());
      DenseElementsAttr constant;
      if (op.payloadUsesValueFromOperand(&init)) {
        constant = evaluate(init.get());
        if (!constant)
          return {};
      } else {
        auto zero =
            Builder(op.getContext()).getZeroAttr(initType.getElementType());
        constant = DenseElementsAttr::get(initType, ArrayRef<Attribute>(zero));
      }
      outputs.push_back(elementsOf(constant));
    }
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    bool good = true;
    forEachIndex(ranges, [&](ArrayRef<int64_t> index) {
      if (!good)
        return;
      DenseMap<Value, Attribute> scope;
      Block *body = op.getBlock();
      for (auto [i, input] : llvm::enumerate(inputs))
        scope[body->getArgument(i)] = input.at(maps[i].compose(index));
      SmallVector<int64_t> places;
      for (size_t i = 0; i != outputs.size(); ++i) {
        unsigned argument = inputs.size() + i;
        auto shape =
            cast<RankedTensorType>(op.getDpsInits()[i].getType()).getShape();
        places.push_back(linearize(maps[argument].compose(index), shape));
        scope[body->getArgument(argument)] = outputs[i][places[i]];
      }
      good = step(*body, index, scope, outputs, places);
    });
    if (!good)
      return {};
    return DenseElementsAttr::get(type, outputs[result]);
  }

private:
  Attribute value(Value operand, const DenseMap<Value, Attribute> &scope) {
    if (auto it = scope.find(operand); it != scope.end())
      return it->second;
    Attribute constant;
    matchPattern(operand, m_Constant(&constant));
    return constant;
  }

  bool step(Block &body, ArrayRef<int64_t> index,
            DenseMap<Value, Attribute> &scope, SmallVector<Elements> &outputs,
            ArrayRef<int64_t> places) {
    for (Operation &inner : body) {
      if (auto yield = dyn_cast<linalg::YieldOp>(inner)) {
        for (auto [i, operand] : llvm::enumerate(yield.getOperands())) {
          outputs[i][places[i]] = value(operand, scope);
          if (!outputs[i][places[i]])
            return false;
        }
        return true;
      }
      if (auto indexOp = dyn_cast<linalg::IndexOp>(inner)) {
        scope[indexOp] =
            IntegerAttr::get(indexOp.getType(), index[indexOp.getDim()]);
        continue;
      }
      if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
        const Reader *source = captured(extract.getTensor());
        SmallVector<int64_t> at;
        for (Value operand : extract.getIndices())
          if (auto integer =
                  dyn_cast_or_null<IntegerAttr>(value(operand, scope)))
            at.push_back(integer.getInt());
        if (!source || at.size() != extract.getIndices().size())
          return false;
        if (!isInside(at, source->attribute.getType().getShape()))
          return false;
        scope[extract] = source->at(at);
        continue;
      }
      if (inner.getNumRegions() != 0)
        return false;
      SmallVector<Attribute> operands;
      for (Value operand : inner.getOperands()) {
        operands.push_back(value(operand, scope));
        if (!operands.back())
          return false;
      }
      SmallVector<OpFoldResult> folded;
      if (failed(inner.fold(operands, folded)) ||
          folded.size() != inner.getNumResults())
        return false;
      for (auto [result, fold] : llvm::zip(inner.getResults(), folded)) {
        scope[result] = isa<Attribute>(fold) ? cast<Attribute>(fold)
                                             : value(cast<Value>(fold), scope);
        if (!scope[result])
          return false;
      }
    }
    return false;
  }

  /// A tensor that the body reads from outside, or null; read once, since a
  /// body asks for it at every element.
  const Reader *captured(Value tensor) {
    auto [it, isNew] = readers.try_emplace(tensor);
    if (isNew)
      if (DenseElementsAttr source = evaluate(tensor))
        it->second = std::make_unique<Reader>(source);
    return it->second.get();
  }

  linalg::LinalgOp op;
  llvm::function_ref<DenseElementsAttr(Value)> evaluate;
  DenseMap<Value, std::unique_ptr<Reader>> readers;
};

/// Fails on anything but static offsets, sizes and strides.
DenseElementsAttr evaluateSlice(tensor::ExtractSliceOp op,
                                DenseElementsAttr source) {
  if (llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticSizes(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticStrides(), ShapedType::isDynamic))
    return {};
  Reader reader(source);
  Elements result;
  bool inside = true;
  forEachIndex(op.getStaticSizes(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> at;
    for (auto [i, offset, stride] :
         llvm::zip(index, op.getStaticOffsets(), op.getStaticStrides()))
      at.push_back(offset + i * stride);
    // The op may not have been verified yet.
    inside &= isInside(at, source.getType().getShape());
    if (inside)
      result.push_back(reader.at(at));
  });
  return inside ? DenseElementsAttr::get(op.getType(), result)
                : DenseElementsAttr();
}

DenseElementsAttr evaluateConcat(tensor::ConcatOp op,
                                 ArrayRef<DenseElementsAttr> parts) {
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<Reader> readers(parts.begin(), parts.end());
  int64_t axis = op.getDim();
  Elements result;
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> at(index);
    for (const Reader &reader : readers) {
      int64_t size = reader.attribute.getType().getShape()[axis];
      if (at[axis] < size) {
        result.push_back(reader.at(at));
        return;
      }
      at[axis] -= size;
    }
  });
  return DenseElementsAttr::get(type, result);
}

DenseElementsAttr evaluatePad(tensor::PadOp op, DenseElementsAttr source) {
  Value padding = op.getConstantPaddingValue();
  Attribute value;
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!padding || !matchPattern(padding, m_Constant(&value)) || !type ||
      !type.hasStaticShape() ||
      llvm::any_of(op.getStaticLow(), ShapedType::isDynamic))
    return {};
  Reader reader(source);
  Elements result;
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> at;
    bool inside = true;
    for (auto [i, low, dim] :
         llvm::zip(index, op.getStaticLow(), source.getType().getShape())) {
      at.push_back(i - low);
      inside &= at.back() >= 0 && at.back() < dim;
    }
    result.push_back(inside ? reader.at(at) : value);
  });
  return DenseElementsAttr::get(type, result);
}

/// The bytes of a resource, if they are few.
DenseElementsAttr readResource(DenseResourceElementsAttr resource,
                               int64_t maximumElements) {
  auto type = cast<RankedTensorType>(resource.getType());
  if (type.getNumElements() > maximumElements ||
      type.getElementType().isInteger(1))
    return {};
  SmallVector<char> aligned(resourceBytes(resource));
  uint64_t width =
      llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  if (aligned.size() != type.getNumElements() * width)
    return {};
  return DenseElementsAttr::getFromRawBuffer(type, aligned);
}
} // namespace

DenseElementsAttr ConstantEvaluator::evaluate(Value value) {
  // Chains are as long as a model likes, so their values are found in order
  // rather than by recursion.
  if (depth > maximumDepth)
    return {};
  ++depth;
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.back();
    if (known.contains(next)) {
      pending.pop_back();
      continue;
    }
    Value missing;
    bool hopeless = false;
    for (Value operand : operandsOf(next)) {
      auto it = known.find(operand);
      if (it == known.end())
        missing = operand;
      else if (!it->second)
        hopeless = true;
    }
    if (missing && !hopeless) {
      pending.push_back(missing);
      continue;
    }
    pending.pop_back();
    known[next] = hopeless ? DenseElementsAttr() : compute(next);
  }
  --depth;
  return known[value];
}

/// The tensors whose values are needed first; none where compute() would give
/// up anyhow.
SmallVector<Value> ConstantEvaluator::operandsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op || !type || !type.hasStaticShape() ||
      type.getNumElements() > maximumElements)
    return {};
  if (auto generic = dyn_cast<linalg::LinalgOp>(op)) {
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()) &&
          generic.payloadUsesValueFromOperand(&operand))
        operands.push_back(operand.get());
    op->walk([&](tensor::ExtractOp extract) {
      // Null while the region is not part of an op yet.
      Operation *parent = extract.getTensor().getParentRegion()->getParentOp();
      if (!parent || !op->isAncestor(parent))
        operands.push_back(extract.getTensor());
    });
    return operands;
  }
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
          tensor::ExtractSliceOp, tensor::PadOp>(op))
    return {op->getOperand(0)};
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return concat.getInputs();
  return {};
}

DenseElementsAttr ConstantEvaluator::compute(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type || !type.hasStaticShape())
    return {};
  // A tensor without elements has only one value, whatever makes it.
  if (type.getNumElements() == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (!op)
    return {};
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return dense.isSplat() || type.getNumElements() <= maximumElements
                 ? dense
                 : DenseElementsAttr();
    if (auto resource =
            dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
      return readResource(resource, maximumElements);
    return {};
  }
  if (type.getNumElements() > maximumElements)
    return {};
  auto source = [&](Value operand) { return evaluate(operand); };
  return llvm::TypeSwitch<Operation *, DenseElementsAttr>(op)
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(
          [&](auto reshape) -> DenseElementsAttr {
            DenseElementsAttr from = source(reshape->getOperand(0));
            return from ? from.reshape(type) : from;
          })
      .Case([&](tensor::ExtractSliceOp slice) -> DenseElementsAttr {
        DenseElementsAttr from = source(slice.getSource());
        return from ? evaluateSlice(slice, from) : from;
      })
      .Case([&](tensor::PadOp pad) -> DenseElementsAttr {
        DenseElementsAttr from = source(pad.getSource());
        return from ? evaluatePad(pad, from) : from;
      })
      .Case([&](tensor::ConcatOp concat) -> DenseElementsAttr {
        SmallVector<DenseElementsAttr> parts;
        for (Value input : concat.getInputs()) {
          parts.push_back(source(input));
          if (!parts.back())
            return {};
        }
        return evaluateConcat(concat, parts);
      })
      .Case([&](tensor::FromElementsOp from) -> DenseElementsAttr {
        Elements elements;
        for (Value element : from.getElements()) {
          Attribute attribute;
          if (!matchPattern(element, m_Constant(&attribute)))
            return {};
          elements.push_back(attribute);
        }
        return DenseElementsAttr::get(type, elements);
      })
      .Case([&](linalg::FillOp fill) -> DenseElementsAttr {
        Attribute attribute;
        if (!matchPattern(fill.getInputs()[0], m_Constant(&attribute)))
          return {};
        return DenseElementsAttr::get(type, ArrayRef<Attribute>(attribute));
      })
      .Case([&](linalg::LinalgOp generic) -> DenseElementsAttr {
        return GenericInterpreter(generic, source)
            .run(cast<OpResult>(value).getResultNumber());
      })
      .Default([](Operation *) { return DenseElementsAttr(); });
}
