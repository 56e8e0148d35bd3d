// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxRun.h"

#include "PtxBarrier.h"

#include <cstdlib>

using namespace ashlar::ptx;

namespace {

/// After so many instructions another thread's turn comes: who waits in a loop
/// for what another writes gets it.
constexpr uint64_t slice = 1 << 16;
/// After so many turns of all threads a copy comes, even where they have more
/// to do.
constexpr uint64_t roundsOfCopies = 8;
/// So often threads may ask an mbarrier in vain while nothing else happens.
constexpr unsigned mostTimeouts = 64;

std::string spelled(const uint32_t (&at)[3]) {
  return "(" + std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " +
         std::to_string(at[2]) + ")";
}

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
    cluster.allocations = program.memory().allocations();
    cluster.windows.resize(program.instructions());
    cluster.kernelParams = launch.parameters;
    cluster.shared.allowed = Allowed::fromEnvironment();
    cluster.warpsOfBlock = uint32_t((threads + 31) / 32);
    cluster.sharedBytes = sharedBytes();
    cluster.sharedStride =
        std::max<uint64_t>(16, (cluster.sharedBytes + 15) / 16 * 16);
    for (uint32_t rank = 0; rank < size[0] * size[1] * size[2]; ++rank) {
      auto made = std::make_unique<Block>();
      made->program = &program;
      made->kernel = &code;
      made->cluster = &cluster;
      made->rank = rank;
      made->threads.resize(threads);
      cluster.blocks.push_back(std::move(made));
    }
  }

  Executed runAll() {
    Executed done;
    uint32_t at[3]; // of the cluster's first block
    for (at[2] = 0; at[2] < launch.grid[2]; at[2] += size[2])
      for (at[1] = 0; at[1] < launch.grid[1]; at[1] += size[1])
        for (at[0] = 0; at[0] < launch.grid[0]; at[0] += size[0]) {
          runCluster(at);
          done.blocks += cluster.blocks.size();
        }
    done.instructions = executed;
    return done;
  }

private:
  void check() {
    const Function &function = *code.function;
    std::string name = "kernel '" + function.name + "': ";
    auto refuse = [&](const std::string &why) {
      throw Fault(Fault::BadLaunch, name + why);
    };
    for (uint32_t each : launch.grid)
      if (each == 0)
        refuse("a grid with no blocks");
    if (threads == 0 || threads > 1024)
      refuse("a block of " + std::to_string(threads) + " threads");
    const auto &required = function.reqntid, &most = function.maxntid;
    for (int k = 0; k < 3; ++k)
      if (required[0] && required[k] != launch.block[k])
        refuse("blocks are not as .reqntid says");
    if (most[0] && threads > uint64_t(most[0]) * most[1] * most[2])
      refuse("more threads than .maxntid allows");
    if (launch.parameters.size() != function.parameterBytes)
      refuse(std::to_string(launch.parameters.size()) +
             " bytes of parameters; expected " +
             std::to_string(function.parameterBytes));
    const auto &clusters = function.reqnctapercluster;
    for (int k = 0; k < 3; ++k) {
      size[k] = launch.cluster[0] ? launch.cluster[k]
                : clusters[0]     ? clusters[k]
                                  : 1;
      if (clusters[0] && size[k] != clusters[k])
        refuse("clusters are not as .reqnctapercluster says");
      if (size[k] == 0 || launch.grid[k] % size[k])
        refuse("a grid that is not of whole clusters");
    }
    uint64_t blocks = uint64_t(size[0]) * size[1] * size[2];
    if (blocks > 16 ||
        (function.maxClusterRank && blocks > function.maxClusterRank))
      refuse("a cluster of " + std::to_string(blocks) + " blocks");
  }

  void start(Block &block, Thread &t, uint32_t index) {
    t.block = &block;
    t.index = index;
    t.number = block.rank * cluster.warpsOfBlock * 32 + index;
    t.state = Thread::Ready;
    t.local.clear();
    t.copies.clear();
    t.copyGroups = 0;
    t.watch.reset();
    t.bulk = BulkGroups();
    t.clusterPhase = 0;
    t.hasTimedOut = false;
    t.frames.resize(1);
    if (!t.frames[0])
      t.frames[0] = std::make_unique<Frame>();
    enter(*t.frames[0], t, code);
    t.r = t.frames[0]->registers.data();
    t.pc = code.instructions.data();
    const uint32_t (&threadsOf)[3] = launch.block;
    uint64_t *r = t.r;
    r[special::TidX] = index % threadsOf[0];
    r[special::TidY] = index / threadsOf[0] % threadsOf[1];
    r[special::TidZ] = index / threadsOf[0] / threadsOf[1];
    for (int k = 0; k < 3; ++k) {
      r[special::NtidX + k] = threadsOf[k];
      r[special::CtaidX + k] = block.at[k];
      r[special::NctaidX + k] = launch.grid[k];
      r[special::ClusterIdX + k] = block.at[k] / size[k];
      r[special::NclusterIdX + k] = launch.grid[k] / size[k];
      r[special::ClusterCtaidX + k] = block.at[k] % size[k];
      r[special::ClusterNctaidX + k] = size[k];
    }
    r[special::ClusterCtaRank] = block.rank;
    r[special::ClusterNctaRank] = cluster.blocks.size();
    r[special::IsExplicitCluster] = launch.cluster[0] != 0 ||
                                    code.function->reqnctapercluster[0] != 0 ||
                                    code.function->isOfClusters;
    uint32_t lane = index % 32, bit = 1u << lane;
    r[special::LaneId] = lane;
    r[special::WarpId] = index / 32;
    r[special::NumWarps] = cluster.warpsOfBlock;
    r[special::WarpSize] = 32;
    r[special::LaneMaskEq] = bit;
    r[special::LaneMaskLt] = bit - 1;
    r[special::LaneMaskLe] = bit | (bit - 1);
    r[special::LaneMaskGe] = uint32_t(~(bit - 1));
    r[special::LaneMaskGt] = uint32_t(~(bit | (bit - 1)));
    r[special::SmId] = block.rank;
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

  void startCluster(const uint32_t (&at)[3]) {
    uint32_t blocks = uint32_t(cluster.blocks.size());
    cluster.shared.start(cluster.sharedStride * blocks,
                         cluster.warpsOfBlock * blocks);
    cluster.barrier = ClusterBarrier();
    cluster.mbarriers.clear();
    cluster.copies.clear();
    for (auto &block : cluster.blocks) {
      uint32_t within[3] = {block->rank % size[0],
                            block->rank / size[0] % size[1],
                            block->rank / size[0] / size[1]};
      for (int k = 0; k < 3; ++k)
        block->at[k] = at[k] + within[k];
      block->index =
          (block->at[2] * launch.grid[1] + block->at[1]) * launch.grid[0] +
          block->at[0];
      for (Barrier &each : block->barriers)
        each = Barrier();
      block->warpgroups.clear();
      block->groupRegisters.clear();
      for (uint32_t k = 0; k < threads; ++k)
        start(*block, block->threads[k], k);
    }
  }

  void runCluster(const uint32_t (&at)[3]) {
    startCluster(at);
    uint64_t atStart = executed;
    unsigned timeouts = 0;
    uint64_t phases = cluster.phases, rounds = 0;
    while (true) {
      bool isAny = false, isLeft = false, isOpened = false;
      for (auto &block : cluster.blocks)
        runBlock(*block, isAny, isLeft, isOpened);
      const Block &first = *cluster.blocks[0];
      if (!isLeft) {
        if (!cluster.copies.empty())
          throw Fault(Fault::Race,
                      where(first) +
                          ": all threads end while a copy is under "
                          "way: " +
                          program.quote(cluster.copies[0].line));
        return;
      }
      isOpened |= openCluster(cluster);
      if ((!isAny && !isOpened) || ++rounds % roundsOfCopies == 0)
        isOpened |= guarded(first, [&] { return deliver(cluster); });
      if (isOpened || phases != cluster.phases)
        timeouts = 0;
      phases = cluster.phases;
      if (!isAny && !isOpened && (++timeouts > mostTimeouts || !timeOut())) {
        Fault fault = deadlock(cluster);
        throw Fault(fault.kind, where(first) + ": " + fault.what());
      }
      if (executed - atStart > limit * threads * cluster.blocks.size())
        throw Fault(Fault::Limit, where(first) + ": more than " +
                                      std::to_string(limit) +
                                      " instructions of each thread");
      if (launch.isCancelled && *launch.isCancelled)
        throw Fault(Fault::Limit, where(first) + ": given up");
    }
  }

  /// Each thread up to where it waits. isAny: one did something; isLeft: one
  /// has not exited; isOpened: some that waited for each other go on.
  void runBlock(Block &block, bool &isAny, bool &isLeft, bool &isOpened) {
    for (unsigned warp = 0; warp < cluster.warpsOfBlock; ++warp) {
      bool isOpen = false;
      do {
        for (uint32_t k = warp * 32;
             k < std::min<uint64_t>(threads, warp * 32 + 32); ++k) {
          Thread &t = block.threads[k];
          isLeft |= t.state != Thread::Exited;
          if (t.state != Thread::Ready)
            continue;
          isAny = true;
          runThread(t);
        }
        isOpen = guarded(block, [&] { return openWarp(block, warp); });
        isOpened |= isOpen;
      } while (isOpen);
    }
    isOpened |= guarded(block, [&] { return openGroups(block); });
    isOpened |= guarded(block, [&] { return openBarriers(block); });
  }

  /// Where nothing goes on, mbarrier.try_wait gives up. False: none waits.
  bool timeOut() {
    bool isAny = false;
    for (auto &block : cluster.blocks)
      for (Thread &each : block->threads)
        if (each.state == Thread::AtMbarrier) {
          each.state = Thread::Ready;
          each.hasTimedOut = false;
          isAny = true;
        }
    return isAny;
  }

  std::string where(const Block &block) const {
    return "kernel '" + code.function->name + "', block " + spelled(block.at);
  }

  template <class Do> bool guarded(const Block &block, Do what) {
    try {
      return what();
    } catch (const Fault &fault) {
      throw Fault(fault.kind, where(block) + ", " + fault.what());
    }
  }

  void runThread(Thread &t) {
    const Instruction *pc = t.pc;
    uint64_t left = slice;
    try {
      // A wgmma.fence ends the run of the thread that makes its watch.
      bool isWatched = t.watch != nullptr;
      while (pc && left) {
        --left;
        if (isWatched)
          t.watch->access(t, pc);
        const Instruction *next = pc->run(t, pc);
        pc = next;
      }
    } catch (const Fault &fault) {
      uint32_t at[3] = {uint32_t(t.r[special::TidX]),
                        uint32_t(t.r[special::TidY]),
                        uint32_t(t.r[special::TidZ])};
      throw Fault(fault.kind, where(*t.block) + ", thread " + spelled(at) +
                                  ", " + program.quote(pc->line) + ": " +
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
  uint32_t size[3] = {1, 1, 1}; // of a cluster, in blocks
  Cluster cluster;
};

} // namespace

Executed ashlar::ptx::run(const Program &program, const std::string &kernel,
                          const Launch &launch) {
  const Code *code = program.kernel(kernel);
  if (!code)
    throw Fault(Fault::BadLaunch, "there is no kernel '" + kernel + "'");
  return Grid(program, *code, launch).runAll();
}
