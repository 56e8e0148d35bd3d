// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One form of a model for all sizes of some ranges. It is compiled for the
// largest sizes; how everything in it changes with them is found by reading it
// at other sizes, too.
#ifndef ASHLAR_LIB_DRIVER_SIZEDCOMPILATION_H
#define ASHLAR_LIB_DRIVER_SIZEDCOMPILATION_H

#include "ModelGraph.h"
#include "ProgramSizes.h"
#include "ProgressLine.h"
#include "SizeBounds.h"
#include "SizeFormulas.h"
#include "SizePieces.h"
#include "SizedOps.h"
#include "ashlar/Driver/Compile.h"
#include "llvm/ADT/SetVector.h"

namespace ashlar {

/// "N=1, W=32".
std::string spellSizes(const std::vector<SizeRange> &ranges,
                       const SizePoint &point);

/// The options for one value of each symbol: shapes in numbers.
CompileOptions optionsAt(const CompileOptions &options, const SizePoint &point);

class SizedCompilation {
public:
  /// `log` gets what is wrong, `steps` what is verbose; `progress` is null
  /// where nobody watches.
  SizedCompilation(const CompileOptions &options, const CompileHooks &hooks,
                   llvm::raw_ostream &out, llvm::raw_ostream &log,
                   llvm::raw_ostream &steps, ProgressLine *progress)
      : options(options), hooks(hooks), out(out), log(log), steps(steps),
        progress(progress),
        choices(hooks.choices ? hooks.choices
                              : std::make_shared<FirstChoices>()) {
    context.loadDialect<exec::ExecDialect>();
  }

  /// Finds out how everything follows from the sizes, and whether it does.
  CompileResult study();
  /// Compiles what has been studied; diagnostics go to `log`, too.
  CompileResult write(llvm::raw_ostream &log, const CompileHooks &hooks);
  /// Before that: of these symbols the model is another one beyond the largest
  /// sizes.
  void endAtLargest(std::vector<bool> symbols) { ends = std::move(symbols); }
  bool canBeRead(const SizePoint &point);
  /// Whether the model's numbers grow evenly, or as squares, as a symbol
  /// shrinks by `step` again and again.
  bool growsEvenly(SizePoint point, size_t symbol, int64_t step);
  void endProgress() { progress = nullptr; }

  /// Of a refusal: whether it says the most that could be asked for.
  bool namesRange = false;
  /// Likewise: whether it is one that parts of the sizes may not be.
  bool isOfForms = false;
  /// Likewise: where the model becomes another one.
  std::optional<SizeCut> cut;

private:
  /// What a model is at one size.
  struct View {
    std::vector<ProgramSizes> programs; ///< after fuse, one for each target
    ProgramSizes model;                 ///< after import
    std::unique_ptr<ModelGraph> graph;  ///< the same
    std::unique_ptr<ModelGraph> folded; ///< after simplify
  };
  /// How each number of a graph at the largest sizes follows from sizes; null:
  /// unknown.
  using Formulas = std::vector<exec::SizeAttr>;

  // SizedCompilation.cpp
  void findSizedOps();
  void makeRoom();
  CompileResult readLargest(const SizePoint &largest, View &view);
  CompileResult readAll();
  bool take(const SizePoint &point);
  bool numbersGrowEvenly(size_t begin, llvm::ArrayRef<int64_t> times) const;
  bool lookAlong(size_t symbol, int64_t way);
  void predictLosses();
  CompileResult readAt(const SizePoint &point, Stage until, View &view,
                       llvm::raw_ostream &log);
  mlir::LogicalResult writeFormulas(mlir::ModuleOp program,
                                    llvm::raw_ostream &log);
  void refuseOutgrown(const std::string &node, exec::SizeAttr formula,
                      const OutgrownSize &size, llvm::raw_ostream &log);
  std::string spell(const SizePoint &point) const {
    return spellSizes(options.sizes, point);
  }

  // CheckSizes.cpp
  bool checkAll();
  std::vector<SizePoint> pointsToCheck() const;
  llvm::SetVector<mlir::AffineExpr> divisionsUnseen(unsigned symbol) const;
  bool agreesAt(const SizePoint &point, std::string &node,
                llvm::raw_ostream &log);
  bool agreesAt(const SizePoint &point);
  std::string smallerRange(const SizePoint &bad);
  void findCut(const SizePoint &bad);
  int64_t firstThatAgrees(size_t symbol, SizePoint bad, int64_t right);
  Formulas formulasOf(std::unique_ptr<ModelGraph> View::*graph);
  const std::string *compare(std::unique_ptr<ModelGraph> View::*graph,
                             const Formulas &formulas, const View &view,
                             const SizePoint &point) const;

  const CompileOptions &options;
  const CompileHooks &hooks;
  llvm::raw_ostream &out, &log, &steps;
  ProgressLine *progress;
  std::shared_ptr<FirstChoices> choices; ///< of the largest sizes
  unsigned reads = 0;
  /// Of what outlives the reading of a model.
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::vector<bool> ends; ///< empty: none
  SizedOps sizedOps;
  std::vector<CompileOptions::State> roomy; ///< states where the model is read
  std::vector<SizePoint> points;
  std::vector<View> seen; ///< at each point
  Formulas graphFormulas, foldedFormulas;
  /// Something is computed of sizes alone, such as a comparison with a number.
  bool decidesBySizes = false;
  unsigned program = 0;      ///< that is written next
  std::string different;     ///< what was found where it is another model
  bool isOtherModel = false; ///< that, and not one that cannot be compiled
  bool refused = false;
};

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_SIZEDCOMPILATION_H
