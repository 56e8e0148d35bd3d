// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompileForSizes.h"
#include "ModelGraph.h"
#include "ProgramSizes.h"
#include "ProgressLine.h"
#include "SizeFormulas.h"
#include "SizeSearch.h"
#include "ashlar/Import/ONNX/Import.h"
#include "ashlar/Transforms/Fuse/FirstChoices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include <limits>

using namespace mlir;
using namespace ashlar;

namespace {
/// What a model is at one size.
struct View {
  std::vector<ProgramSizes> programs; ///< after fuse, one for each target
  ProgramSizes model;                 ///< after import
  std::unique_ptr<ModelGraph> graph;  ///< the same
  std::unique_ptr<ModelGraph> folded; ///< after simplify
};

class SizedCompilation {
public:
  SizedCompilation(const CompileOptions &options, const CompileHooks &hooks,
                   llvm::raw_ostream &out, llvm::raw_ostream &log,
                   ProgressLine *progress)
      : options(options), hooks(hooks), out(out), log(log), progress(progress) {
    context.loadDialect<exec::ExecDialect>();
  }

  /// Finds out how everything follows from the sizes, and whether it does.
  CompileResult study();
  /// Compiles what has been studied.
  CompileResult write(llvm::raw_ostream &log);
  /// Of a refusal: whether it says the most that could be asked for.
  bool namesRange = false;
  bool canBeRead(const SizePoint &point);
  void endProgress() { progress = nullptr; }

private:
  CompileOptions optionsAt(const SizePoint &point) const;
  CompileResult readAll();
  bool take(const SizePoint &point);
  CompileResult readAt(const SizePoint &point, Stage until, View &view,
                       llvm::raw_ostream &log);
  LogicalResult writeFormulas(ModuleOp program, llvm::raw_ostream &log);
  std::vector<SizePoint> pointsToCheck() const;
  bool checkAll();
  bool agreesAt(const SizePoint &point, std::string &node,
                llvm::raw_ostream &log);
  std::string smallerRange(const SizePoint &bad);
  std::string spell(const SizePoint &point) const;

  const CompileOptions &options;
  const CompileHooks &hooks;
  llvm::raw_ostream &out, &log;
  ProgressLine *progress; ///< null: nobody watches
  unsigned reads = 0;
  /// Of what outlives the reading of a model.
  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::vector<SizePoint> points;
  std::vector<View> seen; ///< at each point
  /// How each number of a graph at the largest sizes follows from sizes; null:
  /// unknown.
  using Formulas = std::vector<exec::SizeAttr>;
  Formulas formulasOf(std::unique_ptr<ModelGraph> View::*graph);
  const std::string *compare(std::unique_ptr<ModelGraph> View::*graph,
                             const Formulas &formulas, const View &view,
                             const SizePoint &point) const;
  Formulas graphFormulas, foldedFormulas;
  /// Something is computed of sizes alone, such as a comparison with a number.
  bool decidesBySizes = false;
  unsigned program = 0; ///< that is written next
  std::shared_ptr<FirstChoices> choices = std::make_shared<FirstChoices>();
  std::string different; ///< what was found where it is another model
  bool refused = false;
};
} // namespace

/// "N=1, W=32".
std::string SizedCompilation::spell(const SizePoint &point) const {
  std::string text;
  for (auto [range, size] : llvm::zip(options.sizes, point))
    text +=
        (text.empty() ? "" : ", ") + range.name + "=" + std::to_string(size);
  return text;
}

CompileOptions SizedCompilation::optionsAt(const SizePoint &point) const {
  CompileOptions fixed = options;
  for (auto &[name, shape] : options.symbolicShapes) {
    std::vector<int64_t> &dims = fixed.shapes[name];
    for (const std::string &dim : shape)
      dims.push_back(sizeOfDim(dim, options.sizes, point));
  }
  return fixed;
}

/// Takes the model through a stage at one size.
CompileResult SizedCompilation::readAt(const SizePoint &point, Stage until,
                                       View &view, llvm::raw_ostream &log) {
  CompileOptions fixed = optionsAt(point);
  if (progress)
    progress->show("reading the model at " + spell(point) + " (" +
                   std::to_string(++reads) + ")");
  fixed.stopEarly = true;
  fixed.until = until;
  fixed.remarks.clear();
  fixed.quiet = true;
  fixed.verbose = false;
  fixed.memoryBudget = 0;
  CompileHooks reading = hooks;
  reading.printsIR = false;
  reading.choices = choices;
  reading.sizesAreFormulas = true;
  reading.afterTile = nullptr;
  reading.afterFuse = [&](ModuleOp fused) {
    view.programs.push_back(readProgramSizes(fused));
    return success();
  };
  reading.afterImport = [&](ModuleOp model) {
    view.model = readProgramSizes(model);
    view.graph = std::make_unique<ModelGraph>(model, &context);
  };
  reading.afterSimplify = [&](ModuleOp model) {
    view.folded = std::make_unique<ModelGraph>(model, &context);
  };
  std::string said;
  llvm::raw_string_ostream errors(said);
  llvm::raw_null_ostream nowhere;
  CompileResult result = compile(fixed, nowhere, errors, reading);
  if (result.status != CompileStatus::Done &&
      result.status != CompileStatus::Unsupported)
    log << said << "note: this is at " << spell(point)
        << "; --dim asks for all sizes of a range\n";
  return result;
}

LogicalResult SizedCompilation::writeFormulas(ModuleOp fused,
                                              llvm::raw_ostream &log) {
  MLIRContext *context = fused.getContext();
  SizeFormulas formulas(context, options.sizes, points);
  unsigned number = program++ % seen.front().programs.size();
  const ProgramSizes &largest = seen.front().programs[number];
  auto valuesOf = [&](size_t i) {
    SmallVector<int64_t> values;
    for (const View &at : seen)
      values.push_back(at.programs[number].numbers[i]);
    return values;
  };
  std::vector<exec::SizeAttr> found;
  for (size_t i = 0; i != largest.numbers.size(); ++i) {
    SmallVector<int64_t> values = valuesOf(i);
    std::optional<exec::SizeAttr> formula = formulas.find(values);
    if (!formula) {
      // A node says more than the graph that it is in.
      for (size_t j = i;
           largest.partOf(i).isOfGraph && ++j != largest.numbers.size();)
        if (!largest.partOf(j).isOfGraph && !formulas.find(valuesOf(j))) {
          i = j;
          values = valuesOf(i);
        }
      log << "error: " << largest.partOf(i).node
          << ": expected sizes and constants that follow from ";
      for (const SizeRange &range : options.sizes)
        log << (&range == &options.sizes.front() ? "" : " and ") << range.name;
      log << " by sums, products and divisions, found " << values[0] << " at "
          << spell(points[0]) << " and "
          << *llvm::find_if(values, [&](int64_t v) { return v != values[0]; })
          << " at another size; fix the sizes with --shape\n";
      refused = true;
      return failure();
    }
    found.push_back(formula->isConstant() ? exec::SizeAttr() : *formula);
  }
  writeProgramSizes(fused, found);
  Builder b(context);
  SmallVector<Attribute> symbols;
  for (const SizeRange &range : options.sizes)
    symbols.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", b.getStringAttr(range.name)),
         b.getNamedAttr("minimum", b.getI64IntegerAttr(range.minimum)),
         b.getNamedAttr("maximum", b.getI64IntegerAttr(range.maximum)),
         b.getNamedAttr("step", b.getI64IntegerAttr(range.step))}));
  fused->setAttr(exec::symbolsAttrName, b.getArrayAttr(symbols));
  return hooks.afterFuse ? hooks.afterFuse(fused) : success();
}

SizedCompilation::Formulas
SizedCompilation::formulasOf(std::unique_ptr<ModelGraph> View::*graph) {
  SizeFormulas formulas(&context, options.sizes, points);
  const ModelGraph &largest = *(seen.front().*graph);
  Formulas found;
  for (size_t i = 0; i != largest.numbers.size(); ++i) {
    SmallVector<int64_t> values;
    for (const View &at : seen)
      if ((at.*graph)->numbers.size() == largest.numbers.size())
        values.push_back((at.*graph)->numbers[i]);
    found.push_back(values.size() == seen.size()
                        ? formulas.find(values).value_or(exec::SizeAttr())
                        : exec::SizeAttr());
  }
  return found;
}

/// The node where a graph is another one than the formulas say; null: none.
const std::string *
SizedCompilation::compare(std::unique_ptr<ModelGraph> View::*graph,
                          const Formulas &formulas, const View &view,
                          const SizePoint &point) const {
  std::vector<std::optional<int64_t>> numbers;
  for (exec::SizeAttr formula : formulas)
    numbers.push_back(formula ? evaluateFormula(formula.getFormula(), point)
                              : std::nullopt);
  return findDifference(*(seen.front().*graph), numbers, *(view.*graph));
}

/// Whether the model follows the formulas at a size; if not, `node` is where.
/// Nothing is said of a size at which it cannot be compiled but to `log`.
bool SizedCompilation::agreesAt(const SizePoint &point, std::string &node,
                                llvm::raw_ostream &log) {
  View view;
  Stage until = decidesBySizes ? Stage::Simplify : Stage::Import;
  if (readAt(point, until, view, log).status != CompileStatus::Done)
    return false;
  const std::string *found = compare(&View::graph, graphFormulas, view, point);
  // What is decided by sizes shows where it is folded.
  if (!found && decidesBySizes)
    found = compare(&View::folded, foldedFormulas, view, point);
  if (found)
    node = *found;
  return !found;
}

/// Where the formulas could be wrong: at the ends of each range, in its middle,
/// at the first sizes, which are one or follow it, and everywhere in a small
/// one. A slice that ends at the same place for large sizes may end earlier for
/// small ones, and a dim of one may be another model: it broadcasts. Where
/// something is decided by sizes, at many sizes, and at and beside each integer
/// of the model, which they may be compared with.
std::vector<SizePoint> SizedCompilation::pointsToCheck() const {
  constexpr int64_t integers = 64;
  int64_t all = decidesBySizes ? 128 : 8;
  std::vector<int64_t> turns;
  if (decidesBySizes)
    for (int64_t integer : readONNXIntegers(options.input))
      if (integer >= 0 && integer <= std::numeric_limits<int32_t>::max())
        turns.insert(turns.end(), {integer - 1, integer, integer + 1});
  SizePoint least, middle;
  for (const SizeRange &range : options.sizes) {
    least.push_back(range.minimum);
    int64_t half = (range.minimum + range.maximum) / 2;
    middle.push_back(half - half % range.step);
  }
  std::vector<SizePoint> found;
  auto add = [&](const SizePoint &point) {
    if (!llvm::is_contained(found, point) && point != points.front())
      found.push_back(point);
  };
  for (auto [i, range] : llvm::enumerate(options.sizes)) {
    SizePoint point = points.front();
    int64_t count = (range.maximum - range.minimum) / range.step + 1;
    for (int64_t j = 0; j != (count > all ? 2 : count); ++j) {
      point[i] = range.minimum + j * range.step;
      add(point);
    }
    int64_t left = integers;
    for (int64_t turn : turns)
      if (turn >= range.minimum && turn <= range.maximum &&
          (turn - range.minimum) % range.step == 0 && left-- > 0) {
        point[i] = turn;
        add(point);
      }
    point[i] = middle[i];
    add(point);
  }
  for (uint64_t set = 1; set < uint64_t(1) << std::min<size_t>(least.size(), 4);
       ++set) {
    SizePoint point = points.front();
    for (size_t i = 0; i != std::min<size_t>(least.size(), 4); ++i)
      if (set >> i & 1)
        point[i] = least[i];
    add(point);
  }
  add(least);
  add(middle);
  return found;
}

/// What could be asked for instead, where small sizes of one symbol are another
/// model; empty where that is not it.
std::string SizedCompilation::smallerRange(const SizePoint &bad) {
  const SizePoint &largest = points.front();
  size_t symbol = 0, changed = 0;
  for (size_t i = 0; i != bad.size(); ++i)
    if (bad[i] != largest[i]) {
      symbol = i;
      ++changed;
    }
  if (changed != 1)
    return "";
  SizeRange range = options.sizes[symbol];
  int64_t wrong = bad[symbol], right = range.maximum;
  while (right - wrong > range.step) {
    SizePoint point = largest;
    int64_t half = wrong + (right - wrong) / 2;
    point[symbol] = std::max(half - half % range.step, wrong + range.step);
    std::string node;
    (agreesAt(point, node, llvm::nulls()) ? right : wrong) = point[symbol];
  }
  range.minimum = right;
  // What is left below may be more.
  namesRange = range.maximum - right >= right - options.sizes[symbol].minimum;
  return right == range.maximum ? "" : ": --dim=" + range.text();
}

bool SizedCompilation::checkAll() {
  graphFormulas = formulasOf(&View::graph);
  SmallVector<bool> isFixed;
  for (exec::SizeAttr formula : graphFormulas)
    isFixed.push_back(formula && isa<AffineConstantExpr>(formula.getFormula()));
  decidesBySizes = findSizeDecision(*seen.front().graph, isFixed) != nullptr;
  if (decidesBySizes)
    foldedFormulas = formulasOf(&View::folded);
  for (const SizePoint &point : pointsToCheck()) {
    std::string node, said;
    llvm::raw_string_ostream errors(said);
    if (agreesAt(point, node, errors))
      continue;
    if (node.empty()) {
      log << said;
      if (std::string range = smallerRange(point); !range.empty())
        log << "note: make the range of --dim smaller" << range << "\n";
      return false;
    }
    log << "error: " << node
        << ": expected sizes and constants that follow from those of the "
           "inputs in one way over the whole range, found another one at "
        << spell(point) << "; make the range of --dim smaller"
        << smallerRange(point) << "\n";
    return false;
  }
  return true;
}

static StringRef firstError(StringRef log) {
  size_t at = log.find("error: ");
  return log.substr(at == StringRef::npos ? 0 : at + 7).split('\n').first;
}

/// Reads the model at a point beside the largest sizes. One at which it cannot
/// be compiled, or becomes other kernels, says nothing.
bool SizedCompilation::take(const SizePoint &point) {
  View view;
  std::string said;
  llvm::raw_string_ostream errors(said);
  if (readAt(point, Stage::Fuse, view, errors).status != CompileStatus::Done) {
    if (different.empty())
      different = "that it cannot be compiled at " + spell(point) + " (" +
                  firstError(said).str() + ")";
    return false;
  }
  const View &largest = seen.front();
  const std::string *node = findDifference(largest.model, view.model);
  for (size_t i = 0; !node && i != view.programs.size(); ++i)
    node = findDifference(largest.programs[i], view.programs[i]);
  if (node) {
    different = "other kernels in " + *node + " at " + spell(point);
    return false;
  }
  if (view.graph->numbers.size() != largest.graph->numbers.size())
    return false;
  points.push_back(point);
  seen.push_back(std::move(view));
  return true;
}

/// Looks at sizes along each symbol by itself: a whole period of each division
/// that could be there, beyond the largest size or, where the model is another
/// one there, below; then at some along all symbols.
CompileResult SizedCompilation::readAll() {
  SizePoint largest;
  for (const SizeRange &range : options.sizes)
    largest.push_back(range.maximum);
  View view;
  CompileResult result = readAt(largest, Stage::Fuse, view, log);
  if (result.status != CompileStatus::Done)
    return result;
  points.push_back(largest);
  seen.push_back(std::move(view));
  std::vector<int64_t> ways;
  for (auto [number, range] : llvm::enumerate(options.sizes)) {
    size_t i = number;
    constexpr int64_t period = SizeFormulas::largestDivisor;
    size_t before = points.size(), most = 0;
    ways.push_back(0);
    for (int64_t way : {1, -1}) {
      if (points.size() - before >= size_t(period))
        break;
      size_t begin = points.size();
      auto look = [&](int64_t by) {
        SizePoint point = largest;
        point[i] += way * by * options.sizes[i].step;
        // A dim of one is another model: it broadcasts, and is dropped.
        return point[i] >= std::max<int64_t>(options.sizes[i].minimum, 2) &&
               take(point);
      };
      int64_t by = 1;
      while (by <= period && look(by))
        ++by;
      for (int64_t times : {3, 5})
        if (by > period)
          look(times * period + 7);
      if (points.size() - begin > most) {
        most = points.size() - begin;
        ways.back() = way;
      }
    }
    if (points.size() != before || range.minimum == range.maximum)
      continue;
    log << "error: --dim=" << range.text()
        << ": expected the same kernels at sizes beside the largest, found "
        << different
        << "; choose another largest size, give what all sizes are multiples "
           "of ("
        << range.name << "=64..960:32), or fix it with --shape\n";
    result.status = CompileStatus::Refused;
    return result;
  }
  // Whether symbols multiply or add shows where several change.
  for (int64_t by : {1, 2}) {
    SizePoint point = largest;
    for (size_t i = 0; i != point.size(); ++i)
      point[i] += ways[i] * by * options.sizes[i].step;
    if (point.size() > 1)
      take(point);
  }
  return result;
}

bool SizedCompilation::canBeRead(const SizePoint &point) {
  View view;
  return readAt(point, Stage::Fuse, view, llvm::nulls()).status ==
         CompileStatus::Done;
}

CompileResult SizedCompilation::study() {
  auto begin = [&](StringRef what) {
    if (options.verbose) {
      log << what << " ...\n";
      log.flush();
    }
  };
  begin("reading the model beside its largest sizes");
  CompileResult result = readAll();
  if (result.status != CompileStatus::Done)
    return result;
  begin("comparing it at other sizes of the ranges");
  if (!checkAll())
    result.status = CompileStatus::Refused;
  return result;
}

CompileResult SizedCompilation::write(llvm::raw_ostream &log) {
  CompileHooks writing = hooks;
  writing.choices = choices;
  writing.sizesAreFormulas = true;
  writing.afterFuse = [&](ModuleOp fused) { return writeFormulas(fused, log); };
  CompileResult result = compile(optionsAt(points[0]), out, log, writing);
  if (refused)
    result.status = CompileStatus::Refused;
  return result;
}

/// Whether one module could be made for all sizes, short of its code.
static bool canCompile(const CompileOptions &options, const CompileHooks &hooks,
                       ProgressLine &progress) {
  CompileOptions trial = options;
  trial.stopEarly = true;
  trial.until = Stage::Schedule;
  trial.remarks.clear();
  trial.listStrategies.clear();
  trial.writePrecisionPlan.clear();
  trial.saveTemps.clear();
  trial.memoryBudget = 0;
  trial.verbose = false;
  trial.quiet = true;
  CompileHooks silent = hooks;
  silent.printsIR = false;
  SizedCompilation compilation(trial, silent, llvm::nulls(), llvm::nulls(),
                               &progress);
  return compilation.study().status == CompileStatus::Done &&
         compilation.write(llvm::nulls()).status == CompileStatus::Done;
}

/// Names what could be asked for instead.
static void suggestRanges(const CompileOptions &options,
                          const CompileHooks &hooks, llvm::raw_ostream &log) {
  std::vector<SizeRange> ranges;
  // Each is many compiles; a user who waits that long has given up.
  constexpr unsigned mostTrials = 60;
  unsigned trials = 0;
  {
    if (options.verbose)
      log << "looking for ranges that work ...\n";
    log.flush();
    ProgressLine progress(log, !options.verbose);
    auto works = [&](const std::vector<SizeRange> &sizes) {
      if (trials == mostTrials)
        return false;
      ++trials;
      CompileOptions smaller = options;
      smaller.sizes = sizes;
      return canCompile(smaller, hooks, progress);
    };
    auto compiles = [&](const SizePoint &point) {
      CompileOptions quiet = options;
      quiet.quiet = true;
      return SizedCompilation(quiet, hooks, llvm::nulls(), llvm::nulls(),
                              &progress)
          .canBeRead(point);
    };
    ranges = findWorkingRanges(options.sizes, {works, compiles});
  }
  // A model that is none at any size has been refused as such.
  if (ranges.empty() && trials == 0)
    return;
  if (ranges.empty()) {
    log << "note: no range was found that works; fix the sizes with --shape\n";
    return;
  }
  std::string text, steps;
  for (auto [range, wanted] : llvm::zip(ranges, options.sizes)) {
    text += (text.empty() ? "" : ",") + range.text();
    if (range.step != wanted.step)
      steps += (steps.empty() ? "" : ", of ") + range.name + " multiples of " +
               std::to_string(range.step) + " alone";
  }
  log << "note: the largest that was found to work is --dim=" << text
      << (steps.empty() ? "" : ": of " + steps) << "\n";
}

/// One try; `isOfSizes` where other ranges could be had.
static CompileResult tryForSizes(const CompileOptions &options,
                                 const CompileHooks &hooks,
                                 llvm::raw_ostream &out, llvm::raw_ostream &log,
                                 bool watched, bool &isOfSizes) {
  std::string said;
  llvm::raw_string_ostream held(said);
  // What is verbose is said at once.
  llvm::raw_ostream &to = options.verbose ? log : held;
  CompileResult result;
  std::optional<ProgressLine> progress;
  progress.emplace(log, watched && !options.verbose);
  SizedCompilation compilation(options, hooks, out, to, &*progress);
  result = compilation.study();
  isOfSizes =
      result.status == CompileStatus::Refused && !compilation.namesRange;
  // The compile has a line of its own.
  progress.reset();
  compilation.endProgress();
  log << said;
  if (result.status != CompileStatus::Done)
    return result;
  result = compilation.write(log);
  isOfSizes =
      result.status == CompileStatus::Refused && options.memoryBudget == 0;
  return result;
}

CompileResult ashlar::compileForSizes(const CompileOptions &options,
                                      const CompileHooks &hooks,
                                      llvm::raw_ostream &out,
                                      llvm::raw_ostream &log) {
  bool isOfSizes = false;
  CompileResult result;
  if (options.memoryBudget == 0 || options.exactConvolution) {
    result = tryForSizes(options, hooks, out, log, !options.quiet, isOfSizes);
  } else {
    // Transformed weights may be what is too much.
    std::string said;
    llvm::raw_string_ostream held(said);
    result = tryForSizes(options, hooks, out, held, false, isOfSizes);
    if (result.status != CompileStatus::Refused) {
      log << said;
      return result;
    }
    CompileOptions exact = options;
    exact.exactConvolution = true;
    result = tryForSizes(exact, hooks, out, log, !options.quiet, isOfSizes);
  }
  // Who wants errors only may not want to wait for more.
  if (isOfSizes && !options.quiet)
    suggestRanges(options, hooks, log);
  return result;
}
