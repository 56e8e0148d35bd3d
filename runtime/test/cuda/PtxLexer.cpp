// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxLexer.h"

#include "PtxModule.h"

#include <cctype>

using namespace ashlar::ptx;

static bool isOfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%' || c == '.' || c == '~';
}

std::vector<std::string> ashlar::ptx::linesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<Token> ashlar::ptx::tokensOf(std::string_view text) {
  std::vector<Token> tokens;
  uint32_t line = 1;
  size_t at = 0, size = text.size();
  auto fail = [&](const char *what) {
    throw Error("line " + std::to_string(line) + ": " + what);
  };
  while (at < size) {
    char c = text[at];
    size_t begin = at;
    if (c == '\n') {
      ++line, ++at;
    } else if (std::isspace(static_cast<unsigned char>(c)) || c == '\0') {
      ++at;
    } else if (c == '/' && at + 1 < size && text[at + 1] == '/') {
      at = std::min(text.find('\n', at), size);
    } else if (c == '/' && at + 1 < size && text[at + 1] == '*') {
      size_t end = text.find("*/", at + 2);
      if (end == text.npos)
        fail("a comment does not end");
      for (; at < end + 2; ++at)
        line += text[at] == '\n';
    } else if (c == '"') {
      size_t end = text.find_first_of("\"\n", at + 1);
      if (end == text.npos || text[end] == '\n')
        fail("a string does not end");
      tokens.push_back({Token::Text, text.substr(at + 1, end - at - 1), line});
      at = end + 1;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      bool isHex = c == '0' && at + 1 < size && std::isalpha(text[at + 1]);
      while (at < size && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                           text[at] == '.' ||
                           (!isHex && (text[at] == '+' || text[at] == '-') &&
                            (text[at - 1] == 'e' || text[at - 1] == 'E'))))
        ++at;
      tokens.push_back({Token::Number, text.substr(begin, at - begin), line});
    } else if (isOfWord(c)) {
      // "::" joins words within modifiers: .L1::no_allocate.
      while (at < size &&
             (isOfWord(text[at]) || (text.substr(at, 2) == "::" && ++at)))
        ++at;
      tokens.push_back({Token::Word, text.substr(begin, at - begin), line});
    } else {
      tokens.push_back({Token::Mark, text.substr(at++, 1), line});
    }
  }
  tokens.push_back({Token::End, {}, line});
  return tokens;
}
