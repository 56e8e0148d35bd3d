// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StreamOps.h"
#include "ashlar/Dialects/Systolic/IR/SystolicOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::systolicir;

namespace {
class OpWriter {
public:
  OpWriter(OpBuilder &b, Location location, const systolic::Kernel &kernel,
           ValueRange memories)
      : b(b), location(location), kernel(kernel), memories(memories) {}

  void write() {
    for (const systolic::Command &command : kernel.commands)
      write(command);
  }

private:
  static int64_t field(uint64_t bits, unsigned from, unsigned width) {
    return int64_t(bits >> from & ((uint64_t(1) << width) - 1));
  }
  IntegerAttr i32(uint64_t value) {
    return b.getI32IntegerAttr(int32_t(uint32_t(value)));
  }
  IntegerAttr i64(uint64_t value) {
    return b.getI64IntegerAttr(int64_t(value));
  }
  template <typename Attr, typename Enum> Attr named(Enum value) {
    return Attr::get(b.getContext(), value);
  }
  UnitAttr unit(bool isSet) { return isSet ? b.getUnitAttr() : UnitAttr(); }
  FloatAttr f32(uint64_t bits) {
    return FloatAttr::get(b.getF32Type(),
                          APFloat(APFloat::IEEEsingle(), APInt(32, bits)));
  }
  /// Rows and columns of a matrix.
  IntegerAttr rows(uint64_t matrix) { return i32(field(matrix, 48, 16)); }
  IntegerAttr columns(uint64_t matrix) { return i32(field(matrix, 32, 16)); }
  Value memory(uint64_t address) {
    uint64_t binding = address >> ASHLAR_SYSTOLIC_BINDING_SHIFT;
    return binding ? memories[binding - 1] : Value();
  }
  IntegerAttr offset(uint64_t address) {
    return i64(field(address, 0, ASHLAR_SYSTOLIC_BINDING_SHIFT));
  }

  void write(const systolic::Command &command);
  bool writeTransfer(const systolic::Command &command,
                     DenseI64ArrayAttr advance);
  bool writeControl(const systolic::Command &command,
                    DenseI64ArrayAttr advance);
  void writeConfig(uint64_t rs1, uint64_t rs2, DenseI64ArrayAttr advance);
  void writeVector(const systolic::Command &command, DenseI64ArrayAttr advance);

  OpBuilder &b;
  Location location;
  const systolic::Kernel &kernel;
  ValueRange memories;
  SmallVector<int64_t> advances;
  bool isInteger = false;
};
} // namespace

void OpWriter::writeConfig(uint64_t rs1, uint64_t rs2,
                           DenseI64ArrayAttr advance) {
  switch (field(rs1, 0, 2)) {
  case ASHLAR_SYSTOLIC_CONFIG_EX:
    ConfigExecuteOp::create(
        b, location, unit(field(rs1, 2, 1) == 0), unit(field(rs1, 3, 1)),
        unit(field(rs1, 8, 1)), unit(field(rs1, 9, 1)), i32(field(rs1, 16, 16)),
        i32(field(rs2, 48, 16)), i32(field(rs2, 0, 32)), advance);
    return;
  case ASHLAR_SYSTOLIC_CONFIG_LD:
    ConfigLoadOp::create(b, location, i32(field(rs1, 3, 2)), i64(rs2),
                         i32(field(rs1, 16, 16)), unit(field(rs1, 2, 1)),
                         f32(field(rs1, 32, 32)), i32(field(rs1, 8, 8)),
                         advance);
    return;
  default:
    ConfigStoreOp::create(b, location, i32(field(rs2, 0, 32)),
                          unit(field(rs1, 2, 2)), f32(field(rs2, 32, 32)),
                          advance);
  }
}

void OpWriter::writeVector(const systolic::Command &command,
                           DenseI64ArrayAttr advance) {
  uint64_t rs1 = command.rs1, right = field(command.rs2, 32, 32);
  auto function = Function(command.funct);
  bool isBinary = function > Function::copy && function < Function::fill;
  bool takesImmediate =
      (function >= Function::fill && function <= Function::minimum_immediate) ||
      function == Function::lookup;
  TypedAttr immediate;
  if (takesImmediate)
    immediate = isInteger || function == Function::lookup
                    ? TypedAttr(i32(right))
                    : TypedAttr(f32(right));
  VectorOp::create(b, location, named<FunctionAttr>(function), i32(rs1),
                   rows(rs1), columns(rs1), i32(command.rs2),
                   isBinary ? i32(right) : IntegerAttr(), immediate, advance);
}

/// Between memory and chip; false: it is something else.
bool OpWriter::writeTransfer(const systolic::Command &command,
                             DenseI64ArrayAttr advance) {
  uint64_t rs1 = command.rs1, rs2 = command.rs2;
  switch (command.funct) {
  case ASHLAR_SYSTOLIC_MVIN:
  case ASHLAR_SYSTOLIC_MVIN2:
  case ASHLAR_SYSTOLIC_MVIN3: {
    int id = command.funct == ASHLAR_SYSTOLIC_MVIN    ? 0
             : command.funct == ASHLAR_SYSTOLIC_MVIN2 ? 1
                                                      : 2;
    MvinOp::create(b, location, i32(uint64_t(id)), memory(rs1), offset(rs1),
                   i32(rs2), rows(rs2), columns(rs2), advance);
    return true;
  }
  case ASHLAR_SYSTOLIC_MVOUT:
    MvoutOp::create(b, location, i32(rs2), rows(rs2), columns(rs2), memory(rs1),
                    offset(rs1), advance);
    return true;
  case ASHLAR_SYSTOLIC_TABLE:
    TableOp::create(b, location, i32(rs2), memory(rs1), offset(rs1), advance);
    return true;
  default:
    return false;
  }
}

/// Of the order and of what counts for what; false: it is something else.
bool OpWriter::writeControl(const systolic::Command &command,
                            DenseI64ArrayAttr advance) {
  uint64_t rs1 = command.rs1, rs2 = command.rs2;
  switch (command.funct) {
  case ASHLAR_SYSTOLIC_SYNC:
    SyncOp::create(b, location, i32(rs1), i32(rs2), advance);
    return true;
  case ASHLAR_SYSTOLIC_REGION: {
    const systolic::Region &region = kernel.regions[rs1];
    RegionOp::create(
        b, location, b.getStringAttr(llvm::StringRef(region.name)),
        named<KindAttr>(Kind(region.kind)), i64(region.multiplyAdds),
        region.dataflow ? named<systolicir::DataflowAttr>(
                              systolicir::Dataflow(region.dataflow))
                        : nullptr);
    return true;
  }
  case ASHLAR_SYSTOLIC_LOOP: {
    auto loop = LoopOp::create(b, location, i64(rs1));
    b.setInsertionPointToStart(&loop.getBody().emplaceBlock());
    return true;
  }
  case ASHLAR_SYSTOLIC_END:
    b.setInsertionPointAfter(b.getInsertionBlock()->getParentOp());
    return true;
  default:
    return false;
  }
}

void OpWriter::write(const systolic::Command &command) {
  uint64_t rs1 = command.rs1, rs2 = command.rs2;
  if (command.funct == ASHLAR_SYSTOLIC_ADVANCE) {
    advances.append({command.unit, int64_t(rs1), int64_t(rs2)});
    return;
  }
  DenseI64ArrayAttr advance;
  if (!advances.empty())
    advance = b.getDenseI64ArrayAttr(advances);
  advances.clear();
  if (writeTransfer(command, advance) || writeControl(command, advance))
    return;
  switch (command.funct) {
  case ASHLAR_SYSTOLIC_CONFIG:
    return writeConfig(rs1, rs2, advance);
  case ASHLAR_SYSTOLIC_CONFIG_STREAM:
    ConfigStreamOp::create(b, location,
                           named<StreamAttr>(Stream(field(rs1, 0, 8))),
                           i32(field(rs1, 8, 8)), i32(field(rs1, 16, 16)),
                           i32(field(rs1, 32, 32)), i64(rs2), advance);
    return;
  case ASHLAR_SYSTOLIC_CONFIG_COLUMNS:
    ConfigColumnsOp::create(b, location, named<StreamAttr>(Stream(rs1)),
                            i32(field(rs2, 0, 16)), i32(field(rs2, 32, 32)),
                            advance);
    return;
  case ASHLAR_SYSTOLIC_CONFIG_VECTOR:
    isInteger = field(rs1, 0, 1);
    ConfigVectorOp::create(b, location,
                           named<RightAttr>(Right(field(rs1, 1, 2))),
                           unit(isInteger), advance);
    return;
  case ASHLAR_SYSTOLIC_PRELOAD:
    PreloadOp::create(b, location, i32(rs1), rows(rs1), columns(rs1), i32(rs2),
                      rows(rs2), columns(rs2), i32(command.unit), advance);
    return;
  case ASHLAR_SYSTOLIC_COMPUTE_PRELOADED:
  case ASHLAR_SYSTOLIC_COMPUTE_ACCUMULATED:
    ComputeOp::create(
        b, location, i32(rs1), rows(rs1), columns(rs1), i32(rs2), rows(rs2),
        columns(rs2),
        unit(command.funct == ASHLAR_SYSTOLIC_COMPUTE_ACCUMULATED),
        i32(command.unit), advance);
    return;
  default:
    writeVector(command, advance);
  }
}

void systolic::writeOps(OpBuilder &builder, Location location,
                        const Kernel &kernel, ValueRange memories) {
  OpWriter(builder, location, kernel, memories).write();
}
