// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RNN, GRU and LSTM. The products with the inputs of all steps are one
// contraction; a loop over time adds the product with the state before, and
// computes the gates. com.microsoft.DynamicQuantizeLSTM multiplies weights of 8
// bits with what it brings to 8 bits before each product, in integers.
#include "../OperandRules.h"
#include "../Quantization.h"
#include "../ScalarBuilder.h"
#include "LoopNest.h"
#include "RecurrentActivation.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// What the three operators share. Operands: 0 the sequence, 1 and 2 the
/// weights of inputs and of states, 3 biases, 4 lengths, 5 the first state.
struct Recurrence {
  int64_t gates, steps, batch, inputs, hidden, directions;
  bool batchFirst, startsBackwards;
  bool ofBytes; ///< weights of 8 bits, each inputs x gates
  std::optional<double> clip;
  SmallVector<RecurrentActivation> activations; ///< of each direction in turn
  Type element;
};

/// A weight of 8 bits, inputs x gates. Scale and zero point (or null) are one
/// or one for each gate; `sums` of each gate's codes are i32.
struct ByteWeight {
  Value codes, scale, zero, sums;
  ElementType type;
};

/// One direction while its loop is built: 2-D weights, biases or null, states.
struct Direction {
  Value inputWeight, stateWeight, inputBias, stateBias, peepholes;
  std::optional<ByteWeight> inputBytes, stateBytes; ///< instead of weights
  SmallVector<Value> states;                        ///< batch x hidden
  ArrayRef<RecurrentActivation> activations;
};

/// Makes the new states from the products with the input, batch x (gates x
/// hidden), and the states before.
using Cell = llvm::function_ref<SmallVector<Value>(
    ImplicitLocOpBuilder &, const Recurrence &, const Direction &, Value,
    ValueRange)>;
} // namespace

static FailureOr<Recurrence>
readRecurrence(NodeImporter &node, int64_t gates, unsigned mostOperands,
               ArrayRef<llvm::StringRef> activations, bool ofBytes = false) {
  if (failed(expectOperands(node, 3, mostOperands)) ||
      failed(expectFloat(node, 0)) || failed(expectRank(node, 0, 3)) ||
      failed(expectRank(node, 1, 3)) || failed(expectRank(node, 2, 3)))
    return failure();
  for (unsigned i : {1, 2, 3, 5, 6, 7})
    if (!(ofBytes && i < 3) && failed(expectSameType(node, i)))
      return failure();
  Recurrence r;
  r.ofBytes = ofBytes;
  r.gates = gates;
  r.batchFirst = node.intAttribute("layout", 0) != 0;
  ArrayRef<int64_t> shape = node.shape(0);
  r.steps = shape[r.batchFirst ? 1 : 0];
  r.batch = shape[r.batchFirst ? 0 : 1];
  r.inputs = shape[2];
  r.hidden = node.shape(2)[ofBytes ? 1 : 2];
  r.element = node.tensorType(0).getElementType();
  std::string direction = node.stringAttribute("direction", "forward");
  if (failed(expectOneOf(node, "attribute 'direction'", direction,
                         {"forward", "reverse", "bidirectional"})))
    return failure();
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.startsBackwards = direction == "reverse";
  if (node.intAttribute("hidden_size", r.hidden) != r.hidden)
    return node.invalid("attribute 'hidden_size' is " +
                        Twine(node.intAttribute("hidden_size", 0)) +
                        ", but input 2 has shape " + spellShape(node.shape(2)));
  int64_t rows = gates * r.hidden;
  auto expectWeight = [&](unsigned i, int64_t inputs) {
    SmallVector<int64_t> shape{r.directions, rows, inputs};
    if (ofBytes)
      std::swap(shape[1], shape[2]);
    return expectShape(node, i, shape);
  };
  if (failed(expectSize(node,
                        {r.steps, r.batch, rows + r.inputs, r.directions})) ||
      failed(expectWeight(1, r.inputs)) || failed(expectWeight(2, r.hidden)) ||
      (node.hasOperand(3) &&
       failed(expectShape(node, 3, {r.directions, 2 * rows}))) ||
      (node.hasOperand(4) && failed(expectShape(node, 4, {r.batch}))))
    return failure();
  if (node.hasOperand(4) && node.operandType(4) != ElementType::I32)
    return node.invalid("input 4 has type " +
                        elementTypeName(node.operandType(4)) +
                        "; expected int32");
  if (node.hasAttribute("clip"))
    r.clip = node.floatAttribute("clip", 0);
  FailureOr<SmallVector<RecurrentActivation>> read =
      readRecurrentActivations(node, activations, r.directions);
  if (failed(read))
    return failure();
  r.activations = *read;
  return r;
}

/// Part `direction` of an operand, without that dimension.
static Value directionOf(ImplicitLocOpBuilder &b, Value operand,
                         int64_t direction, int64_t axis = 0) {
  if (!operand)
    return {};
  SmallVector<int64_t> sizes(
      cast<RankedTensorType>(operand.getType()).getShape());
  SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
  offsets[axis] = direction;
  sizes[axis] = 1;
  Value part = slice(b, operand, offsets, sizes, strides);
  sizes.erase(sizes.begin() + axis);
  return reshape(b, part, sizes);
}

/// Columns [gate x hidden, (gate + count) x hidden) of a matrix, or those
/// elements of a vector.
static Value gateOf(ImplicitLocOpBuilder &b, const Recurrence &r, Value value,
                    int64_t gate, int64_t count = 1) {
  if (!value)
    return {};
  SmallVector<int64_t> sizes(
      cast<RankedTensorType>(value.getType()).getShape());
  SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
  offsets.back() = gate * r.hidden;
  sizes.back() = count * r.hidden;
  return slice(b, value, offsets, sizes, strides);
}

/// initial + rows * transposed(weight).
static Value project(ImplicitLocOpBuilder &b, Value rows, Value weight,
                     Value initial) {
  AffineExpr m = b.getAffineDimExpr(0), n = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  AffineMap maps[] = {AffineMap::get(3, 0, {m, k}, b.getContext()),
                      AffineMap::get(3, 0, {n, k}, b.getContext()),
                      AffineMap::get(3, 0, {m, n}, b.getContext())};
  return contract(b, rows, weight, initial, maps);
}

/// The same of f32 rows that are brought to 8 bits: all sums are integers.
static Value project(ImplicitLocOpBuilder &b, Value rows,
                     const ByteWeight &weight, Value initial) {
  DynamicCodes x = quantizeDynamically(b, rows);
  int64_t depth = cast<RankedTensorType>(rows.getType()).getDimSize(1);
  Value product = matmul(b, x.codes, weight.codes, b.getI32Type(),
                         /*lhsUnsigned=*/true, isUnsigned(weight.type));
  FactorZero ofWeight = {weight.zero, {}, weight.type};
  if (weight.zero)
    ofWeight.otherSums =
        sumCodes(b, x.codes, 1, /*keepDims=*/true, ElementType::U8);
  product = subtractZeros(b, product, {x.zero, weight.sums, ElementType::U8},
                          ofWeight, depth);
  return elementwise(
      b, b.getF32Type(), {initial, product, x.scale, weight.scale},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        FloatScalars s(b, loc, b.getF32Type());
        Value number =
            castScalar(b, loc, args[1], ElementType::I32, ElementType::F32);
        return s.add(args[0], s.mul(number, s.mul(args[2], args[3])));
      });
}

static Value sum(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return floatElementwise(
      b, {x, y}, getElementTypeOrSelf(x),
      [](FloatScalars &s, ValueRange args) { return s.add(args[0], args[1]); });
}

/// Rows of a gate's weight, for a product with one gate alone. They are cut in
/// front of the loop over time: a constant that can be put into panels.
static Value gateRows(ImplicitLocOpBuilder &b, const Recurrence &r,
                      Value weight, int64_t gate, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(weight);
  int64_t columns = cast<RankedTensorType>(weight.getType()).getDimSize(1);
  return slice(b, weight, {gate * r.hidden, 0}, {count * r.hidden, columns},
               {1, 1});
}

static Value activate(FloatScalars &s, const Recurrence &r,
                      const RecurrentActivation &activation, Value x) {
  if (r.clip)
    x = s.max(s.min(x, s.constant(*r.clip)), s.constant(-*r.clip));
  return applyRecurrentActivation(s, activation, x);
}

/// time x batch x ... with each sequence reversed within its length.
static Value reverseTime(ImplicitLocOpBuilder &b, Value value, Value lengths) {
  auto type = cast<RankedTensorType>(value.getType());
  return generate(
      b, type.getShape(), type.getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        SmallVector<Value> from(at);
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value last =
            arith::ConstantIndexOp::create(b, loc, type.getDimSize(0) - 1);
        Value end = last;
        if (lengths) {
          Value length = tensor::ExtractOp::create(b, loc, lengths, at[1]);
          length = arith::IndexCastOp::create(b, loc, b.getIndexType(), length);
          Value one = arith::ConstantIndexOp::create(b, loc, 1);
          end = arith::SubIOp::create(b, loc, length, one);
        }
        Value mirrored = arith::SubIOp::create(b, loc, end, at[0]);
        mirrored = arith::MaxSIOp::create(b, loc, mirrored, zero);
        mirrored = arith::MinSIOp::create(b, loc, mirrored, last);
        Value isBefore = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::sle, at[0], end);
        from[0] = arith::SelectOp::create(b, loc, isBefore, mirrored, at[0]);
        return tensor::ExtractOp::create(b, loc, value, from);
      });
}

/// `after` where the sequence still runs at `step`, else `before` (null: zero).
static Value whileRunning(ImplicitLocOpBuilder &b, Value step, Value lengths,
                          Value after, Value before) {
  SmallVector<Value> inputs{after};
  if (before)
    inputs.push_back(before);
  int64_t batch = cast<RankedTensorType>(lengths.getType()).getDimSize(0);
  inputs.push_back(reshape(b, lengths, {batch, 1}));
  return elementwise(
      b, getElementTypeOrSelf(after), inputs,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value length =
            arith::IndexCastOp::create(b, loc, b.getIndexType(), args.back());
        Value runs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           step, length);
        Value other =
            before
                ? args[1]
                : arith::ConstantOp::create(b, loc, zeroOf(args[0].getType()))
                      .getResult();
        return arith::SelectOp::create(b, loc, runs, args[0], other);
      });
}

/// Runs one direction; the states after the last step, then the first state
/// of every step as time x batch x hidden.
static SmallVector<Value> runDirection(ImplicitLocOpBuilder &b,
                                       const Recurrence &r,
                                       const Direction &direction,
                                       Value sequence, Value lengths,
                                       Cell cell) {
  int64_t rows = r.gates * r.hidden;
  Value zero = arith::ConstantOp::create(b, zeroOf(r.element));
  Value initially = fill(b, {r.steps * r.batch, rows}, zero);
  sequence = reshape(b, sequence, {r.steps * r.batch, r.inputs});
  Value projected =
      direction.inputBytes
          ? project(b, sequence, *direction.inputBytes, initially)
          : project(b, sequence, direction.inputWeight, initially);
  projected = reshape(b, sum(b, projected, direction.inputBias),
                      {r.steps, r.batch, rows});
  SmallVector<Value> initial = direction.states;
  initial.push_back(tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{r.steps, r.batch, r.hidden}, r.element));
  auto step = [&](OpBuilder &builder, Location loc, ValueRange at,
                  ValueRange carried) -> SmallVector<Value> {
    ImplicitLocOpBuilder b(loc, builder);
    OpFoldResult one = b.getIndexAttr(1), none = b.getIndexAttr(0);
    SmallVector<OpFoldResult> offsets{at[0], none, none},
        strides{one, one, one},
        sizes{one, b.getIndexAttr(r.batch), b.getIndexAttr(rows)};
    Value products = tensor::ExtractSliceOp::create(
        b, RankedTensorType::get({r.batch, rows}, r.element), projected,
        offsets, sizes, strides);
    SmallVector<Value> next =
        cell(b, r, direction, products, carried.drop_back());
    Value made = next[0];
    if (lengths) {
      made = whileRunning(b, at[0], lengths, made, {});
      for (auto [state, before] : llvm::zip(next, carried))
        state = whileRunning(b, at[0], lengths, state, before);
    }
    // States stay where they are from step to step.
    for (auto [state, before] : llvm::zip(next, carried))
      state = linalg::CopyOp::create(b, state, before).getResult(0);
    sizes[2] = b.getIndexAttr(r.hidden);
    next.push_back(tensor::InsertSliceOp::create(b, made, carried.back(),
                                                 offsets, sizes, strides));
    return next;
  };
  return loopOver(b, b.getLoc(), {r.steps}, initial, step);
}

/// Weight i of one direction; its scales and zero points are operand `scale`
/// and the next one. Its sums are made in front of the loop over time.
static ByteWeight byteWeightOf(NodeImporter &node, unsigned i, unsigned scale,
                               int64_t direction) {
  ImplicitLocOpBuilder &b = node.b;
  ByteWeight weight;
  weight.type = node.operandType(i);
  weight.codes = directionOf(b, node.operand(i), direction);
  weight.scale = directionOf(b, node.operand(scale), direction);
  weight.zero = directionOf(b, node.operand(scale + 1), direction);
  weight.sums = sumCodes(b, weight.codes, 0, /*keepDims=*/false, weight.type);
  return weight;
}

/// Imports one of the three operators; `stateOperands` are the first states.
static LogicalResult importRecurrence(NodeImporter &node, const Recurrence &r,
                                      ArrayRef<unsigned> stateOperands,
                                      bool joinsBiases, Cell cell) {
  ImplicitLocOpBuilder &b = node.b;
  SmallVector<int64_t> stateShape{r.directions, r.batch, r.hidden};
  if (r.batchFirst)
    std::swap(stateShape[0], stateShape[1]);
  for (unsigned i : stateOperands)
    if (node.hasOperand(i) && failed(expectShape(node, i, stateShape)))
      return failure();
  // Without a batch nothing is computed.
  if (r.batch == 0 || r.hidden == 0) {
    auto empty = [&](ArrayRef<int64_t> shape) -> Value {
      return tensor::EmptyOp::create(b, shape, r.element);
    };
    SmallVector<int64_t> all{r.steps, r.directions, r.batch, r.hidden};
    if (r.batchFirst)
      all = {r.batch, r.steps, r.directions, r.hidden};
    node.setResult(0, empty(all), node.operandType(0));
    for (unsigned i = 0; i != stateOperands.size(); ++i)
      node.setResult(i + 1, empty(stateShape), node.operandType(0));
    return success();
  }
  Value sequence = node.operand(0), lengths = node.operand(4);
  if (r.batchFirst)
    sequence = transpose(b, sequence, {1, 0, 2});
  unsigned count = stateOperands.size();
  SmallVector<SmallVector<Value>> states(count); // batch x 1 x hidden each
  SmallVector<Value> sequences;                  // time x 1 x batch x hidden
  for (int64_t d = 0; d != r.directions; ++d) {
    bool backwards = r.startsBackwards || d == 1;
    Direction direction;
    if (r.ofBytes) {
      direction.inputBytes = byteWeightOf(node, 1, 8, d);
      direction.stateBytes = byteWeightOf(node, 2, 10, d);
    } else {
      direction.inputWeight = directionOf(b, node.operand(1), d);
      direction.stateWeight = directionOf(b, node.operand(2), d);
    }
    if (Value bias = directionOf(b, node.operand(3), d)) {
      direction.inputBias = gateOf(b, r, bias, 0, r.gates);
      direction.stateBias = gateOf(b, r, bias, r.gates, r.gates);
      if (joinsBiases)
        direction.inputBias = sum(b, direction.inputBias, direction.stateBias);
    }
    direction.peepholes = directionOf(b, node.operand(7), d);
    size_t perDirection = r.activations.size() / r.directions;
    direction.activations =
        ArrayRef(r.activations).slice(d * perDirection, perDirection);
    for (unsigned i : stateOperands) {
      Value first = directionOf(b, node.operand(i), d, r.batchFirst ? 1 : 0);
      direction.states.push_back(
          first ? first : splat(b, {r.batch, r.hidden}, zeroOf(r.element)));
    }
    Value ordered = backwards ? reverseTime(b, sequence, lengths) : sequence;
    SmallVector<Value> made =
        runDirection(b, r, direction, ordered, lengths, cell);
    Value all = made.back();
    if (backwards)
      all = reverseTime(b, all, lengths);
    sequences.push_back(reshape(b, all, {r.steps, 1, r.batch, r.hidden}));
    for (unsigned i = 0; i != count; ++i)
      states[i].push_back(
          reshape(b, made[i],
                  r.batchFirst ? SmallVector<int64_t>{r.batch, 1, r.hidden}
                               : SmallVector<int64_t>{1, r.batch, r.hidden}));
  }
  Value all = concat(b, sequences, 1);
  if (r.batchFirst)
    all = transpose(b, all, {2, 0, 1, 3});
  node.setResult(0, all, node.operandType(0));
  for (unsigned i = 0; i != count; ++i)
    if (node.hasResult(i + 1))
      node.setResult(i + 1, concat(b, states[i], r.batchFirst ? 1 : 0),
                     node.operandType(0));
  return success();
}

static LogicalResult importRNN(NodeImporter &node) {
  FailureOr<Recurrence> r = readRecurrence(node, 1, 6, {"Tanh"});
  if (failed(r))
    return failure();
  return importRecurrence(
      node, *r, {5}, true,
      [](ImplicitLocOpBuilder &b, const Recurrence &r, const Direction &d,
         Value products, ValueRange states) -> SmallVector<Value> {
        Value total = project(b, states[0], d.stateWeight, products);
        return {floatElementwise(
            b, {total}, r.element, [&](FloatScalars &s, ValueRange args) {
              return activate(s, r, d.activations[0], args[0]);
            })};
      });
}

static LogicalResult importGRU(NodeImporter &node) {
  FailureOr<Recurrence> r = readRecurrence(node, 3, 6, {"Sigmoid", "Tanh"});
  if (failed(r))
    return failure();
  bool resetsAfter = node.intAttribute("linear_before_reset", 0) != 0;
  return importRecurrence(
      node, *r, {5}, false,
      [&](ImplicitLocOpBuilder &b, const Recurrence &r, const Direction &d,
          Value products, ValueRange states) -> SmallVector<Value> {
        Value before = states[0];
        // Gates in order: update, reset, and what is new.
        Value gates =
            sum(b,
                project(b, before, gateRows(b, r, d.stateWeight, 0, 2),
                        gateOf(b, r, products, 0, 2)),
                gateOf(b, r, d.stateBias, 0, 2));
        auto gate = [&](int64_t i) {
          return floatElementwise(b, {gateOf(b, r, gates, i)}, r.element,
                                  [&](FloatScalars &s, ValueRange args) {
                                    return activate(s, r, d.activations[0],
                                                    args[0]);
                                  });
        };
        Value update = gate(0), reset = gate(1);
        Value weight = gateRows(b, r, d.stateWeight, 2, 1);
        Value bias = gateOf(b, r, d.stateBias, 2);
        auto multiply = [&](Value x, Value y) {
          return floatElementwise(b, {x, y}, r.element,
                                  [](FloatScalars &s, ValueRange args) {
                                    return s.mul(args[0], args[1]);
                                  });
        };
        Value zeros = splat(b, {r.batch, r.hidden}, zeroOf(r.element));
        Value recurrent =
            resetsAfter
                ? multiply(reset,
                           sum(b, project(b, before, weight, zeros), bias))
                : sum(b, project(b, multiply(reset, before), weight, zeros),
                      bias);
        return {floatElementwise(
            b, {gateOf(b, r, products, 2), recurrent, update, before},
            r.element, [&](FloatScalars &s, ValueRange args) {
              Value made =
                  activate(s, r, d.activations[1], s.add(args[0], args[1]));
              Value part = s.mul(s.sub(s.constant(1), args[2]), made);
              return s.add(part, s.mul(args[2], args[3]));
            })};
      });
}

static LogicalResult importLSTMCells(NodeImporter &node, bool ofBytes) {
  FailureOr<Recurrence> r = readRecurrence(
      node, 4, ofBytes ? 12 : 8, {"Sigmoid", "Tanh", "Tanh"}, ofBytes);
  if (failed(r))
    return failure();
  if (node.hasOperand(7) &&
      failed(expectShape(node, 7, {r->directions, 3 * r->hidden})))
    return failure();
  bool coupled = node.intAttribute("input_forget", 0) != 0;
  return importRecurrence(
      node, *r, {5, 6}, true,
      [&](ImplicitLocOpBuilder &b, const Recurrence &r, const Direction &d,
          Value products, ValueRange states) -> SmallVector<Value> {
        Value total = d.stateBytes
                          ? project(b, states[0], *d.stateBytes, products)
                          : project(b, states[0], d.stateWeight, products);
        // Gates in order: input, output, forget, and what is new; peepholes
        // of the first three.
        auto part = [&](int64_t i) { return gateOf(b, r, total, i); };
        auto peephole = [&](int64_t i) -> Value {
          if (d.peepholes)
            return gateOf(b, r, d.peepholes, i);
          return splat(b, {r.hidden}, zeroOf(r.element));
        };
        Value memory = floatElementwise(
            b, {part(0), part(2), part(3), states[1], peephole(0), peephole(2)},
            r.element, [&](FloatScalars &s, ValueRange args) {
              Value input = s.add(args[0], s.mul(args[4], args[3]));
              input = activate(s, r, d.activations[0], input);
              Value forget = s.sub(s.constant(1), input);
              if (!coupled) {
                forget = s.add(args[1], s.mul(args[5], args[3]));
                forget = activate(s, r, d.activations[0], forget);
              }
              Value made = activate(s, r, d.activations[1], args[2]);
              return s.add(s.mul(forget, args[3]), s.mul(input, made));
            });
        Value state = floatElementwise(
            b, {part(1), memory, peephole(1)}, r.element,
            [&](FloatScalars &s, ValueRange args) {
              Value output = s.add(args[0], s.mul(args[2], args[1]));
              output = activate(s, r, d.activations[0], output);
              Value seen =
                  applyRecurrentActivation(s, d.activations[2], args[1]);
              return s.mul(output, seen);
            });
        return {state, memory};
      });
}

static LogicalResult importLSTM(NodeImporter &node) {
  return importLSTMCells(node, false);
}

/// Operand i is a weight of 8 bits, directions x inputs x gates; its scales and
/// zero points are operand `scale` and the next one.
static LogicalResult expectByteWeight(NodeImporter &node, unsigned i,
                                      unsigned scale) {
  ElementType type = node.operandType(i);
  if (failed(expectRank(node, i, 3)))
    return failure();
  if (type != ElementType::U8 && type != ElementType::I8)
    return node.invalid("input " + Twine(i) + " is " + elementTypeName(type) +
                        "; expected uint8 or int8");
  if (!node.hasOperand(scale) || node.operandType(scale) != ElementType::F32 ||
      (node.hasOperand(scale + 1) && node.operandType(scale + 1) != type))
    return node.invalid("expected scales of float (input " + Twine(scale) +
                        ") and zero points of input " + Twine(i) + "'s type");
  int64_t directions = node.shape(i)[0], gates = node.shape(i)[2];
  for (unsigned given : {scale, scale + 1})
    if (node.hasOperand(given) &&
        failed(expectShape(node, given,
                           node.rank(given) == 2
                               ? ArrayRef<int64_t>{directions, gates}
                               : ArrayRef<int64_t>{directions})))
      return failure();
  return success();
}

/// LSTM's operands, then the scale and the zero point of its weights and those
/// of its states' weights.
static LogicalResult importDynamicQuantizeLSTM(NodeImporter &node) {
  if (failed(expectOperands(node, 3, 12)) || failed(expectFloat(node, 0)))
    return failure();
  if (node.operandType(0) != ElementType::F32)
    return node.invalid("input 0 is " + elementTypeName(node.operandType(0)) +
                        "; expected float");
  if (failed(expectByteWeight(node, 1, 8)) ||
      failed(expectByteWeight(node, 2, 10)))
    return failure();
  return importLSTMCells(node, true);
}

void ashlar::onnx_import::registerRecurrentOperators(
    OperatorRegistry &registry) {
  registry.add("RNN", 7, importRNN);
  registry.add("GRU", 7, importGRU);
  registry.add("LSTM", 7, importLSTM);
  registry.add("DynamicQuantizeLSTM", 1, importDynamicQuantizeLSTM,
               "com.microsoft");
}
