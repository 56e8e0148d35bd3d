// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What types and special registers are called.

#include "PtxModule.h"

using namespace ashlar::ptx;

namespace {
struct Named {
  Type type;
  const char *name;
  unsigned bytes;
};
} // namespace

static constexpr Named types[] = {
    {Type::Pred, "pred", 1},     {Type::B8, "b8", 1},
    {Type::B16, "b16", 2},       {Type::B32, "b32", 4},
    {Type::B64, "b64", 8},       {Type::B128, "b128", 16},
    {Type::U8, "u8", 1},         {Type::U16, "u16", 2},
    {Type::U32, "u32", 4},       {Type::U64, "u64", 8},
    {Type::U16x2, "u16x2", 4},   {Type::S8, "s8", 1},
    {Type::S16, "s16", 2},       {Type::S32, "s32", 4},
    {Type::S64, "s64", 8},       {Type::S16x2, "s16x2", 4},
    {Type::F16, "f16", 2},       {Type::F16x2, "f16x2", 4},
    {Type::BF16, "bf16", 2},     {Type::BF16x2, "bf16x2", 4},
    {Type::TF32, "tf32", 4},     {Type::F32, "f32", 4},
    {Type::F32x2, "f32x2", 8},   {Type::F64, "f64", 8},
    {Type::E4M3x2, "e4m3x2", 2}, {Type::E5M2x2, "e5m2x2", 2}};

Type ashlar::ptx::typeNamed(std::string_view name) {
  for (const Named &each : types)
    if (name == each.name)
      return each.type;
  return Type::None;
}

const char *ashlar::ptx::nameOf(Type type) {
  for (const Named &each : types)
    if (type == each.type)
      return each.name;
  return "none";
}

unsigned ashlar::ptx::bytesOf(Type type) {
  for (const Named &each : types)
    if (type == each.type)
      return each.bytes;
  return 0;
}

std::string ashlar::ptx::registerName(const Function &function, uint32_t slot) {
  size_t at = slot - uint32_t(special::Count);
  return slot >= special::Count && at < function.registerNames.size()
             ? function.registerNames[at]
             : "a register";
}

uint32_t special::named(std::string_view name) {
  static constexpr struct {
    const char *name;
    uint32_t slot;
  } all[] = {{"%tid.x", TidX},
             {"%tid.y", TidY},
             {"%tid.z", TidZ},
             {"%ntid.x", NtidX},
             {"%ntid.y", NtidY},
             {"%ntid.z", NtidZ},
             {"%ctaid.x", CtaidX},
             {"%ctaid.y", CtaidY},
             {"%ctaid.z", CtaidZ},
             {"%nctaid.x", NctaidX},
             {"%nctaid.y", NctaidY},
             {"%nctaid.z", NctaidZ},
             {"%laneid", LaneId},
             {"%warpid", WarpId},
             {"%nwarpid", NumWarps},
             {"WARP_SZ", WarpSize},
             {"%lanemask_eq", LaneMaskEq},
             {"%lanemask_le", LaneMaskLe},
             {"%lanemask_lt", LaneMaskLt},
             {"%lanemask_ge", LaneMaskGe},
             {"%lanemask_gt", LaneMaskGt},
             {"%smid", SmId},
             {"%nsmid", NumSm},
             {"%gridid", GridId},
             {"%dynamic_smem_size", DynamicShared},
             {"%total_smem_size", TotalShared},
             {"%clusterid.x", ClusterIdX},
             {"%clusterid.y", ClusterIdY},
             {"%clusterid.z", ClusterIdZ},
             {"%nclusterid.x", NclusterIdX},
             {"%nclusterid.y", NclusterIdY},
             {"%nclusterid.z", NclusterIdZ},
             {"%cluster_ctaid.x", ClusterCtaidX},
             {"%cluster_ctaid.y", ClusterCtaidY},
             {"%cluster_ctaid.z", ClusterCtaidZ},
             {"%cluster_nctaid.x", ClusterNctaidX},
             {"%cluster_nctaid.y", ClusterNctaidY},
             {"%cluster_nctaid.z", ClusterNctaidZ},
             {"%cluster_ctarank", ClusterCtaRank},
             {"%cluster_nctarank", ClusterNctaRank},
             {"%is_explicit_cluster", IsExplicitCluster}};
  for (auto &each : all)
    if (name == each.name)
      return each.slot;
  return Count;
}
