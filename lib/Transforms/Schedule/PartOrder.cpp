// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PartOrder.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/ContractDims.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

Block *ashlar::workOf(func::FuncOp body) {
  Block *entry = &body.getBody().front();
  for (Operation &op : *entry)
    if (auto groups = dyn_cast<scf::ForOp>(op))
      return groups.getBody();
  return entry;
}

/// Whether an operand has the contraction's first dim as its own first, all of
/// it, or not at all.
static bool isSlice(Value value, AffineMap map, int64_t images, bool &slices) {
  slices = map.isFunctionOfDim(0);
  if (!slices)
    return true;
  if (map.getResult(0) != getAffineDimExpr(0, map.getContext()))
    return false;
  for (AffineExpr other : map.getResults().drop_front())
    if (other.isFunctionOfDim(0))
      return false;
  return cast<MemRefType>(value.getType()).getDimSize(0) == images;
}

Batch ashlar::batchOf(func::FuncOp body) {
  auto contracts = workOf(body)->getOps<tile::ContractOp>();
  if (!llvm::hasSingleElement(contracts))
    return {};
  tile::ContractOp op = *contracts.begin();
  int64_t images = op.getParallel().front();
  if (images < 2)
    return {};
  Batch batch{images, SmallVector<bool>(body.getNumArguments(), false)};
  // Arguments of which not all uses are slices, or none.
  SmallVector<bool> isWhole(body.getNumArguments(), false);
  auto add = [&](Value value, AffineMap map, bool mustSlice) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto type = dyn_cast<MemRefType>(value.getType());
    bool slices = false;
    if (!argument || argument.getOwner() != &body.getBody().front() || !type ||
        !type.getLayout().isIdentity() ||
        !isSlice(value, map, images, slices) || (mustSlice && !slices))
      return false;
    (slices ? batch.isSliced : isWhole)[argument.getArgNumber()] = true;
    return true;
  };
  bool isBatch = add(op.getA(), op.getAMap(), true) &&
                 add(op.getInit(), op.getResultMap(), true) &&
                 !op.getBMap().isFunctionOfDim(0) &&
                 add(op.getB(), op.getBMap(), false);
  for (auto [i, value] : llvm::enumerate(op.getEpilogue()))
    isBatch = isBatch && add(value, op.getEpilogueMap(unsigned(i)), false);
  if (Value unrounded = op.getUnrounded())
    isBatch = isBatch && add(unrounded, op.getResultMap(), true);
  for (auto [sliced, whole] : llvm::zip(batch.isSliced, isWhole))
    isBatch &= !(sliced && whole);
  return isBatch ? batch : Batch();
}

bool ashlar::isDepthwise(func::FuncOp body) {
  return llvm::any_of(workOf(body)->getOps<tile::ContractOp>(),
                      [](tile::ContractOp op) {
                        auto last = unsigned(op.getParallel().size() - 1);
                        return op.getParallel().back() > 1 &&
                               llvm::is_contained(dimsOf(op).batch, last);
                      });
}

namespace {
/// Bytes that a member reads and writes, of images and of what they share.
struct Traffic {
  int64_t sliced = 0, shared = 0;
};
} // namespace

static Traffic trafficOf(exec::InvokeOp member, const Batch &batch) {
  Traffic traffic;
  for (auto [operand, isSliced] :
       llvm::zip(member.getOperands(), batch.isSliced))
    (isSliced ? traffic.sliced : traffic.shared) += byteSize(operand.getType());
  for (Value result : member->getResults())
    traffic.sliced += byteSize(result.getType());
  return traffic;
}

/// Whether an image of `reader` needs that image alone of what it reads of the
/// members before it.
static bool followsByPart(exec::InvokeOp reader, const Batch &batch,
                          ArrayRef<exec::InvokeOp> before) {
  for (auto [operand, isSliced] :
       llvm::zip(reader.getOperands(), batch.isSliced)) {
    Value whole = viewed(operand);
    if (!llvm::is_contained(
            before, dyn_cast_if_present<exec::InvokeOp>(whole.getDefiningOp())))
      continue;
    // A view of all of it has the same images.
    if (!isSliced || byteSize(operand.getType()) != byteSize(whole.getType()))
      return false;
  }
  return true;
}

/// In how many parts the batch comes, so that what a member reads and writes
/// of one leaves room on the chip for operands that only pass through.
static int64_t partsFor(const Traffic &traffic, int64_t images,
                        int64_t chipBytes) {
  for (int64_t parts = 1; parts < images; ++parts)
    if (images % parts == 0 && traffic.sliced / parts <= chipBytes / 8 * 5)
      return parts;
  return images;
}

SmallVector<Instance> ashlar::orderByPart(ArrayRef<exec::InvokeOp> members,
                                          ArrayRef<Batch> batches,
                                          int64_t chipBytes) {
  SmallVector<Instance> order;
  for (size_t i = 0; i < members.size();) {
    int64_t images = batches[i].images, parts = 1;
    size_t end = i;
    // Shared operands come again with each part: that must be little beside
    // what need not come at all.
    for (; end < members.size() && chipBytes && images &&
           batches[end].images == images;
         ++end) {
      Traffic traffic = trafficOf(members[end], batches[end]);
      if (traffic.shared * (images - 1) >= traffic.sliced ||
          !followsByPart(members[end], batches[end], members.slice(i, end - i)))
        break;
      parts = std::max(parts, partsFor(traffic, images, chipBytes));
    }
    if (end < i + 2 || parts == 1) {
      order.push_back({i++});
      continue;
    }
    for (int64_t part = 0; part < parts; ++part)
      for (size_t member = i; member < end; ++member)
        order.push_back({member, part, parts});
    i = end;
  }
  return order;
}
