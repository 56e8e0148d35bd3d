// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CpuFeatures.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace ashlar::runtime {

namespace {
struct Feature {
  const char *name;
  bool present;
};
} // namespace

static bool isDisabled(std::string_view name) {
  const char *list = std::getenv("ASHLAR_DISABLE_FEATURES");
  std::string_view rest = list ? list : "";
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    if (rest.substr(0, comma) == name)
      return true;
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return false;
}

template <size_t N> static String join(const Feature (&features)[N]) {
  String text;
  for (const Feature &feature : features) {
    if (!feature.present || isDisabled(feature.name))
      continue;
    if (!text.empty())
      text += ',';
    text += feature.name;
  }
  return text;
}

#if defined(__x86_64__)

namespace {
struct Registers {
  uint32_t a = 0, b = 0, c = 0, d = 0;
};
} // namespace

static Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

static bool bit(uint32_t word, unsigned index) { return word >> index & 1; }

// XCR0: which register files the system saves when it switches threads.
static uint64_t savedState(const Registers &leaf1) {
  if (!bit(leaf1.c, 27)) // OSXSAVE
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

static bool requestTiles() {
  // Linux, Documentation/arch/x86/xstate.rst: ARCH_REQ_XCOMP_PERM for the
  // component XTILEDATA.
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

String detectCpuFeatures() {
  // Bit positions: Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E.
  Registers leaf1 = cpuid(1, 0), leaf7 = cpuid(7, 0), leaf71 = cpuid(7, 1);
  Registers extended = cpuid(0x80000001u, 0);
  uint64_t saved = savedState(leaf1);
  bool ymm = (saved & 0x6) == 0x6;
  bool zmm = ymm && (saved & 0xe0) == 0xe0;
  bool avx512 = zmm && bit(leaf7.b, 16);
  bool amx = (saved & 0x60000) == 0x60000 && bit(leaf7.d, 24) && requestTiles();
  const Feature features[] = {
      {"64bit", true},
      {"sse2", true},
      {"sse3", bit(leaf1.c, 0)},
      {"ssse3", bit(leaf1.c, 9)},
      {"sse4.1", bit(leaf1.c, 19)},
      {"sse4.2", bit(leaf1.c, 20)},
      {"popcnt", bit(leaf1.c, 23)},
      {"movbe", bit(leaf1.c, 22)},
      {"lzcnt", bit(extended.c, 5)},
      {"bmi", bit(leaf7.b, 3)},
      {"bmi2", bit(leaf7.b, 8)},
      {"avx", ymm && bit(leaf1.c, 28)},
      {"avx2", ymm && bit(leaf7.b, 5)},
      {"fma", ymm && bit(leaf1.c, 12)},
      {"f16c", ymm && bit(leaf1.c, 29)},
      {"avxvnni", ymm && bit(leaf71.a, 4)},
      {"avx512f", avx512},
      {"avx512cd", avx512 && bit(leaf7.b, 28)},
      {"avx512bw", avx512 && bit(leaf7.b, 30)},
      {"avx512dq", avx512 && bit(leaf7.b, 17)},
      {"avx512vl", avx512 && bit(leaf7.b, 31)},
      {"avx512vbmi", avx512 && bit(leaf7.c, 1)},
      {"avx512vbmi2", avx512 && bit(leaf7.c, 6)},
      {"avx512vnni", avx512 && bit(leaf7.c, 11)},
      {"avx512bitalg", avx512 && bit(leaf7.c, 12)},
      {"avx512vpopcntdq", avx512 && bit(leaf7.c, 14)},
      {"avx512ifma", avx512 && bit(leaf7.b, 21)},
      {"avx512bf16", avx512 && bit(leaf71.a, 5)},
      {"avx512fp16", avx512 && bit(leaf7.d, 23)},
      {"amx-tile", amx},
      {"amx-bf16", amx && bit(leaf7.d, 22)},
      {"amx-int8", amx && bit(leaf7.d, 25)},
      {"amx-fp16", amx && bit(leaf71.a, 21)},
  };
  return join(features);
}

#elif defined(__aarch64__)

String detectCpuFeatures() {
  // Linux, arch/arm64/include/uapi/asm/hwcap.h.
  unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  auto has = [](unsigned long word, unsigned index) {
    return bool(word >> index & 1);
  };
  const Feature features[] = {
      {"neon", has(first, 1)},     {"crc", has(first, 7)},
      {"lse", has(first, 8)},      {"fullfp16", has(first, 10)},
      {"dotprod", has(first, 20)}, {"fp16fml", has(first, 23)},
      {"sve", has(first, 22)},     {"sve2", has(second, 1)},
      {"i8mm", has(second, 13)},   {"bf16", has(second, 14)},
      {"sme", has(second, 23)},
  };
  return join(features);
}

#else

String detectCpuFeatures() { return ""; }

#endif

} // namespace ashlar::runtime
