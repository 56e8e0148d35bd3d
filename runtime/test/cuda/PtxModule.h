// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX text as a tree: functions, variables and statements whose names are
// resolved to register slots and variables. Written from NVIDIA's "Parallel
// Thread Execution ISA"; what PtxProgram.h makes of it runs.
//
//   Module module = parse(text);           // throws ptx::Error
//   Program program(module, memory);       // PtxProgram.h
//   run(program, "kernel", launch, ...);   // PtxRun.h

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXMODULE_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXMODULE_H

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::ptx {

/// The text is wrong or says what we do not know; the message quotes the line.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Space : uint8_t {
  Generic,
  Global,
  Const,
  Shared,  // of the thread's own block
  Cluster, // shared memory of any block of the cluster
  Local,
  Param, // of a function or a call
  KernelParam,
};

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  U16x2,
  S8,
  S16,
  S32,
  S64,
  S16x2,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F32x2,
  F64,
  E4M3x2,
  E5M2x2,
};

/// ".f32" without its dot; None where it is no type.
Type typeNamed(std::string_view name);
const char *nameOf(Type type);
unsigned bytesOf(Type type);

struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::None;
  uint64_t size = 0, align = 1;
  /// In its space: of shared variables of all functions, of a function's local
  /// and parameter spaces. Global and constant ones get an address when loaded.
  uint64_t offset = 0;
  bool isExtern = false;
  bool isOfKernel = false; // shared, declared within one
  std::vector<uint8_t> initial;
  /// An address of another variable within `initial`.
  struct Pointer {
    uint64_t at;
    std::string to;
    int64_t plus;
  };
  std::vector<Pointer> pointers;
};

struct Operand {
  enum Kind : uint8_t {
    Register,
    Clock, // %clock, %clock64, %globaltimer
    Integer,
    Single, // 0f3F800000, in `integer`
    Real,
    Name,    // of a function or a label
    Place,   // a variable's address, plus `integer`
    Address, // [elements[0] + integer, elements[1]...]
    Vector,  // {a, b}
    Group,   // (a, b)
    Sink,    // _
  };
  Kind kind = Sink;
  bool isNegated = false;
  Type type = Type::None; // as declared
  uint32_t slot = 0;
  int64_t integer = 0;
  double real = 0;
  std::string name;
  std::shared_ptr<Variable> variable;
  std::vector<Operand> elements;
  /// q of p|q.
  std::vector<Operand> second;
};

struct Statement {
  uint32_t line = 0;
  std::string label; // alone: a place in the code
  bool isGuarded = false, isGuardNegated = false;
  uint32_t guard = 0;
  std::string opcode;                 // "ld"
  std::vector<std::string> modifiers; // "global", "v4", "b32"
  std::vector<Operand> operands;
};

struct Function {
  std::string name;
  bool isEntry = false, isDefined = false;
  uint32_t line = 0;
  std::vector<std::shared_ptr<Variable>> results, parameters;
  uint64_t parameterBytes = 0; // a kernel's, as cuLaunchKernel takes them
  uint64_t paramBytes = 0, localBytes = 0;
  uint32_t slots = 0;                     // registers, the special ones first
  std::vector<std::string> registerNames; // from special::Count on
  uint32_t reqntid[3] = {0, 0, 0}, maxntid[3] = {0, 0, 0};
  uint32_t minBlocks = 0, maxRegisters = 0;
  uint32_t reqnctapercluster[3] = {0, 0, 0}, maxClusterRank = 0;
  bool isOfClusters = false; // .explicitcluster
  uint64_t sharedBytes = 0;  // of a kernel's own variables
  std::map<std::string, std::vector<std::string>> branchTargets;
  std::vector<Statement> statements;
};

struct Module {
  std::string version, target;
  std::vector<std::string> lines;
  std::vector<std::shared_ptr<Variable>> variables; // global and constant
  std::map<std::string, std::shared_ptr<Function>> functions;
  /// Of shared variables outside of kernels, and how those without a size are
  /// aligned.
  uint64_t sharedBytes = 0, dynamicAlign = 16;

  /// Where a kernel's own shared variables start, after those of the module.
  uint64_t sharedBase() const { return (sharedBytes + 1023) / 1024 * 1024; }
  /// Static shared memory of a kernel.
  uint64_t sharedOf(const Function &kernel) const {
    return kernel.sharedBytes ? sharedBase() + kernel.sharedBytes : sharedBytes;
  }
};

Module parse(std::string_view text);

/// What a register is called in the text.
std::string registerName(const Function &function, uint32_t slot);

/// Slots of the special registers, which start every function's registers.
namespace special {
enum : uint32_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NumWarps,
  WarpSize,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  SmId,
  NumSm,
  GridId,
  DynamicShared,
  TotalShared,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtaRank,
  ClusterNctaRank,
  IsExplicitCluster,
  Zero,
  LocalBase,
  SharedBase,
  DynamicBase,
  Count,
};
/// Count where there is none of that name.
uint32_t named(std::string_view name);
} // namespace special

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXMODULE_H
