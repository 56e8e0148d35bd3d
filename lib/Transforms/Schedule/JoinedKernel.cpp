// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "JoinedKernel.h"
#include "ArenaPlan.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;

/// The ops of a kernel of one group, whatever loop over groups is around them.
static Block *bodyOf(func::FuncOp kernel) {
  Block *body = &kernel.getBody().front();
  for (Operation &op : *body)
    if (auto groups = dyn_cast<scf::ForOp>(op))
      return groups.getBody();
  return body;
}

bool ashlar::isJoinable(func::FuncOp kernel) {
  auto groups = kernel->getAttrOfType<exec::SizeAttr>(exec::groupsAttrName);
  if (kernel.isDeclaration() || !groups || !groups.isConstant() ||
      groups.getConstant() != 1 || exec::numKernelParameters(kernel) != 0)
    return false;
  bool hasContract = false;
  auto isPart = [&](Operation &op) {
    hasContract |= isa<tile::ContractOp>(op);
    return isa<tile::ContractOp, arith::ConstantOp>(op) ||
           (isa<memref::SubViewOp>(op) && op.getNumOperands() == 1);
  };
  Block *body = bodyOf(kernel), *entry = &kernel.getBody().front();
  bool areParts = llvm::all_of(body->without_terminator(), isPart);
  if (body != entry)
    areParts &= llvm::all_of(entry->without_terminator(), [&](Operation &op) {
      return isPart(op) || &op == body->getParentOp();
    });
  return areParts && hasContract;
}

/// Where a member's argument lies in the joined kernel.
struct KernelJoiner::Wiring {
  struct Place {
    /// Of an argument of the joined kernel.
    unsigned argument = 0;
    int64_t offset = 0; ///< in elements of the type; shared: in bytes
    bool isShared = false;
  };
  SmallVector<func::FuncOp> kernels;      ///< of the members
  SmallVector<SmallVector<Place>> places; ///< by member, by argument
  llvm::SetVector<Value> operands;        ///< of the joined kernel
  SmallVector<Value> results;             ///< read by others
  int64_t sharedBytes = 0;                ///< one more result; 0: none

  std::string key() const;
};

std::string KernelJoiner::Wiring::key() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << operands.size() << ' ' << results.size() << ' ' << sharedBytes;
  for (auto [kernel, arguments] : llvm::zip(kernels, places)) {
    out << ' ' << func::FuncOp(kernel).getSymName();
    for (const Place &place : arguments)
      out << ' ' << place.argument << (place.isShared ? 's' : '+')
          << place.offset;
  }
  for (Value operand : operands)
    out << operand.getType();
  return text;
}

/// How far into `viewed(value)` a chain of views begins, in elements.
static int64_t offsetOf(Value value) {
  int64_t offset = 0;
  for (Operation *op = value.getDefiningOp(); op && isView(op);
       op = op->getOperand(0).getDefiningOp())
    offset += viewOffset(op);
  return offset;
}

KernelJoiner::Wiring
KernelJoiner::wire(ArrayRef<exec::InvokeOp> members) const {
  Wiring wiring;
  llvm::DenseMap<Operation *, int64_t> numbers;
  for (auto [i, member] : llvm::enumerate(members))
    numbers[member] = i;
  // Views are read through; whoever else reads a result wants it whole.
  std::function<bool(Value, int64_t &)> isInner = [&](Value value,
                                                      int64_t &last) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      auto found = numbers.find(user);
      if (found != numbers.end()) {
        last = std::max(last, found->second);
        return true;
      }
      return isView(user) && isInner(user->getResult(0), last);
    });
  };
  llvm::DenseMap<Value, Wiring::Place> made; // results, with offsets of 0
  SmallVector<ArenaRequest> requests;
  SmallVector<Value> shared;
  for (auto [i, member] : llvm::enumerate(members)) {
    wiring.kernels.push_back(kernelOf(member));
    for (Value result : member->getResults()) {
      int64_t last = i;
      if (isInner(result, last)) {
        shared.push_back(result);
        requests.push_back({int64_t(i), last + 1, byteSize(result.getType())});
      } else {
        wiring.results.push_back(result);
      }
    }
    for (Value operand : exec::InvokeOp(member).getOperands())
      if (!numbers.count(viewed(operand).getDefiningOp()))
        wiring.operands.insert(operand);
  }
  unsigned first = wiring.operands.size();
  for (auto [i, result] : llvm::enumerate(wiring.results))
    made[result] = {unsigned(first + i), 0, false};
  ArenaPlan plan = planArena(requests);
  wiring.sharedBytes = plan.bytes;
  for (auto [result, offset] : llvm::zip(shared, plan.offsets))
    made[result] = {unsigned(first + wiring.results.size()), offset, true};
  for (exec::InvokeOp member : members) {
    auto &places = wiring.places.emplace_back();
    for (Value operand : member.getOperands()) {
      auto found = made.find(viewed(operand));
      if (found == made.end()) {
        auto at = llvm::find(wiring.operands, operand);
        places.push_back({unsigned(at - wiring.operands.begin()), 0, false});
        continue;
      }
      Wiring::Place place = found->second;
      int64_t bytes = elementBytes(getElementTypeOrSelf(operand.getType()));
      place.offset += offsetOf(operand) * (place.isShared ? bytes : 1);
      places.push_back(place);
    }
    for (Value result : member->getResults())
      places.push_back(made.lookup(result));
  }
  return wiring;
}

/// A member's argument in the joined kernel.
static Value view(OpBuilder &b, Value argument, MemRefType type,
                  int64_t offset) {
  Location location = argument.getLoc();
  if (argument.getType() == type && offset == 0)
    return argument;
  if (getElementTypeOrSelf(argument.getType()) != type.getElementType()) {
    Value at = arith::ConstantIndexOp::create(b, location, offset);
    return memref::ViewOp::create(b, location, type, argument, at,
                                  ValueRange());
  }
  SmallVector<int64_t> strides;
  int64_t none;
  (void)type.getStridesAndOffset(strides, none);
  auto layout = StridedLayoutAttr::get(b.getContext(), offset, strides);
  return memref::ReinterpretCastOp::create(
      b, location,
      MemRefType::get(type.getShape(), type.getElementType(), layout), argument,
      offset, type.getShape(), strides);
}

func::FuncOp KernelJoiner::write(const Wiring &wiring, Location location) {
  MLIRContext *context = program.getContext();
  OpBuilder b(context);
  SmallVector<Type> types;
  auto memory = [](Type type) -> Type {
    auto tensor = cast<RankedTensorType>(type);
    return MemRefType::get(tensor.getShape(), tensor.getElementType());
  };
  for (Value operand : wiring.operands)
    types.push_back(memory(operand.getType()));
  for (Value result : wiring.results)
    types.push_back(memory(result.getType()));
  if (wiring.sharedBytes)
    types.push_back(MemRefType::get({wiring.sharedBytes}, b.getI8Type()));
  // No scratch, and one group.
  types.append({MemRefType::get({0}, b.getI8Type()), b.getIndexType(),
                b.getIndexType()});
  func::FuncOp first = wiring.kernels.front();
  auto kernel = func::FuncOp::create(
      location,
      (first.getSymName() + "_and_" + Twine(wiring.kernels.size() - 1)).str(),
      b.getFunctionType(types, {}));
  kernel.setPrivate();
  symbols.insert(kernel, program.getBody()->end());
  kernel->setAttr(
      exec::resultsAttrName,
      b.getI64IntegerAttr(wiring.results.size() + (wiring.sharedBytes != 0)));
  if (wiring.sharedBytes)
    kernel.setArgAttr(wiring.operands.size() + wiring.results.size(),
                      exec::innerAttrName, b.getUnitAttr());
  kernel->setAttr(exec::deviceAttrName, first->getAttr(exec::deviceAttrName));
  llvm::SetVector<Attribute> nodes;
  int64_t flops = 0;
  b.setInsertionPointToStart(kernel.addEntryBlock());
  for (auto [member, places] : llvm::zip(wiring.kernels, wiring.places)) {
    func::FuncOp from = member;
    if (auto own = from->getAttrOfType<ArrayAttr>(exec::nodesAttrName))
      nodes.insert_range(own);
    if (auto own = from->getAttrOfType<exec::SizeAttr>(exec::flopsAttrName))
      flops += own.getLargest();
    IRMapping mapping;
    for (auto [i, place] : llvm::enumerate(places)) {
      BlockArgument argument = from.getArgument(i);
      mapping.map(argument,
                  view(b, kernel.getArgument(place.argument),
                       cast<MemRefType>(argument.getType()), place.offset));
    }
    Block *body = bodyOf(from), *entry = &from.getBody().front();
    for (Operation &op : entry->without_terminator())
      if (&op != body->getParentOp())
        b.clone(op, mapping);
    if (body != entry)
      for (Operation &op : body->without_terminator())
        b.clone(op, mapping);
  }
  func::ReturnOp::create(b, location);
  kernel->setAttr(exec::nodesAttrName, b.getArrayAttr(nodes.getArrayRef()));
  kernel->setAttr(exec::flopsAttrName, exec::SizeAttr::get(context, flops));
  kernel->setAttr(exec::groupsAttrName, exec::SizeAttr::get(context, 1));
  kernel->setAttr(exec::scratchAttrName, b.getI64IntegerAttr(0));
  return kernel;
}

/// Views that nobody reads.
static void eraseViews(Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    eraseViews(user->getResult(0));
    if (user->use_empty())
      user->erase();
  }
}

void KernelJoiner::join(ArrayRef<exec::InvokeOp> members) {
  Wiring wiring = wire(members);
  SmallVector<Location> locations;
  for (exec::InvokeOp member : members)
    locations.push_back(member.getLoc());
  Location location = FusedLoc::get(program.getContext(), locations);
  func::FuncOp &kernel = kernels[wiring.key()];
  if (!kernel)
    kernel = write(wiring, location);
  SmallVector<Type> types;
  for (Value result : wiring.results)
    types.push_back(result.getType());
  OpBuilder b(members.back());
  if (wiring.sharedBytes)
    types.push_back(RankedTensorType::get({wiring.sharedBytes}, b.getI8Type()));
  auto invoke = exec::InvokeOp::create(
      b, location, types, FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
      wiring.operands.getArrayRef());
  remark::passed(location, about(invoke, "Joined", "schedule"))
      << "is one stream of "
      << remark::metric("Kernels", int64_t(members.size())) << " kernels; "
      << remark::metric("Bytes", wiring.sharedBytes) << " bytes between them";
  for (auto [from, to] : llvm::zip(wiring.results, invoke.getResults()))
    from.replaceAllUsesWith(to);
  for (exec::InvokeOp member : llvm::reverse(members)) {
    joined.insert(kernelOf(member));
    // Views that only later members read.
    for (Value result : member->getResults())
      eraseViews(result);
    member.erase();
  }
}

void KernelJoiner::eraseUnused() {
  for (Operation *kernel : joined)
    if (SymbolTable::symbolKnownUseEmpty(kernel, program))
      symbols.erase(kernel);
}
