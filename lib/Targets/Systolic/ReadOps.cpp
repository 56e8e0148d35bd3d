// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StreamOps.h"
#include "ashlar/Dialects/Systolic/IR/SystolicOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::systolicir;

namespace {
class OpReader {
public:
  explicit OpReader(func::FuncOp function) : function(function) {
    kernel.name = function.getSymName().str();
    kernel.bindings = function.getNumArguments();
  }

  FailureOr<systolic::Kernel> read() {
    if (!llvm::hasSingleElement(function.getBody())) {
      function.emitOpError("expected one block of commands");
      return failure();
    }
    if (failed(readBlock(function.getBody().front())))
      return failure();
    return std::move(kernel);
  }

private:
  LogicalResult readBlock(Block &block);
  bool readConfiguration(Operation *op);
  bool readMatrices(Operation *op);
  void readConfig(ConfigExecuteOp op);
  void readConfig(ConfigLoadOp op);

  static uint32_t bitsOf(APFloat value) {
    return uint32_t(value.bitcastToAPInt().getZExtValue());
  }
  static uint64_t matrix(uint32_t place, uint32_t rows, uint32_t columns) {
    return ashlar_systolic_matrix(place, rows, columns);
  }
  static uint64_t address(Value memory, uint64_t offset) {
    if (!memory)
      return 0;
    return ashlar_systolic_address(cast<BlockArgument>(memory).getArgNumber(),
                                   offset);
  }
  void add(uint8_t funct, uint64_t rs1, uint64_t rs2, uint8_t unit = 0) {
    kernel.commands.push_back({funct, unit, 0, 0, rs1, rs2});
  }

  func::FuncOp function;
  systolic::Kernel kernel;
};
} // namespace

void OpReader::readConfig(ConfigExecuteOp op) {
  add(ASHLAR_SYSTOLIC_CONFIG,
      ashlar_systolic_config_ex1(op.getOutputStationary()
                                     ? ASHLAR_SYSTOLIC_OUTPUT_STATIONARY
                                     : ASHLAR_SYSTOLIC_WEIGHT_STATIONARY,
                                 op.getRelu(), op.getATransposed(),
                                 op.getBTransposed(), op.getAStride()),
      ashlar_systolic_config_ex2(op.getShift(), op.getCStride()));
}

void OpReader::readConfig(ConfigLoadOp op) {
  uint64_t rs1 = ashlar_systolic_config_ld1(
      op.getId(), op.getNarrow(), op.getBlockStride(), bitsOf(op.getScale()));
  add(ASHLAR_SYSTOLIC_CONFIG,
      (rs1 & ~uint64_t(0xff00)) | uint64_t(op.getPixels()) << 8,
      op.getStride());
}

/// What is set for commands to come; false: it is something else.
bool OpReader::readConfiguration(Operation *op) {
  bool isOne = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case<ConfigExecuteOp, ConfigLoadOp>([&](auto op) { readConfig(op); })
      .Case([&](ConfigStoreOp op) {
        add(ASHLAR_SYSTOLIC_CONFIG, ashlar_systolic_config_st1(op.getRelu()),
            ashlar_systolic_config_st2(op.getStride(), bitsOf(op.getScale())));
      })
      .Case([&](ConfigStreamOp op) {
        add(ASHLAR_SYSTOLIC_CONFIG_STREAM,
            ashlar_systolic_config_stream1(uint32_t(op.getStream()),
                                           op.getLevel(), op.getCount(),
                                           int32_t(op.getRows())),
            op.getBytes());
      })
      .Case([&](ConfigColumnsOp op) {
        add(ASHLAR_SYSTOLIC_CONFIG_COLUMNS, uint64_t(op.getStream()),
            uint64_t(op.getBlockStride()) << 32 | op.getFirst());
      })
      .Case([&](ConfigVectorOp op) {
        add(ASHLAR_SYSTOLIC_CONFIG_VECTOR,
            ashlar_systolic_config_vector1(op.getInteger(),
                                           uint32_t(op.getRight())),
            0);
      })
      .Default([&](Operation *) { isOne = false; });
  return isOne;
}

/// What moves rows or computes with them; false: it is something else.
bool OpReader::readMatrices(Operation *op) {
  bool isOne = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](MvinOp op) {
        static const uint8_t functs[] = {
            ASHLAR_SYSTOLIC_MVIN, ASHLAR_SYSTOLIC_MVIN2, ASHLAR_SYSTOLIC_MVIN3};
        add(functs[op.getId()], address(op.getMemory(), op.getOffset()),
            matrix(op.getPlace(), op.getRows(), op.getColumns()));
      })
      .Case([&](MvoutOp op) {
        add(ASHLAR_SYSTOLIC_MVOUT, address(op.getMemory(), op.getOffset()),
            matrix(op.getPlace(), op.getRows(), op.getColumns()));
      })
      .Case([&](TableOp op) {
        add(ASHLAR_SYSTOLIC_TABLE, address(op.getMemory(), op.getOffset()),
            op.getNumber());
      })
      .Case([&](PreloadOp op) {
        add(ASHLAR_SYSTOLIC_PRELOAD,
            matrix(op.getStationary(), op.getRows(), op.getColumns()),
            matrix(op.getResult(), op.getResultRows(), op.getResultColumns()),
            uint8_t(op.getArray()));
      })
      .Case([&](ComputeOp op) {
        add(op.getAgain() ? ASHLAR_SYSTOLIC_COMPUTE_ACCUMULATED
                          : ASHLAR_SYSTOLIC_COMPUTE_PRELOADED,
            matrix(op.getA(), op.getRows(), op.getColumns()),
            matrix(op.getMoving(), op.getMovingRows(), op.getMovingColumns()),
            uint8_t(op.getArray()));
      })
      .Case([&](VectorOp op) {
        uint32_t right = 0;
        if (auto number = dyn_cast_or_null<FloatAttr>(op.getImmediateAttr()))
          right = bitsOf(number.getValue());
        else if (auto whole =
                     dyn_cast_or_null<IntegerAttr>(op.getImmediateAttr()))
          right = uint32_t(whole.getInt());
        else if (op.getRight())
          right = uint32_t(*op.getRight());
        add(uint8_t(op.getFunction()),
            matrix(op.getResult(), op.getRows(), op.getColumns()),
            uint64_t(right) << 32 | uint32_t(op.getLeft()));
      })
      .Default([&](Operation *) { isOne = false; });
  return isOne;
}

LogicalResult OpReader::readBlock(Block &block) {
  for (Operation &op : block) {
    if (auto advance = op.getAttrOfType<DenseI64ArrayAttr>("advance"))
      for (int64_t i = 0; i < advance.size(); i += 3)
        add(ASHLAR_SYSTOLIC_ADVANCE, uint64_t(advance[i + 1]),
            uint64_t(advance[i + 2]), uint8_t(advance[i]));
    if (readConfiguration(&op) || readMatrices(&op))
      continue;
    LogicalResult result = success();
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](SyncOp op) {
          add(ASHLAR_SYSTOLIC_SYNC, op.getFrom(), op.getTo());
        })
        .Case([&](RegionOp op) {
          add(ASHLAR_SYSTOLIC_REGION, kernel.regions.size(), 0);
          kernel.regions.push_back(
              {runtime::String(std::string_view(op.getName())),
               op.getMultiplyAdds(), uint16_t(op.getKind()),
               uint16_t(op.getDataflow() ? uint32_t(*op.getDataflow()) : 0)});
        })
        .Case([&](LoopOp op) {
          add(ASHLAR_SYSTOLIC_LOOP, op.getCount(), 0);
          result = readBlock(op.getBody().front());
          add(ASHLAR_SYSTOLIC_END, 0, 0);
        })
        .Case([&](func::ReturnOp) {})
        .Default([&](Operation *other) {
          result = other->emitOpError("is no command of a stream");
        });
    if (failed(result))
      return failure();
  }
  return success();
}

FailureOr<systolic::Kernel> systolic::readOps(func::FuncOp function) {
  return OpReader(function).read();
}
