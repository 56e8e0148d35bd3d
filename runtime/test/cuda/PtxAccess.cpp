// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores.

#include "PtxHandlers.h"

using namespace ashlar::ptx;

namespace {

/// What is volatile or relaxed may meet another stream's work, a thread of the
/// host: no bytes are torn.
template <class T> T read(const uint8_t *from, Access how) {
  T value;
  if (how == Access::StrongRead)
    __atomic_load(reinterpret_cast<const T *>(from), &value, __ATOMIC_ACQUIRE);
  else
    std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T> void write(uint8_t *to, T value, Access how) {
  if (how == Access::StrongWrite)
    __atomic_store(reinterpret_cast<T *>(to), &value, __ATOMIC_RELEASE);
  else
    std::memcpy(to, &value, sizeof(T));
}

/// flags: how it touches memory; count: of the vector.
template <Space space, class T>
const Instruction *load(Thread &t, const Instruction *i) {
  uint64_t address = t.r[i->a] + uint64_t(i->offset);
  const uint8_t *from =
      resolve(t, i, space, address, sizeof(T), sizeof(T), Access(i->flags));
  T value = read<T>(from, Access(i->flags));
  if constexpr (std::is_signed_v<T>)
    t.r[i->dst] = uint64_t(int64_t(value));
  else
    t.r[i->dst] = value;
  return i + 1;
}

template <Space space, class T>
const Instruction *loadVector(Thread &t, const Instruction *i) {
  uint64_t address = t.r[i->a] + uint64_t(i->offset);
  uint32_t size = i->count * uint32_t(sizeof(T));
  const uint8_t *from =
      resolve(t, i, space, address, size, size, Access(i->flags));
  for (uint32_t k = 0; k < i->count; ++k, from += sizeof(T)) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    if constexpr (std::is_signed_v<T>)
      t.r[i->slots[k]] = uint64_t(int64_t(value));
    else
      t.r[i->slots[k]] = value;
  }
  return i + 1;
}

template <Space space, class T>
const Instruction *store(Thread &t, const Instruction *i) {
  uint64_t address = t.r[i->a] + uint64_t(i->offset);
  T value = T(t.r[i->b]);
  uint8_t *to =
      resolve(t, i, space, address, sizeof(T), sizeof(T), Access(i->flags));
  write<T>(to, value, Access(i->flags));
  return i + 1;
}

template <Space space, class T>
const Instruction *storeVector(Thread &t, const Instruction *i) {
  uint64_t address = t.r[i->a] + uint64_t(i->offset);
  uint32_t size = i->count * uint32_t(sizeof(T));
  uint8_t *to = resolve(t, i, space, address, size, size, Access(i->flags));
  for (uint32_t k = 0; k < i->count; ++k, to += sizeof(T)) {
    T value = T(t.r[i->slots[k]]);
    std::memcpy(to, &value, sizeof(T));
  }
  return i + 1;
}

/// Parameters of functions and calls, which only their frame has.
template <class T>
const Instruction *loadParam(Thread &t, const Instruction *i) {
  const uint8_t *from =
      resolve(t, i, Space::Param, uint64_t(i->offset),
              i->count * uint32_t(sizeof(T)), 1, Access::Read);
  for (uint32_t k = 0; k < i->count; ++k, from += sizeof(T)) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    if constexpr (std::is_signed_v<T>)
      t.r[i->slots[k]] = uint64_t(int64_t(value));
    else
      t.r[i->slots[k]] = value;
  }
  return i + 1;
}

template <class T>
const Instruction *storeParam(Thread &t, const Instruction *i) {
  uint8_t *to = resolve(t, i, Space::Param, uint64_t(i->offset),
                        i->count * uint32_t(sizeof(T)), 1, Access::Write);
  for (uint32_t k = 0; k < i->count; ++k, to += sizeof(T)) {
    T value = T(t.r[i->slots[k]]);
    std::memcpy(to, &value, sizeof(T));
  }
  return i + 1;
}

template <class T> Handler loadOf(Space space, bool isVector) {
  switch (space) {
#define ASHLAR_PTX_SPACE(NAME)                                                 \
  case Space::NAME:                                                            \
    return isVector ? loadVector<Space::NAME, T> : load<Space::NAME, T>;
    ASHLAR_PTX_SPACE(Generic)
    ASHLAR_PTX_SPACE(Global)
    ASHLAR_PTX_SPACE(Const)
    ASHLAR_PTX_SPACE(Shared)
    ASHLAR_PTX_SPACE(Cluster)
    ASHLAR_PTX_SPACE(Local)
    ASHLAR_PTX_SPACE(KernelParam)
#undef ASHLAR_PTX_SPACE
  case Space::Param:
    return loadParam<T>;
  }
  return nullptr;
}

template <class T> Handler storeOf(Space space, bool isVector) {
  switch (space) {
#define ASHLAR_PTX_SPACE(NAME)                                                 \
  case Space::NAME:                                                            \
    return isVector ? storeVector<Space::NAME, T> : store<Space::NAME, T>;
    ASHLAR_PTX_SPACE(Generic)
    ASHLAR_PTX_SPACE(Global)
    ASHLAR_PTX_SPACE(Shared)
    ASHLAR_PTX_SPACE(Cluster)
    ASHLAR_PTX_SPACE(Local)
#undef ASHLAR_PTX_SPACE
  case Space::Param:
    return storeParam<T>;
  default:
    return nullptr;
  }
}

Handler loadOf(Space space, Type type, bool isVector) {
  switch (type) {
  case Type::S8:
    return loadOf<int8_t>(space, isVector);
  case Type::S16:
    return loadOf<int16_t>(space, isVector);
  case Type::S32:
    return loadOf<int32_t>(space, isVector);
  default:
    break;
  }
  switch (bytesOf(type)) {
  case 1:
    return loadOf<uint8_t>(space, isVector);
  case 2:
    return loadOf<uint16_t>(space, isVector);
  case 4:
    return loadOf<uint32_t>(space, isVector);
  default:
    return loadOf<uint64_t>(space, isVector);
  }
}

Handler storeOf(Space space, Type type, bool isVector) {
  switch (bytesOf(type)) {
  case 1:
    return storeOf<uint8_t>(space, isVector);
  case 2:
    return storeOf<uint16_t>(space, isVector);
  case 4:
    return storeOf<uint32_t>(space, isVector);
  default:
    return storeOf<uint64_t>(space, isVector);
  }
}

Space takeSpace(Decoder &d) {
  switch (
      d.takeOf({"global", "shared", "shared::cta", "local", "const", "param",
                "param::entry", "param::func", "shared::cluster"})) {
  case 0:
    return Space::Global;
  case 1:
  case 2:
    return Space::Shared;
  case 3:
    return Space::Local;
  case 4:
    return Space::Const;
  case 5:
  case 6:
  case 7:
    return Space::Param;
  case 8:
    return Space::Cluster;
  }
  return Space::Generic;
}

void decodeAccess(Decoder &d, bool isLoad) {
  bool isStrong = d.takeOf({"volatile", "relaxed", "acquire", "release"}) >= 0;
  bool isCached = d.take("nc");
  d.takeOrdering();
  size_t hints = d.takeCacheHint();
  Space space = takeSpace(d);
  int vector = d.takeOf({"v2", "v4", "v8"});
  Type type = d.takeType();
  d.expectOperands(2 + hints);
  const Operand &value = d.operand(isLoad ? 0 : 1);
  Instruction made = d.make(nullptr);
  d.address(d.operand(isLoad ? 1 : 0), made, space);
  made.flags =
      uint32_t(isLoad ? (isStrong   ? Access::StrongRead
                         : isCached ? Access::CachedRead
                                    : Access::Read)
                      : (isStrong ? Access::StrongWrite : Access::Write));
  uint32_t count = vector < 0 ? 1 : 2u << vector;
  if ((vector >= 0) != (value.kind == Operand::Vector) ||
      (vector >= 0 && value.elements.size() != count))
    d.fail("expected a vector of " + std::to_string(count));
  std::vector<uint32_t> slots;
  auto add = [&](const Operand &of) {
    uint32_t slot = isLoad ? d.destination(of) : d.source(of, type);
    slots.push_back(slot);
    // Wide ones have two slots.
    if (type == Type::B128)
      slots.push_back(slot + 1);
  };
  if (vector < 0)
    add(value);
  else
    for (const Operand &each : value.elements)
      add(each);
  made.dst = made.b = slots[0];
  made.count = uint32_t(slots.size());
  bool isVector = made.count > 1 || space == Space::Param;
  made.run =
      isLoad ? loadOf(space, type, isVector) : storeOf(space, type, isVector);
  if (!made.run)
    d.fail("a store to this space");
  if (isVector)
    made.slots = d.list(std::move(slots));
  d.emit(made);
}

void decodeLoad(Decoder &d) { decodeAccess(d, true); }
void decodeStore(Decoder &d) { decodeAccess(d, false); }

/// Prefetches and their like change nothing; their address is one all the
/// same.
void decodePrefetch(Decoder &d) {
  if (d.take("tensormap"))
    return decodePrefetchTensorMap(d);
  d.takeOrdering();
  Space space = takeSpace(d);
  d.takeOf({"L1", "L2"});
  bool hasSize = d.statement().opcode == "applypriority" ||
                 d.statement().opcode == "discard";
  d.expectOperands(hasSize ? 2 : 1);
  Instruction none;
  d.address(d.operand(0), none, space);
}

/// A policy is a number that only cache hints take.
const Instruction *makePolicy(Thread &t, const Instruction *i) {
  t.r[i->dst] = 0x10f0000000000000;
  return i + 1;
}

void decodeCreatePolicy(Decoder &d) {
  int kind = d.takeOf({"fractional", "range", "cvt"});
  static constexpr const char *levels[] = {
      "L2", "L2::evict_last", "L2::evict_normal", "L2::evict_first",
      "L2::evict_unchanged"};
  for (const char *each : levels)
    d.take(each);
  d.take("global");
  if (kind < 0 || d.takeType() != Type::B64)
    d.fail("expected .fractional, .range or .cvt of .b64");
  size_t most[] = {2, 4, 2};
  d.expectOperands(kind == 0 ? 1 : most[kind], most[kind]);
  Instruction made = d.make(makePolicy);
  made.dst = d.destination();
  d.emit(made);
}

} // namespace

const Family &ashlar::ptx::accessing() {
  static const Family all = {{"ld", decodeLoad},
                             {"ldu", decodeLoad},
                             {"st", decodeStore},
                             {"prefetch", decodePrefetch},
                             {"prefetchu", decodePrefetch},
                             {"applypriority", decodePrefetch},
                             {"discard", decodePrefetch},
                             {"createpolicy", decodeCreatePolicy}};
  return all;
}
