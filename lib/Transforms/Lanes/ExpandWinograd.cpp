// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Winograd convolution as a kernel of three parts per worker's box, which
// pass their data through scratch that fits into the worker's own memory: the
// input's boxes are transformed, one contraction per place of the transformed
// box multiplies them, the results' boxes are transformed and go through the
// epilogue. Lanes run along channels and columns.
#include "OpenLine.h"
#include "VectorBody.h"
#include "WinogradBoxes.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Dialects/Tile/IR/Winograd.h"
#include "ashlar/Transforms/Lanes/Passes.h"
#include "ashlar/Transforms/Tile/PadMargins.h"
#include "ashlar/Transforms/Tile/StaticStrides.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_EXPANDWINOGRADPASS
#include "ashlar/Transforms/Lanes/Passes.h.inc"
} // namespace ashlar

namespace {
class WinogradExpander : VectorWriter {
public:
  WinogradExpander(tile::WinogradOp op, OpBuilder &builder, int64_t vectorBytes)
      : VectorWriter(op.getLoc(), builder), op(op),
        transform(tile::winogradTransform(op.getOutputSize())),
        filters(op.getParallel()[3]) {
    auto type = cast<MemRefType>(op.getA().getType());
    element = type.getElementType();
    channels = type.getDimSize(3);
    lanes = std::max<int64_t>(1, vectorBytes /
                                     (element.getIntOrFloatBitWidth() / 8));
  }

  void run() {
    b.setInsertionPoint(op);
    boxes.emplace(op, b);
    boxes->emitWorkers();
    if (op.getPadAttr())
      fillMargins(b, op.getInit(), op.getResultMap(), boxes->extents(),
                  *op.getPad(), boxes->workers());
    int64_t places = transform.places() * transform.places();
    Value spread = scratch(places, channels),
          products = scratch(places, filters);
    transformInput(spread);
    multiply(spread, products, places);
    transformResults(products);
    op.erase();
  }

private:
  using Grid = SmallVector<SmallVector<Value>>;

  /// For boxes of so many places. All places of a box are written one after the
  /// other: far apart by a multiple of 4 KiB, they would share the few lines of
  /// one set of the nearest cache, so the last box and line are there for that.
  Value scratch(int64_t places, int64_t width) {
    constexpr int64_t lineBytes = 64, sets = 64;
    int64_t line = lineBytes / (element.getIntOrFloatBitWidth() / 8);
    int64_t room = width % (line * sets / 4) == 0 ? width + line : width;
    return memref::AllocOp::create(
        b, MemRefType::get({places, boxes->most() | 1, room}, element));
  }

  void loop(int64_t from, int64_t to, int64_t step,
            llvm::function_ref<void(Value)> body) {
    if (from == to)
      return;
    auto loop = scf::ForOp::create(b, index(from), index(to), index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
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

  /// The place `down` and `across` from that of a box's first element.
  Value inBox(const OpenLine &line, Value from, OpFoldResult down,
              OpFoldResult across) {
    auto number = getConstantIntValue;
    if (number(line.steps[1]) && number(line.steps[2]) && number(down) &&
        number(across))
      return indexAt(from, *number(down) * *number(line.steps[1]) +
                               *number(across) * *number(line.steps[2]));
    return line.moved(b, line.moved(b, from, 1, down), 2, across);
  }

  /// What is read of a box whose size the running program knows: the numbers of
  /// its rows, or columns, and whether they are there. Those that are not stand
  /// for the last one.
  struct Reach {
    SmallVector<OpFoldResult> at;
    SmallVector<Value> exists; ///< null: always
  };
  Reach reachOf(int64_t results, Value here) {
    Reach reach;
    for (int64_t i = 0; i != results + 2; ++i) {
      reach.at.push_back(b.getIndexAttr(i));
      reach.exists.emplace_back();
      // There is at least one result, which needs three.
      if (!here || i < 3)
        continue;
      Value last = arith::AddIOp::create(b, here, index(1));
      reach.at.back() = Value(arith::MinSIOp::create(b, index(i), last));
      reach.exists.back() =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sle, index(i), last);
    }
    return reach;
  }

  Value both(Value x, Value y) {
    if (!x || !y)
      return x ? x : y;
    return arith::AndIOp::create(b, x, y);
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
    OpenLine input(b, op.getA(), b.getMultiDimIdentityMap(4));
    Line target(b, spread, b.getMultiDimIdentityMap(3));
    int64_t size = transform.outputs, reach = transform.places();
    boxes->forEach([&](const WinogradBox &box) {
      // What lies behind the last result is not read.
      Reach down = reachOf(box.high, box.highHere),
            across = reachOf(box.wide, box.wideHere);
      forEachVector(channels, [&](Value at, int64_t width, int64_t used) {
        Value from =
            input.place(b, {boxes->image(), box.number, box.across, at},
                        {1, size, size, 1});
        Grid values(reach, SmallVector<Value>(reach));
        for (auto [u, row] : llvm::enumerate(down.at))
          for (auto [v, column] : llvm::enumerate(across.at)) {
            Value value =
                load(input, inBox(input, from, row, column), 1, width, used);
            if (Value exists = both(down.exists[u], across.exists[v]))
              value = arith::SelectOp::create(b, exists, value, zeros(width));
            values[u][v] = value;
          }
        Grid result = transformed(transform.input, values);
        Value to = boxPlace(target, box, at);
        for (int64_t u = 0; u != reach; ++u)
          for (int64_t v = 0; v != reach; ++v)
            store(target, indexAt(to, (u * reach + v) * target.steps[0]), 1,
                  result[u][v] ? result[u][v] : zeros(width), used);
      });
    });
  }

  /// Where a box's vector lies in scratch, at place zero.
  Value boxPlace(const Line &line, const WinogradBox &box, Value at) {
    AffineExpr sum =
        b.getAffineDimExpr(0) * line.steps[1] + b.getAffineDimExpr(1);
    return affine::AffineApplyOp::create(b, AffineMap::get(2, 0, sum),
                                         ValueRange{boxes->numberOf(box), at});
  }

  /// As much of scratch as this worker's boxes take.
  Value used(Value scratch, int64_t width) {
    auto type = cast<MemRefType>(scratch.getType());
    if (getConstantIntValue(boxes->count()) == type.getDimSize(1) &&
        type.getDimSize(2) == width)
      return scratch;
    SmallVector<OpFoldResult> from(3, b.getIndexAttr(0)),
        steps(3, b.getIndexAttr(1)),
        sizes = memref::getMixedSizes(b, b.getLoc(), scratch);
    sizes[1] = boxes->count();
    sizes[2] = b.getIndexAttr(width);
    return memref::SubViewOp::create(b, scratch, from, sizes, steps);
  }

  void multiply(Value spread, Value products, int64_t places) {
    AffineExpr p, n, o, c;
    bindDims(b.getContext(), p, n, o, c);
    int64_t panel = cast<MemRefType>(op.getB().getType()).getDimSize(3);
    AffineMap maps[] = {AffineMap::get(4, 0, {p, n, c}, b.getContext()),
                        AffineMap::get(4, 0,
                                       {o.floorDiv(panel), p, c, o % panel},
                                       b.getContext()),
                        b.getMultiDimIdentityMap(3)};
    auto contract = tile::ContractOp::create(
        b, TypeRange(), used(spread, channels), op.getB(), ValueRange(),
        used(products, filters),
        /*unrounded=*/Value(),
        b.getDenseI64ArrayAttr({places, boxes->most(), filters}),
        b.getDenseI64ArrayAttr({channels}), b.getAffineMapArrayAttr(maps),
        UnitAttr(), UnitAttr(), TypedAttr(), op.getStrategy(), IntegerAttr());
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&contract.getBody());
    Value sum = body->addArgument(element, b.getLoc());
    tile::YieldOp::create(b, sum);
  }

  /// `write` where result (u, v) of the box exists.
  void whereExists(const WinogradBox &box, int64_t u, int64_t v,
                   llvm::function_ref<void()> write) {
    auto isThere = [&](int64_t i, Value here) -> Value {
      if (!here || i == 0)
        return {};
      return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index(i),
                                   here);
    };
    Value exists = both(isThere(u, box.highHere), isThere(v, box.wideHere));
    if (!exists)
      return write();
    auto branch = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    write();
  }

  /// Lanes may lie as far apart as a row that the running program knows is
  /// long.
  Value loadLanes(const OpenLine &line, Value place, int64_t width,
                  int64_t used) {
    std::optional<int64_t> step = getConstantIntValue(line.steps[3]);
    return step ? load(line, place, *step, width, used)
                : loadApart(line, place, cast<Value>(line.steps[3]), width,
                            used);
  }
  void storeLanes(const OpenLine &line, Value place, Value value,
                  int64_t used) {
    if (std::optional<int64_t> step = getConstantIntValue(line.steps[3]))
      return store(line, place, *step, value, used);
    storeApart(line, place, cast<Value>(line.steps[3]), value, used);
  }

  void transformResults(Value products) {
    Line source(b, products, b.getMultiDimIdentityMap(3));
    SmallVector<OpenLine> epilogue;
    for (auto [i, operand] : llvm::enumerate(op.getEpilogue()))
      epilogue.emplace_back(b, operand, op.getMap(i));
    OpenLine target(b, op.getInit(), op.getResultMap());
    int64_t size = transform.outputs, reach = transform.places();
    boxes->forEach([&](const WinogradBox &box) {
      forEachVector(filters, [&](Value at, int64_t width, int64_t used) {
        Value from = boxPlace(source, box, at);
        Grid values(reach, SmallVector<Value>(reach));
        for (int64_t u = 0; u != reach; ++u)
          for (int64_t v = 0; v != reach; ++v)
            values[u][v] =
                load(source, indexAt(from, (u * reach + v) * source.steps[0]),
                     1, width, used);
        Grid sums = transformed(transform.results, values);
        auto baseOf = [&](const OpenLine &line) {
          return line.place(b, {boxes->image(), box.number, box.across, at},
                            {1, size, size, 1});
        };
        SmallVector<Value> bases;
        for (const OpenLine &line : epilogue)
          bases.push_back(baseOf(line));
        Value base = baseOf(target);
        auto writeResult = [&](int64_t u, int64_t v) {
          auto placeOf = [&](const OpenLine &line, Value from) {
            return inBox(line, from, b.getIndexAttr(u), b.getIndexAttr(v));
          };
          SmallVector<Value> arguments = {sums[u][v]};
          for (auto [line, at] : llvm::zip(epilogue, bases))
            arguments.push_back(
                loadLanes(line, placeOf(line, at), width, used));
          Value result =
              emitVectorBody(b, &op.getBody().front(), arguments, width)[0];
          storeLanes(target, placeOf(target, base), result, used);
        };
        for (int64_t u = 0; u != box.high; ++u)
          for (int64_t v = 0; v != box.wide; ++v)
            whereExists(box, u, v, [&] { writeResult(u, v); });
      });
    });
  }

  tile::WinogradOp op;
  const tile::WinogradTransform &transform;
  int64_t filters, channels, lanes;
  Type element;
  std::optional<WinogradBoxes> boxes;
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
