// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_PIPELINES_FUSELEVEL_H
#define ASHLAR_TRANSFORMS_PIPELINES_FUSELEVEL_H

namespace ashlar {

/// How much becomes one kernel. Integers are equal at every level and floats
/// close (sums in another order), so that a wrong one is found by comparing.
enum class FuseLevel {
  None,  ///< every op is a kernel of its own
  Basic, ///< elementwise chains, and the epilogues of contractions
  All    ///< also layouts, padding, transforms: everything
};

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_PIPELINES_FUSELEVEL_H
