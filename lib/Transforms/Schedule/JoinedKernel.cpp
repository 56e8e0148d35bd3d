// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "JoinedKernel.h"
#include "ArenaPlan.h"
#include "PartOrder.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;

bool KernelJoiner::isJoinable(exec::InvokeOp invoke) const {
  exec::KernelOp kernel = kernelOf(invoke);
  exec::SizeAttr groups = kernel.getGroups();
  if (!kernel.getBody() || !groups || !groups.isConstant() ||
      groups.getConstant() != 1 || kernel.getNumParameters() != 0)
    return false;
  func::FuncOp function = bodyOf(invoke);
  if (!function || function.isDeclaration())
    return false;
  bool hasContract = false;
  auto isPart = [&](Operation &op) {
    hasContract |= isa<tile::ContractOp>(op);
    return isa<tile::ContractOp, arith::ConstantOp>(op) ||
           (isa<memref::SubViewOp>(op) && op.getNumOperands() == 1);
  };
  Block *body = workOf(function), *entry = &function.getBody().front();
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
  /// One after the other, what is computed by a member's kernel, and in how
  /// many parts the batch comes.
  struct Step {
    exec::KernelOp kernel;
    func::FuncOp body;
    int64_t parts = 1;
    SmallVector<bool> isSliced;
    SmallVector<Place> places; ///< by argument
  };
  SmallVector<Step> steps;
  int64_t membersInParts = 0;
  llvm::SetVector<Value> operands; ///< of the joined kernel
  SmallVector<Value> results;      ///< read by others
  int64_t sharedBytes = 0;         ///< one more result; 0: none

  std::string key() const;
};

std::string KernelJoiner::Wiring::key() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << operands.size() << ' ' << results.size() << ' ' << sharedBytes;
  for (const Step &step : steps) {
    out << ' ' << exec::KernelOp(step.kernel).getSymName() << '/' << step.parts;
    for (const Place &place : step.places)
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

namespace {
using Place = KernelJoiner::Wiring::Place;

/// Where each member's buffers lie in the kernel that all of them become.
class Wirer {
public:
  Wirer(ArrayRef<exec::InvokeOp> members, ArrayRef<Batch> batches,
        ArrayRef<Instance> order)
      : members(members), batches(batches), order(order),
        steps(members.size()) {
    for (auto [i, member] : llvm::enumerate(members))
      numbers[member] = i;
    for (auto [i, instance] : llvm::enumerate(order))
      steps[instance.member].push_back(int64_t(i));
  }

  /// What only members read becomes shared memory, all else arguments.
  void sortValues(KernelJoiner::Wiring &wiring);
  void placeShared(KernelJoiner::Wiring &wiring);
  /// Of one argument of a member, in one part of its batch.
  Place placeOf(const KernelJoiner::Wiring &wiring, const Instance &instance,
                Value value, size_t argument) const;

private:
  bool isInner(Value value, SmallVectorImpl<size_t> &readers) const;
  void share(Value result, size_t member, ArrayRef<size_t> readers);

  ArrayRef<exec::InvokeOp> members;
  ArrayRef<Batch> batches;
  ArrayRef<Instance> order;
  llvm::DenseMap<Operation *, size_t> numbers;
  /// By member: its steps, one for each part of the batch.
  SmallVector<SmallVector<int64_t>> steps;
  /// Results, or parts of them, with offsets of 0.
  llvm::DenseMap<Value, SmallVector<Place>> made;
  SmallVector<ArenaRequest> requests;
  SmallVector<std::pair<Value, size_t>> shared; ///< and which part
};
} // namespace

/// Views are read through; whoever else reads a result wants it whole.
bool Wirer::isInner(Value value, SmallVectorImpl<size_t> &readers) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto found = numbers.find(user);
    if (found != numbers.end()) {
      readers.push_back(found->second);
      return true;
    }
    return isView(user) && isInner(user->getResult(0), readers);
  });
}

/// Parts have their own places, where each is read before the next one is made.
void Wirer::share(Value result, size_t member, ArrayRef<size_t> readers) {
  size_t parts = steps[member].size();
  bool isApart = llvm::all_of(readers, [&](size_t reader) {
    return steps[reader].size() == parts &&
           (parts == 1 || steps[reader].front() < steps[member].back());
  });
  size_t pieces = isApart ? parts : 1;
  made[result].resize(pieces);
  for (size_t piece = 0; piece < pieces; ++piece) {
    int64_t last = 0;
    for (size_t reader : readers)
      last =
          std::max(last, isApart ? steps[reader][piece] : steps[reader].back());
    shared.push_back({result, piece});
    requests.push_back({steps[member][piece], last + 1,
                        byteSize(result.getType()) / int64_t(pieces)});
  }
}

void Wirer::sortValues(KernelJoiner::Wiring &wiring) {
  for (auto [i, member] : llvm::enumerate(members)) {
    for (Value result : member->getResults()) {
      SmallVector<size_t> readers;
      if (isInner(result, readers)) {
        readers.push_back(i);
        share(result, i, readers);
      } else {
        wiring.results.push_back(result);
      }
    }
    for (Value operand : exec::InvokeOp(member).getOperands())
      if (!numbers.count(viewed(operand).getDefiningOp()))
        wiring.operands.insert(operand);
  }
}

void Wirer::placeShared(KernelJoiner::Wiring &wiring) {
  unsigned first = wiring.operands.size();
  for (auto [i, result] : llvm::enumerate(wiring.results))
    made[result] = {{unsigned(first + i), 0, false}};
  ArenaPlan plan = planArena(requests);
  wiring.sharedBytes = plan.bytes;
  for (auto [piece, offset] : llvm::zip(shared, plan.offsets))
    made[piece.first][piece.second] = {unsigned(first + wiring.results.size()),
                                       offset, true};
}

Place Wirer::placeOf(const KernelJoiner::Wiring &wiring,
                     const Instance &instance, Value value,
                     size_t argument) const {
  auto found = made.find(viewed(value));
  Place place;
  bool isPiece = false;
  if (found == made.end()) {
    auto at = llvm::find(wiring.operands, value);
    place.argument = unsigned(at - wiring.operands.begin());
  } else {
    isPiece = found->second.size() > 1;
    place = found->second[isPiece ? instance.part : 0];
  }
  int64_t unit =
      place.isShared ? elementBytes(getElementTypeOrSelf(value.getType())) : 1;
  if (found != made.end() && !isPiece)
    place.offset += offsetOf(value) * unit;
  bool isSliced = instance.parts > 1 &&
                  batches[instance.member].isSliced[argument] && !isPiece;
  if (isSliced)
    place.offset += instance.part * unit *
                    cast<ShapedType>(value.getType()).getNumElements() /
                    instance.parts;
  return place;
}

KernelJoiner::Wiring
KernelJoiner::wire(ArrayRef<exec::InvokeOp> members) const {
  SmallVector<Batch> batches;
  for (exec::InvokeOp member : members)
    batches.push_back(batchOf(bodyOf(member)));
  // Lanes take turns with the arrays: parts of a batch are too short for that,
  // and cost a fifth more of MobileNetV2 at batch 8.
  bool hasLanes = llvm::any_of(members, [&](exec::InvokeOp member) {
    return isDepthwise(bodyOf(member));
  });
  SmallVector<Instance> order =
      orderByPart(members, batches, hasLanes ? 0 : chipBytes);
  Wiring wiring;
  Wirer wirer(members, batches, order);
  wirer.sortValues(wiring);
  wirer.placeShared(wiring);
  for (const Instance &instance : order) {
    exec::InvokeOp member = members[instance.member];
    Wiring::Step &step = wiring.steps.emplace_back();
    step.kernel = kernelOf(member);
    step.body = bodyOf(member);
    step.parts = instance.parts;
    if (step.parts > 1) {
      step.isSliced = batches[instance.member].isSliced;
      wiring.membersInParts += instance.part == 0;
    }
    SmallVector<Value> arguments(member.getOperands());
    llvm::append_range(arguments, member->getResults());
    for (auto [i, argument] : llvm::enumerate(arguments))
      step.places.push_back(wirer.placeOf(wiring, instance, argument, i));
  }
  return wiring;
}

/// Of a batch that comes in parts.
static MemRefType partOf(MemRefType type, int64_t parts) {
  SmallVector<int64_t> shape(type.getShape());
  shape.front() /= parts;
  return MemRefType::get(shape, type.getElementType());
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

exec::KernelOp KernelJoiner::write(const Wiring &wiring, size_t members,
                                   Location location) {
  MLIRContext *context = program.getContext();
  OpBuilder b(context);
  SmallVector<Type> operands, results;
  auto memory = [](Type type) -> Type {
    auto tensor = cast<RankedTensorType>(type);
    return MemRefType::get(tensor.getShape(), tensor.getElementType());
  };
  for (Value operand : wiring.operands)
    operands.push_back(memory(operand.getType()));
  for (Value result : wiring.results)
    results.push_back(memory(result.getType()));
  if (wiring.sharedBytes)
    results.push_back(MemRefType::get({wiring.sharedBytes}, b.getI8Type()));
  exec::KernelOp first = wiring.steps.front().kernel;
  // No scratch, and one group.
  auto [kernel, function] =
      exec::addKernel(symbols, location,
                      (first.getSymName() + "_and_" + Twine(members - 1)).str(),
                      b.getFunctionType(operands, results),
                      {MemRefType::get({0}, b.getI8Type()), b.getIndexType(),
                       b.getIndexType()});
  if (wiring.sharedBytes)
    function.setArgAttr(wiring.operands.size() + wiring.results.size(),
                        exec::innerAttrName, b.getUnitAttr());
  kernel.setDevice(first.getDevice());
  llvm::SetVector<Attribute> nodes;
  int64_t flops = 0;
  b.setInsertionPointToStart(&function.getBody().front());
  for (const Wiring::Step &step : wiring.steps) {
    exec::KernelOp from = step.kernel;
    func::FuncOp source = step.body;
    if (ArrayAttr own = from.getNodesAttr())
      nodes.insert_range(own);
    if (exec::SizeAttr own = from.getFlopsAttr())
      flops += own.getLargest() / step.parts;
    IRMapping mapping;
    for (auto [i, place] : llvm::enumerate(step.places)) {
      BlockArgument argument = source.getArgument(i);
      auto type = cast<MemRefType>(argument.getType());
      if (step.parts > 1 && step.isSliced[i])
        type = partOf(type, step.parts);
      mapping.map(argument, view(b, function.getArgument(place.argument), type,
                                 place.offset));
    }
    auto clone = [&](Operation &op) {
      auto contract = dyn_cast<tile::ContractOp>(b.clone(op, mapping));
      if (!contract || step.parts == 1)
        return;
      SmallVector<int64_t> parallel(contract.getParallel());
      parallel.front() /= step.parts;
      contract.setParallel(parallel);
    };
    Block *work = workOf(source), *entry = &source.getBody().front();
    for (Operation &op : entry->without_terminator())
      if (&op != work->getParentOp())
        clone(op);
    if (work != entry)
      for (Operation &op : work->without_terminator())
        clone(op);
  }
  func::ReturnOp::create(b, location);
  kernel.setNodesAttr(b.getArrayAttr(nodes.getArrayRef()));
  kernel.setFlopsAttr(exec::SizeAttr::get(context, flops));
  kernel.setGridAttr(b.getArrayAttr({exec::SizeAttr::get(context, 1)}));
  kernel.setScratchBytes(0);
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
  exec::KernelOp &kernel = kernels[wiring.key()];
  if (!kernel)
    kernel = write(wiring, members.size(), location);
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
      << remark::metric("Bytes", wiring.sharedBytes) << " bytes between them; "
      << remark::metric("InParts", wiring.membersInParts)
      << " of them part by part of the batch";
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
  for (Operation *kernel : joined) {
    if (!SymbolTable::symbolKnownUseEmpty(kernel, program))
      continue;
    Operation *body = symbols.lookup(*cast<exec::KernelOp>(kernel).getBody());
    symbols.erase(kernel);
    symbols.erase(body);
  }
}
