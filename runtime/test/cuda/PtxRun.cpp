// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxRun.h"

#include "PtxBarrier.h"

#include <cstdlib>

using namespace ashlar::ptx;

namespace {

/// After so many instructions another thread's turn comes: who waits in a loop
/// for what another writes gets it.
constexpr uint64_t slice = 1 << 16;

class Grid {
public:
  Grid(const Program &program, const Code &code, const Launch &launch)
      : program(program), code(code), launch(launch) {
    threads = uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
    limit = launch.limit;
    if (!limit) {
      const char *given = std::getenv("ASHLAR_PTX_LIMIT");
      limit = given ? std::strtoull(given, nullptr, 10) : 1ull << 32;
    }
    check();
    block.program = &program;
    block.kernel = &code;
    block.allocations = program.memory().allocations();
    block.windows.resize(program.instructions());
    block.kernelParams = launch.parameters;
    block.threads.resize(threads);
    block.shared.allowed = Allowed::fromEnvironment();
  }

  Executed runAll() {
    Executed done;
    uint32_t at[3];
    for (at[2] = 0; at[2] < launch.grid[2]; ++at[2])
      for (at[1] = 0; at[1] < launch.grid[1]; ++at[1])
        for (at[0] = 0; at[0] < launch.grid[0]; ++at[0]) {
          block.index = uint32_t(done.blocks);
          runBlock(at);
          ++done.blocks;
        }
    done.instructions = executed;
    return done;
  }

private:
  void check() {
    const Function &function = *code.function;
    std::string name = "kernel '" + function.name + "': ";
    for (uint32_t each : launch.grid)
      if (each == 0)
        throw Fault(Fault::BadLaunch, name + "a grid with no blocks");
    if (threads == 0 || threads > 1024)
      throw Fault(Fault::BadLaunch,
                  name + "a block of " + std::to_string(threads) + " threads");
    const auto &required = function.reqntid, &most = function.maxntid;
    for (int k = 0; k < 3; ++k)
      if (required[0] && required[k] != launch.block[k])
        throw Fault(Fault::BadLaunch, name + "blocks are not as .reqntid says");
    if (most[0] && threads > uint64_t(most[0]) * most[1] * most[2])
      throw Fault(Fault::BadLaunch, name + "more threads than .maxntid allows");
    if (launch.parameters.size() != function.parameterBytes)
      throw Fault(Fault::BadLaunch,
                  name + std::to_string(launch.parameters.size()) +
                      " bytes of parameters; expected " +
                      std::to_string(function.parameterBytes));
  }

  void start(Thread &t, uint32_t index, const uint32_t (&at)[3]) {
    t.block = &block;
    t.index = index;
    t.state = Thread::Ready;
    t.local.clear();
    t.copies.clear();
    t.copyGroups = 0;
    t.frames.resize(1);
    if (!t.frames[0])
      t.frames[0] = std::make_unique<Frame>();
    enter(*t.frames[0], t, code);
    t.r = t.frames[0]->registers.data();
    t.pc = code.instructions.data();
    const uint32_t (&size)[3] = launch.block;
    uint64_t *r = t.r;
    r[special::TidX] = index % size[0];
    r[special::TidY] = index / size[0] % size[1];
    r[special::TidZ] = index / size[0] / size[1];
    for (int k = 0; k < 3; ++k) {
      r[special::NtidX + k] = size[k];
      r[special::CtaidX + k] = at[k];
      r[special::NctaidX + k] = launch.grid[k];
    }
    uint32_t lane = index % 32, bit = 1u << lane;
    r[special::LaneId] = lane;
    r[special::WarpId] = index / 32;
    r[special::NumWarps] = (threads + 31) / 32;
    r[special::WarpSize] = 32;
    r[special::LaneMaskEq] = bit;
    r[special::LaneMaskLt] = bit - 1;
    r[special::LaneMaskLe] = bit | (bit - 1);
    r[special::LaneMaskGe] = uint32_t(~(bit - 1));
    r[special::LaneMaskGt] = uint32_t(~(bit | (bit - 1)));
    r[special::SmId] = 0;
    r[special::NumSm] = 1;
    r[special::GridId] = 1;
    r[special::DynamicShared] = launch.dynamicShared;
    r[special::TotalShared] = sharedBytes();
    r[special::SharedBase] = program.module().sharedBase();
    r[special::DynamicBase] = dynamicBase();
  }

  uint64_t dynamicBase() const {
    uint64_t align = program.module().dynamicAlign;
    uint64_t fixed = program.module().sharedOf(*code.function);
    return (fixed + align - 1) / align * align;
  }
  uint64_t sharedBytes() const {
    return launch.dynamicShared ? dynamicBase() + launch.dynamicShared
                                : program.module().sharedOf(*code.function);
  }

  void runBlock(const uint32_t (&at)[3]) {
    block.shared.start(sharedBytes(), unsigned(threads));
    for (Barrier &each : block.barriers)
      each = Barrier();
    for (uint32_t k = 0; k < threads; ++k)
      start(block.threads[k], k, at);
    unsigned warps = unsigned((threads + 31) / 32);
    uint64_t atStart = executed;
    while (true) {
      bool isAny = false, isLeft = false;
      for (unsigned warp = 0; warp < warps; ++warp) {
        do {
          for (uint32_t k = warp * 32;
               k < std::min<uint64_t>(threads, warp * 32 + 32); ++k) {
            Thread &t = block.threads[k];
            isLeft |= t.state != Thread::Exited;
            if (t.state != Thread::Ready)
              continue;
            isAny = true;
            runThread(t, at);
          }
        } while (guarded(at, [&] { return openWarp(block, warp); }));
      }
      if (!isLeft)
        return;
      isAny |= guarded(at, [&] { return openBarriers(block); });
      if (!isAny) {
        Fault fault = deadlock(block);
        throw Fault(fault.kind, where(at) + ": " + fault.what());
      }
      if (executed - atStart > limit * threads)
        throw Fault(Fault::Limit, where(at) + ": more than " +
                                      std::to_string(limit) +
                                      " instructions of each thread");
      if (launch.isCancelled && *launch.isCancelled)
        throw Fault(Fault::Limit, where(at) + ": given up");
    }
  }

  std::string where(const uint32_t (&at)[3]) const {
    return "kernel '" + code.function->name + "', block (" +
           std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " +
           std::to_string(at[2]) + ")";
  }

  template <class Do> bool guarded(const uint32_t (&at)[3], Do what) {
    try {
      return what();
    } catch (const Fault &fault) {
      std::string line;
      for (const Thread &each : block.threads)
        if (each.state == Thread::AtWarp)
          line = program.quote(each.pc->line) + ": ";
      throw Fault(fault.kind, where(at) + ", " + line + fault.what());
    }
  }

  void runThread(Thread &t, const uint32_t (&at)[3]) {
    const Instruction *pc = t.pc;
    uint64_t left = slice;
    try {
      while (pc && left) {
        --left;
        const Instruction *next = pc->run(t, pc);
        pc = next;
      }
    } catch (const Fault &fault) {
      throw Fault(fault.kind, where(at) + ", thread (" +
                                  std::to_string(t.r[special::TidX]) + ", " +
                                  std::to_string(t.r[special::TidY]) + ", " +
                                  std::to_string(t.r[special::TidZ]) + "), " +
                                  program.quote(pc->line) + ": " +
                                  fault.what());
    }
    executed += slice - left;
    if (pc)
      t.pc = pc;
  }

  const Program &program;
  const Code &code;
  const Launch &launch;
  uint64_t threads = 0, limit = 0, executed = 0;
  Block block;
};

} // namespace

Executed ashlar::ptx::run(const Program &program, const std::string &kernel,
                          const Launch &launch) {
  const Code *code = program.kernel(kernel);
  if (!code)
    throw Fault(Fault::BadLaunch, "there is no kernel '" + kernel + "'");
  return Grid(program, *code, launch).runAll();
}
