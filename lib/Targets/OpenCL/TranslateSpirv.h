// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For drivers that take no SPIR-V but the LLVM IR of cl_khr_spir (SPIR 1.2), as
// PoCL 3.1 does.
#ifndef ASHLAR_LIB_TARGETS_OPENCL_TRANSLATESPIRV_H
#define ASHLAR_LIB_TARGETS_OPENCL_TRANSLATESPIRV_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ashlar::opencl {

/// Bitcode of a SPIR-V module, by the program llvm-spirv of LLVM 15, the last
/// whose bitcode has types of pointers; by ASHLAR_LLVM_SPIRV or in PATH.
/// `kernels` are named where it is not done in time.
llvm::Expected<std::string>
translateSpirv(llvm::StringRef words, llvm::ArrayRef<llvm::StringRef> kernels);

/// The module with numbers instead of nulls of scalar types, which are the same
/// and which llvm-spirv 15 does not take.
std::string withoutScalarNulls(llvm::StringRef words);

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_TRANSLATESPIRV_H
