// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Strategies.h"
#include "Cuts.h"
#include "ExchangeRoles.h"
#include "PackColumns.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::systolic;

// Units of the machine files, by what stays in them.
static constexpr llvm::StringLiteral factorsStay = "array",
                                     sumsStay = "array-sums",
                                     nothingStays = "vector-unit";
static constexpr llvm::StringLiteral scratchpad = "scratchpad";

// What levels do not say: rows and folds that come together, where its loops
// walk others; A with a row of all terms for each result; results side by side;
// cycles of a step; in a stream of several contractions, the half of both
// memories, and rows of the scratchpad that hold what stays on chip.
static constexpr llvm::StringLiteral rowsHint = "rows", foldsHint = "folds",
                                     unfoldHint = "unfold",
                                     besideHint = "beside",
                                     cyclesHint = "step_cycles",
                                     halfHint = "half", keptHint = "kept_rows";

/// Terms of A that do not lie beside each other: taps of a window.
static int64_t tapsOf(const Contraction &contraction) {
  int last = innermost(contraction, contraction.k);
  return last < 0 ? 1
                  : contraction.count(contraction.k) /
                        contraction.sizes[size_t(last)];
}

/// Whether A may be read in place with several taps, unless told otherwise.
static bool readsTaps(const Contraction &contraction, bool isOnLanes) {
  if (contraction.isDepthwise || contraction.a.kept)
    return true;
  return !isOnLanes && !contraction.sideBySide.taps &&
         canReadTapsInPlace(contraction) && tapsOf(contraction) > 1;
}

//===-- From a choice -----------------------------------------------------===//

namespace {
class StrategyWriter {
public:
  StrategyWriter(tile::ContractOp op, const Part &part, const Machine &machine)
      : b(op.getContext()), contraction(*part.contraction), part(part),
        machine(machine), layout(contraction, machine, part.choice),
        numParallel(op.getParallel().size()),
        tile(numParallel + op.getReduced().size(), 0) {}

  tile::StrategyAttr write();

private:
  /// Those of the op: others are of packed results.
  SmallVector<int64_t> own(ArrayRef<unsigned> dims) const {
    SmallVector<int64_t> result;
    for (unsigned d : dims)
      if (d < tile.size())
        result.push_back(d);
    return result;
  }
  void cut(ArrayRef<unsigned> dims, ArrayRef<int64_t> box);
  void cutRange(ArrayRef<unsigned> dims, int64_t most);
  void cutRows();
  void cutTerms();
  tile::StrategyAttr strategy() const;
  void addCuts();
  void hint(StringRef name, int64_t value) {
    hints.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  }

  Builder b;
  const Contraction &contraction;
  const Part &part;
  const Machine &machine;
  const ChipLayout layout;
  const size_t numParallel;
  SmallVector<int64_t> tile, order; ///< of all dims
  SmallVector<NamedAttribute> hints;
};
} // namespace

/// The last tile has the rest, so that tiles of several dims are ranges.
void StrategyWriter::cutRange(ArrayRef<unsigned> dims, int64_t most) {
  std::vector<int64_t> box;
  for (unsigned d : llvm::reverse(dims)) {
    box.insert(box.begin(), std::min(most, contraction.sizes[d]));
    most = std::max<int64_t>(1, most / contraction.sizes[d]);
  }
  cut(dims, box);
}

void StrategyWriter::cut(ArrayRef<unsigned> dims, ArrayRef<int64_t> box) {
  for (auto [d, size] : llvm::zip_equal(dims, box))
    if (d < tile.size()) {
      tile[d] = size;
      order.push_back(d);
    }
}

void StrategyWriter::cutRows() {
  const Choice &choice = part.choice;
  if (choice.readsTapsInPlace) {
    cut(contraction.m, boxOf(contraction, contraction.m, choice.chunkRows));
  } else {
    int64_t unit = layout.rowUnit();
    int64_t rows = contraction.count(contraction.m);
    int64_t chunks = llvm::divideCeil(rows, choice.chunkRows);
    cutRange(contraction.m, llvm::divideCeil(rows, chunks * unit) * unit);
  }
  if (int64_t beside = contraction.sideBySide.results; beside > 1) {
    tile[contraction.m.back()] *= beside;
    hint(besideHint, beside);
  }
}

void StrategyWriter::cutTerms() {
  const Choice &choice = part.choice;
  int last = innermost(contraction, contraction.k);
  int64_t taps = tapsOf(contraction);
  if (last < 0 || size_t(last) >= tile.size() ||
      (taps > 1 && !choice.readsTapsInPlace))
    return;
  auto folds = int64_t(layout.kBlocks.size());
  int64_t tiles = llvm::divideCeil(folds, choice.tileBlocks);
  int64_t terms = llvm::divideCeil(folds, tiles * taps) * machine.dim;
  if (terms >= contraction.sizes[size_t(last)])
    return;
  tile[size_t(last)] = terms;
  order.push_back(last);
}

/// Hints of rows and folds, where loops have other tiles than were chosen.
void StrategyWriter::addCuts() {
  Cuts cuts;
  bool isKnown =
      contraction.sideBySide.results == 1 && !cutsOf(strategy(), layout, cuts);
  if (!isKnown || cuts.chunks != layout.chunks)
    hint(rowsHint, part.choice.chunkRows);
  if (isKnown ? cuts.tileEnds != layout.tileEnds : layout.tileEnds.size() > 1)
    hint(foldsHint, part.choice.tileBlocks);
}

tile::StrategyAttr StrategyWriter::write() {
  const Choice &choice = part.choice;
  cutRange(contraction.batch, 1);
  cutRows();
  cutRange(contraction.n, machine.dim);
  cutTerms();
  if (readsTaps(contraction, choice.isOnLanes) && !choice.readsTapsInPlace)
    hints.push_back(b.getNamedAttr(unfoldHint, b.getUnitAttr()));
  hint(cyclesHint, choice.stepCycles);
  if (part.half >= 0)
    hint(halfHint, part.half);
  if (part.keptRows)
    hint(keptHint, part.keptRows);
  addCuts();
  return strategy();
}

tile::StrategyAttr StrategyWriter::strategy() const {
  const Choice &choice = part.choice;
  bool isOnLanes = contraction.isDepthwise || choice.isOnLanes;
  StringRef unit = isOnLanes                   ? nothingStays
                   : choice.isOutputStationary ? sumsStay
                                               : factorsStay;
  SmallVector<tile::HopAttr> hops;
  const Access *factors[] = {&contraction.a, &contraction.b};
  for (tile::OperandKind kind : {tile::OperandKind::A, tile::OperandKind::B})
    if (!factors[(kind == tile::OperandKind::B) != contraction.isExchanged]
             ->kept)
      hops.push_back(tile::HopAttr::get(
          b.getContext(), kind, tile::HopKind::Ring, scratchpad,
          /*at=*/0, /*slots=*/2, "load", tile::LayoutAttr()));
  auto level =
      tile::LevelAttr::get(b.getContext(), tile::LevelKind::Loop, /*scope=*/"",
                           ArrayRef(tile).take_front(numParallel),
                           ArrayRef(tile).drop_front(numParallel), order);
  SmallVector<int64_t> n = own(contraction.n), lanes,
                       terms = own(contraction.k);
  if (contraction.isDepthwise) {
    std::swap(n, lanes);
    terms.clear();
  }
  return tile::StrategyAttr::get(
      b.getContext(), unit, /*shape=*/{}, own(contraction.m), n, terms,
      /*group=*/{}, lanes, level, hops, "accumulator", /*promote=*/-1,
      /*masked=*/{}, /*partials=*/"", /*roles=*/{},
      DictionaryAttr::get(b.getContext(), hints));
}

tile::StrategyAttr ashlar::systolic::strategyOf(tile::ContractOp op,
                                                const Part &part,
                                                const Machine &machine) {
  return StrategyWriter(op, part, machine).write();
}

//===-- And back ----------------------------------------------------------===//

static std::optional<int64_t> hintOf(tile::StrategyAttr strategy,
                                     StringRef name) {
  auto number = strategy.getHints().getAs<IntegerAttr>(name);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

int64_t ashlar::systolic::keptRowsOf(tile::StrategyAttr strategy) {
  return strategy ? hintOf(strategy, keptHint).value_or(0) : 0;
}

/// The form that the array computes: results side by side, or weights that go
/// by inputs.
static Refusal readForm(tile::StrategyAttr strategy, const Contraction &whole,
                        const Machine &machine, Contraction &form) {
  form = whole;
  if (std::optional<int64_t> beside = hintOf(strategy, besideHint)) {
    auto packed = *beside < 1         ? std::nullopt
                  : whole.isDepthwise ? packLanes(whole, *beside)
                                      : packColumns(whole, machine, *beside);
    if (!packed)
      return llvm::formatv("{0} of its results cannot stand side by side",
                           *beside)
          .str();
    form = std::move(*packed);
    return std::nullopt;
  }
  auto isOf = [](ArrayRef<int64_t> found, ArrayRef<unsigned> dims) {
    return llvm::equal(found, dims,
                       [](int64_t x, unsigned y) { return x == int64_t(y); });
  };
  if (whole.isDepthwise || isOf(strategy.getM(), whole.m))
    return std::nullopt;
  auto exchanged =
      isOf(strategy.getM(), whole.n) ? exchangeRoles(whole) : std::nullopt;
  if (!exchanged)
    return llvm::formatv(
               "its unit's rows cannot be dims [{0}]",
               llvm::make_range(strategy.getM().begin(), strategy.getM().end()))
        .str();
  form = std::move(*exchanged);
  return std::nullopt;
}

/// Whether its tiles are those of its loops; else its hints say their sizes.
static bool walksLoops(tile::StrategyAttr strategy) {
  return llvm::none_of(
      ArrayRef<StringRef>{rowsHint, foldsHint, besideHint},
      [&](StringRef hint) { return strategy.getHints().contains(hint); });
}

Refusal ashlar::systolic::readStrategy(tile::StrategyAttr strategy,
                                       const Contraction &whole,
                                       const Machine &machine,
                                       Contraction &form, Part &part) {
  if (Refusal why = readForm(strategy, whole, machine, form))
    return why;
  StringRef unit = strategy.getUnit();
  Choice &choice = part.choice;
  bool isOnLanes = unit == nothingStays;
  if (!llvm::is_contained({factorsStay, sumsStay, nothingStays}, unit))
    return llvm::formatv("expected the unit '{0}', '{1}' or '{2}', found '{3}'",
                         factorsStay, sumsStay, nothingStays, unit)
        .str();
  if (isOnLanes ? !form.isDepthwise && !canRunOnLanes(form, machine)
                : form.isDepthwise)
    return llvm::formatv("the unit '{0}' does not compute it", unit).str();
  choice.isOnLanes = isOnLanes && !form.isDepthwise;
  choice.isOutputStationary = unit == sumsStay;
  choice.readsTapsInPlace = readsTaps(form, choice.isOnLanes) &&
                            !strategy.getHints().contains(unfoldHint);
  int64_t rows = 1;
  for (int64_t d : strategy.getM())
    rows *= strategy.getTile(d);
  if (form.sideBySide.results > 1)
    rows /= form.sideBySide.results;
  choice.chunkRows = hintOf(strategy, rowsHint).value_or(rows);
  int64_t folds = form.count(form.k);
  if (int last = innermost(form, form.k);
      last >= 0 && size_t(last) < whole.sizes.size())
    if (int64_t terms = strategy.getTile(unsigned(last)))
      folds = llvm::divideCeil(terms, machine.dim) *
              (choice.readsTapsInPlace ? tapsOf(form) : 1);
  choice.tileBlocks = hintOf(strategy, foldsHint).value_or(folds);
  choice.stepCycles = hintOf(strategy, cyclesHint).value_or(1200);
  std::optional<int64_t> half = hintOf(strategy, halfHint);
  part.half = int(half.value_or(-1));
  part.keptRows = keptRowsOf(strategy);
  if (choice.chunkRows < 1 || choice.tileBlocks < 1 || choice.stepCycles < 1 ||
      (half && *half != 0 && *half != 1))
    return llvm::formatv("expected tiles of 1 row and fold or more, steps of 1 "
                         "cycle or more, and the half 0 or 1, found {0}",
                         strategy.getHints())
        .str();
  if (!walksLoops(strategy))
    return std::nullopt;
  auto cuts = std::make_shared<Cuts>();
  if (Refusal why = cutsOf(strategy, ChipLayout(form, machine, choice), *cuts))
    return why;
  part.cuts = std::move(cuts);
  return std::nullopt;
}
