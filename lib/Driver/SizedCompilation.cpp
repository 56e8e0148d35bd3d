// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizedCompilation.h"
#include "SizeConstants.h"
#include "States.h"
#include "ashlar/Transforms/Fuse/FirstChoices.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ashlar;

std::string ashlar::spellSizes(const std::vector<SizeRange> &ranges,
                               const SizePoint &point) {
  std::string text;
  for (auto [range, size] : llvm::zip(ranges, point))
    text +=
        (text.empty() ? "" : ", ") + range.name + "=" + std::to_string(size);
  return text;
}

CompileOptions ashlar::optionsAt(const CompileOptions &options,
                                 const SizePoint &point) {
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
  CompileOptions fixed = optionsAt(options, point);
  if (progress)
    progress->show("reading the model at " + spell(point) + " (" +
                   std::to_string(++reads) + ")");
  if (!roomy.empty())
    fixed.states = roomy;
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
  reading.sizesOnly = true;
  reading.beforeSimplify = [&](ModuleOp model) { sizedOps.keepIn(model); };
  reading.afterTile = nullptr;
  reading.afterFuse = [&](ModuleOp fused) {
    separateConstants(fused);
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

/// Memory is planned for the largest sizes, and kernels are made for them.
void SizedCompilation::refuseOutgrown(const std::string &node,
                                      exec::SizeAttr formula,
                                      const OutgrownSize &size,
                                      llvm::raw_ostream &log) {
  refused = true;
  cut = size.cut;
  log << "error: " << node
      << ": expected sizes that are largest at the largest of --dim, found ";
  if (size.point.empty())
    log << "one that may not be, of more sizes than can be looked at";
  else
    log << evaluateFormula(formula.getFormula(), size.point).value_or(-1)
        << " at " << spell(size.point) << " and " << formula.getLargest()
        << " at " << spell(points.front());
  std::string range;
  if (cut) {
    SizeRange part = options.sizes[cut->symbol];
    int64_t below = cut->first - part.minimum;
    part.minimum = cut->first;
    size_t changed = 0;
    for (auto [own, most] : llvm::zip(size.point, points.front()))
      changed += own != most;
    if (changed == 1 && part.minimum != part.maximum)
      range = ": --dim=" + part.text();
    // What is left below may be more.
    namesRange = !range.empty() && part.maximum - part.minimum >= below;
  }
  log << "; make the range of --dim smaller"
      << (range.empty() ? ", or fix the sizes with --shape" : range) << "\n";
}

LogicalResult SizedCompilation::writeFormulas(ModuleOp fused,
                                              llvm::raw_ostream &log) {
  separateConstants(fused);
  MLIRContext *context = fused.getContext();
  SizeFormulas formulas(context, options.sizes, points);
  SizeBounds bounds(options.sizes);
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
      size_t other =
          llvm::find_if(values, [&](int64_t v) { return v != values[0]; }) -
          values.begin();
      log << " by sums, products and divisions, found ";
      if (largest.kinds[i] == ProgramSizes::Elements)
        log << "a constant with other elements at " << spell(points[other])
            << " than at " << spell(points[0]);
      else
        log << values[0] << " at " << spell(points[0]) << " and "
            << values[other] << " at " << spell(points[other]);
      log << "; fix the sizes with --shape\n";
      refused = true;
      return failure();
    }
    if (!formula->isConstant() && largest.kinds[i] == ProgramSizes::Dim)
      if (auto outgrown = bounds.find(formula->getFormula())) {
        refuseOutgrown(largest.partOf(i).node, *formula, *outgrown, log);
        return failure();
      }
    found.push_back(formula->isConstant() ? exec::SizeAttr() : *formula);
  }
  writeProgramSizes(fused, found);
  computeSizeConstants(fused);
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
    isOtherModel = true;
    return false;
  }
  if (view.graph->numbers.size() != largest.graph->numbers.size())
    return false;
  points.push_back(point);
  seen.push_back(std::move(view));
  return true;
}

/// Which ops have other dims at other sizes shows at two sizes of each symbol:
/// the one beside the largest, and one far enough to change what is divided.
/// Where the model is another one below, one above is taken.
void SizedCompilation::findSizedOps() {
  SizePoint largest;
  for (const SizeRange &range : options.sizes)
    largest.push_back(range.maximum);
  View view;
  if (readAt(largest, Stage::Import, view, llvm::nulls()).status !=
      CompileStatus::Done)
    return;
  auto take = [&](const SizePoint &point) {
    View other;
    if (readAt(point, Stage::Import, other, llvm::nulls()).status !=
            CompileStatus::Done ||
        findDifference(view.model, other.model))
      return false;
    sizedOps.add(view.model, other.model);
    return true;
  };
  for (auto [i, range] : llvm::enumerate(options.sizes))
    for (int64_t times : {int64_t(1), SizeFormulas::largestDivisor + 1}) {
      if (range.minimum == range.maximum)
        continue;
      SizePoint point = largest;
      point[i] -= times * range.step;
      if (point[i] >= std::max<int64_t>(range.minimum, 2) && take(point))
        continue;
      point[i] = largest[i] + times * range.step;
      take(point);
    }
}

/// A state is the same place at all sizes that are looked at, also beyond the
/// largest. Where the model is none there, these are not looked at.
void SizedCompilation::makeRoom() {
  SizePoint far;
  for (const SizeRange &range : options.sizes)
    far.push_back(range.maximum +
                  6 * SizeFormulas::largestDivisor * range.step);
  std::vector<CompileOptions::State> found = options.states;
  if (readStates(optionsAt(options, far), hooks, found, llvm::nulls()).status ==
      CompileStatus::Done)
    roomy = std::move(found);
  else
    ends.assign(options.sizes.size(), true);
}

/// Whether all numbers grow evenly, or as squares, over the sizes from a place
/// in `points` on, which are `times` steps from the largest.
bool SizedCompilation::numbersGrowEvenly(size_t begin,
                                         ArrayRef<int64_t> times) const {
  const View &largest = seen.front();
  auto areEven = [&](auto numbersOf) {
    using Numbers = std::optional<std::vector<int64_t>>;
    Numbers own = numbersOf(largest), first = numbersOf(seen[begin]),
            second = numbersOf(seen[begin + 1]);
    for (auto [i, count] : llvm::enumerate(times.drop_front(2))) {
      Numbers other = numbersOf(seen[begin + 2 + i]);
      if (!first || !second || !other)
        return false;
      for (size_t j = 0; j != own->size(); ++j)
        if ((*other)[j] !=
            continueEvenly((*own)[j], (*first)[j], (*second)[j], count))
          return false;
    }
    return true;
  };
  for (size_t i = 0; i != largest.programs.size(); ++i)
    if (!areEven([&](const View &at) {
          return std::optional(at.programs[i].numbers);
        }))
      return false;
  return areEven([&](const View &at) {
           return numbersLike(*largest.graph, *at.graph);
         }) &&
         areEven([&](const View &at) {
           return numbersLike(*largest.folded, *at.folded);
         });
}

/// Takes sizes that are more and more steps from the largest along a symbol,
/// above or below. Where no number is divided, which few sizes show, these are
/// enough; else a whole period of each division that could be there is looked
/// at. Says whether it was to the end.
bool SizedCompilation::lookAlong(size_t symbol, int64_t way) {
  constexpr int64_t period = SizeFormulas::largestDivisor;
  constexpr int64_t far[] = {3 * period + 7, 5 * period + 7};
  const SizeRange &range = options.sizes[symbol];
  auto look = [&](int64_t times) {
    SizePoint point = points.front();
    point[symbol] += way * times * range.step;
    // A dim of one is another model: it broadcasts, and is dropped.
    return point[symbol] >= std::max<int64_t>(range.minimum, 2) && take(point);
  };
  size_t begin = points.size();
  if (!look(1) || !look(2))
    return false;
  size_t near = points.size();
  bool reachesFar = look(far[0]) && look(far[1]);
  if (reachesFar && numbersGrowEvenly(begin, {1, 2, far[0], far[1]}))
    return true;
  size_t end = points.size();
  int64_t times = 3;
  while (times <= period && look(times))
    ++times;
  if (times > period)
    return true;
  // What lies behind another model says nothing.
  points.erase(points.begin() + near, points.begin() + end);
  seen.erase(seen.begin() + near, seen.begin() + end);
  return false;
}

/// Transforms of convolutions that are chosen for the largest sizes may be slow
/// at the smallest: where there are any, these are predicted there first.
CompileResult SizedCompilation::readLargest(const SizePoint &largest,
                                            View &view) {
  SizePoint smallest;
  for (const SizeRange &range : options.sizes)
    smallest.push_back(range.minimum);
  bool isFirst = choices->isEmpty();
  CompileResult result = readAt(largest, Stage::Fuse, view, log);
  if (result.status != CompileStatus::Done || !isFirst || smallest == largest ||
      !choices->hasTransforms())
    return result;
  auto ofLargest = std::exchange(choices, std::make_shared<FirstChoices>());
  bool isRead = canBeRead(smallest);
  auto ofSmallest = std::exchange(choices, ofLargest);
  if (!isRead)
    return result;
  choices->clear();
  choices->adopt(*ofSmallest, FirstChoices::Kind::WinogradCycles);
  view = View();
  return readAt(largest, Stage::Fuse, view, log);
}

/// Looks at sizes along each symbol by itself, beyond the largest size or,
/// where the model is another one there, below; then at some along all symbols.
CompileResult SizedCompilation::readAll() {
  SizePoint largest;
  for (const SizeRange &range : options.sizes)
    largest.push_back(range.maximum);
  View view;
  CompileResult result = readLargest(largest, view);
  if (result.status != CompileStatus::Done)
    return result;
  points.push_back(largest);
  seen.push_back(std::move(view));
  std::vector<int64_t> ways;
  for (auto [number, range] : llvm::enumerate(options.sizes)) {
    size_t i = number;
    size_t before = points.size(), most = 0;
    isOtherModel = false;
    ways.push_back(0);
    if (range.minimum == range.maximum)
      continue;
    for (int64_t way : {1, -1}) {
      if (way > 0 && !ends.empty() && ends[i])
        continue;
      size_t begin = points.size();
      bool isWhole = lookAlong(i, way);
      if (points.size() - begin > most) {
        most = points.size() - begin;
        ways.back() = way;
      }
      if (isWhole)
        break;
    }
    if (points.size() != before)
      continue;
    isOfForms = isOtherModel || different.empty();
    if (isOtherModel)
      cut = {i, range.maximum};
    log << "error: --dim=" << range.text()
        << ": expected the same kernels at sizes beside the largest, found "
        << (different.empty() ? "none to compare with" : different)
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
    if (llvm::count(ways, 0) + 1 < int64_t(ways.size()))
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
      steps << what << " ...\n";
      steps.flush();
    }
  };
  begin("reading the model beside its largest sizes");
  findSizedOps();
  if (!options.states.empty())
    makeRoom();
  CompileResult result = readAll();
  if (result.status != CompileStatus::Done)
    return result;
  begin("comparing it at other sizes of the ranges");
  if (!checkAll())
    result.status = CompileStatus::Refused;
  return result;
}

/// Has what was chosen for the largest sizes predicted at the smallest and
/// between.
void SizedCompilation::predictLosses() {
  SizePoint smallest, between;
  for (const SizeRange &range : options.sizes) {
    smallest.push_back(range.minimum);
    int64_t count = (range.maximum - range.minimum) / range.step;
    between.push_back(range.minimum + count / 4 * range.step);
  }
  (void)canBeRead(smallest);
  (void)canBeRead(between);
}

CompileResult SizedCompilation::write(llvm::raw_ostream &log,
                                      const CompileHooks &hooks) {
  if (!options.remarks.empty())
    predictLosses();
  CompileHooks writing = hooks;
  writing.choices = choices;
  writing.sizesAreFormulas = true;
  writing.beforeSimplify = [&](ModuleOp model) { sizedOps.keepIn(model); };
  writing.afterFuse = [&](ModuleOp fused) { return writeFormulas(fused, log); };
  CompileResult result =
      compile(optionsAt(options, points[0]), out, log, writing);
  if (refused)
    result.status = CompileStatus::Refused;
  return result;
}
