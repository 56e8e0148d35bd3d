// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ThreadCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

/// Functions that instructions compute to the last bit, or that
/// ashlar-approximate-math writes, which is for up to 32 bits, but for two.
static bool hasCode(mlir::Operation *op) {
  namespace arith = mlir::arith;
  namespace math = mlir::math;
  if (!isa<arith::RemFOp>(op) && op->getName().getDialectNamespace() !=
                                     math::MathDialect::getDialectNamespace())
    return true;
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
          math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp,
          math::ExpOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
          math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::LogOp,
          math::RoundEvenOp, math::RoundOp, math::RsqrtOp, math::SqrtOp,
          math::TruncOp>(op))
    return true;
  if (isa<arith::RemFOp, math::AcosOp, math::AcoshOp, math::AsinOp,
          math::AsinhOp, math::Atan2Op, math::AtanOp, math::AtanhOp,
          math::CosOp, math::CoshOp, math::ErfOp, math::Exp2Op, math::ExpM1Op,
          math::Log10Op, math::Log1pOp, math::Log2Op, math::PowFOp, math::SinOp,
          math::SinhOp, math::TanOp, math::TanhOp>(op))
    return getElementTypeOrSelf(op->getResult(0).getType())
               .getIntOrFloatBitWidth() <= 32;
  return false;
}

std::string ashlar::functionWithoutCode(mlir::Operation *op) {
  std::string name;
  op->walk([&](mlir::Operation *inner) {
    if (hasCode(inner))
      return mlir::WalkResult::advance();
    name = inner->getName().getStringRef().str();
    return mlir::WalkResult::interrupt();
  });
  return name;
}

/// What an instruction asks for that neither GPUs have to the last bit (their
/// sines, powers of two and the like are approximations) nor
/// ashlar-approximate-math has written before.
static StringRef missingFunction(const Instruction &instruction) {
  if (instruction.getOpcode() == Instruction::FRem)
    return "fmod";
  auto *call = dyn_cast<CallInst>(&instruction);
  Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee)
    return "";
  if (!callee->isIntrinsic())
    return callee->isDeclaration() ? callee->getName() : "";
  switch (callee->getIntrinsicID()) {
  case Intrinsic::acos:
  case Intrinsic::asin:
  case Intrinsic::atan:
  case Intrinsic::atan2:
  case Intrinsic::cos:
  case Intrinsic::cosh:
  case Intrinsic::exp:
  case Intrinsic::exp10:
  case Intrinsic::exp2:
  case Intrinsic::log:
  case Intrinsic::log10:
  case Intrinsic::log2:
  case Intrinsic::pow:
  case Intrinsic::powi:
  case Intrinsic::sin:
  case Intrinsic::sinh:
  case Intrinsic::tan:
  case Intrinsic::tanh:
    return Intrinsic::getBaseName(callee->getIntrinsicID())
        .drop_front(StringRef("llvm.").size());
  default:
    return "";
  }
}

Error ashlar::checkCalls(const Module &module, StringRef who,
                         StringRef target) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (StringRef name = missingFunction(instruction); !name.empty())
        return createStringError(
            who + " has no function '" + name + "'" +
            (instruction.getType()->getScalarType()->isDoubleTy() ? " of f64"
                                                                  : "") +
            "; let the processor do what needs it: --target=cpu+" + target +
            ":PRESET");
  return Error::success();
}

const char *const ashlar::joiningPasses =
    "function(loop-unroll<O3;partial;no-upperbound;no-peeling;no-runtime>,"
    "instcombine<no-verify-fixpoint>,infer-address-spaces,"
    "separate-const-offset-from-gep,slsr,early-cse,infer-alignment),globaldce";
