// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a table strictly: what is misspelt would silently not be used. The
// first error is kept.
#include "ashlar/Cost/Tuning.h"
#include "ashlar/Machine/MachineFile.h"
#include "ashlar/Support/InputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"
#include <cmath>

using namespace ashlar;
using llvm::StringRef;
namespace json = llvm::json;

static constexpr int64_t formatNumber = 1;

namespace {
/// One object of the file.
class Fields {
public:
  Fields(const json::Value &value, std::string path, std::string &error)
      : fields(value.getAsObject()), path(std::move(path)), error(error) {
    if (!fields)
      fail("", "an object", &value);
  }

  /// Null where it is missing, which is an error unless it is optional.
  const json::Value *find(StringRef key, StringRef expected,
                          bool isOptional = false) {
    known.push_back(key.str());
    const json::Value *value = fields ? fields->get(key) : nullptr;
    if (!value && !isOptional)
      fail(key, expected, nullptr);
    return value;
  }

  void text(StringRef key, std::string &result) {
    constexpr const char *expected = "a text that is not empty";
    if (const json::Value *value = find(key, expected)) {
      if (auto text = value->getAsString(); text && !text->empty())
        result = text->str();
      else
        fail(key, expected, value);
    }
  }

  void numbers(StringRef key, bool isOptional, int64_t least,
               std::vector<int64_t> &result) {
    std::string expected =
        llvm::formatv("a list of whole numbers of {0} or more", least);
    const json::Value *value = find(key, expected, isOptional);
    if (!value)
      return;
    const json::Array *array = value->getAsArray();
    if (!array || array->empty())
      return fail(key, expected, value);
    for (const json::Value &item : *array) {
      auto number = item.getAsInteger();
      if (!number || *number < least)
        return fail(key, expected, value);
      result.push_back(*number);
    }
  }

  void time(StringRef key, double &result) {
    constexpr const char *expected = "a number of microseconds";
    if (const json::Value *value = find(key, expected, /*isOptional=*/true)) {
      auto number = value->getAsNumber();
      if (!number || !std::isfinite(*number) || *number < 0)
        return fail(key, expected, value);
      result = *number;
    }
  }

  /// After all fields: nothing else may be there.
  void finish() {
    if (!fields)
      return;
    std::vector<std::string> strangers;
    for (const auto &field : *fields)
      if (!llvm::is_contained(known, field.first.str()))
        strangers.push_back(field.first.str());
    if (strangers.empty())
      return;
    llvm::sort(strangers);
    fail(strangers.front(), llvm::join(known, ", ") + " and nothing else",
         fields->get(strangers.front()));
  }

  void fail(StringRef key, StringRef expected, const json::Value *found) {
    if (!error.empty())
      return;
    std::string text = found ? llvm::formatv("{0}", *found).str() : "nothing";
    if (text.size() > 60)
      text = text.substr(0, 57) + "...";
    std::string place = path + (path.empty() || key.empty() ? "" : ".");
    error =
        place + key.str() + ": expected " + expected.str() + ", found " + text;
  }

private:
  const json::Object *fields;
  const std::string path;
  std::vector<std::string> known;
  std::string &error;
};
} // namespace

static void readEntries(const json::Array &array, TuningTable &table,
                        std::string &error) {
  for (auto [i, value] : llvm::enumerate(array)) {
    Fields fields(value, llvm::formatv("entries[{0}]", i), error);
    TuningEntry entry;
    fields.text("contraction", entry.contraction);
    fields.numbers("box", /*isOptional=*/false, 1, entry.choice.box);
    fields.numbers("order", /*isOptional=*/true, 0, entry.choice.order);
    fields.time("microseconds", entry.microseconds);
    fields.time("own_microseconds", entry.ownMicroseconds);
    fields.finish();
    if (error.empty() &&
        !table.entries.emplace(entry.contraction, entry).second)
      fields.fail("contraction", "one that no entry before has",
                  value.getAsObject()->get("contraction"));
  }
}

static std::string parse(const json::Value &value, TuningTable &table) {
  std::string error;
  Fields fields(value, "", error);
  std::string wanted = std::to_string(formatNumber);
  if (const json::Value *number = fields.find("format", wanted))
    if (number->getAsInteger() != formatNumber)
      fields.fail("format", wanted, number);
  fields.text("version", table.version);
  if (const json::Value *machine = fields.find("machine", "an object")) {
    Fields inner(*machine, "machine", error);
    inner.text("name", table.machine);
    inner.text("sha256", table.machineDigest);
    inner.finish();
  }
  if (const json::Value *entries = fields.find("entries", "a list")) {
    if (const json::Array *array = entries->getAsArray())
      readEntries(*array, table, error);
    else
      fields.fail("entries", "a list", entries);
  }
  fields.finish();
  return error;
}

llvm::Expected<TuningTable> ashlar::readTuningTable(StringRef path) {
  auto fail = [&](const llvm::Twine &why) {
    return llvm::createStringError("'" + path + "': " + why);
  };
  auto file = readInputFile(path, /*isText=*/true);
  if (!file)
    return fail("cannot be read: " + llvm::toString(file.takeError()));
  StringRef text = (*file)->getBuffer();
  auto value = json::parse(text);
  if (!value)
    return fail("not JSON: " + llvm::toString(value.takeError()));
  TuningTable table;
  std::string error = parse(*value, table);
  if (!error.empty())
    return fail(error);
  llvm::SHA256 hash;
  hash.update(text);
  table.digest = llvm::toHex(hash.final(), /*LowerCase=*/true);
  return table;
}

Refusal TuningTable::whyNotFor(StringRef wantedVersion,
                               const MachineModel &model) const {
  if (version != wantedVersion)
    return "expected a table for version " + wantedVersion.str() + ", found " +
           version;
  std::string wanted = ashlar::machineDigest(model);
  if (machineDigest == wanted)
    return std::nullopt;
  return "expected a table for the machine model " + model.name + " (sha256 " +
         wanted.substr(0, 12) + "...), found one for " + machine + " (sha256 " +
         machineDigest.substr(0, 12) + "...)";
}
