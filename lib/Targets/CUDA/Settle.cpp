// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits for steps of warpgroups, behind what is computed while these go on.
#include "PtxWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

namespace {
/// Numbers of 32 bits that are computed while steps go on and read behind the
/// wait for them; of what is rounded to fewer bits, those in front of that.
class ComputedBeside {
public:
  explicit ComputedBeside(tile::ThreadSettleOp op) : op(op) {
    begin = op.getValues().front().getDefiningOp();
    if (!begin || begin->getBlock() != op->getBlock())
      return;
    for (Operation *at = begin->getNextNode(); at && at != op;
         at = at->getNextNode()) {
      // What steps leave is what is waited for, here or later.
      if (at->getNumResults() != 1 || !isMemoryEffectFree(at) ||
          isa<LLVM::LLVMDialect>(at->getDialect()) ||
          !llvm::any_of(at->getUsers(),
                        [&](Operation *user) { return isBehind(user); }))
        continue;
      Value value = at->getResult(0);
      if (auto rounded = dyn_cast<arith::TruncFOp>(at))
        value = rounded.getIn();
      if (value.getType().isF32())
        values.insert(value);
    }
  }

  /// Those that others are not computed from.
  SmallVector<Value> last() {
    llvm::SmallPtrSet<Operation *, 32> read;
    SmallVector<Value> found;
    for (Operation *at = op->getPrevNode(); at && at != begin;
         at = at->getPrevNode()) {
      bool isOne =
          at->getNumResults() == 1 && values.contains(at->getResult(0));
      if (isOne && !read.contains(at))
        found.push_back(at->getResult(0));
      if (isOne || read.contains(at))
        for (Value operand : at->getOperands())
          if (Operation *from = operand.getDefiningOp())
            read.insert(from);
    }
    return found;
  }

private:
  bool isBehind(Operation *user) {
    Operation *own = op->getBlock()->findAncestorOpInBlock(*user);
    return own && op->isBeforeInBlock(own);
  }

  tile::ThreadSettleOp op;
  Operation *begin;
  llvm::SetVector<Value> values;
};
} // namespace

void ashlar::cuda::writeSettle(tile::ThreadSettleOp op) {
  PtxWriter w(op);
  // The values go through the wait, so that nothing reads them before.
  SmallVector<Value> operands(op.getValues());
  std::string constraints = PtxWriter::inPlace(op.getValues()), text;
  // LLVM would move behind it what it does not read. ptxas does so even then,
  // but not with a barrier that depends on it. Nobody comes to this one: a
  // signalling NaN is nothing that is computed.
  for (Value value : ComputedBeside(op).last()) {
    text += "{\n.reg .pred p;\nsetp.eq.b32 p, $" +
            std::to_string(op.getValues().size() + operands.size()) +
            ", 0x7fa5a5a5;\n@p bar.arrive 15, 64;\n}\n";
    operands.push_back(value);
    constraints += ",f";
  }
  text +=
      "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";";
  SmallVector<Value> settled =
      w.write(text, constraints, operands,
              SmallVector<Type>(op.getValues().getTypes()), true);
  op.replaceAllUsesWith(settled);
  op.erase();
}
