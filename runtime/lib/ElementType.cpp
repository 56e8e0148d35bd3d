// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ashlar/runtime/api.h"

#include "ashlar/runtime/module_generated.h"

namespace {
struct TypeFacts {
  const char *name;
  size_t size;
};
constexpr TypeFacts facts[] = {
    {"none", 0},   {"bool", 1},       {"i8", 1},       {"i16", 2},
    {"i32", 4},    {"i64", 8},        {"u8", 1},       {"u16", 2},
    {"u32", 4},    {"u64", 8},        {"f16", 2},      {"bf16", 2},
    {"f32", 4},    {"f64", 8},        {"f8e4m3fn", 1}, {"f8e4m3fnuz", 1},
    {"f8e5m2", 1}, {"f8e5m2fnuz", 1}, {"f8e8m0", 1},   {"f4e2m1", 1},
    {"i4", 1},     {"u4", 1},         {"i2", 1},       {"u2", 1}};
constexpr uint32_t typeCount = sizeof(facts) / sizeof(facts[0]);

// The C header and the schema number the types alike.
using ashlar::fb::ElementType;
static_assert(uint32_t(ElementType::MAX) + 1 == typeCount);
static_assert(uint32_t(ElementType::Bool) == ASHLAR_TYPE_BOOL);
static_assert(uint32_t(ElementType::I64) == ASHLAR_TYPE_I64);
static_assert(uint32_t(ElementType::U64) == ASHLAR_TYPE_U64);
static_assert(uint32_t(ElementType::BF16) == ASHLAR_TYPE_BF16);
static_assert(uint32_t(ElementType::F64) == ASHLAR_TYPE_F64);
static_assert(uint32_t(ElementType::F8E8M0) == ASHLAR_TYPE_F8E8M0);
static_assert(uint32_t(ElementType::U2) == ASHLAR_TYPE_U2);
} // namespace

extern "C" size_t ashlar_element_type_size(uint32_t type) {
  return type < typeCount ? facts[type].size : 0;
}

extern "C" const char *ashlar_element_type_name(uint32_t type) {
  return type < typeCount ? facts[type].name : "unknown";
}
