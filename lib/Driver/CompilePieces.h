// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_COMPILEPIECES_H
#define ASHLAR_LIB_DRIVER_COMPILEPIECES_H

#include "SizePieces.h"
#include "ashlar/Driver/Compile.h"

namespace ashlar {

/// One try of one form for all sizes of the options' ranges.
struct FormTrial {
  CompileResult result;
  SizeTrial trial = {SizeTrial::Fails};
  /// Of a refusal: it does not yet say what could be asked for instead.
  bool wantsRanges = false;
  std::string said; ///< errors, where they have not been printed
};

/// Writes what works. What is wrong goes to `said` unless the compile is
/// verbose; `log` gets everything else. `ends`: of which symbols the model is
/// another one beyond the largest sizes; empty: of none.
FormTrial compileOneForm(const CompileOptions &options,
                         const CompileHooks &hooks, llvm::raw_ostream &out,
                         llvm::raw_ostream &log,
                         const std::vector<bool> &ends = {});

/// After `whole`, the try of one form for all sizes, which was refused: makes
/// several and writes them as one module, if there are not too many. Else the
/// result is that of `whole`, with what was found beside it in what it said.
FormTrial compilePieces(const CompileOptions &options,
                        const CompileHooks &hooks, const FormTrial &whole,
                        llvm::raw_ostream &out, llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_COMPILEPIECES_H
