// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements and their operands.

#include "PtxParser.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

using namespace ashlar::ptx;

const Parser::Meaning *Parser::find(const std::string &name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->find(name); found != scope->end())
      return &found->second;
  return nullptr;
}

uint64_t Parser::number() {
  if (peek().kind != Token::Number)
    fail("expected a number, found '" + std::string(peek().text) + "'");
  Operand operand = parseNumber(false);
  if (operand.kind != Operand::Integer)
    fail("expected a whole number");
  return uint64_t(operand.integer);
}

Operand Parser::parseNumber(bool isNegative) {
  if (peek().kind != Token::Number)
    fail("expected a number, found '" + std::string(peek().text) + "'");
  std::string text(next().text);
  Operand operand;
  operand.kind = Operand::Integer;
  char *end = nullptr;
  const char *begin = text.c_str();
  auto startsWith = [&](const char *lower, const char *upper) {
    return text.compare(0, 2, lower) == 0 || text.compare(0, 2, upper) == 0;
  };
  errno = 0;
  if (startsWith("0f", "0F") || startsWith("0d", "0D")) {
    bool isSingle = text[1] == 'f' || text[1] == 'F';
    if (text.size() != (isSingle ? 10 : 18))
      fail("'" + text + "' has a wrong number of digits");
    uint64_t bits = std::strtoull(begin + 2, &end, 16);
    if (isSingle) {
      operand.kind = Operand::Single;
      operand.integer = int64_t(bits ^ (uint64_t(isNegative) << 31));
    } else {
      bits ^= uint64_t(isNegative) << 63;
      operand.kind = Operand::Real;
      std::memcpy(&operand.real, &bits, 8);
    }
  } else if (text.find_first_of(".") != text.npos ||
             (!startsWith("0x", "0X") &&
              text.find_first_of("eE") != text.npos)) {
    operand.kind = Operand::Real;
    operand.real = std::strtod(begin, &end);
    if (isNegative)
      operand.real = -operand.real;
  } else {
    uint64_t value = startsWith("0b", "0B") ? std::strtoull(begin + 2, &end, 2)
                                            : std::strtoull(begin, &end, 0);
    operand.integer = int64_t(isNegative ? 0 - value : value);
    if (*end == 'U')
      ++end;
  }
  if (errno || !end || *end)
    fail("'" + text + "' is no number");
  return operand;
}

Operand Parser::parseName() {
  std::string name = word("an operand");
  Operand operand;
  if (name == "_")
    return operand;
  if (name == "%clock" || name == "%clock64" || name == "%clock_hi" ||
      name == "%globaltimer" || name == "%globaltimer_lo") {
    operand.kind = Operand::Clock;
    return operand;
  }
  operand.name = name;
  if (uint32_t slot = special::named(name); slot != special::Count) {
    operand.kind = Operand::Register;
    operand.type = Type::U32;
    operand.slot = slot;
    return operand;
  }
  const Meaning *meaning = find(name);
  if (meaning && meaning->variable) {
    operand.kind = Operand::Place;
    operand.variable = meaning->variable;
    operand.type = meaning->type;
  } else if (meaning) {
    operand.kind = Operand::Register;
    operand.slot = meaning->slot;
    operand.type = meaning->type;
  } else if (name[0] == '%') {
    fail("a register that is not declared, '" + name + "'");
  } else {
    operand.kind = Operand::Name;
  }
  return operand;
}

Operand Parser::parseAddress() {
  Operand operand;
  operand.kind = Operand::Address;
  auto base = peek().kind == Token::Number || peek().is("-")
                  ? parseNumber(accept("-"))
                  : parseName();
  if (base.kind == Operand::Name)
    fail("'" + base.name + "' is not declared");
  operand.elements.push_back(std::move(base));
  while (true) {
    if (accept("+"))
      operand.integer += parseNumber(accept("-")).integer;
    else if (accept("-"))
      operand.integer -= int64_t(number());
    else if (accept(","))
      operand.elements.push_back(parseOperand());
    else
      break;
  }
  expect("]");
  return operand;
}

Operand Parser::parseList(char end, Operand::Kind kind) {
  Operand operand;
  operand.kind = kind;
  std::string_view mark(&end, 1);
  while (!accept(mark)) {
    operand.elements.push_back(parseOperand());
    if (!peek().is(mark))
      expect(",");
  }
  return operand;
}

Operand Parser::parseOperand() {
  if (accept("["))
    return parseAddress();
  if (accept("{"))
    return parseList('}', Operand::Vector);
  if (accept("("))
    return parseList(')', Operand::Group);
  if (accept("!")) {
    Operand operand = parseName();
    operand.isNegated = true;
    return operand;
  }
  if (peek().is("-") || peek().kind == Token::Number)
    return parseNumber(accept("-"));
  Operand operand = parseName();
  if (accept("|"))
    operand.second.push_back(parseName());
  if (operand.kind == Operand::Place) {
    if (accept("+"))
      operand.integer = parseNumber(accept("-")).integer;
    else if (accept("-"))
      operand.integer = -int64_t(number());
  }
  return operand;
}

void Parser::parseStatement() {
  Statement made;
  made.line = peek().line;
  if (peek().kind == Token::Word && peek(1).is(":")) {
    std::string name = word("a label");
    expect(":");
    if (accept(".branchtargets")) {
      auto &targets = function->branchTargets[name];
      do
        targets.push_back(word("a label"));
      while (accept(","));
      expect(";");
      return;
    }
    made.label = name;
    function->statements.push_back(std::move(made));
    return;
  }
  if (accept("@")) {
    made.isGuarded = true;
    made.isGuardNegated = accept("!");
    Operand guard = parseName();
    if (guard.kind != Operand::Register || guard.type != Type::Pred)
      fail("a guard that is no predicate");
    made.guard = guard.slot;
  }
  std::string opcode = word("an instruction");
  for (size_t begin = 0; begin <= opcode.size();) {
    size_t end = std::min(opcode.find('.', begin), opcode.size());
    std::string part = opcode.substr(begin, end - begin);
    if (begin == 0)
      made.opcode = part;
    else
      made.modifiers.push_back(part);
    begin = end + 1;
  }
  if (made.opcode.empty())
    fail("a directive that the interpreter does not know");
  while (!accept(";")) {
    made.operands.push_back(parseOperand());
    if (!peek().is(";"))
      expect(",");
  }
  function->statements.push_back(std::move(made));
}
