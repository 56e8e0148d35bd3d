// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CudaChips.h"

#include "../../Status.h"

namespace ashlar::runtime::cuda {

namespace {
struct Architecture {
  int chip = 0; // 0: the text names none
  char variant = 0;
};
} // namespace

/// "sm_90a"
static Architecture parse(std::string_view text) {
  constexpr std::string_view prefix = "sm_";
  if (text.substr(0, prefix.size()) != prefix)
    return {};
  Architecture result;
  size_t at = prefix.size();
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    if (result.chip < 1000)
      result.chip = 10 * result.chip + (text[at] - '0');
  if (at < text.size())
    result.variant = text[at++];
  return at == text.size() ? result : Architecture();
}

/// Of machine code; false: the format is none of that.
static bool parseCubin(std::string_view format, Architecture &out) {
  constexpr std::string_view prefix = "cubin-";
  if (format.substr(0, prefix.size()) != prefix)
    return false;
  out = parse(format.substr(prefix.size()));
  return out.chip != 0;
}

static bool isSameMajor(int chip, const Architecture &of) {
  return of.chip / 10 == chip / 10 && of.chip <= chip;
}

String featuresOf(int chip) {
  String all;
  auto add = [&](int known, const char *variant) {
    all += concat(all.empty() ? "sm_" : ",sm_", known, variant);
  };
  for (int known : {50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 103, 120})
    if (known < chip)
      add(known, "");
  add(chip, "");
  for (int known : {100, 103, 120})
    if (isSameMajor(chip, {known, 'f'}))
      add(known, "f");
  if (chip >= 90)
    add(chip, "a");
  return all;
}

bool takes(int chip, std::string_view format) {
  Architecture of;
  if (!parseCubin(format, of))
    return format == "ptx"; // the program says which in what it requires
  switch (of.variant) {
  case 0:
  case 'f':
    return isSameMajor(chip, of);
  case 'a':
    return of.chip == chip;
  default:
    return false;
  }
}

uint32_t rank(std::string_view format, std::string_view required) {
  constexpr uint32_t machineCode = 1u << 16;
  Architecture of;
  const uint32_t base = parseCubin(format, of) ? machineCode : 0;
  if (base == 0)
    of = parse(required);
  const uint32_t variant = of.variant == 'a' ? 2 : of.variant == 'f' ? 1 : 0;
  return base + 4 * uint32_t(of.chip) + variant;
}

} // namespace ashlar::runtime::cuda
