// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements to instructions. Each family of instructions has a table of its
// opcodes; who decodes one takes the modifiers that it knows, and what is left
// over is an error.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXDECODER_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXDECODER_H

#include "PtxThread.h"

#include <initializer_list>

namespace ashlar::ptx {

class Decoder;
struct Opcode {
  const char *name;
  void (*decode)(Decoder &);
};
using Family = std::vector<Opcode>;
const Family &arithmetic();  // PtxArithmetic.cpp: of whole numbers
const Family &bitwise();     // PtxBits.cpp
const Family &floating();    // PtxFloat.cpp
const Family &functions();   // PtxFunctions.cpp: approximations
const Family &comparing();   // PtxCompare.cpp
const Family &converting();  // PtxConvert.cpp
const Family &accessing();   // PtxAccess.cpp: loads, stores
const Family &moving();      // PtxMove.cpp
const Family &atomics();     // PtxAtomic.cpp
const Family &controlling(); // PtxControl.cpp
const Family &warpwide();    // PtxWarp.cpp
const Family &matrices();    // PtxMatrix.cpp
const Family &copying();     // PtxCopy.cpp: cp.async
const Family &warpgroups();  // PtxWarpgroup.cpp: wgmma
const Family &clusters();    // PtxCluster.cpp: mapa
const Family &mbarriers();   // PtxMbarrier.cpp

/// What a rounding modifier says, and the rest of a float's modifiers.
struct FloatMode {
  enum : uint32_t {
    Ftz = 8,
    Sat = 16,
    NaN = 32,
    XorSign = 64,
    Abs = 128,
    Relu = 256
  };
};

class Decoder {
public:
  Decoder(Program &program, Code &code) : program(program), code(code) {}
  void decodeAll();

  const Statement &statement() const { return *now; }
  [[noreturn]] void fail(const std::string &what) const;

  // Modifiers, in any order; each is taken once.
  bool take(std::string_view modifier);
  /// One of these; its number, -1 for none.
  int takeOf(std::initializer_list<const char *> modifiers);
  /// The same, but what stands first in the statement is taken.
  int takeNextOf(std::initializer_list<const char *> modifiers);
  /// The next type among them; fails without one.
  Type takeType();
  Type takeTypeOrNone();
  /// Scopes, cache hints and their like, which change no value.
  void takeOrdering();
  /// .L2::cache_hint, whose policy is then the last operand: it changes
  /// nothing. How many operands that is.
  size_t takeCacheHint();
  /// .rn .rz .rm .rp, .ftz, .sat as flags; Nearest without one.
  uint32_t takeFloatMode();

  // Operands.
  void expectOperands(size_t least, size_t most = 0) const;
  const Operand &operand(size_t i) const { return now->operands[i]; }
  size_t operands() const { return now->operands.size(); }
  /// The slot of what an operand of that type reads; negated predicates by an
  /// instruction before.
  uint32_t source(const Operand &of, Type type);
  uint32_t source(size_t i, Type type) { return source(operand(i), type); }
  /// A register's, or one that no one reads for "_".
  uint32_t destination(const Operand &of);
  uint32_t destination(size_t i = 0) { return destination(operand(i)); }
  uint32_t constant(uint64_t bits);
  const uint32_t *list(std::vector<uint32_t> slots);
  /// A slot for what is no register of the program's.
  uint32_t scratch();
  /// What the statement's operands were so far is not for RegisterWatch to
  /// see; the instruction tells it itself.
  void hideRegisters() { touched.clear(); }

  /// Base and offset of [a+b] and of a named place; may narrow the space.
  void address(const Operand &of, Instruction &into, Space &space);
  /// A label to patch, or a function.
  void branchTo(const std::string &label, Instruction &into);

  Instruction make(Handler run) const;
  void emit(Instruction instruction);
  Program &owner() { return program; }
  const Function &function() const { return *code.function; }
  const Code *codeOf(const std::string &name) const;
  void useTable(Instruction &into, const std::string &name);

private:
  void decodeOne();
  void touch(const Operand &of);
  uint64_t bitsOf(const Operand &of, Type type) const;

  Program &program;
  Code &code;
  const Statement *now = nullptr;
  std::vector<bool> taken;
  std::vector<uint32_t> touched; // registers of the statement
  std::unordered_map<uint64_t, uint32_t> constantSlots;
  std::unordered_map<std::string, size_t> labels;
  struct Patch {
    size_t instruction;
    std::string label;
    bool isTable;
    uint32_t line;
  };
  std::vector<Patch> patches;
  uint32_t spare = 0;
};

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXDECODER_H
