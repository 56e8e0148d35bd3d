// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads JSON as RFC 8259 has it, and nothing else, for tests of what we write.

#ifndef ASHLAR_RUNTIME_TEST_JSON_H
#define ASHLAR_RUNTIME_TEST_JSON_H

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace ashlar::test {

struct Json {
  enum Kind { none, literal, number, string, array, object };
  Kind kind = none; // of what could not be read: none
  double value = 0;
  std::string text; // of a string, its escapes as they are
  std::vector<Json> items;
  std::map<std::string, Json> fields;

  bool has(const std::string &name) const { return fields.count(name) != 0; }
  const Json &operator[](const std::string &name) const {
    static const Json nothing;
    auto found = fields.find(name);
    return found == fields.end() ? nothing : found->second;
  }
};

class JsonReader {
public:
  explicit JsonReader(const std::string &text)
      : at(text.c_str()), end(at + text.size()) {}
  /// All of the text is one value, or it is nothing.
  Json read() {
    Json out;
    if (!readValue(out))
      return {};
    skipSpace();
    return at == end ? out : Json();
  }

private:
  void skipSpace() {
    while (at != end && std::strchr(" \t\n\r", *at) && *at)
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at == end || *at != c)
      return false;
    ++at;
    return true;
  }
  bool readString(std::string &out) {
    if (!take('"'))
      return false;
    for (; at != end && *at != '"'; ++at) {
      if (static_cast<unsigned char>(*at) < 0x20)
        return false;
      out += *at;
      if (*at != '\\')
        continue;
      if (++at == end || !*at || !std::strchr("\"\\/bfnrtu", *at))
        return false;
      out += *at;
      for (int i = 0; *at == 'u' && i < 4; ++i)
        if (!std::isxdigit(static_cast<unsigned char>(at[1 + i])))
          return false;
    }
    return take('"');
  }
  bool readNumber(Json &out) {
    const char *first = at;
    if (at != end && *at == '-')
      ++at;
    // No zeros in front.
    if (at + 1 < end && *at == '0' && std::isdigit(at[1]))
      return false;
    if (at == end || !std::isdigit(static_cast<unsigned char>(*at)))
      return false;
    char *last = nullptr;
    out.value = std::strtod(first, &last);
    at = last;
    out.kind = Json::number;
    return true;
  }
  bool readValue(Json &out) {
    skipSpace();
    if (at == end)
      return false;
    if (*at == '"') {
      out.kind = Json::string;
      return readString(out.text);
    }
    if (*at == '[' || *at == '{') {
      bool isArray = *at == '[';
      out.kind = isArray ? Json::array : Json::object;
      char close = isArray ? ']' : '}';
      ++at;
      if (take(close))
        return true;
      do {
        std::string name;
        if (!isArray && (!readString(name) || !take(':') || out.has(name)))
          return false;
        Json value;
        if (!readValue(value))
          return false;
        if (isArray)
          out.items.push_back(std::move(value));
        else
          out.fields.emplace(std::move(name), std::move(value));
      } while (take(','));
      return take(close);
    }
    for (const char *word : {"true", "false", "null"})
      if (std::strncmp(at, word, std::strlen(word)) == 0) {
        at += std::strlen(word);
        out.kind = Json::literal;
        return true;
      }
    return readNumber(out);
  }

  const char *at;
  const char *const end;
};

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_JSON_H
