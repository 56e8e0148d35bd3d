// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FoldLargeConstants.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Emit/EmitModule.h"
#include "ashlar/Support/MemoryFile.h"
#include "ashlar/Targets/Target.h"
#include "ashlar/Transforms/Pipelines/Pipelines.h"
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

namespace {
bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         tensor.getElementType().isIntOrFloat();
}

/// The values of one function that constants alone decide.
class ConstantValues {
public:
  explicit ConstantValues(func::FuncOp function) {
    for (Operation &op : function.getBody().front())
      if (isConstant(&op))
        ops.insert(&op);
  }

  /// Results that others read and that are no larger than their sources.
  SmallVector<Value> worthFolding() {
    SmallVector<Value> found;
    for (Operation *op : ops) {
      if (op->getNumResults() != 1 ||
          isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp,
              tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
        continue;
      Value result = op->getResult(0);
      // Attributes pack the bits of booleans; there are few large ones.
      bool isRead = isStaticTensor(result.getType()) &&
                    !getElementTypeOrSelf(result).isInteger(1) &&
                    llvm::any_of(result.getUsers(), [&](Operation *user) {
                      return !ops.contains(topLevel(user, op->getBlock()));
                    });
      if (isRead && byteSize(result.getType()) <= sourceBytes(op))
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

  static llvm::SetVector<Value> operandsOf(Operation *op) {
    llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), operands);
    return operands;
  }

  bool isConstant(Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op))
      return false;
    return llvm::all_of(operandsOf(op), [&](Value operand) {
      return ops.contains(operand.getDefiningOp());
    });
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
        if (isStaticTensor(constant.getType())) {
          auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
          if (!dense || !dense.isSplat())
            bytes += byteSize(constant.getType());
        }
    return bytes;
  }

  llvm::SetVector<Operation *> ops;
};

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

LogicalResult compileForReference(ModuleOp module, const MemoryFile &file,
                                  bool &refused) {
  auto info = llvm::find_if(allTargets(), [](const TargetInfo &info) {
    return info.name == "reference";
  });
  std::unique_ptr<Target> target =
      info->create(info->machineFor(info->presets.front()));
  PassManager place(module.getContext());
  buildPlacePipeline(place, {info->name + ":" + info->presets.front()});
  if (failed(place.run(module)))
    return failure();
  ModuleOp program = *module.getOps<ModuleOp>().begin();
  PassManager stages(module.getContext());
  buildFusePipeline(stages, target->fuses(), target->tileOptions());
  buildTilePipeline(stages, target->tileOptions());
  buildSchedulePipeline(stages);
  if (failed(stages.run(program)))
    return failure();
  EmitOptions options;
  options.refused = &refused;
  FailureOr<ProgramBinary> binary = target->emit(program, options);
  if (failed(binary))
    return failure();
  // What stops here is a lack of memory.
  refused =
      failed(emitModule(module, *binary, Provenance(), file.descriptor()));
  return success(!refused);
}

/// Runs the module; `outputs` stay valid as long as the handles.
LogicalResult run(StringRef path, Handles &handles,
                  MutableArrayRef<ashlar_tensor_t> outputs, Location location) {
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  load.allow_native_code = 1;
  if (failed(
          check(ashlar_runtime_create(nullptr, &handles.runtime), location)) ||
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

LogicalResult ashlar::foldLargeConstants(func::FuncOp function, bool &refused) {
  ConstantValues constants(function);
  SmallVector<Value> values = constants.worthFolding();
  if (values.empty())
    return success();
  Location location = values.front().getLoc();
  auto file = MemoryFile::create("constants.ash");
  if (!file) {
    refused = true;
    return emitError(location) << llvm::toString(file.takeError());
  }
  OwningOpRef<ModuleOp> module = extract(constants, values);
  Handles handles;
  SmallVector<ashlar_tensor_t> outputs(values.size(), ashlar_tensor_t{});
  if (failed(compileForReference(*module, *file, refused)) ||
      failed(run(file->path(), handles, outputs, location)))
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
            DenseResourceElementsAttr::get(type, "folded", std::move(blob))));
    value.replaceAllUsesWith(constant);
  }
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}
