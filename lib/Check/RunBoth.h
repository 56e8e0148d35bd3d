// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What comparing with the reference and bisecting share.
#ifndef ASHLAR_LIB_CHECK_RUNBOTH_H
#define ASHLAR_LIB_CHECK_RUNBOTH_H

#include "ashlar/Check/Against.h"
#include "ashlar/Check/ModelRun.h"

namespace ashlar::check {

using Tensors = std::vector<Tensor>;

/// Compiles and loads.
llvm::Error prepare(ModelRun &model, const CompileOptions &compile,
                    const CompileHooks &hooks = {});

/// The same compile, for the target reference.
CompileOptions asReference(CompileOptions options);

llvm::Expected<Tensors> makeInputs(const AgainstOptions &options,
                                   const ModelRun &model);

/// The first output of a whole program that is too far from the reference's.
std::optional<WrongValue> findWrongOutput(const Tensors &found,
                                          const Tensors &expected,
                                          double tolerance);

/// "f32 1x8: 3 elements differ, most at [0, 2]: is 1, expected 2 (...)".
std::string spellWorst(const WrongValue &value);

} // namespace ashlar::check

#endif // ASHLAR_LIB_CHECK_RUNBOTH_H
