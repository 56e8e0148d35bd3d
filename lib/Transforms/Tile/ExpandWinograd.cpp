// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Winograd convolution as a kernel of three parts per worker's box, which
// pass their data through scratch that fits into the worker's own memory: the
// input's boxes are transformed, one contraction per place of the transformed
// box multiplies them, the results' boxes are transformed and go through the
// epilogue. Lanes run along channels and columns.
#include "PadMargins.h"
#include "StaticStrides.h"
#include "VectorBody.h"
#include "VectorWriter.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Dialects/Tile/IR/Winograd.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_EXPANDWINOGRADPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
class WinogradExpander : VectorWriter {
public:
  WinogradExpander(tile::WinogradOp op, OpBuilder &builder, int64_t vectorBytes)
      : VectorWriter(op.getLoc(), builder), op(op),
        transform(tile::winogradTransform(op.getOutputSize())),
        sizes(op.getParallel()), rows(op.getBoxes(1)), columns(op.getBoxes(2)),
        perWorker(op.getStrategy().getWorkers()[0]) {
    auto type = cast<MemRefType>(op.getA().getType());
    element = type.getElementType();
    channels = type.getDimSize(3);
    lanes = std::max<int64_t>(1, vectorBytes /
                                     (element.getIntOrFloatBitWidth() / 8));
  }

  void run() {
    b.setInsertionPoint(op);
    OpFoldResult zero = b.getIndexAttr(0);
    auto boxes = scf::ForallOp::create(
        b, ArrayRef{zero, zero},
        ArrayRef<OpFoldResult>{b.getIndexAttr(sizes[0]), b.getIndexAttr(rows)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1), b.getIndexAttr(perWorker)},
        ValueRange(), std::nullopt);
    b.setInsertionPoint(boxes.getTerminator());
    image = boxes.getInductionVar(0);
    firstRow = boxes.getInductionVar(1);
    if (op.getPadAttr())
      fillMargins(b, op.getInit(), op.getResultMap(),
                  getAsIndexOpFoldResult(b.getContext(), sizes), *op.getPad(),
                  boxes.getInductionVars());
    int64_t places = transform.places() * transform.places();
    int64_t count = perWorker * columns;
    auto scratch = [&](int64_t width) -> Value {
      return memref::AllocOp::create(
          b, MemRefType::get({places, count, width}, element));
    };
    Value spread = scratch(channels), products = scratch(sizes[3]);
    transformInput(spread);
    multiply(spread, products, places, count);
    transformResults(products);
    op.erase();
  }

private:
  using Grid = SmallVector<SmallVector<Value>>;

  void loop(int64_t from, int64_t to, int64_t step,
            llvm::function_ref<void(Value)> body) {
    if (from == to)
      return;
    auto loop = scf::ForOp::create(b, index(from), index(to), index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  /// Calls `body` in loops over the boxes of this worker: the box's row within
  /// the worker's, its column, and how many of its results exist.
  void
  forEachBox(llvm::function_ref<void(Value, Value, int64_t, int64_t)> body) {
    int64_t size = transform.outputs;
    int64_t highRest = sizes[1] % size, wideRest = sizes[2] % size;
    auto alongRow = [&](Value row, int64_t high) {
      loop(0, columns - (wideRest != 0), 1,
           [&](Value column) { body(row, column, high, size); });
      if (wideRest != 0)
        body(row, index(columns - 1), high, wideRest);
    };
    loop(0, perWorker, 1, [&](Value row) {
      if (highRest == 0) {
        alongRow(row, size);
        return;
      }
      Value number = arith::AddIOp::create(b, firstRow, row);
      Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number,
                                           index(rows - 1));
      auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&branch.getThenRegion().front());
      alongRow(row, highRest);
      b.setInsertionPointToStart(&branch.getElseRegion().front());
      alongRow(row, size);
    });
  }

  /// Calls `body` with the place of each vector along `extent`, its lanes and
  /// how many of them exist.
  void forEachVector(int64_t extent,
                     llvm::function_ref<void(Value, int64_t, int64_t)> body) {
    int64_t whole = extent / lanes * lanes, rest = extent - whole;
    loop(0, whole, lanes, [&](Value at) { body(at, lanes, lanes); });
    if (rest != 0)
      body(index(whole), llvm::PowerOf2Ceil(rest), rest);
  }

  /// Sum of coordinate times step, plus where the line starts.
  Value place(const Line &line, ValueRange coordinates,
              ArrayRef<int64_t> scales) {
    AffineExpr sum = b.getAffineConstantExpr(line.start);
    for (unsigned i = 0; i != coordinates.size(); ++i)
      sum = sum + b.getAffineDimExpr(i) * (line.steps[i] * scales[i]);
    return affine::AffineApplyOp::create(
        b, AffineMap::get(coordinates.size(), 0, sum), coordinates);
  }

  /// A row of a matrix times vectors; null is zero.
  Value combine(ArrayRef<double> factors, ArrayRef<Value> vectors) {
    Value sum;
    auto type = [](Value value) { return cast<VectorType>(value.getType()); };
    for (auto [factor, vector] : llvm::zip(factors, vectors)) {
      if (factor == 0 || !vector)
        continue;
      if (!sum && factor == 1) {
        sum = vector;
      } else if (factor == 1) {
        sum = arith::AddFOp::create(b, sum, vector);
      } else if (sum && factor == -1) {
        sum = arith::SubFOp::create(b, sum, vector);
      } else {
        Attribute value = b.getFloatAttr(type(vector).getElementType(), factor);
        Value constant = arith::ConstantOp::create(
            b, DenseElementsAttr::get(type(vector), value));
        if (sum)
          sum = vector::FMAOp::create(b, vector, constant, sum);
        else
          sum = arith::MulFOp::create(b, vector, constant);
      }
    }
    return sum;
  }

  /// matrix * values * transposed matrix; `matrix` has as many columns as
  /// `values` has rows and columns.
  Grid transformed(ArrayRef<double> matrix, const Grid &values) {
    int64_t in = values.size(), out = matrix.size() / in;
    Grid half(out), result(out);
    for (int64_t column = 0; column != in; ++column) {
      SmallVector<Value> vectors;
      for (const SmallVector<Value> &row : values)
        vectors.push_back(row[column]);
      for (int64_t r = 0; r != out; ++r)
        half[r].push_back(combine(matrix.slice(r * in, in), vectors));
    }
    for (int64_t r = 0; r != out; ++r)
      for (int64_t s = 0; s != out; ++s)
        result[r].push_back(combine(matrix.slice(s * in, in), half[r]));
    return result;
  }

  Value zeros(int64_t width) {
    return arith::ConstantOp::create(
        b, b.getZeroAttr(VectorType::get({width}, element)));
  }

  void transformInput(Value spread) {
    Line input(b, op.getA(), b.getMultiDimIdentityMap(4));
    Line target(b, spread, b.getMultiDimIdentityMap(3));
    int64_t size = transform.outputs, reach = transform.places();
    forEachBox([&](Value row, Value column, int64_t high, int64_t wide) {
      // What lies behind the last result is not read.
      int64_t down = high + 2, across = wide + 2;
      Value number = arith::AddIOp::create(b, firstRow, row);
      forEachVector(channels, [&](Value at, int64_t width, int64_t used) {
        Value from =
            place(input, {image, number, column, at}, {1, size, size, 1});
        Grid box(reach, SmallVector<Value>(reach));
        for (int64_t u = 0; u != down; ++u)
          for (int64_t v = 0; v != across; ++v)
            box[u][v] = load(
                input, indexAt(from, u * input.steps[1] + v * input.steps[2]),
                1, width, used);
        Grid result = transformed(transform.input, box);
        Value to = boxPlace(target, row, column, at);
        for (int64_t u = 0; u != reach; ++u)
          for (int64_t v = 0; v != reach; ++v)
            store(target, indexAt(to, (u * reach + v) * target.steps[0]), 1,
                  result[u][v] ? result[u][v] : zeros(width), used);
      });
    });
  }

  /// Where a box's vector lies in scratch, at place zero.
  Value boxPlace(const Line &line, Value row, Value column, Value at) {
    AffineExpr sum = (b.getAffineDimExpr(0) * columns + b.getAffineDimExpr(1)) *
                         line.steps[1] +
                     b.getAffineDimExpr(2);
    return affine::AffineApplyOp::create(b, AffineMap::get(3, 0, sum),
                                         ValueRange{row, column, at});
  }

  void multiply(Value spread, Value products, int64_t places, int64_t count) {
    AffineExpr p, n, o, c;
    bindDims(b.getContext(), p, n, o, c);
    int64_t panel = cast<MemRefType>(op.getB().getType()).getDimSize(3);
    AffineMap maps[] = {AffineMap::get(4, 0, {p, n, c}, b.getContext()),
                        AffineMap::get(4, 0,
                                       {o.floorDiv(panel), p, c, o % panel},
                                       b.getContext()),
                        b.getMultiDimIdentityMap(3)};
    tile::StrategyAttr chosen = op.getStrategy();
    auto strategy = tile::StrategyAttr::get(
        b.getContext(), {0, 0, 0}, chosen.getBox(), chosen.getOrder(),
        chosen.getUnroll(), /*packs=*/false,
        /*grouped=*/false, /*ahead=*/0, /*unit=*/{});
    auto contract = tile::ContractOp::create(
        b, TypeRange(), spread, op.getB(), ValueRange(), products,
        b.getDenseI64ArrayAttr({places, count, sizes[3]}),
        b.getDenseI64ArrayAttr({channels}), b.getAffineMapArrayAttr(maps),
        UnitAttr(), UnitAttr(), TypedAttr(), strategy, IntegerAttr());
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&contract.getBody());
    Value sum = body->addArgument(element, b.getLoc());
    tile::YieldOp::create(b, sum);
  }

  void transformResults(Value products) {
    Line source(b, products, b.getMultiDimIdentityMap(3));
    SmallVector<Line> epilogue;
    for (auto [i, operand] : llvm::enumerate(op.getEpilogue()))
      epilogue.emplace_back(b, operand, op.getMap(i));
    Line target(b, op.getInit(), op.getResultMap());
    int64_t size = transform.outputs, reach = transform.places();
    forEachBox([&](Value row, Value column, int64_t high, int64_t wide) {
      Value number = arith::AddIOp::create(b, firstRow, row);
      forEachVector(sizes[3], [&](Value at, int64_t width, int64_t used) {
        Value from = boxPlace(source, row, column, at);
        Grid box(reach, SmallVector<Value>(reach));
        for (int64_t u = 0; u != reach; ++u)
          for (int64_t v = 0; v != reach; ++v)
            box[u][v] =
                load(source, indexAt(from, (u * reach + v) * source.steps[0]),
                     1, width, used);
        Grid sums = transformed(transform.results, box);
        auto baseOf = [&](const Line &line) {
          return place(line, {image, number, column, at}, {1, size, size, 1});
        };
        SmallVector<Value> bases;
        for (const Line &line : epilogue)
          bases.push_back(baseOf(line));
        Value base = baseOf(target);
        for (int64_t u = 0; u != high; ++u)
          for (int64_t v = 0; v != wide; ++v) {
            auto shift = [&](const Line &line) {
              return u * line.steps[1] + v * line.steps[2];
            };
            SmallVector<Value> arguments = {sums[u][v]};
            for (auto [line, at] : llvm::zip(epilogue, bases))
              arguments.push_back(load(line, indexAt(at, shift(line)),
                                       line.steps[3], width, used));
            Value result =
                emitVectorBody(b, &op.getBody().front(), arguments, width)[0];
            store(target, indexAt(base, shift(target)), target.steps[3], result,
                  used);
          }
      });
    });
  }

  tile::WinogradOp op;
  const tile::WinogradTransform &transform;
  ArrayRef<int64_t> sizes;
  int64_t rows, columns, perWorker, channels, lanes;
  Type element;
  Value image, firstRow;
};

struct ExpandWinograd : ashlar::impl::ExpandWinogradPassBase<ExpandWinograd> {
  using ExpandWinogradPassBase::ExpandWinogradPassBase;
  void runOnOperation() override {
    SmallVector<tile::WinogradOp> ops;
    getOperation().walk([&](tile::WinogradOp op) { ops.push_back(op); });
    OpBuilder b(&getContext());
    for (tile::WinogradOp op : ops) {
      giveStaticStrides(cast<DestinationStyleOpInterface>(op.getOperation()));
      WinogradExpander(op, b, vectorBytes).run();
    }
  }
};
} // namespace
