// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FoldLargeConstants.h"
#include "TargetOptions.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Emit/EmitModule.h"
#include "ashlar/Support/MemoryFile.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Targets/Target.h"
#include "ashlar/Transforms/Pipelines/Pipelines.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "ashlar/runtime/api.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace ashlar;

/// Steps of loops that are taken for constants: a product of two matrices of
/// 4096 rows and columns has as many.
static constexpr int64_t maximumSteps = int64_t(1) << 36;
/// Beyond these, plain loops would take a tenth of a second or more.
static constexpr int64_t fewSteps = int64_t(1) << 25;
/// Of a tensor that is larger than the constants it comes from: what lies
/// between them and a value, or a splat that is read out of memory.
static constexpr int64_t maximumBytes = int64_t(64) << 20;

namespace {
bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         tensor.getElementType().isIntOrFloat();
}

/// Steps of the op's loops; nothing where they cannot be told.
std::optional<int64_t> stepsOf(Operation *op) {
  int64_t steps = 0;
  if (auto loops = dyn_cast<linalg::LinalgOp>(op)) {
    steps = 1;
    for (int64_t range : loops.getStaticLoopRanges())
      if (ShapedType::isDynamic(range) ||
          llvm::MulOverflow(steps, range, steps))
        return std::nullopt;
    return steps;
  }
  for (Type type : op->getResultTypes())
    if (isStaticTensor(type))
      steps += cast<RankedTensorType>(type).getNumElements();
  return steps;
}

bool isSplat(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  return dense && dense.isSplat();
}

/// The values of one function that constants alone decide.
class ConstantValues {
public:
  explicit ConstantValues(func::FuncOp function) {
    for (Operation &op : function.getBody().front())
      if (isConstant(&op) && isAffordable(&op))
        ops.insert(&op);
  }

  /// Results that others read and that are no larger than their sources.
  SmallVector<Value> worthFolding() {
    SmallVector<Value> found;
    for (Operation *op : ops) {
      if (op->getNumResults() != 1 || isReshape(op) ||
          isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp>(op))
        continue;
      Value result = op->getResult(0);
      // Attributes pack the bits of booleans; there are few large ones.
      if (isStaticTensor(result.getType()) &&
          !getElementTypeOrSelf(result).isInteger(1) && isRead(result) &&
          byteSize(result.getType()) <= sourceBytes(op))
        found.push_back(result);
    }
    return found;
  }

  /// The ops that `values` need, in order.
  SmallVector<Operation *> neededBy(ArrayRef<Value> values) {
    llvm::SetVector<Operation *> needed;
    for (Value value : values)
      collect(value.getDefiningOp(), needed);
    SmallVector<Operation *> ordered;
    for (Operation *op : ops)
      if (needed.contains(op))
        ordered.push_back(op);
    return ordered;
  }

private:
  static Operation *topLevel(Operation *op, Block *block) {
    return block->findAncestorOpInBlock(*op);
  }

  static bool isReshape(Operation *op) {
    return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
  }

  /// Whether what is no constant reads it, if only in another shape.
  bool isRead(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (!ops.contains(topLevel(user, value.getParentBlock())))
        return true;
      return isReshape(user) && isRead(user->getResult(0));
    });
  }

  static llvm::SetVector<Value> operandsOf(Operation *op) {
    llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), operands);
    return operands;
  }

  bool isConstant(Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op) ||
        op->hasAttr(sizedAttrName))
      return false;
    return llvm::all_of(operandsOf(op), [&](Value operand) {
      return ops.contains(operand.getDefiningOp());
    });
  }

  /// Whether it pays to compute the op here; counts what it takes.
  bool isAffordable(Operation *op) {
    if (isa<arith::ConstantOp>(op) || op->getNumResults() == 0)
      return true;
    std::optional<int64_t> taken = stepsOf(op);
    int64_t bytes = 0;
    for (Type type : op->getResultTypes())
      if (isStaticTensor(type))
        bytes += byteSize(type);
    // What a product reads lies in memory, splats as well.
    auto loops = dyn_cast<linalg::LinalgOp>(op);
    if (loops && loops.getNumReductionLoops() != 0)
      for (Value operand : op->getOperands())
        if (Operation *source = operand.getDefiningOp();
            source && isSplat(source) && isStaticTensor(operand.getType()))
          bytes = std::max(bytes, byteSize(operand.getType()));
    bool isLarge = bytes > maximumBytes && bytes > sourceBytes(op);
    bool isLong = !taken || *taken > maximumSteps - steps;
    if (!isLarge && !isLong) {
      steps += *taken;
      return true;
    }
    // Places and initial values are made where they are used.
    if (isa<linalg::FillOp, tensor::EmptyOp>(op))
      return true;
    remark::missed(op->getLoc(), about(op, "Constant", "folding"))
        << "depends on constants alone, but every call computes it: "
        << remark::metric("Reason",
                          isLarge ? "it would take " + std::to_string(bytes) +
                                        " bytes, more than it comes from"
                                  : "with others, it would take more than " +
                                        std::to_string(maximumSteps) +
                                        " steps of loops");
    return false;
  }

  void collect(Operation *op, llvm::SetVector<Operation *> &needed) {
    SmallVector<Operation *> work = {op};
    while (!work.empty())
      if (Operation *next = work.pop_back_val(); needed.insert(next))
        for (Value operand : operandsOf(next))
          work.push_back(operand.getDefiningOp());
  }

  /// Bytes of the constants behind an op; a splat costs one element.
  int64_t sourceBytes(Operation *op) {
    llvm::SetVector<Operation *> needed;
    collect(op, needed);
    int64_t bytes = 0;
    for (Operation *source : needed)
      if (auto constant = dyn_cast<arith::ConstantOp>(source))
        if (isStaticTensor(constant.getType()) && !isSplat(source))
          bytes += byteSize(constant.getType());
    return bytes;
  }

  llvm::SetVector<Operation *> ops;
  int64_t steps = 0; ///< of all ops
};

/// Whether the op needs all elements of a splat to lie somewhere: sums of
/// products do, and results, parts of a whole, branches and loops.
bool readsFromMemory(Operation *op) {
  if (auto loops = dyn_cast<linalg::LinalgOp>(op))
    return loops.getNumReductionLoops() != 0;
  return isa<tensor::InsertSliceOp, tensor::ConcatOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() != 0;
}

/// A splat is one element until something reads it out of memory: one that is
/// too large to lie in the file for that is filled by the call.
void fillLargeSplats(func::FuncOp function) {
  for (auto constant : llvm::make_early_inc_range(
           function.getBody().front().getOps<arith::ConstantOp>())) {
    if (!isSplat(constant) || !isStaticTensor(constant.getType()) ||
        byteSize(constant.getType()) <= maximumBytes)
      continue;
    OpBuilder b(constant);
    Value filled;
    for (OpOperand &use : llvm::make_early_inc_range(constant->getUses())) {
      if (!readsFromMemory(use.getOwner()))
        continue;
      if (!filled) {
        auto type = cast<RankedTensorType>(constant.getType());
        auto elements = cast<DenseElementsAttr>(constant.getValue());
        Value element = arith::ConstantOp::create(
            b, constant.getLoc(),
            cast<TypedAttr>(elements.getSplatValue<Attribute>()));
        Value place = tensor::EmptyOp::create(
            b, constant.getLoc(), type.getShape(), type.getElementType());
        filled = linalg::FillOp::create(b, constant.getLoc(), element, place)
                     .getResult(0);
        remark::missed(constant->getLoc(),
                       about(constant, "Constant", "folding"))
            << "is one number many times, and every call fills it: its "
            << remark::metric("Bytes", byteSize(type))
            << " bytes are too many to lie in the file";
      }
      use.set(filled);
    }
    if (constant->use_empty())
      constant.erase();
  }
}

/// Frees the runtime's handles in the right order.
struct Handles {
  ashlar_runtime_t *runtime = nullptr;
  ashlar_module_t *module = nullptr;
  ashlar_session_t *session = nullptr;
  ~Handles() {
    ashlar_session_release(session);
    ashlar_module_release(module);
    ashlar_runtime_release(runtime);
  }
};

LogicalResult check(ashlar_status_t status, Location location) {
  if (status.code == ASHLAR_OK)
    return success();
  return emitError(location)
         << "constants cannot be computed: " << status.message;
}

/// A function without inputs that returns `values`, in a module of its own.
OwningOpRef<ModuleOp> extract(ConstantValues &constants,
                              ArrayRef<Value> values) {
  Location location = values.front().getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  auto function = func::FuncOp::create(
      b, location, "main",
      b.getFunctionType({}, ValueRange(values).getTypes()));
  b.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  for (Operation *op : constants.neededBy(values))
    b.clone(*op, mapping);
  SmallVector<Value> results;
  for (Value value : values)
    results.push_back(mapping.lookup(value));
  func::ReturnOp::create(b, location, results);
  return module;
}

/// What computes constants, by how much there is to do.
std::unique_ptr<Target> chooseTarget(ModuleOp module, std::string &name) {
  auto info = llvm::find_if(allTargets(), [](const TargetInfo &info) {
    return info.createForConstants != nullptr;
  });
  name = info->name + ":" + info->presets.front();
  // Whatever loops they have, counted in floats since they may overflow.
  double steps = 0;
  module.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() != 0)
      steps += double(stepsOf(op).value_or(0));
  });
  return steps > fewSteps
             ? info->createForConstants()
             : info->create(info->machineFor(info->presets.front()));
}

LogicalResult compileHere(ModuleOp module, const MemoryFile &file,
                          bool &refused) {
  std::string name;
  std::unique_ptr<Target> target = chooseTarget(module, name);
  PassManager place(module.getContext());
  buildPlacePipeline(place, {name});
  if (failed(place.run(module)))
    return failure();
  ModuleOp program = *module.getOps<ModuleOp>().begin();
  PassManager stages(module.getContext());
  TileOptions tiling = tileOptionsOf(*target);
  tiling.exactConvolution = true;
  buildFusePipeline(stages, target->capabilities().fuses, tiling);
  buildTilePipeline(stages, tiling, [&](OpPassManager &all) {
    target->buildKernelPipeline(all, {});
  });
  buildSchedulePipeline(stages);
  if (failed(stages.run(program)))
    return failure();
  EmitOptions options;
  options.refused = &refused;
  FailureOr<ProgramBinary> binary = target->emit(program, options);
  if (failed(binary))
    return failure();
  // What stops here is a lack of memory.
  refused = failed(
      emitModule({{{module, *binary}}}, Provenance(), file.descriptor()));
  return success(!refused);
}

/// Runs the module; `outputs` stay valid as long as the handles.
LogicalResult run(StringRef path, unsigned threads, Handles &handles,
                  MutableArrayRef<ashlar_tensor_t> outputs, Location location) {
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.threads = threads;
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  load.allow_native_code = 1;
  if (failed(
          check(ashlar_runtime_create(&options, &handles.runtime), location)) ||
      failed(check(ashlar_module_load_file(handles.runtime, path.str().c_str(),
                                           &load, &handles.module),
                   location)) ||
      failed(check(ashlar_session_create(handles.module, nullptr, nullptr,
                                         &handles.session),
                   location)))
    return failure();
  return check(ashlar_session_run(handles.session, "main", nullptr, 0,
                                  outputs.data(), outputs.size()),
               location);
}
} // namespace

LogicalResult ashlar::foldLargeConstants(func::FuncOp function,
                                         unsigned threads, bool &refused) {
  ConstantValues constants(function);
  SmallVector<Value> values = constants.worthFolding();
  if (values.empty()) {
    fillLargeSplats(function);
    return success();
  }
  Location location = values.front().getLoc();
  auto file = MemoryFile::create("constants.ash");
  if (!file) {
    refused = true;
    return emitError(location) << llvm::toString(file.takeError());
  }
  OwningOpRef<ModuleOp> module = extract(constants, values);
  Handles handles;
  SmallVector<ashlar_tensor_t> outputs(values.size(), ashlar_tensor_t{});
  if (failed(compileHere(*module, *file, refused)) ||
      failed(run(file->path(), threads, handles, outputs, location)))
    return failure();
  for (auto [value, output] : llvm::zip(values, outputs)) {
    auto type = cast<RankedTensorType>(value.getType());
    ArrayRef<char> bytes(static_cast<const char *>(output.data),
                         byteSize(type));
    OpBuilder b(value.getDefiningOp());
    AsmResourceBlob blob =
        HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64);
    Value constant = arith::ConstantOp::create(
        b, value.getLoc(),
        cast<TypedAttr>(
            DenseResourceElementsAttr::get(type, foldedName, std::move(blob))));
    value.replaceAllUsesWith(constant);
  }
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  fillLargeSplats(function);
  return success();
}
