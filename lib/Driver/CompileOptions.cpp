// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Driver/CompileOptions.h"
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

using namespace ashlar;

static constexpr const char *stageNames[] = {"import",    "simplify", "place",
                                             "precision", "fuse",     "tile",
                                             "schedule",  "emit"};

const char *ashlar::stageName(Stage stage) {
  return stageNames[static_cast<int>(stage)];
}

bool ashlar::parseStage(const std::string &text, Stage &stage) {
  for (int i = 0; i != 8; ++i)
    if (text == stageNames[i]) {
      stage = static_cast<Stage>(i);
      return true;
    }
  return false;
}

bool ashlar::parseByteCount(const std::string &text, uint64_t &bytes) {
  static constexpr std::pair<const char *, unsigned> units[] = {
      {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  size_t digits = 0;
  uint64_t value = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9';
       ++digits) {
    if (value > (UINT64_MAX - 9) / 10)
      return false;
    value = value * 10 + uint64_t(text[digits] - '0');
  }
  for (auto [unit, shift] : units)
    if (digits != 0 && value != 0 && text.substr(digits) == unit &&
        value <= UINT64_MAX >> shift) {
      bytes = value << shift;
      return true;
    }
  return false;
}

static constexpr const char *fuseLevelNames[] = {"none", "basic", "all"};

const char *ashlar::fuseLevelName(FuseLevel level) {
  return fuseLevelNames[static_cast<int>(level)];
}

bool ashlar::parseFuseLevel(const std::string &text, FuseLevel &level) {
  for (int i = 0; i != 3; ++i)
    if (text == fuseLevelNames[i]) {
      level = static_cast<FuseLevel>(i);
      return true;
    }
  return false;
}

bool ashlar::parsePrecision(const std::string &text, CompileOptions &options) {
  options.searchPrecision = text == "auto";
  if (options.searchPrecision) {
    options.precision = NumberType::BF16;
    return true;
  }
  return parseNumberType(text, options.precision);
}

bool ashlar::parseTolerance(const std::string &text, double &tolerance) {
  char *end;
  double parsed = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !std::isfinite(parsed) || parsed <= 0)
    return false;
  tolerance = parsed;
  return true;
}

static std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool ashlar::parseTargets(const std::string &text,
                          std::vector<TargetRequest> &targets) {
  std::vector<TargetRequest> parsed;
  for (const std::string &program : split(text, ',')) {
    std::vector<TargetRequest> devices;
    for (const std::string &device : split(program, '+')) {
      size_t colon = std::min(device.find(':'), device.size());
      TargetRequest request{device.substr(0, colon), ""};
      if (colon < device.size())
        request.preset = device.substr(colon + 1);
      if (request.target.empty())
        return false;
      devices.push_back(request);
    }
    parsed.push_back(devices.front());
    parsed.back().companions.assign(devices.begin() + 1, devices.end());
  }
  targets = parsed;
  return true;
}

bool ashlar::parseShape(const std::string &text, std::string &name,
                        std::vector<int64_t> &shape) {
  // The name comes first and may itself hold '='.
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    return false;
  std::vector<int64_t> parsed;
  const char *at = text.data() + equals + 1;
  const char *end = text.data() + text.size();
  while (at != end) {
    int64_t dim;
    auto [next, error] = std::from_chars(at, end, dim);
    if (error != std::errc() || dim < 0 || (next != end && *next != 'x') ||
        next + 1 == end)
      return false;
    parsed.push_back(dim);
    at = next == end ? end : next + 1;
  }
  name = text.substr(0, equals);
  shape = parsed;
  return true;
}

/// The whole of `text` as a number of at least `minimum`.
static bool parseSize(const std::string &text, int64_t minimum, int64_t &size) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), size);
  return error == std::errc() && end == text.data() + text.size() &&
         size >= minimum;
}

/// What is wrong with the name of a range; empty: nothing.
static std::string whyNotName(const std::string &name,
                              const std::vector<SizeRange> &others) {
  bool isName = !name.empty() && (name[0] < '0' || name[0] > '9');
  for (char c : name)
    isName &=
        c != 'x' && (c == '_' || std::isalnum(static_cast<unsigned char>(c)));
  if (!isName)
    return "expected a name of letters other than x, digits and _, that does "
           "not begin with a digit, found '" +
           name + "'; give it another one here and in --shape (N=1..8)";
  for (const SizeRange &other : others)
    if (other.name == name)
      return "expected each name once, found " + name + " again after " +
             other.text() + "; leave one of the ranges out";
  return "";
}

/// What is wrong with the sizes of a range; empty: nothing.
static std::string whyNotSizes(const SizeRange &range) {
  auto form = [&](int64_t minimum, int64_t maximum) {
    SizeRange better = range;
    better.minimum = minimum;
    better.maximum = maximum;
    return better.text();
  };
  if (range.maximum < range.minimum)
    return "expected the smaller size first, found " +
           std::to_string(range.minimum) + " before " +
           std::to_string(range.maximum) + "; type " +
           form(range.maximum, range.minimum);
  if (range.minimum % range.step == 0 && range.maximum % range.step == 0)
    return "";
  int64_t first = (range.minimum - 1) / range.step + 1;
  int64_t last = std::max(first, range.maximum / range.step);
  return "expected a range that begins and ends at multiples of " +
         std::to_string(range.step) + ", found " +
         std::to_string(range.minimum) + " and " +
         std::to_string(range.maximum) + "; type " +
         form(first * range.step, last * range.step);
}

/// Reads one range; returns what is wrong with it, or nothing.
static std::string readSizeRange(const std::string &text, SizeRange &range,
                                 const std::vector<SizeRange> &others) {
  size_t equals = text.find('='), dots = text.find("..");
  if (equals == std::string::npos || dots == std::string::npos || dots < equals)
    return "expected NAME=1..8[,NAME=...], or NAME=64..960:32 for multiples "
           "of 32";
  range.name = text.substr(0, equals);
  if (std::string why = whyNotName(range.name, others); !why.empty())
    return why;
  size_t colon = std::min(text.find(':', dots), text.size());
  std::pair<std::string, int64_t *> numbers[] = {
      {text.substr(equals + 1, dots - equals - 1), &range.minimum},
      {text.substr(dots + 2, colon - dots - 2), &range.maximum},
      {colon == text.size() ? "1" : text.substr(colon + 1), &range.step}};
  // Products of sizes and numbers of a formula stay far from overflows.
  constexpr int64_t largest = int64_t(1) << 40;
  for (auto &[number, size] : numbers)
    if (!parseSize(number, 1, *size) || *size > largest)
      return "expected whole numbers of 1 to " + std::to_string(largest) +
             ", found '" + number + "'; type " + range.name + "=1..8, or " +
             range.name + "=64..960:32 for multiples of 32";
  return whyNotSizes(range);
}

bool ashlar::parseSizeRanges(const std::string &text,
                             std::vector<SizeRange> &sizes, std::string &why) {
  std::vector<SizeRange> parsed = sizes;
  for (const std::string &part : split(text, ',')) {
    SizeRange range;
    why = readSizeRange(part, range, parsed);
    if (!why.empty()) {
      why = "'" + part + "': " + why;
      return false;
    }
    parsed.push_back(range);
  }
  sizes = parsed;
  return true;
}

bool ashlar::parseSymbolicShape(const std::string &text,
                                const std::vector<SizeRange> &sizes,
                                std::string &name,
                                std::vector<std::string> &shape) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    return false;
  std::vector<std::string> parsed;
  for (size_t begin = equals + 1; begin <= text.size();) {
    size_t end = std::min(text.find('x', begin), text.size());
    std::string dim = text.substr(begin, end - begin);
    int64_t number;
    bool isKnown = parseSize(dim, 0, number);
    for (const SizeRange &range : sizes)
      isKnown |= range.name == dim;
    if (!isKnown)
      return false;
    parsed.push_back(dim);
    begin = end + 1;
  }
  name = text.substr(0, equals);
  shape = parsed;
  return true;
}

bool ashlar::parseValue(const std::string &text, std::string &name,
                        std::vector<std::string> &numbers) {
  // The name comes first and may itself hold '='.
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    return false;
  std::vector<std::string> parsed;
  for (size_t begin = equals + 1; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin || end + 1 == text.size())
      return false;
    parsed.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  name = text.substr(0, equals);
  numbers = parsed;
  return true;
}
