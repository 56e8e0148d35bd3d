// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #tile.strategy: its text, and what every contraction's strategy must hold.
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace ashlar::tile;

//===-- Text --------------------------------------------------------------===//

/// Numbers, `_` for 0, up to a bar or the end.
static ParseResult parseNumbers(AsmParser &parser,
                                SmallVectorImpl<int64_t> &numbers) {
  do {
    int64_t &number = numbers.emplace_back(0);
    if (failed(parser.parseOptionalKeyword("_")) && parser.parseInteger(number))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

/// `[1, 2 | 3]`; each part may be missing.
static ParseResult parseParts(AsmParser &parser, SmallVectorImpl<int64_t> &left,
                              SmallVectorImpl<int64_t> &right) {
  if (parser.parseLSquare())
    return failure();
  if (succeeded(parser.parseOptionalRSquare()))
    return success();
  if (failed(parser.parseOptionalVerticalBar())) {
    if (parseNumbers(parser, left))
      return failure();
    if (succeeded(parser.parseOptionalRSquare()))
      return success();
    if (parser.parseVerticalBar())
      return failure();
  }
  return failure(parseNumbers(parser, right) || parser.parseRSquare());
}

static ParseResult parseList(AsmParser &parser,
                             SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(numbers.emplace_back());
  });
}

static void printNumbers(AsmPrinter &printer, ArrayRef<int64_t> numbers) {
  llvm::interleaveComma(numbers, printer, [&](int64_t number) {
    if (number)
      printer << number;
    else
      printer << "_";
  });
}

/// What follows the kind.
static LevelAttr parseLevel(AsmParser &parser, LevelKind kind) {
  std::string scope;
  SmallVector<int64_t> parallel, reduced, order;
  if ((kind == LevelKind::Grid && parser.parseKeywordOrString(&scope)) ||
      parseParts(parser, parallel, reduced) ||
      (succeeded(parser.parseOptionalKeyword("order")) &&
       parseList(parser, order)))
    return {};
  return LevelAttr::get(parser.getContext(), kind, scope, parallel, reduced,
                        order);
}

static void printLevel(AsmPrinter &printer, LevelAttr level) {
  printer << stringifyLevelKind(level.getKind()) << " ";
  if (level.getKind() == LevelKind::Grid) {
    printer.printKeywordOrString(level.getScope());
    printer << " ";
  }
  printer << "[";
  printNumbers(printer, level.getParallel());
  if (!level.getReduced().empty()) {
    printer << " | ";
    printNumbers(printer, level.getReduced());
  }
  printer << "]";
  if (!level.getOrder().empty())
    printer << " order [" << level.getOrder() << "]";
}

/// What follows the operand.
static HopAttr parseHop(AsmParser &parser, OperandKind operand) {
  StringRef name;
  std::string memory;
  int64_t at = 0, slots = 1;
  LayoutAttr layout;
  if (parser.parseColon())
    return {};
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseKeywordOrString(&memory))
    return {};
  std::optional<HopKind> kind = symbolizeHopKind(name);
  if (!kind) {
    parser.emitError(location, "expected pack, prefetch or ring, found ")
        << name;
    return {};
  }
  if ((*kind != HopKind::Prefetch &&
       (parser.parseKeyword("at") || parser.parseInteger(at))) ||
      (*kind != HopKind::Pack &&
       (parser.parseKeyword("slots") || parser.parseInteger(slots))))
    return {};
  if (*kind == HopKind::Ring) {
    OptionalParseResult found = parser.parseOptionalAttribute(layout);
    if (found.has_value() && failed(*found))
      return {};
  }
  return HopAttr::get(parser.getContext(), operand, *kind, memory, at, slots,
                      layout);
}

static void printHop(AsmPrinter &printer, HopAttr hop) {
  printer << stringifyOperandKind(hop.getOperand()) << ": "
          << stringifyHopKind(hop.getKind()) << " ";
  printer.printKeywordOrString(hop.getMemory());
  if (hop.getKind() != HopKind::Prefetch)
    printer << " at " << hop.getAt();
  if (hop.getKind() != HopKind::Pack)
    printer << " slots " << hop.getSlots();
  if (hop.getLayout())
    printer << " " << hop.getLayout();
}

Attribute LevelAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  std::optional<LevelKind> kind = symbolizeLevelKind(name);
  if (!kind) {
    parser.emitError(location, "expected grid or loop, found ") << name;
    return {};
  }
  LevelAttr level = parseLevel(parser, *kind);
  return level && succeeded(parser.parseGreater()) ? level : LevelAttr();
}

void LevelAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printLevel(printer, *this);
  printer << ">";
}

Attribute HopAttr::parse(AsmParser &parser, Type) {
  StringRef operand;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&operand))
    return {};
  std::optional<OperandKind> kind = symbolizeOperandKind(operand);
  if (!kind) {
    parser.emitError(location, "expected a or b, found ") << operand;
    return {};
  }
  HopAttr hop = parseHop(parser, *kind);
  return hop && succeeded(parser.parseGreater()) ? hop : HopAttr();
}

void HopAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printHop(printer, *this);
  printer << ">";
}

Attribute StrategyAttr::parse(AsmParser &parser, Type) {
  std::string unit;
  SmallVector<int64_t> shape, m, n, k, group, lanes;
  SmallVector<LevelAttr> levels;
  SmallVector<HopAttr> hops;
  std::string accumulator;
  int64_t promote = -1;
  DictionaryAttr hints = DictionaryAttr::get(parser.getContext());
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&unit))
    return {};
  auto named = [&](StringRef name, auto parse) -> ParseResult {
    return failure(succeeded(parser.parseOptionalKeyword(name)) && parse());
  };
  if (named("shape", [&] { return parseList(parser, shape); }) ||
      named("m", [&] { return parseList(parser, m); }) ||
      named("n", [&] { return parseList(parser, n); }) ||
      named("k", [&] { return parseParts(parser, k, group); }) ||
      named("lanes", [&] { return parseList(parser, lanes); }))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return {};
    if (std::optional<LevelKind> kind = symbolizeLevelKind(name)) {
      levels.push_back(parseLevel(parser, *kind));
      if (!levels.back())
        return {};
    } else if (auto operand = symbolizeOperandKind(name)) {
      if (!hops.emplace_back(parseHop(parser, *operand)))
        return {};
    } else if (name == "acc") {
      if (parser.parseKeywordOrString(&accumulator) ||
          named("promote", [&] { return parser.parseInteger(promote); }))
        return {};
    } else if (name == "hints") {
      if (parser.parseAttribute(hints))
        return {};
    } else {
      parser.emitError(location,
                       "expected grid, loop, a, b, acc or hints, found ")
          << name;
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  auto error = [&] { return parser.emitError(start); };
  if (failed(verify(error, unit, shape, m, n, k, group, lanes, levels, hops,
                    accumulator, promote, hints)))
    return {};
  return get(parser.getContext(), unit, shape, m, n, k, group, lanes, levels,
             hops, accumulator, promote, hints);
}

void StrategyAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printString(getUnit());
  auto list = [&](StringRef name, ArrayRef<int64_t> numbers) {
    if (!numbers.empty())
      printer << " " << name << " [" << numbers << "]";
  };
  list("shape", getShape());
  list("m", getM());
  list("n", getN());
  if (isGrouped())
    printer << " k [" << getK() << (getK().empty() ? "| " : " | ") << getGroup()
            << "]";
  else
    list("k", getK());
  list("lanes", getLanes());
  for (LevelAttr level : getLevels()) {
    printer << ", ";
    printLevel(printer, level);
  }
  for (HopAttr hop : getHops()) {
    printer << ", ";
    printHop(printer, hop);
  }
  printer << ", acc ";
  printer.printKeywordOrString(getAccumulator());
  if (getPromote() >= 0)
    printer << " promote " << getPromote();
  if (!getHints().empty())
    printer << ", hints " << getHints();
  printer << ">";
}

//===-- What holds for all of them ----------------------------------------===//

/// A tile per dim, and loops over what is cut.
static LogicalResult
verifyLevels(llvm::function_ref<InFlightDiagnostic()> error,
             ArrayRef<LevelAttr> levels, int64_t promote) {
  if (levels.empty() || levels.back().getKind() != LevelKind::Loop)
    return error() << "expected a loop level at the end of a strategy";
  size_t parallel = levels.back().getParallel().size(),
         dims = levels.back().getNumDims();
  SmallVector<bool> isOrdered(dims, false);
  for (auto [i, level] : llvm::enumerate(levels)) {
    bool isLast = i + 1 == levels.size();
    if (level.getParallel().size() != parallel || level.getNumDims() != dims)
      return error() << "expected as many sizes in all levels as in the last, "
                     << parallel << " | " << dims - parallel << ", found "
                     << level;
    for (unsigned d = 0; d != dims; ++d) {
      int64_t tile = level.getTile(d), least = levels.back().getTile(d);
      if (tile < 0)
        return error() << "expected tiles of 1 or more, found " << level;
      // Nothing cuts a dim twice yet.
      if (level.getKind() == LevelKind::Loop && tile && tile != least)
        return error() << "expected the accumulator's tile of dim " << d << ", "
                       << least << ", wherever loops cut it, found " << level;
    }
    if (level.getKind() == LevelKind::Grid) {
      if (i != 0)
        return error() << "expected one grid level, in front of all loops";
      if (!level.getOrder().empty() ||
          llvm::any_of(level.getReduced(), [](int64_t n) { return n != 0; }))
        return error() << "expected a grid over parallel dims, in their order, "
                          "found "
                       << level;
      continue;
    }
    int64_t term = -1; // the last one that is looped over
    for (int64_t dim : level.getOrder()) {
      if (dim < 0 || dim >= int64_t(dims) || isOrdered[dim])
        return error() << "expected each dim at most once in the orders, found "
                       << level;
      isOrdered[dim] = true;
      if (level.getTile(dim) == 0)
        return error() << "expected a tile of dim " << dim
                       << ", over which it loops, in " << level;
      bool isTerm = dim >= int64_t(parallel);
      if (isTerm ? !isLast || dim < term : term >= 0)
        return error() << "expected loops over terms inside all others, in "
                          "the order of their dims, found "
                       << level;
      term = isTerm ? dim : term;
    }
    for (unsigned d = 0; d != dims; ++d)
      if (level.getTile(d) != 0 && !isOrdered[d] && (!isLast || d >= parallel))
        return error() << "expected '_' for dim " << d
                       << " in front of its loop, found " << level;
  }
  for (unsigned d = 0; d != dims; ++d) {
    bool isTerm = d >= parallel;
    int64_t tile = levels.back().getTile(d);
    if (!isTerm && tile == 0)
      return error() << "expected what an accumulator holds of dim " << d
                     << ", found " << levels.back();
    if (isTerm ? (tile != 0) != isOrdered[d] : !isOrdered[d])
      return error() << "expected a loop over dim " << d
                     << " in one of the levels, found "
                     << (isTerm && isOrdered[d] ? "one without a tile"
                                                : "none");
  }
  bool cutsTerms =
      llvm::any_of(levels.back().getReduced(), [](int64_t n) { return n; });
  if (promote != -1 && (!cutsTerms || promote != int64_t(levels.size()) - 1))
    return error() << "expected sums to be promoted at the level that cuts "
                      "terms, "
                   << (cutsTerms ? int64_t(levels.size()) - 1 : -1)
                   << ", found " << promote;
  return success();
}

static LogicalResult verifyHops(llvm::function_ref<InFlightDiagnostic()> error,
                                ArrayRef<LevelAttr> levels,
                                ArrayRef<HopAttr> hops) {
  unsigned kinds[2][3] = {};
  for (HopAttr hop : hops) {
    auto &own = kinds[unsigned(hop.getOperand())];
    if (hop.getSlots() < 1 || hop.getSlots() > RingType::mostSlots ||
        own[unsigned(hop.getKind())]++)
      return error() << "expected one hop of a kind, with slots of 1 to "
                     << RingType::mostSlots << ", found " << hop;
    if (hop.getKind() == HopKind::Prefetch) {
      if (hop.getOperand() == OperandKind::A)
        return error() << "expected prefetches of b alone, found " << hop;
      continue;
    }
    if (hop.getAt() < 0 || hop.getAt() >= int64_t(levels.size()) ||
        levels[hop.getAt()].getKind() != LevelKind::Loop)
      return error() << "expected the number of a loop level in " << hop;
    if (hop.getKind() == HopKind::Ring)
      continue;
    if (hop.getOperand() == OperandKind::A)
      return error() << "expected b alone to be packed, found " << hop;
    auto cuts = [](int64_t tile) { return tile != 0; };
    if (llvm::any_of(levels[hop.getAt()].getReduced(), cuts))
      return error() << "expected a level that has all terms in " << hop
                     << ", found " << levels[hop.getAt()];
  }
  // What a ring holds lies as it is copied, and where it is near.
  unsigned *ofB = kinds[unsigned(OperandKind::B)];
  if (ofB[unsigned(HopKind::Ring)] &&
      (ofB[unsigned(HopKind::Pack)] || ofB[unsigned(HopKind::Prefetch)]))
    return error() << "expected b in a ring, or packed or prefetched, not both";
  return success();
}

LogicalResult StrategyAttr::verify(
    llvm::function_ref<InFlightDiagnostic()> error, StringRef unit,
    ArrayRef<int64_t> shape, ArrayRef<int64_t> m, ArrayRef<int64_t> n,
    ArrayRef<int64_t> k, ArrayRef<int64_t> group, ArrayRef<int64_t> lanes,
    ArrayRef<LevelAttr> levels, ArrayRef<HopAttr> hops, StringRef accumulator,
    int64_t promote, DictionaryAttr hints) {
  if (failed(verifyLevels(error, levels, promote)))
    return failure();
  int64_t parallel = levels.back().getParallel().size(),
          dims = levels.back().getNumDims();
  SmallVector<bool> isOnUnit(dims, false);
  for (auto [list, areTerms] : {std::pair(m, false),
                                {n, false},
                                {lanes, false},
                                {k, true},
                                {group, true}})
    for (int64_t dim : list) {
      if (dim < 0 || dim >= dims || isOnUnit[dim] ||
          (dim >= parallel) != areTerms)
        return error()
               << "expected parallel dims on m, n and lanes and reduced "
                  "ones on k, each once, found dim "
               << dim;
      isOnUnit[dim] = true;
    }
  if (group.size() > 1 || (!group.empty() && group.front() != dims - 1))
    return error() << "expected the last dim as the group of terms";
  if (!shape.empty() && (shape.size() != 3 ||
                         llvm::any_of(shape, [](int64_t s) { return s < 1; })))
    return error() << "expected rows, columns and terms of the unit's product";
  if (accumulator.empty())
    return error() << "expected 'acc' and the memory of sums";
  if (Attribute unroll = hints.get("unroll")) {
    auto terms = dyn_cast<IntegerAttr>(unroll);
    if (!terms || terms.getInt() < 1)
      return error() << "expected 'unroll' of 1 or more terms, found "
                     << unroll;
  }
  return verifyHops(error, levels, hops);
}

//===-- What is read of them ----------------------------------------------===//

SmallVector<int64_t> StrategyAttr::getLoops() const {
  SmallVector<int64_t> loops;
  for (LevelAttr level : getLevels())
    for (int64_t dim : level.getOrder())
      if (dim < int64_t(getNumParallel()))
        loops.push_back(dim);
  return loops;
}

unsigned StrategyAttr::getLoopsTo(HopAttr hop) const {
  unsigned loops = 0;
  for (LevelAttr level : getLevels().take_front(hop.getAt() + 1))
    loops += llvm::count_if(level.getOrder(), [&](int64_t dim) {
      return dim < int64_t(getNumParallel());
    });
  return loops;
}

int64_t StrategyAttr::getUnroll() const {
  auto unroll = getHints().getAs<IntegerAttr>("unroll");
  return unroll ? unroll.getInt() : 1;
}

/// The same but for where operands are cut and copied.
static StrategyAttr withLevels(StrategyAttr of, ArrayRef<LevelAttr> levels,
                               ArrayRef<HopAttr> hops) {
  // The last one promotes, if one does.
  return StrategyAttr::get(
      of.getContext(), of.getUnit(), of.getShape(), of.getM(), of.getN(),
      of.getK(), of.getGroup(), of.getLanes(), levels, hops,
      of.getAccumulator(),
      of.getPromote() < 0 ? -1 : int64_t(levels.size()) - 1, of.getHints());
}

StrategyAttr StrategyAttr::inPlace() const {
  return withLevels(*this, getLevels().drop_front(hasGrid()), {});
}

StrategyAttr StrategyAttr::withoutGrid() const {
  if (!hasGrid())
    return *this;
  SmallVector<HopAttr> hops;
  for (HopAttr hop : getHops())
    hops.push_back(HopAttr::get(getContext(), hop.getOperand(), hop.getKind(),
                                hop.getMemory(),
                                std::max<int64_t>(0, hop.getAt() - 1),
                                hop.getSlots(), hop.getLayout()));
  return withLevels(*this, getLevels().drop_front(), hops);
}
