// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CopyWriter.h"
#include "DecodeWriter.h"
#include "ThreadWriter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Divisors.h"
#include "ashlar/Analysis/WordCopies.h"
#include "ashlar/Transforms/Simt/Slots.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::simt;

/// More pieces of a thread than this are a loop.
static constexpr int64_t mostUnrolled = 32, mostDecoded = 8;

CopyWriter::CopyWriter(tile::CopyOp op, const Threads &threads)
    : op(op), threads(threads), slot(op.getSlot().getType()),
      decode(tile::decodeOf(op.getSource())),
      isComputed(decode && !decode.getMargins()), counts(slot.getShape()),
      piece(findPiece(16)) {
  if (piece == 0 && threads.copyWords && !decode) {
    piece = findPiece(4);
    // A word is there or is not.
    if (piece > 1 && op.getPadded() && !endsRowsAt(op.getSource(), piece))
      piece = 0;
    areWords = piece != 0;
  }
  if (piece != 0)
    counts.back() /= piece;
}

/// Elements of so many bytes that lie side by side, at multiples of themselves,
/// in the source, memory that all threads of the device see, as in the slot.
int64_t CopyWriter::findPiece(int64_t bytes) {
  std::optional<StringRef> engine = op.getEngine();
  auto type = dyn_cast<MemRefType>(op.getSource().getType());
  int64_t elements = bytes / elementBytes(slot.getElementType());
  bool isCopied = engine && *engine != "lanes";
  // What a thread computes is there or is not.
  bool isDecoded = isComputed && !decode.getPadded() &&
                   (!op.getPadded() || endsRowsAt(op.getSource(), elements));
  if (!(isCopied || isDecoded) || !type || type.getMemorySpace() ||
      elements == 0 || !slotHolds(elements) || !hasRowsOfInput(elements))
    return 0;
  return elements == 1 || liesAsInSource(elements) ? elements : 0;
}

bool CopyWriter::hasRowsOfInput(int64_t elements) {
  if (!decode || isComputed)
    return true;
  Value input = decode.getInputs().front();
  return decode.getType().getShape().back() ==
             cast<ShapedType>(input.getType()).getShape().back() &&
         (elements == 1 || beginsRowsAt(input, elements));
}

bool CopyWriter::slotHolds(int64_t elements) {
  tile::LayoutAttr layout = slot.getLayout();
  return slot.getShape().back() % elements == 0 &&
         (!layout ||
          (layout.getOrder().empty() && layout.getPad().empty() &&
           layout.getBlock() % elements == 0 &&
           (layout.getSwizzle().empty() ||
            (int64_t(1) << layout.getSwizzle()[1]) % elements == 0)));
}

bool CopyWriter::liesAsInSource(int64_t elements) {
  AffineMap map = op.getMap();
  AffineExpr last = getAffineDimExpr(map.getNumDims() - 1, op.getContext());
  for (AffineExpr expr : map.getResults().drop_back())
    if (expr.isFunctionOfDim(map.getNumDims() - 1))
      return false;
  auto rest = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(map.getResults().back() - last, map.getNumDims(), 0));
  if (!rest || rest.getValue() % elements != 0)
    return false;
  return beginsRowsAt(op.getSource(), elements);
}

void CopyWriter::write(ImplicitLocOpBuilder &b, Value to, Value from) {
  memory = to;
  place = from;
  int64_t all = ShapedType::getNumElements(counts);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  SmallVector<OpFoldResult> basis =
      getAsIndexOpFoldResult(b.getContext(), ArrayRef<int64_t>(counts));
  auto pointOf = [&](Value number) {
    return affine::AffineDelinearizeIndexOp::create(b, number, basis)
        .getResults();
  };
  SmallVector<int64_t> none(counts.size(), 0);
  auto writeNumber = [&](Value number) {
    if (areWords)
      writeWord(b, number);
    else
      writePiece(b, pointOf(number), none);
  };
  int64_t most = isComputed ? mostDecoded
                 : areWords ? mostWordsUnrolled
                            : mostUnrolled;
  if (piece != 0 && all % threads.count == 0 && all / threads.count <= most) {
    std::optional<unsigned> along = areWords ? std::nullopt : dimOfSteps();
    for (int64_t i = 0; i != all / threads.count; ++i) {
      if (!along) {
        writeNumber(
            arith::AddIOp::create(b, threads.number, index(i * threads.count)));
        continue;
      }
      SmallVector<int64_t> steps(none);
      steps[*along] = i * (threads.count / counts.back());
      writePiece(b, pointOf(threads.number), steps);
    }
  } else {
    auto loop =
        scf::ForOp::create(b, threads.number, index(all), index(threads.count));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    writeNumber(loop.getInductionVar());
  }
  if (isAsynchronous())
    tile::ThreadCloseOp::create(b);
}

void CopyWriter::writeWord(ImplicitLocOpBuilder &b, Value number) {
  Value first = arith::MulIOp::create(b, number,
                                      arith::ConstantIndexOp::create(b, piece));
  copyPiece(b, indexInSlot(b, slot, first),
            arith::AddIOp::create(b, place, first));
}

std::optional<unsigned> CopyWriter::dimOfSteps() {
  std::optional<unsigned> found;
  for (unsigned d = 0; d + 1 != counts.size(); ++d)
    if (counts[d] != 1) {
      if (found)
        return std::nullopt;
      found = d;
    }
  return threads.count % counts.back() == 0 ? found : std::nullopt;
}

void CopyWriter::writePiece(ImplicitLocOpBuilder &b, ValueRange index,
                            ArrayRef<int64_t> steps) {
  SmallVector<Value> at(index);
  if (piece != 0)
    at.back() = arith::MulIOp::create(b, at.back(),
                                      arith::ConstantIndexOp::create(b, piece));
  ThreadWriter w(op, b);
  Value to = arith::AddIOp::create(b, place, placeInSlot(b, slot, at, steps));
  for (auto [one, step] : llvm::zip_equal(at, steps))
    if (step != 0)
      one = arith::AddIOp::create(b, one,
                                  arith::ConstantIndexOp::create(b, step));
  if (piece != 0 && !isComputed)
    return copyPiece(b, at, to);
  if (decode)
    return writeDecoded(b, at, to);
  Value element = w.load(op.getSource(), op.getMap(), at, op.getPadded());
  memref::StoreOp::create(w.b, element, memory, to);
}

void CopyWriter::copyPiece(ImplicitLocOpBuilder &b, ValueRange at, Value to) {
  ThreadWriter w(op, b);
  Value exists =
      op.getPadded() ? w.isInside(op.getSource(), op.getMap(), at) : Value();
  SmallVector<Value> from = w.at(op.getMap(), at);
  Value source = op.getSource(), count = countInPiece(w.b, from.back());
  if (decode) {
    DecodeWriter inside(decode, w.b);
    exists = w.both(exists, inside.exists(source, from));
    from = inside.placesInInput(source, from);
    source = decode.getInputs().front();
  }
  tile::ThreadCopyOp::create(w.b, source, from, memory, to, exists, count,
                             piece);
}

void CopyWriter::writeDecoded(ImplicitLocOpBuilder &b, ValueRange at,
                              Value to) {
  ThreadWriter w(op, b);
  auto type =
      VectorType::get({std::max<int64_t>(piece, 1)}, slot.getElementType());
  DecodeWriter inside(decode, w.b);
  auto compute = [&]() -> Value {
    return vector::FromElementsOp::create(w.b, type,
                                          inside.write(op.getSource(),
                                                       w.at(op.getMap(), at),
                                                       type.getNumElements()));
  };
  Value exists =
      op.getPadded() ? w.isInside(op.getSource(), op.getMap(), at) : Value();
  if (decode.getPadded())
    exists =
        w.both(exists, inside.exists(op.getSource(), w.at(op.getMap(), at)));
  Value numbers;
  if (!exists) {
    numbers = compute();
  } else {
    auto branch = scf::IfOp::create(w.b, TypeRange(Type(type)), exists,
                                    /*withElse=*/true);
    OpBuilder::InsertionGuard guard(w.b);
    w.b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(w.b, compute());
    w.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(
        w.b, arith::ConstantOp::create(w.b, w.b.getZeroAttr(type)).getResult());
    numbers = branch.getResult(0);
  }
  vector::StoreOp::create(
      w.b, numbers, memory, to, /*nontemporal=*/false,
      llvm::MaybeAlign(piece ? 16 : elementBytes(slot.getElementType())));
}

Value CopyWriter::countInPiece(ImplicitLocOpBuilder &b, Value first) {
  if (!op.getPadded() || endsRowsAt(op.getSource(), piece))
    return Value();
  Value source = op.getSource();
  int64_t last = cast<MemRefType>(source.getType()).getRank() - 1;
  Value left =
      arith::SubIOp::create(b, memref::DimOp::create(b, source, last), first);
  return arith::MinSIOp::create(b, left,
                                arith::ConstantIndexOp::create(b, piece));
}
