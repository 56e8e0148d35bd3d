// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps that a program can do without, in their order: with fewer of them
// it computes the same numbers, slower. What is not done in vectors is done in
// plain loops. Looking for the step that makes a number wrong takes the first
// so many and leaves out the others.
#ifndef ASHLAR_TRANSFORMS_PIPELINES_PIPELINESTEPS_H
#define ASHLAR_TRANSFORMS_PIPELINES_PIPELINESTEPS_H

namespace ashlar {

enum class PipelineStep : unsigned {
  NormalizeGenerics,
  AssignLayouts,
  FuseElementwise,
  FormContracts, ///< with strategies and panels of weights
  AbsorbPadding,
  FormWinograd,
  MergeContracts,
  FuseDispatches,
  MergeReductions,
  TileKernels,
  ExpandContracts, ///< the loops of a strategy
  VectorizeGenerics,
  VectorizeSteps,
  OptimizeCode, ///< polynomials for functions, LLVM's passes
};
inline constexpr unsigned numSteps = 14;
/// Those of the stage `fuse`: with them and no more, kernels are fused, and
/// plain loops.
inline constexpr unsigned numFuseSteps = unsigned(PipelineStep::TileKernels);

/// "ashlar-assign-layouts": the pass, or what else the step is.
const char *stepName(PipelineStep step);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_PIPELINES_PIPELINESTEPS_H
