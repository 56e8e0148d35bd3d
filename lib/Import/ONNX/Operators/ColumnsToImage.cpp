// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Col2Im: adds the columns that windows over an image would give back into it.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "WindowGeometry.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
struct Columns {
  SmallVector<int64_t> image, block, strides, dilations, low, counts;
  int64_t batch, channels;
};
} // namespace

static FailureOr<Columns> readColumns(NodeImporter &node) {
  auto image = node.constantInts(1, "the image's shape");
  auto block = node.constantInts(2, "the block's shape");
  if (failed(image) || failed(block) || failed(expectRank(node, 0, 3)))
    return failure();
  unsigned rank = image->size();
  auto strides = readSizes(node, "strides", rank, 1, 1);
  auto dilations = readSizes(node, "dilations", rank, 1, 1);
  auto pads = readSizes(node, "pads", 2 * rank, 0, 0);
  if (failed(strides) || failed(dilations) || failed(pads))
    return failure();
  SmallVector<int64_t> whole(*image);
  whole.append(*block);
  if (block->size() != rank || llvm::any_of(whole, [](int64_t size) {
        return size < 1 || size > int64_t(1) << 30;
      }))
    return node.invalid("expected an image and a block of one rank and of "
                        "sizes from 1 to 2^30, found " +
                        spellShape(*image) + " and " + spellShape(*block));
  Columns c{*image, *block, *strides, *dilations, {}, {}, node.shape(0)[0], 0};
  int64_t windows = 1, taps = 1;
  for (unsigned i = 0; i != rank; ++i) {
    c.low.push_back((*pads)[i]);
    int64_t room = (*image)[i] + (*pads)[i] + (*pads)[rank + i] -
                   (*dilations)[i] * ((*block)[i] - 1) - 1;
    if (room < 0)
      return node.invalid("the block " + spellShape(*block) +
                          " does not fit into the image " + spellShape(*image));
    c.counts.push_back(room / (*strides)[i] + 1);
    if (llvm::MulOverflow(windows, c.counts.back(), windows) ||
        llvm::MulOverflow(taps, (*block)[i], taps))
      return node.invalid("has more windows than memory can address");
  }
  ArrayRef<int64_t> shape = node.shape(0);
  if (shape[1] % taps != 0 || shape[2] != windows)
    return node.invalid("expected columns of a multiple of " + Twine(taps) +
                        " elements for " + Twine(windows) + " windows, found " +
                        spellShape(shape));
  c.channels = shape[1] / taps;
  SmallVector<int64_t> result{c.batch, c.channels};
  result.append(*image);
  if (failed(expectSize(node, result)))
    return failure();
  return c;
}

static LogicalResult importCol2Im(NodeImporter &node) {
  FailureOr<Columns> read = readColumns(node);
  if (failed(read))
    return failure();
  const Columns &c = *read;
  ImplicitLocOpBuilder &b = node.b;
  ElementType type = node.operandType(0);
  if (!isFloat(type) && !isInteger(type))
    return node.unsupported("of " + elementTypeName(type));
  unsigned rank = c.image.size(), kept = rank + 2;
  Type element = node.tensorType(0).getElementType();
  Type sum = computeType(element);
  SmallVector<int64_t> shape{c.batch, c.channels};
  shape.append(c.image);
  Value init = fill(b, shape, arith::ConstantOp::create(b, zeroOf(sum)));
  // Loops over the image, then over the taps of a window.
  Value taps = tensor::EmptyOp::create(b, c.block, element);
  SmallVector<AffineExpr> inner;
  for (unsigned i = 0; i != rank; ++i)
    inner.push_back(b.getAffineDimExpr(kept + i));
  AffineMap maps[] = {AffineMap::get(kept + rank, 0, inner, b.getContext()),
                      AffineMap::getMultiDimIdentityMap(kept, b.getContext())};
  maps[1] =
      AffineMap::get(kept + rank, 0, maps[1].getResults(), b.getContext());
  SmallVector<utils::IteratorType> iterators(kept,
                                             utils::IteratorType::parallel);
  iterators.append(rank, utils::IteratorType::reduction);
  Value columns = node.operand(0);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    auto at = [&](unsigned i) -> Value {
      return linalg::IndexOp::create(b, loc, i);
    };
    auto fold = [&](Value value, int64_t size, Value next) -> Value {
      value = arith::MulIOp::create(b, loc, value, index(size));
      return arith::AddIOp::create(b, loc, value, next);
    };
    Value tap = at(1), window = index(0), hits;
    for (unsigned i = 0; i != rank; ++i) {
      tap = fold(tap, c.block[i], at(kept + i));
      // Where the window would start whose tap lies here.
      Value back =
          arith::MulIOp::create(b, loc, at(kept + i), index(c.dilations[i]));
      Value start = arith::AddIOp::create(b, loc, at(2 + i), index(c.low[i]));
      start = arith::SubIOp::create(b, loc, start, back);
      Value stride = index(c.strides[i]);
      Value number = arith::DivSIOp::create(b, loc, start, stride);
      Value rest = arith::RemSIOp::create(b, loc, start, stride);
      Value starts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           rest, index(0));
      Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           number, index(c.counts[i]));
      Value hit = arith::AndIOp::create(b, loc, starts, exists);
      hits = hits ? arith::AndIOp::create(b, loc, hits, hit) : hit;
      window = fold(window, c.counts[i],
                    arith::SelectOp::create(b, loc, exists, number, index(0)));
    }
    Value value = tensor::ExtractOp::create(b, loc, columns,
                                            ValueRange{at(0), tap, window});
    if (sum != element)
      value = resizeFloat(b, loc, value, sum);
    Value none = arith::ConstantOp::create(b, loc, zeroOf(sum));
    value = arith::SelectOp::create(b, loc, hits, value, none);
    linalg::YieldOp::create(b, loc, scalarAdd(b, loc, args[1], value));
  };
  Value result =
      linalg::GenericOp::create(b, init.getType(), ValueRange{taps},
                                ValueRange{init}, maps, iterators, body)
          .getResult(0);
  node.setResult(0, castTensor(b, result, computeType(type), type), type);
  return success();
}

void ashlar::onnx_import::registerColumnsToImageOperators(
    OperatorRegistry &registry) {
  registry.add("Col2Im", 18, importCol2Im);
}
