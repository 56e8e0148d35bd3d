// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a machine file strictly: a field that is missing, unknown, of another
// type or without a source is an error, since a figure that is silently
// ignored or made up would only show as slow code. The first error is kept.
#include "MachineFields.h"
#include "ashlar/Machine/MachineFile.h"
#include "ashlar/Support/InputFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <set>

using namespace ashlar;
using llvm::StringRef;
namespace json = llvm::json;

namespace {
std::string found(const json::Value &value) {
  std::string text = llvm::formatv("{0}", value).str();
  if (text.size() > 60)
    text = text.substr(0, 57) + "...";
  return ", found " + text;
}

/// One object of the file; also the visitor of its fields.
class Reader {
public:
  Reader(const json::Object &fields, std::string path, std::string &error)
      : fields(fields), path(std::move(path)), error(error) {}

  void text(StringRef key, std::string &value) {
    const json::Value *given = find(key, "a text");
    if (!given)
      return;
    auto string = given->getAsString();
    if (!string || string->empty())
      return fail(key, "expected a text that is not empty" + found(*given));
    value = string->str();
  }

  void optionalText(StringRef key, std::string &value) {
    known.insert(key.str());
    if (fields.get(key))
      text(key, value);
  }
  void texts(StringRef key, std::vector<std::string> &values) {
    if (const json::Value *given = find(key, "a list of texts"))
      readTexts(key, *given, values);
  }
  void optionalTexts(StringRef key, std::vector<std::string> &values) {
    known.insert(key.str());
    if (const json::Value *given = fields.get(key))
      readTexts(key, *given, values);
  }

  template <typename T> void figure(StringRef key, T &value, T least) {
    if (const json::Value *given = find(key, "a number"))
      readFigure(key, *given, value, least);
  }
  template <typename T>
  void optional(StringRef key, T &value, T least, T /*unless given*/) {
    known.insert(key.str());
    if (const json::Value *given = fields.get(key))
      readFigure(key, *given, value, least);
  }
  void capacity(StringRef key, int64_t &value) {
    known.insert(key.str());
    if (const json::Value *given = fields.get(key))
      readFigure(key, *given, value, int64_t(1), mostBytes);
  }

  void flag(StringRef key, bool &value) {
    known.insert(key.str());
    const json::Value *given = fields.get(key);
    if (!given)
      return;
    if (auto flag = given->getAsBoolean())
      value = *flag;
    else
      fail(key, "expected true or false" + found(*given));
  }

  template <typename T> void object(StringRef key, T &value);
  template <typename T> void list(StringRef key, std::vector<T> &values);
  template <typename T>
  void optionalList(StringRef key, std::vector<T> &values) {
    known.insert(key.str());
    if (fields.get(key))
      list(key, values);
  }
  template <typename T> void part(StringRef key, std::optional<T> &value) {
    known.insert(key.str());
    if (fields.get(key))
      object(key, value.emplace());
  }

  /// Comes after the figures; every one that was given has a source.
  void sources(Sources &sources) {
    const json::Value *given = find("source", "a text, or one for each figure");
    if (!given)
      return;
    if (auto common = given->getAsString()) {
      if (common->empty())
        return fail("source", "expected a text that is not empty, found \"\"");
      sources[""] = common->str();
      return;
    }
    const json::Object *each = given->getAsObject();
    if (!each)
      return fail("source",
                  "expected a text, or one for each figure" + found(*given));
    for (const auto &[name, source] : sorted(*each)) {
      auto text = source->getAsString();
      if (!text || text->empty())
        return fail("source." + name,
                    "expected a text that is not empty" + found(*source));
      if (!name.empty() && !figures.count(name))
        return fail("source." + name, "there is no figure of this name");
      sources[name] = text->str();
    }
    for (const std::string &name : figures)
      if (!sources.count(name) && !sources.count(""))
        return fail(name, "has no source; add \"source\": {\"" + name +
                              "\": \"where the number comes from\"}");
  }

  /// After all fields: nothing else may be there.
  void finish() {
    for (const auto &[name, value] : sorted(fields))
      if (!known.count(name)) {
        std::string all;
        for (const std::string &one : known)
          all += " " + one;
        return fail(name,
                    "is not a field of a machine file; fields here are:" + all);
      }
  }

private:
  /// Errors must not depend on a hash table's order.
  static std::map<std::string, const json::Value *>
  sorted(const json::Object &object) {
    std::map<std::string, const json::Value *> all;
    for (const auto &entry : object)
      all.emplace(entry.first.str(), &entry.second);
    return all;
  }

  void fail(const std::string &key, const std::string &message) {
    if (error.empty())
      error = path + (path.empty() ? "" : ".") + key + ": " + message;
  }
  void fail(StringRef key, const std::string &message) {
    fail(key.str(), message);
  }
  void fail(const char *key, const std::string &message) {
    fail(std::string(key), message);
  }

  const json::Value *find(StringRef key, const char *expected) {
    known.insert(key.str());
    const json::Value *value = fields.get(key);
    if (!value)
      fail(key, std::string("is missing; expected ") + expected);
    return value;
  }

  void readTexts(StringRef key, const json::Value &given,
                 std::vector<std::string> &values) {
    const json::Array *array = given.getAsArray();
    if (!array)
      return fail(key, "expected a list of texts" + found(given));
    for (const json::Value &element : *array) {
      auto string = element.getAsString();
      if (!string || string->empty())
        return fail(key, "expected texts that are not empty" + found(element));
      values.push_back(string->str());
    }
  }

  /// Products of a few of the other whole numbers stay exact.
  static constexpr double mostBytes = 1e15, mostOfWhole = 1 << 20;

  template <typename T>
  void readFigure(StringRef key, const json::Value &given, T &value, T least,
                  double most = std::is_same_v<T, int64_t> ? mostOfWhole
                                                           : 1e18) {
    figures.insert(key.str());
    constexpr bool whole = std::is_same_v<T, int64_t>;
    auto number = given.getAsNumber();
    bool fits = number && *number >= double(least) && *number <= most;
    if (whole && fits)
      fits = *number == std::floor(*number);
    if (!fits)
      return fail(key, llvm::formatv("expected a {0}number from {1} to {2}{3}",
                                     whole ? "whole " : "", json::Value(least),
                                     json::Value(most), found(given))
                           .str());
    value = T(*number);
  }

  template <typename T>
  void readObject(const std::string &at, const json::Value &given, T &value) {
    const json::Object *fields = given.getAsObject();
    if (!fields) {
      if (error.empty())
        error = at + ": expected an object" + found(given);
      return;
    }
    Reader inner(*fields, at, error);
    visitFields(inner, value);
    inner.finish();
  }

  const json::Object &fields;
  std::string path;
  std::string &error;
  std::set<std::string> known = {};
  std::set<std::string> figures = {};
};

template <typename T> void Reader::object(StringRef key, T &value) {
  if (const json::Value *given = find(key, "an object"))
    readObject(path + (path.empty() ? "" : ".") + key.str(), *given, value);
}

template <typename T> void Reader::list(StringRef key, std::vector<T> &values) {
  const json::Value *given = find(key, "a list");
  if (!given)
    return;
  const json::Array *array = given->getAsArray();
  if (!array)
    return fail(key, "expected a list" + found(*given));
  for (const json::Value &element : *array) {
    std::string at = path + (path.empty() ? "" : ".") + key.str() + "[" +
                     std::to_string(values.size()) + "]";
    values.emplace_back();
    readObject(at, element, values.back());
  }
}
} // namespace

llvm::Expected<MachineModel> ashlar::parseMachine(StringRef text) {
  llvm::Expected<json::Value> root = json::parse(text);
  if (!root)
    return llvm::createStringError("not JSON: " +
                                   llvm::toString(root.takeError()));
  const json::Object *fields = root->getAsObject();
  if (!fields)
    return llvm::createStringError("expected an object" + found(*root));
  MachineModel machine;
  std::string error;
  Reader reader(*fields, "", error);
  visitFields(reader, machine);
  reader.finish();
  if (!error.empty())
    return llvm::createStringError(error);
  if (llvm::Error contradiction = checkMachine(machine))
    return contradiction;
  return machine;
}

llvm::Expected<MachineModel> ashlar::readMachineFile(StringRef path) {
  auto buffer = readInputFile(path, /*isText=*/true);
  if (!buffer)
    return llvm::createStringError("'" + path.str() + "': cannot be read: " +
                                   llvm::toString(buffer.takeError()));
  llvm::Expected<MachineModel> machine = parseMachine((*buffer)->getBuffer());
  if (!machine)
    return llvm::createStringError("'" + path.str() +
                                   "': " + llvm::toString(machine.takeError()));
  return machine;
}
