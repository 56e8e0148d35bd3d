// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ends of the stage `tile` that several targets share. They run on a program.
#ifndef ASHLAR_TRANSFORMS_PIPELINES_KERNELPIPELINES_H
#define ASHLAR_TRANSFORMS_PIPELINES_KERNELPIPELINES_H

#include "ashlar/Machine/MachineModel.h"
#include "ashlar/Transforms/Pipelines/PipelineSteps.h"
#include "mlir/Pass/PassManager.h"
#include <cstdint>

namespace ashlar {

/// For cores with registers of lanes, and of matrices where a strategy says so.
struct LanesOptions {
  int64_t vectorBytes, registers; ///< of one; how many
  unsigned steps = numSteps;      ///< that are taken
  /// That issue a step together, where strategies say that threads share an
  /// accumulator; other kernels are a thread's. 0: none do.
  int64_t threads = 0;
  int64_t groups = 1; ///< of so many threads, in kernels of no contraction
  int64_t shared = 0; ///< bytes that the threads of a workgroup have together
  std::vector<std::string> engines; ///< whose copies go on by themselves
  /// Those that roles alone wait for; and who copies where there are none.
  std::vector<std::string> roleEngines;
  std::string otherwise = "lanes";
  std::string stores; ///< that which results leave by; empty: threads do it
  std::vector<std::string> scopes; ///< of threads: NAME=THREADS
  bool shuffles = false; ///< those of a group read each other's values
  int64_t piece = 0; ///< bytes that a thread reads at once; 0: single elements
  /// An engine copies 4 bytes for each thread, to neighbouring places.
  bool copyWords = false;

  bool takes(PipelineStep step) const { return unsigned(step) < steps; }
};
/// For a machine: its vectors, and the threads that share an accumulator if it
/// has such.
LanesOptions lanesOf(const MachineModel &machine, unsigned steps);
void buildLanesPipeline(mlir::OpPassManager &program,
                        const LanesOptions &options);

/// Plain loops over single elements, in the order of the definition.
void buildLoopsPipeline(mlir::OpPassManager &program);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_PIPELINES_KERNELPIPELINES_H
