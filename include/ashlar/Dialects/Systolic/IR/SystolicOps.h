// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_SYSTOLIC_IR_SYSTOLICOPS_H
#define ASHLAR_DIALECTS_SYSTOLIC_IR_SYSTOLICOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ashlar/Dialects/Systolic/IR/SystolicDialect.h.inc"
#include "ashlar/Dialects/Systolic/IR/SystolicEnums.h.inc"
#define GET_OP_CLASSES
#include "ashlar/Dialects/Systolic/IR/SystolicOps.h.inc"

#endif // ASHLAR_DIALECTS_SYSTOLIC_IR_SYSTOLICOPS_H
