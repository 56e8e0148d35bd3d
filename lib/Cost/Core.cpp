// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/Core.h"
#include "ashlar/Analysis/ByteSize.h"

using namespace mlir;
using namespace ashlar;

static StringRef typeName(Type type, bool isUnsigned) {
  if (type.isF64())
    return "f64";
  if (type.isF32())
    return "f32";
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (isa<Float8E4M3FNType>(type))
    return "f8e4m3";
  if (isa<Float8E5M2Type>(type))
    return "f8e5m2";
  if (isa<Float8E4M3FNUZType>(type))
    return "f8e4m3fnuz";
  if (isa<Float8E5M2FNUZType>(type))
    return "f8e5m2fnuz";
  switch (type.getIntOrFloatBitWidth()) {
  case 8:
    return isUnsigned ? "u8" : "s8";
  case 16:
    return isUnsigned ? "u16" : "s16";
  case 32:
    return isUnsigned ? "u32" : "s32";
  default:
    return isUnsigned ? "u64" : "s64";
  }
}

ProductTypes ashlar::productOf(tile::ContractOp op) {
  Type a = getElementTypeOrSelf(op.getA().getType());
  Type b = getElementTypeOrSelf(op.getB().getType());
  return {typeName(a, op.getAUnsigned()).str(),
          typeName(b, op.getBUnsigned()).str(),
          typeName(op.getAccumulatorType(), /*isUnsigned=*/false).str()};
}

ProductTypes ashlar::productOf(Type left, Type right, Type sum) {
  auto spell = [](Type type) { return typeName(type, false).str(); };
  return {spell(left), spell(right), spell(sum)};
}

Core::Core(const MachineModel &machine, tile::ContractOp op, bool groups)
    : vectorBytes(machine.vectors.bytes), registers(machine.vectors.count),
      sumBytes(elementBytes(op.getAccumulatorType())) {
  int64_t lanes = vectorBytes / sumBytes;
  Type a = getElementTypeOrSelf(op.getA().getType());
  ProductTypes product = productOf(op);
  if (groups)
    matrices = machine.matrixUnit(product);
  // Types without a unit of their own are extended and take that of the sum.
  const MultiplyUnit *unit = machine.vectorUnit(product, groups);
  if (!unit) {
    product.left = product.right = product.accumulator;
    unit = machine.vectorUnit(product, /*groups=*/false);
  }
  if (unit) {
    group = unit->k;
    vectorUnit = unit->name;
    multiplyAddsPerCycle =
        double(unit->m * unit->n) * unit->stepsPerCycle / double(lanes);
    latency = unit->latencyCycles * multiplyAddsPerCycle;
  }
  // As wide as a sum.
  int64_t together = sumBytes / elementBytes(a);
  if (matrices && matrices->k % together == 0 && group <= together) {
    multiplyAddsPerCycle /= double(together) / double(group);
    group = together;
  } else {
    matrices = nullptr;
  }
  hz = machine.clock.hz > 0 ? machine.clock.hz : hz;
  const Memory &near = machine.nearest();
  nearBytes = near.bytes;
  const Memory &far = machine.farthestOwn();
  farBytes = far.bytes;
  farMemory = far.name;
  farBytesPerCycle = std::max(1.0, machine.readBytesPerCycle(far));
  loadsPerCycle = std::max(1.0, machine.readBytesPerCycle(near) / vectorBytes);
  coldBytesPerCycle =
      std::max(0.5, machine.readBytesPerCycle(machine.memories.back()) / 2);
  for (const Memory &memory : machine.memories)
    if (memory.bytes > farBytes || memory.bytes == 0) {
      beyondBytesPerCycle = std::max(1.0, machine.readBytesPerCycle(memory));
      break;
    }
  mainLatency = machine.memories.back().latencyCycles;
}

int64_t Core::vectorsOfMatrix(const MultiplyUnit &unit) const {
  // Terms lie in groups as wide as a sum.
  int64_t bytes = unit.k / group * sumBytes;
  return llvm::divideCeil(bytes, vectorBytes);
}

StringRef Prediction::bound() const {
  if (main >= std::max(boxes, farther))
    return "main memory";
  if (farther >= boxes)
    return "farther memory";
  return nearest > compute ? "nearest memory" : "compute";
}
