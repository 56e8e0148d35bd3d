// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of #tile.strategy and its parts.
#include "LevelText.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace ashlar::tile;

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
static LevelAttr parseRest(AsmParser &parser, LevelKind kind) {
  std::string scope;
  SmallVector<int64_t> parallel, reduced, order;
  if ((kind != LevelKind::Loop && parser.parseKeywordOrString(&scope)) ||
      parseParts(parser, parallel, reduced) ||
      (succeeded(parser.parseOptionalKeyword("order")) &&
       parseList(parser, order)))
    return {};
  return LevelAttr::get(parser.getContext(), kind, scope, parallel, reduced,
                        order);
}

void ashlar::tile::printLevel(AsmPrinter &printer, LevelAttr level) {
  printer << stringifyLevelKind(level.getKind()) << " ";
  if (level.getKind() != LevelKind::Loop) {
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
  std::string memory, engine;
  int64_t at = 0, slots = 1;
  bool multicast = false;
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
    if (succeeded(parser.parseOptionalKeyword("by")) &&
        parser.parseKeywordOrString(&engine))
      return {};
    multicast = succeeded(parser.parseOptionalKeyword("multicast"));
    OptionalParseResult found = parser.parseOptionalAttribute(layout);
    if (found.has_value() && failed(*found))
      return {};
  }
  return HopAttr::get(parser.getContext(), operand, *kind, memory, at, slots,
                      engine, layout, multicast);
}

static void printHop(AsmPrinter &printer, HopAttr hop) {
  printer << stringifyOperandKind(hop.getOperand()) << ": "
          << stringifyHopKind(hop.getKind()) << " ";
  printer.printKeywordOrString(hop.getMemory());
  if (hop.getKind() != HopKind::Prefetch)
    printer << " at " << hop.getAt();
  if (hop.getKind() != HopKind::Pack)
    printer << " slots " << hop.getSlots();
  if (!hop.getEngine().empty()) {
    printer << " by ";
    printer.printKeywordOrString(hop.getEngine());
  }
  if (hop.getMulticast())
    printer << " multicast";
  if (hop.getLayout())
    printer << " " << hop.getLayout();
}

static TeamAttr parseTeam(AsmParser &parser) {
  std::string role, scope;
  int64_t count = 1, registers = 0;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeywordOrString(&role) ||
      parser.parseKeywordOrString(&scope) || parser.parseKeyword("x") ||
      parser.parseInteger(count) ||
      (succeeded(parser.parseOptionalKeyword("registers")) &&
       parser.parseInteger(registers)))
    return {};
  auto error = [&] { return parser.emitError(location); };
  if (failed(TeamAttr::verify(error, role, scope, count, registers)))
    return {};
  return TeamAttr::get(parser.getContext(), role, scope, count, registers);
}

static void printTeam(AsmPrinter &printer, TeamAttr team) {
  printer.printKeywordOrString(team.getRole());
  printer << " ";
  printer.printKeywordOrString(team.getScope());
  printer << " x " << team.getCount();
  if (team.getRegisters() != 0)
    printer << " registers " << team.getRegisters();
}

Attribute TeamAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  TeamAttr team = parseTeam(parser);
  return team && succeeded(parser.parseGreater()) ? team : TeamAttr();
}

void TeamAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printTeam(printer, *this);
  printer << ">";
}

LevelAttr ashlar::tile::parseLevel(AsmParser &parser) {
  StringRef name;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return {};
  std::optional<LevelKind> kind = symbolizeLevelKind(name);
  if (!kind) {
    parser.emitError(location, "expected grid, loop or group, found ") << name;
    return {};
  }
  return parseRest(parser, *kind);
}

Attribute LevelAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  LevelAttr level = parseLevel(parser);
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
  SmallVector<int64_t> masked;
  SmallVector<TeamAttr> roles;
  std::string accumulator, partials;
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
      levels.push_back(parseRest(parser, *kind));
      if (!levels.back())
        return {};
    } else if (auto operand = symbolizeOperandKind(name)) {
      if (!hops.emplace_back(parseHop(parser, *operand)))
        return {};
    } else if (name == "acc") {
      if (parser.parseKeywordOrString(&accumulator) ||
          named("promote", [&] { return parser.parseInteger(promote); }))
        return {};
    } else if (name == "masked") {
      if (parseList(parser, masked))
        return {};
    } else if (name == "partials") {
      if (parser.parseKeywordOrString(&partials))
        return {};
    } else if (name == "role") {
      if (!roles.emplace_back(parseTeam(parser)))
        return {};
    } else if (name == "hints") {
      if (parser.parseAttribute(hints))
        return {};
    } else {
      parser.emitError(location, "expected grid, loop, group, a, b, acc, "
                                 "masked, partials, role or hints, found ")
          << name;
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  auto error = [&] { return parser.emitError(start); };
  if (failed(verify(error, unit, shape, m, n, k, group, lanes, levels, hops,
                    accumulator, promote, masked, partials, roles, hints)))
    return {};
  return get(parser.getContext(), unit, shape, m, n, k, group, lanes, levels,
             hops, accumulator, promote, masked, partials, roles, hints);
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
  if (!getMasked().empty())
    printer << ", masked [" << getMasked() << "]";
  if (splitsTerms()) {
    printer << ", partials ";
    printer.printKeywordOrString(getPartials());
  }
  for (TeamAttr team : getRoles()) {
    printer << ", role ";
    printTeam(printer, team);
  }
  if (!getHints().empty())
    printer << ", hints " << getHints();
  printer << ">";
}
