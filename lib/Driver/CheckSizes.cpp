// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a model follows the formulas that were found, at other sizes of its
// ranges.
#include "SizedCompilation.h"
#include <limits>

using namespace mlir;
using namespace ashlar;

SizedCompilation::Formulas
SizedCompilation::formulasOf(std::unique_ptr<ModelGraph> View::*graph) {
  SizeFormulas formulas(&context, options.sizes, points);
  const ModelGraph &largest = *(seen.front().*graph);
  Formulas found(largest.numbers.size());
  std::vector<std::vector<int64_t>> all;
  for (const View &at : seen) {
    auto numbers = numbersLike(largest, *(at.*graph));
    if (!numbers)
      return found;
    all.push_back(std::move(*numbers));
  }
  for (size_t i = 0; i != found.size(); ++i) {
    SmallVector<int64_t> values;
    for (const std::vector<int64_t> &numbers : all)
      values.push_back(numbers[i]);
    found[i] = formulas.find(values).value_or(exec::SizeAttr());
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

/// Divisions of a symbol that the sizes that were seen do not tell from others:
/// so many sizes lie between two turns, or they are between steps.
llvm::SetVector<AffineExpr>
SizedCompilation::divisionsUnseen(unsigned symbol) const {
  int64_t step = options.sizes[symbol].step;
  llvm::SetVector<AffineExpr> found;
  auto collect = [&](AffineExpr part) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    bool divides = binary && (binary.getKind() == AffineExprKind::FloorDiv ||
                              binary.getKind() == AffineExprKind::Mod);
    if (!divides || !binary.getLHS().isFunctionOfSymbol(symbol))
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (divisor && divisor.getValue() > SizeFormulas::largestDivisor / 2 &&
        step % divisor.getValue() != 0)
      found.insert(binary.getLHS().floorDiv(divisor));
  };
  for (exec::SizeAttr formula : graphFormulas)
    if (formula)
      formula.getFormula().walk(collect);
  return found;
}

/// Before and behind its first two turns along a symbol, which are farthest
/// from the largest size, and the one in the middle: another divisor would turn
/// elsewhere.
static void addTurns(AffineExpr division, SizePoint point, size_t symbol,
                     const SizeRange &range,
                     llvm::function_ref<void(const SizePoint &)> add) {
  int64_t half = (range.maximum - range.minimum) / range.step / 2;
  for (auto [first, most] : {std::pair<int64_t, int64_t>(0, 2), {half, 1}}) {
    point[symbol] = range.minimum + first * range.step;
    for (int64_t turns = 0; turns != most && point[symbol] != range.maximum;) {
      SizePoint before = point;
      point[symbol] += range.step;
      if (evaluateFormula(division, before) == evaluateFormula(division, point))
        continue;
      add(before);
      add(point);
      ++turns;
    }
  }
}

/// Where the formulas could be wrong: at the ends of each range, in its middle,
/// at the first sizes, which are one or follow it, and everywhere in a small
/// one. A slice that ends at the same place for large sizes may end earlier for
/// small ones, and a dim of one may be another model: it broadcasts. Where a
/// divisor may be another one, where it turns; where something is decided by
/// sizes, at many sizes, and at and beside each integer of the model, which
/// they may be compared with.
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
    for (AffineExpr division : divisionsUnseen(unsigned(i)))
      addTurns(division, points.front(), i, range, add);
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

bool SizedCompilation::agreesAt(const SizePoint &point) {
  std::string node;
  return agreesAt(point, node, llvm::nulls());
}

/// The smallest size of a symbol from which on all sizes that were looked at
/// are the model of the largest; the others are those of `point`, where it is
/// another one.
int64_t SizedCompilation::firstThatAgrees(size_t symbol, SizePoint point,
                                          int64_t right) {
  const SizeRange &range = options.sizes[symbol];
  int64_t wrong = point[symbol];
  while (right - wrong > range.step) {
    int64_t half = wrong + (right - wrong) / 2;
    point[symbol] = std::max(half - half % range.step, wrong + range.step);
    (agreesAt(point) ? right : wrong) = point[symbol];
  }
  return right;
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
  int64_t right = firstThatAgrees(symbol, bad, range.maximum);
  cut = {symbol, right};
  range.minimum = right;
  // What is left below may be more.
  namesRange = range.maximum - right >= right - options.sizes[symbol].minimum;
  return right == range.maximum ? "" : ": --dim=" + range.text();
}

/// Where it becomes another model on the way from the largest sizes to these,
/// one symbol after the other.
void SizedCompilation::findCut(const SizePoint &bad) {
  SizePoint point = points.front();
  for (size_t i = 0; i != bad.size(); ++i) {
    if (point[i] == bad[i])
      continue;
    int64_t right = point[i];
    point[i] = bad[i];
    if (point == bad || !agreesAt(point)) {
      cut = {i, firstThatAgrees(i, point, right)};
      return;
    }
  }
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
      // At a size at which it cannot be compiled, no other form helps.
      cut.reset();
      return false;
    }
    isOfForms = true;
    std::string range = smallerRange(point);
    if (!cut)
      findCut(point);
    log << "error: " << node
        << ": expected sizes and constants that follow from those of the "
           "inputs in one way over the whole range, found another one at "
        << spell(point) << "; make the range of --dim smaller" << range << "\n";
    return false;
  }
  return true;
}

/// What three sizes say of a fourth.
static bool isEven(const std::vector<ProgramSizes> &first,
                   const ProgramSizes &other, int64_t times) {
  for (size_t i = 0; i != other.numbers.size(); ++i) {
    if (other.kinds[i] == ProgramSizes::Elements)
      continue;
    if (other.numbers[i] != continueEvenly(first[0].numbers[i],
                                           first[1].numbers[i],
                                           first[2].numbers[i], times))
      return false;
  }
  return true;
}

bool SizedCompilation::growsEvenly(SizePoint point, size_t symbol,
                                   int64_t step) {
  std::vector<ProgramSizes> first;
  int64_t largest = point[symbol];
  // So far apart that what is divided by more than the step shows.
  for (int64_t times : {0, 1, 2, 3, 9, 17}) {
    point[symbol] = largest - times * step;
    if (point[symbol] < options.sizes[symbol].minimum)
      break;
    View view;
    if (readAt(point, Stage::Import, view, llvm::nulls()).status !=
            CompileStatus::Done ||
        (!first.empty() && findDifference(first[0], view.model)))
      return false;
    if (first.size() != 3)
      first.push_back(std::move(view.model));
    else if (!isEven(first, view.model, times))
      return false;
  }
  return first.size() > 1;
}
