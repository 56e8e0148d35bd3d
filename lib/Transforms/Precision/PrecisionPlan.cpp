// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Precision/PrecisionPlan.h"
#include <algorithm>
#include <sstream>

using namespace ashlar;

static constexpr const char *typeNames[] = {"f32", "bf16", "f16"};

const char *ashlar::spell(NumberType type) {
  return typeNames[static_cast<int>(type)];
}

bool ashlar::parseNumberType(const std::string &text, NumberType &type) {
  for (int i = 0; i != 3; ++i)
    if (text == typeNames[i]) {
      type = static_cast<NumberType>(i);
      return true;
    }
  return false;
}

/// Names may hold anything; a line holds one.
static std::string quote(const std::string &name) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "\"";
  for (char c : name) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      continue;
    }
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  return text + "\"";
}

static int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

/// Reads a quoted name that begins at `at`, and moves behind it.
static bool unquote(const std::string &line, size_t &at, std::string &name) {
  if (at >= line.size() || line[at] != '"')
    return false;
  for (++at; at < line.size(); ++at) {
    if (line[at] == '"') {
      ++at;
      return true;
    }
    if (line[at] != '\\') {
      name += line[at];
      continue;
    }
    if (++at == line.size())
      return false;
    if (line[at] != 'x') {
      name += line[at];
      continue;
    }
    if (at + 2 >= line.size() || digit(line[at + 1]) < 0 ||
        digit(line[at + 2]) < 0)
      return false;
    name += static_cast<char>(digit(line[at + 1]) * 16 + digit(line[at + 2]));
    at += 2;
  }
  return false;
}

std::string ashlar::parsePrecisionPlan(const std::string &text,
                                       PrecisionPlan &plan) {
  std::istringstream lines(text);
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    auto wrong = [&](const std::string &what) {
      return "line " + std::to_string(number) + ": " + what;
    };
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] == '#')
      continue;
    size_t end = std::min(line.find_first_of(" \t", at), line.size());
    std::string word = line.substr(at, end - at);
    NumberType type;
    if (!parseNumberType(word, type))
      return wrong("expected a type, f32, bf16 or f16, found '" + word + "'");
    at = std::min(line.find_first_not_of(" \t", end), line.size());
    std::string name;
    if (!unquote(line, at, name))
      return wrong("expected a node's name in double quotes after the type");
    at = line.find_first_not_of(" \t", at);
    if (at != std::string::npos && line[at] != '#')
      return wrong("expected nothing but a # comment after the name");
    if (!plan.nodes.emplace(name, PrecisionPlan::Line{type, number, ""}).second)
      return wrong("node '" + name + "' has a line already, " +
                   std::to_string(plan.nodes[name].number));
  }
  return {};
}

std::string
ashlar::printPrecisionPlan(const std::vector<PrecisionNode> &nodes,
                           const std::vector<std::string> &heading) {
  std::string text;
  for (const std::string &line : heading)
    text += "# " + line + "\n";
  size_t width = 0;
  for (const PrecisionNode &node : nodes)
    width = std::max(width, quote(node.name).size());
  width = std::min<size_t>(width, 60);
  for (const PrecisionNode &node : nodes) {
    std::string type = spell(node.type), name = quote(node.name), rules;
    for (const std::string &rule : node.rules)
      rules += (rules.empty() ? "" : ", ") + rule;
    if (!node.reason.empty())
      rules += "; " + node.reason;
    type.resize(6, ' ');
    name.resize(std::max(name.size(), width), ' ');
    text += type + name + "  # " + rules + "\n";
  }
  return text;
}
