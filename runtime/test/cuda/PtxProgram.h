// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module, loaded: its variables have addresses in a device's memory, its
// statements are instructions, each a function to call and the slots of its
// operands. Constants have slots after the registers, so that an operand is
// always a slot.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXPROGRAM_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXPROGRAM_H

#include "PtxMemory.h"
#include "PtxModule.h"

#include <deque>
#include <unordered_map>

namespace ashlar::ptx {

struct Thread;
struct Instruction;
/// Executes; what it returns is next. Null: the thread stopped.
using Handler = const Instruction *(*)(Thread &, const Instruction *);

struct Code;
struct Block;
/// For all lanes of a warp at once that `mask` names; all of them are there.
using WarpHandler = void (*)(Block &, Thread *const *lanes, uint32_t mask,
                             const Instruction *);
/// For all 128 threads of a warpgroup at once. False: they go on waiting.
using GroupHandler = bool (*)(Block &, Thread *const *threads,
                              const Instruction *);

struct Instruction {
  Handler run = nullptr;
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  uint32_t index = 0; // among all of the program
  uint32_t line = 0;
  uint32_t flags = 0, count = 0;
  int64_t offset = 0;
  union {
    const uint32_t *slots; // of vectors
    const Instruction *target;
    const Instruction *const *targets;
    const Code *callee;
    WarpHandler warp;
    GroupHandler group;
  };
  const uint32_t *more = nullptr;
  Instruction() : slots(nullptr) {}
};

/// A function as instructions.
struct Code {
  const Function *function = nullptr;
  std::vector<Instruction> instructions;
  std::vector<uint64_t> constants; // slots from function->slots on
  uint32_t slots() const {
    return function->slots + uint32_t(constants.size());
  }
};

/// Registers that an instruction reads or writes.
struct Registers {
  const uint32_t *slots = nullptr;
  size_t count = 0;
};

class Program {
public:
  /// Puts the variables into `memory`, which lives longer. Throws Error.
  Program(Module of, Memory &memory);
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// Null: no such kernel.
  const Code *kernel(const std::string &name) const;
  const Module &module() const { return parsed; }
  Memory &memory() const { return *device; }
  uint32_t instructions() const { return count; }
  Registers registersOf(const Instruction &of) const {
    return of.index < registers.size() ? registers[of.index] : Registers{};
  }
  /// Of a global or constant variable; 0: there is none.
  uint64_t addressOf(const std::string &name, uint64_t *size = nullptr) const;
  /// "line 12: ld.global.f32 %f1, [%rd1];"
  std::string quote(uint32_t line) const;

private:
  friend class Decoder;
  void setRegisters(const Instruction &of, const uint32_t *slots,
                    size_t number);
  void placeVariables();
  void releaseVariables();

  Module parsed;
  Memory *device;
  std::map<std::string, std::unique_ptr<Code>> codes;
  std::unordered_map<std::string, uint64_t> addresses;
  std::deque<std::vector<uint32_t>> lists;
  std::deque<std::vector<const Instruction *>> tables;
  std::vector<Registers> registers; // by an instruction's index
  uint32_t count = 0;
};

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXPROGRAM_H
