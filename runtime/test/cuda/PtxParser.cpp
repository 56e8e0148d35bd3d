// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules and functions.

#include "PtxParser.h"

using namespace ashlar::ptx;

void Parser::fail(const std::string &what) const {
  uint32_t line = peek().line;
  std::string text =
      line > 0 && line <= module.lines.size() ? module.lines[line - 1] : "";
  text.erase(0, text.find_first_not_of(" \t"));
  throw Error("line " + std::to_string(line) + ": " + what + ": " + text);
}

Module ashlar::ptx::parse(std::string_view text) { return Parser(text).take(); }

Module Parser::take() {
  while (peek().kind != Token::End)
    parseModuleDirective();
  if (module.version.empty() || module.target.empty())
    fail("a module needs .version and .target");
  return std::move(module);
}

/// Up to where the next line begins.
void Parser::skipLine() {
  for (uint32_t line = peek().line;
       peek().line == line && peek().kind != Token::End;)
    next();
}

void Parser::skipSection() {
  while (!peek().is("{") && peek().kind != Token::End)
    next();
  for (int depth = 0; peek().kind != Token::End;) {
    const Token &token = next();
    depth += token.is("{");
    depth -= token.is("}");
    if (depth == 0)
      return;
  }
}

void Parser::parseModuleDirective() {
  if (accept(".version")) {
    module.version = std::string(next().text);
  } else if (accept(".target")) {
    module.target = word("a target");
    while (accept(","))
      word("a target's option");
  } else if (accept(".address_size")) {
    if (number() != 64)
      fail("expected .address_size 64");
  } else if (peek().is(".file") || peek().is(".loc")) {
    skipLine();
  } else if (accept(".pragma")) {
    next();
    expect(";");
  } else if (accept(".section")) {
    skipSection();
  } else {
    bool isExtern = false;
    while (true) {
      if (accept(".extern"))
        isExtern = true;
      else if (!accept(".visible") && !accept(".weak") && !accept(".common") &&
               !accept(".hidden"))
        break;
    }
    if (accept(".entry"))
      parseFunction(/*isEntry=*/true, isExtern);
    else if (accept(".func"))
      parseFunction(/*isEntry=*/false, isExtern);
    else if (accept(".global"))
      parseVariables(Space::Global, isExtern);
    else if (accept(".const"))
      parseVariables(Space::Const, isExtern);
    else if (accept(".shared"))
      parseVariables(Space::Shared, isExtern);
    else
      fail("a directive that the interpreter does not know");
  }
}

void Parser::parseParameters(Function &to, bool isResults, Space space) {
  expect("(");
  while (!accept(")")) {
    if (accept(","))
      continue;
    if (!accept(".param"))
      fail("expected .param; parameters in registers are not known");
    std::shared_ptr<Variable> variable = parseVariable(space);
    // By their alignment, one after another, as the driver wants them.
    uint64_t &bytes =
        space == Space::KernelParam ? to.parameterBytes : to.paramBytes;
    bytes = (bytes + variable->align - 1) / variable->align * variable->align;
    variable->offset = bytes;
    bytes += variable->size;
    declare(variable->name, {variable, 0, variable->type});
    (isResults ? to.results : to.parameters).push_back(variable);
  }
}

void Parser::parseFunctionDirectives(Function &to) {
  auto dimensions = [&](uint32_t (&out)[3]) {
    for (uint32_t &each : out)
      each = 1;
    int count = 0;
    do
      out[count++] = uint32_t(number());
    while (count < 3 && accept(","));
  };
  while (true) {
    if (accept(".reqntid"))
      dimensions(to.reqntid);
    else if (accept(".maxntid"))
      dimensions(to.maxntid);
    else if (accept(".reqnctapercluster"))
      dimensions(to.reqnctapercluster);
    else if (accept(".maxclusterrank"))
      to.maxClusterRank = uint32_t(number());
    else if (accept(".explicitcluster"))
      to.isOfClusters = true;
    else if (accept(".minnctapersm"))
      to.minBlocks = uint32_t(number());
    else if (accept(".maxnreg"))
      to.maxRegisters = uint32_t(number());
    else if (accept(".pragma")) {
      next();
      expect(";");
    } else if (!accept(".noreturn"))
      return;
  }
}

void Parser::parseFunction(bool isEntry, bool isExtern) {
  auto made = std::make_shared<Function>();
  made->isEntry = isEntry;
  made->slots = special::Count;
  made->line = peek().line;
  scopes.emplace_back();
  Space space = isEntry ? Space::KernelParam : Space::Param;
  if (peek().is("("))
    parseParameters(*made, /*isResults=*/true, space);
  made->name = word("a function's name");
  if (peek().is("("))
    parseParameters(*made, /*isResults=*/false, space);
  parseFunctionDirectives(*made);
  auto &known = module.functions[made->name];
  if (known && known->isDefined && peek().is("{"))
    fail("a second function '" + made->name + "'");
  // Whoever calls a function that is defined later, has its place already.
  if (known && !known->isDefined)
    *known = *made;
  else if (!known)
    known = made;
  if (peek().is("{")) {
    function = known.get();
    parseBody(*function);
    function = nullptr;
  } else {
    expect(";");
  }
  (void)isExtern;
  scopes.pop_back();
}

void Parser::parseBody(Function &to) {
  to.isDefined = true;
  expect("{");
  for (int depth = 1; depth > 0;) {
    if (peek().kind == Token::End) {
      fail("the function '" + to.name + "' does not end");
    } else if (accept("{")) {
      scopes.emplace_back();
      ++depth;
    } else if (accept("}")) {
      if (--depth > 0)
        scopes.pop_back();
    } else if (accept(".reg")) {
      parseRegisters();
    } else if (accept(".local")) {
      parseVariables(Space::Local, false);
    } else if (accept(".shared")) {
      parseVariables(Space::Shared, false);
    } else if (accept(".global")) {
      parseVariables(Space::Global, false);
    } else if (accept(".const")) {
      parseVariables(Space::Const, false);
    } else if (accept(".param")) {
      parseVariables(Space::Param, false);
    } else if (accept(".pragma")) {
      next();
      expect(";");
    } else if (peek().is(".loc") || peek().is(".file")) {
      skipLine();
    } else if (!accept(";")) {
      parseStatement();
    }
  }
}
