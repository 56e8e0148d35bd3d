// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers and variables of all spaces.

#include "PtxParser.h"

#include <cstring>

using namespace ashlar::ptx;

void Parser::declare(const std::string &name, Meaning meaning) {
  if (!scopes.back().emplace(name, std::move(meaning)).second)
    fail("'" + name + "' is declared twice");
}

/// .reg .b32 %r<5>, %x;
void Parser::parseRegisters() {
  std::string typeName = word("a type");
  Type type = typeNamed(std::string_view(typeName).substr(1));
  if (type == Type::None)
    fail("registers of a type that is not known");
  // Wide ones take two slots.
  uint32_t step = type == Type::B128 ? 2 : 1;
  auto add = [&](const std::string &name) {
    Meaning meaning;
    meaning.slot = function->slots;
    meaning.type = type;
    declare(name, meaning);
    function->slots += step;
    function->registerNames.resize(function->slots - special::Count, name);
  };
  do {
    std::string name = word("a register");
    if (accept("<")) {
      uint64_t count = number();
      expect(">");
      if (count > 1000000)
        fail("too many registers");
      for (uint64_t i = 0; i < count; ++i)
        add(name + std::to_string(i));
    } else {
      add(name);
    }
  } while (accept(","));
  expect(";");
}

/// {.align N} {.v4} .type {.ptr ...} name {[N]...}, without what ends it.
std::shared_ptr<Variable> Parser::parseVariable(Space space) {
  auto made = std::make_shared<Variable>();
  made->space = space;
  uint64_t vector = 1, align = 0;
  while (true) {
    if (accept(".align"))
      align = number();
    else if (accept(".v2"))
      vector = 2;
    else if (accept(".v4"))
      vector = 4;
    else
      break;
  }
  std::string typeName = word("a type");
  made->type = typeNamed(std::string_view(typeName).substr(1));
  if (made->type == Type::None || made->type == Type::Pred)
    fail("a variable of a type that is not known");
  // What a parameter points to says nothing of the parameter.
  if (accept(".ptr"))
    while (accept(".global") || accept(".const") || accept(".shared") ||
           accept(".local") || (accept(".align") && (number(), true))) {
    }
  uint64_t element = bytesOf(made->type) * vector;
  made->align = align ? align : element;
  if (made->align & (made->align - 1))
    fail("an alignment that is no power of two");
  made->name = word("a name");
  made->size = element;
  while (accept("[")) {
    if (accept("]")) {
      made->size = 0;
      continue;
    }
    made->size *= number();
    expect("]");
  }
  return made;
}

int64_t Parser::parseInitialNumber(Type type) {
  bool isNegative = accept("-");
  Operand operand = parseNumber(isNegative);
  if (operand.kind != Operand::Real)
    return operand.integer;
  if (type == Type::F32) {
    float narrow = float(operand.real);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  int64_t bits;
  std::memcpy(&bits, &operand.real, 8);
  return bits;
}

/// {1, 2, {3, name+4, generic(name)}}, nested ones row by row.
void Parser::parseInitial(Variable &variable, uint64_t element) {
  bool isList = accept("{");
  do {
    if (isList && peek().is("}"))
      break;
    if (peek().is("{")) {
      parseInitial(variable, element);
      continue;
    }
    uint64_t begin = variable.initial.size();
    variable.initial.resize(begin + element);
    if (peek().kind == Token::Word) {
      bool isGeneric = accept("generic");
      if (isGeneric)
        expect("(");
      std::string to = word("a name");
      if (isGeneric)
        expect(")");
      int64_t plus = 0;
      if (accept("+"))
        plus = int64_t(number());
      if (element != 8)
        fail("an address within elements of " + std::to_string(element) +
             " bytes; expected 8");
      variable.pointers.push_back({begin, to, plus});
      continue;
    }
    int64_t bits = parseInitialNumber(variable.type);
    std::memcpy(variable.initial.data() + begin, &bits, element);
  } while (isList && accept(","));
  if (isList)
    expect("}");
}

/// After the space's name, up to and with the semicolon.
void Parser::parseVariables(Space space, bool isExtern) {
  while (accept(".attribute"))
    fail("attributes of variables are not known");
  std::shared_ptr<Variable> variable = parseVariable(space);
  variable->isExtern = isExtern;
  if (accept("=")) {
    uint64_t element = bytesOf(variable->type);
    parseInitial(*variable, element);
    if (variable->size == 0)
      variable->size = variable->initial.size();
    if (variable->initial.size() > variable->size)
      fail("'" + variable->name + "' is given more than its " +
           std::to_string(variable->size) + " bytes");
  }
  if (!accept(";"))
    fail("expected one variable and ';'");
  place(*variable);
  if (space == Space::Global || space == Space::Const)
    module.variables.push_back(variable);
  declare(variable->name, {variable, 0, variable->type});
}

void Parser::place(Variable &variable) {
  uint64_t *end = nullptr;
  if (variable.space == Space::Shared && variable.isExtern)
    module.dynamicAlign = std::max(module.dynamicAlign, variable.align);
  else if (variable.space == Space::Shared) {
    variable.isOfKernel = function && function->isEntry;
    end = variable.isOfKernel ? &function->sharedBytes : &module.sharedBytes;
  }
  if (variable.space == Space::Local)
    end = &function->localBytes;
  else if (variable.space == Space::Param)
    end = &function->paramBytes;
  if (!end)
    return;
  *end = (*end + variable.align - 1) / variable.align * variable.align;
  variable.offset = *end;
  *end += variable.size;
}
