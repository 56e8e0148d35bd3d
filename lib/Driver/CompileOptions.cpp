// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Driver/CompileOptions.h"
#include "SplitText.h"
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
  options.roundsToTF32 = text == "tf32";
  if (options.roundsToTF32) {
    options.precision = NumberType::F32;
    return true;
  }
  return parseNumberType(text, options.precision);
}

bool ashlar::parseWeights(const std::string &text, CompileOptions &options) {
  const std::string kind = "random:";
  const char *at = text.data() + kind.size(), *end = text.data() + text.size();
  uint64_t seed = 0;
  if (text.rfind(kind, 0) != 0 || at == end)
    return false;
  auto [rest, error] = std::from_chars(at, end, seed);
  if (error != std::errc() || rest != end)
    return false;
  options.randomWeights = seed;
  return true;
}

bool ashlar::parseTolerance(const std::string &text, double &tolerance) {
  char *end;
  double parsed = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !std::isfinite(parsed) || parsed <= 0)
    return false;
  tolerance = parsed;
  return true;
}

bool ashlar::parseTargets(const std::string &text,
                          std::vector<TargetRequest> &targets) {
  std::vector<TargetRequest> parsed;
  for (const std::string &program : split(text, ',')) {
    std::vector<TargetRequest> devices;
    for (const std::string &device : split(program, '+')) {
      size_t colon = std::min(device.find(':'), device.size());
      TargetRequest request;
      request.target = device.substr(0, colon);
      if (colon < device.size())
        request.preset = device.substr(colon + 1);
      request.hasEmptyPreset = colon + 1 == device.size();
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
