// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parser's parts share: the words, and the names in sight.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXPARSER_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXPARSER_H

#include "PtxLexer.h"
#include "PtxModule.h"

#include <unordered_map>

namespace ashlar::ptx {

class Parser {
public:
  explicit Parser(std::string_view text) : tokens(tokensOf(text)), scopes(1) {
    module.lines = linesOf(text);
  }

  Module take();

private:
  /// What a name stands for within a scope.
  struct Meaning {
    std::shared_ptr<Variable> variable; // or a register
    uint32_t slot = 0;
    Type type = Type::None;
  };

  // PtxParser.cpp: modules and functions.
  void parseModuleDirective();
  void parseFunction(bool isEntry, bool isExtern);
  void parseParameters(Function &to, bool isResults, Space space);
  void parseFunctionDirectives(Function &to);
  void parseBody(Function &to);
  void skipSection();
  void skipLine();

  // PtxParserVariables.cpp
  void parseRegisters();
  void parseVariables(Space space, bool isExtern);
  void parseInitial(Variable &variable, uint64_t element);
  int64_t parseInitialNumber(Type type);
  std::shared_ptr<Variable> parseVariable(Space space);
  void place(Variable &variable);
  void declare(const std::string &name, Meaning meaning);

  // PtxParserStatements.cpp
  void parseStatement();
  Operand parseOperand();
  Operand parseName();
  Operand parseNumber(bool isNegative);
  Operand parseAddress();
  Operand parseList(char end, Operand::Kind kind);
  const Meaning *find(const std::string &name) const;

  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(at + ahead, tokens.size() - 1)];
  }
  const Token &next() { return tokens[std::min(at++, tokens.size() - 1)]; }
  bool accept(std::string_view what) {
    if (!peek().is(what))
      return false;
    ++at;
    return true;
  }
  void expect(std::string_view what) {
    if (!accept(what))
      fail("expected '" + std::string(what) + "', found '" +
           std::string(peek().text) + "'");
  }
  std::string word(const char *what) {
    if (peek().kind != Token::Word)
      fail("expected " + std::string(what) + ", found '" +
           std::string(peek().text) + "'");
    return std::string(next().text);
  }
  uint64_t number();
  [[noreturn]] void fail(const std::string &what) const;

  std::vector<Token> tokens;
  size_t at = 0;
  Module module;
  Function *function = nullptr;
  std::vector<std::unordered_map<std::string, Meaning>> scopes;
};

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXPARSER_H
