// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompileForSizes.h"
#include "ProgramSizes.h"
#include "SizeFormulas.h"
#include "ashlar/Transforms/Fuse/FirstChoices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include <charconv>

using namespace mlir;
using namespace ashlar;

namespace {
/// What a model is at one size.
struct View {
  std::vector<ProgramSizes> programs; ///< after fuse, one for each target
  ProgramSizes model;                 ///< after import
};

class SizedCompilation {
public:
  SizedCompilation(const CompileOptions &options, const CompileHooks &hooks,
                   llvm::raw_ostream &out, llvm::raw_ostream &log)
      : options(options), hooks(hooks), out(out), log(log) {}

  CompileResult run();

private:
  CompileOptions optionsAt(const SizePoint &point) const;
  CompileResult readAll();
  bool take(const SizePoint &point);
  CompileResult readAt(const SizePoint &point, View &view,
                       llvm::raw_ostream &log);
  LogicalResult writeFormulas(ModuleOp program);
  bool checkAt(const SizePoint &point);
  std::string spell(const SizePoint &point) const;

  const CompileOptions &options;
  const CompileHooks &hooks;
  llvm::raw_ostream &out, &log;
  std::vector<SizePoint> points;
  std::vector<View> seen; ///< at each point
  unsigned program = 0;   ///< that is written next
  std::shared_ptr<FirstChoices> choices = std::make_shared<FirstChoices>();
  std::string different; ///< where other kernels were found
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
    for (const std::string &dim : shape) {
      int64_t size = 0;
      std::from_chars(dim.data(), dim.data() + dim.size(), size);
      for (auto [range, value] : llvm::zip(options.sizes, point))
        if (range.name == dim)
          size = value;
      dims.push_back(size);
    }
  }
  return fixed;
}

/// Takes the model through fuse at one size.
CompileResult SizedCompilation::readAt(const SizePoint &point, View &view,
                                       llvm::raw_ostream &log) {
  CompileOptions fixed = optionsAt(point);
  fixed.stopEarly = true;
  fixed.until = Stage::Fuse;
  fixed.remarks.clear();
  fixed.quiet = true;
  fixed.verbose = false;
  fixed.memoryBudget = 0;
  CompileHooks reading = hooks;
  reading.choices = choices;
  reading.sizesAreFormulas = true;
  reading.afterTile = nullptr;
  reading.afterFuse = [&](ModuleOp fused) {
    view.programs.push_back(readProgramSizes(fused));
    return success();
  };
  reading.afterImport = [&](ModuleOp model) {
    view.model = readProgramSizes(model);
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

LogicalResult SizedCompilation::writeFormulas(ModuleOp fused) {
  MLIRContext *context = fused.getContext();
  SizeFormulas formulas(context, options.sizes, points);
  unsigned number = program++ % seen.front().programs.size();
  const ProgramSizes &largest = seen.front().programs[number];
  std::vector<exec::SizeAttr> found;
  for (size_t i = 0; i != largest.numbers.size(); ++i) {
    SmallVector<int64_t> values;
    for (const View &at : seen)
      values.push_back(at.programs[number].numbers[i]);
    std::optional<exec::SizeAttr> formula = formulas.find(values);
    if (!formula) {
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

/// The first part that differs in more than its numbers; null: none.
static const ProgramSizes::Part *findDifference(const ProgramSizes &here,
                                                const ProgramSizes &there) {
  for (size_t i = 0; i != there.parts.size(); ++i)
    if (i >= here.parts.size() ||
        here.parts[i].structure != there.parts[i].structure)
      return &there.parts[i];
  return nullptr;
}

/// Whether the model follows the formulas at a size that they were not made
/// from: a slice that ends at the same place for large sizes may end earlier
/// for small ones. What fuse chooses may differ there, so that the model is
/// compared as it was before.
bool SizedCompilation::checkAt(const SizePoint &point) {
  View view;
  if (readAt(point, view, log).status != CompileStatus::Done)
    return false;
  MLIRContext context;
  context.loadDialect<exec::ExecDialect>();
  SizeFormulas formulas(&context, options.sizes, points);
  const ProgramSizes &here = view.model, &there = seen.front().model;
  auto refuse = [&](StringRef node) {
    log << "error: " << node
        << ": expected sizes and constants that follow from those of the "
           "inputs in one way over the whole range, found another one at "
        << spell(point) << "; make the range of --dim smaller\n";
    return false;
  };
  if (const ProgramSizes::Part *part = findDifference(here, there))
    return refuse(part->node);
  for (size_t i = 0; i != there.numbers.size(); ++i) {
    SmallVector<int64_t> values;
    for (const View &at : seen)
      values.push_back(at.model.numbers[i]);
    std::optional<exec::SizeAttr> formula = formulas.find(values);
    // One without a formula does not reach the program, or is refused there.
    if (formula &&
        evaluateFormula(formula->getFormula(), point) != here.numbers[i])
      return refuse(there.partOf(i).node);
  }
  return true;
}

/// Reads the model at a point beside the largest sizes. One at which it cannot
/// be compiled, or becomes other kernels, says nothing.
bool SizedCompilation::take(const SizePoint &point) {
  View view;
  if (readAt(point, view, llvm::nulls()).status != CompileStatus::Done)
    return false;
  const View &largest = seen.front();
  const ProgramSizes::Part *part = findDifference(view.model, largest.model);
  for (size_t i = 0; !part && i != view.programs.size(); ++i)
    part = findDifference(view.programs[i], largest.programs[i]);
  if (part) {
    different = part->node;
    return false;
  }
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
  CompileResult result = readAt(largest, view, log);
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
           "others in "
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

CompileResult SizedCompilation::run() {
  CompileResult refusal;
  refusal.status = CompileStatus::Refused;
  CompileResult result = readAll();
  if (result.status != CompileStatus::Done)
    return result;
  SizePoint least, middle;
  for (const SizeRange &range : options.sizes) {
    // One is another model, which broadcasts; its kernels do not.
    least.push_back(
        std::min(std::max<int64_t>(range.minimum, 2), range.maximum));
    int64_t half = (range.minimum + range.maximum) / 2;
    middle.push_back(half - half % range.step);
  }
  if (!checkAt(least) || !checkAt(middle))
    return refusal;
  CompileHooks writing = hooks;
  writing.choices = choices;
  writing.sizesAreFormulas = true;
  writing.afterFuse = [&](ModuleOp fused) { return writeFormulas(fused); };
  result = compile(optionsAt(points[0]), out, log, writing);
  if (refused)
    result.status = CompileStatus::Refused;
  return result;
}

CompileResult ashlar::compileForSizes(const CompileOptions &options,
                                      const CompileHooks &hooks,
                                      llvm::raw_ostream &out,
                                      llvm::raw_ostream &log) {
  if (options.memoryBudget == 0 || options.exactConvolution)
    return SizedCompilation(options, hooks, out, log).run();
  // Transformed weights may be what is too much.
  std::string said;
  llvm::raw_string_ostream held(said);
  CompileResult result = SizedCompilation(options, hooks, out, held).run();
  if (result.status != CompileStatus::Refused) {
    log << said;
    return result;
  }
  CompileOptions exact = options;
  exact.exactConvolution = true;
  return SizedCompilation(exact, hooks, out, log).run();
}
