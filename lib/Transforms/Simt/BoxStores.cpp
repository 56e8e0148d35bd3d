// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BoxStores.h"
#include "TensorMaps.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/RingBytes.h"
#include "ashlar/Analysis/StoreBox.h"
#include "ashlar/Dialects/Tile/IR/ThreadStores.h"
#include "ashlar/Transforms/Tile/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::simt;

/// Of a matrix that is stored as one; a fragment is two, the second of which
/// has the later rows.
static constexpr int64_t side = 8, matricesOfFragment = 2;
/// Elements of a lane, in a word and in a fragment.
static constexpr int64_t ofWord = 2, ofFragment = ofWord * matricesOfFragment;
/// Of a group whose lanes hold a fragment.
static constexpr int64_t lanesOfGroup = 32;

/// Of the workgroup's memory, that which a kernel has already.
static int64_t bytesOf(Operation *kernel) {
  int64_t bytes = 0;
  kernel->walk([&](memref::AllocOp op) {
    auto space = dyn_cast_or_null<IntegerAttr>(op.getType().getMemorySpace());
    if (space && space.getInt() == workgroupSpace)
      bytes += llvm::alignTo(byteSize(op.getType()),
                             op.getAlignment().value_or(sharedAlignment));
  });
  return bytes;
}

/// Whether 32 threads hold 16 rows of 8 columns; what more threads there are
/// hold such beside each other.
static bool isOfMatrices(tile::FragmentAttr fragment) {
  constexpr int64_t registers[] = {0, 1, side, 0};
  constexpr int64_t lanes[] = {0, 2, 0, 4, 1, 0, 2, 0, 4, 0};
  return fragment && fragment.getColumns() == side &&
         fragment.getRegisters() == ArrayRef(registers) &&
         fragment.getLanes().size() >= std::size(lanes) &&
         fragment.getLanes().take_front(std::size(lanes)) == ArrayRef(lanes);
}

/// Whether nothing but drains uses it: threads that read what the engine stores
/// would have to wait for it.
static bool isDrainedAlone(Value memory) {
  return llvm::all_of(memory.getUsers(), [](Operation *user) {
    return isa<tile::DrainOp>(user) ||
           (isa<ViewLikeOpInterface>(user) && user->getNumResults() == 1 &&
            isDrainedAlone(user->getResult(0)));
  });
}

bool BoxStores::takes(tile::DrainOp op, TensorBox &box) const {
  tile::AccType acc = op.getAcc().getType();
  auto named = op->getAttrOfType<StringAttr>(storesAttrName);
  if (!named || named.getValue() != engine || threads.lanes != lanesOfGroup ||
      !isOfMatrices(acc.getFragment()) ||
      !RowDrain(op, Share(acc, threads), threads).isTaken())
    return false;
  // All threads have something to store, in whole boxes.
  int64_t holders = acc.getFragment().getThreads();
  for (auto [size, part] : llvm::zip(acc.getShape(), acc.getPart())) {
    if (size % part != 0)
      return false;
    holders *= size / part;
  }
  auto sizes = store_box::sizesOf(acc.getPart());
  return holders == threads.count && sizes &&
         whyNoStore(op, *sizes, box).empty() && isDrainedAlone(box.tensor);
}

void BoxStores::plan(Operation *kernel, int64_t bytes,
                     SmallVectorImpl<Attribute> &maps) {
  llvm::MapVector<Operation *, TensorBox> found;
  scf::ForallOp parts;
  kernel->walk([&](tile::DrainOp op) {
    auto own = op->getParentOfType<scf::ForallOp>();
    TensorBox box;
    if (!own || (parts && own != parts) || !takes(op, box))
      return;
    parts = own;
    found[op] = box;
  });
  slots =
      store_box::slotsIn(bytes - bytesOf(kernel) - swizzledAlignment, groups());
  if (found.empty() || slots == 0)
    return;
  allocate(parts);
  for (auto &[op, box] : found)
    boxes[op] = {box, tensorMapOf(box, maps)};
}

/// All parts of a workgroup have the same places in turns. Nobody leaves before
/// the engine has read what is stored last.
void BoxStores::allocate(scf::ForallOp parts) {
  ImplicitLocOpBuilder b(parts.getLoc(),
                         OpBuilder::atBlockBegin(parts.getBody()));
  memory = memref::AllocOp::create(
      b,
      MemRefType::get({slots * groups() * store_box::elements}, b.getI16Type(),
                      MemRefLayoutAttrInterface(),
                      b.getI64IntegerAttr(workgroupSpace)),
      b.getI64IntegerAttr(swizzledAlignment));
  b.setInsertionPoint(parts.getTerminator());
  Operation *wait =
      byFirstLane(b, [&] { tile::ThreadBoxWaitOp::create(b, memory, 0); });
  wait->setAttr(onceAttrName, b.getStringAttr("end"));
}

static Value index(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}
static Value plus(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::AddIOp::create(b, x, y);
}
static Value times(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return arith::MulIOp::create(b, x, index(b, y));
}
static Value quotient(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return arith::DivUIOp::create(b, x, index(b, y));
}
static Value rest(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return arith::RemUIOp::create(b, x, index(b, y));
}

Value BoxStores::lane(ImplicitLocOpBuilder &b) const {
  return rest(b, threads.number, threads.lanes);
}

Operation *BoxStores::byFirstLane(ImplicitLocOpBuilder &b,
                                  llvm::function_ref<void()> write) const {
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane(b), index(b, 0));
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  write();
  return branch;
}

Value BoxStores::placeOf(ImplicitLocOpBuilder &b, int64_t slot) const {
  Value group = quotient(b, threads.number, threads.lanes);
  Value number = plus(b, times(b, group, slots), index(b, slot));
  return times(b, number, store_box::elements);
}

/// Two fragments at a time, of which each lane gives the place of one row;
/// pieces of a row are exchanged by its number.
void BoxStores::storeMatrices(RowDrain &rows, ThreadWriter &w,
                              RowDrain::ValueAt valueAt, int64_t first,
                              Value place) const {
  Value own = lane(w.b), inside = rest(w.b, own, side),
        isLater = rest(w.b, quotient(w.b, own, side), matricesOfFragment),
        isNext = quotient(w.b, own, side * matricesOfFragment);
  Value row = plus(w.b, inside, times(w.b, isLater, side));
  Value ofRow = plus(w.b, place, times(w.b, row, store_box::columns));
  for (int64_t f = 0; f != store_box::columns / side; f += 2) {
    SmallVector<Value> words;
    for (int64_t i = 0; i != 2 * ofFragment; i += ofWord)
      words.push_back(rows.wordAt(w, first + f * ofFragment + i, valueAt));
    Value piece =
        arith::XOrIOp::create(w.b, plus(w.b, isNext, index(w.b, f)), inside);
    tile::ThreadMatrixStoreOp::create(
        w.b, words, memory, plus(w.b, ofRow, times(w.b, piece, side)));
  }
}

/// Where the first lane's first element goes, the box begins.
void BoxStores::storeBox(tile::DrainOp op, const Share &share, ThreadWriter &w,
                         int64_t first, Value place) const {
  const Store &store = boxes.find(op)->second;
  byFirstLane(w.b, [&] {
    SmallVector<Value> at =
        w.at(op.getMap(op.getMaps().size() - 1), share.point(w.b, first));
    for (auto [one, from] : llvm::zip_equal(at, store.box.at))
      one = plus(w.b, one,
                 getValueOrCreateConstantIndexOp(w.b, w.b.getLoc(), from));
    tile::ThreadBoxStoreOp::create(w.b, memory, place, store.box.tensor, at,
                                   store.map);
  });
}

void BoxStores::writeBox(tile::DrainOp op, const Share &share, RowDrain &rows,
                         ThreadWriter &w, RowDrain::ValueAt valueAt,
                         int64_t first, int64_t slot) const {
  Value place = placeOf(w.b, slot);
  // The first of a part comes behind any number of boxes of the one before.
  int64_t pending = first == 0 ? 0 : slots - 1;
  byFirstLane(w.b,
              [&] { tile::ThreadBoxWaitOp::create(w.b, memory, pending); });
  tile::ThreadLanesMeetOp::create(w.b);
  storeMatrices(rows, w, valueAt, first, place);
  tile::ThreadLanesMeetOp::create(w.b, /*published=*/true);
  storeBox(op, share, w, first, place);
}

void BoxStores::write(tile::DrainOp op, const Share &share, RowDrain &rows,
                      ThreadWriter &w, RowDrain::ValueAt valueAt) const {
  constexpr int64_t ofLane = store_box::elements / lanesOfGroup;
  for (int64_t first = 0; first != share.count(); first += ofLane)
    writeBox(op, share, rows, w, valueAt, first, first / ofLane % slots);
}
