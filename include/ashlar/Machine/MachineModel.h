// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a machine can do, in numbers: the one thing that whatever decides
// (strategies, boxes, layouts) reads about a target. Plain data; models are
// files (MachineFile.h), so that a new machine is a file and not code.
//
// A worker is what runs one group of a kernel: a core, a multiprocessor, an
// array. Cycles are those of the clock below.
#ifndef ASHLAR_MACHINE_MACHINEMODEL_H
#define ASHLAR_MACHINE_MACHINEMODEL_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar {

/// Where each figure of one object comes from, by the figure's name; under ""
/// what all others have in common.
using Sources = std::map<std::string, std::string>;

/// What the target's own code generator is told; nothing else reads it.
struct MachineCode {
  std::string triple;
  std::string processor; ///< the baseline whose instructions are always there
  std::string tune;      ///< the processor that code is scheduled for
  std::vector<std::string> features; ///< beyond the baseline, LLVM's names
  std::string format;                ///< of the image, for the runtime
};

struct Workers {
  int64_t count = 1;
  int64_t threads = 1; ///< of the hardware, sharing one worker's units
  Sources sources;
  /// What one holds at a time of groups whose threads take turns; 0: groups do
  /// not share a worker.
  int64_t residentGroups = 0, residentThreads = 0;
  int64_t registerBytes = 0; ///< of all of these threads together
  /// Of f32, beside what its lanes do; 0: not known.
  double exponentialsPerCycle = 0;
};

/// The registers that lanes work in.
struct VectorRegisters {
  int64_t count = 0;
  int64_t bytes = 0; ///< of one
  /// The narrowest element that loads and stores can mask; 0: none.
  int64_t maskedElementBytes = 0;
  std::vector<std::string> requiredFeatures;
  Sources sources;
};

/// Who computes: what a kernel's parts are shared out among, or what computes
/// one part together. Outermost first; without any, workers share the parts.
struct Scope {
  std::string name; ///< "workgroup", "warpgroup", "array"
  /// "grid": each takes parts of its own; "group": they share one accumulator;
  /// "lane": the threads of a group, which run in step.
  std::string kind;
  int64_t count = 0; ///< at most, in one of the scope above; 0: any number
  /// For sums, of one instance; 0: they lie in a memory.
  int64_t registerBytes = 0;
  Sources sources;
};

/// One level of memory, caches included. Nearest to the units first.
struct Memory {
  std::string name;      ///< "l1", "scratchpad", "main"
  int64_t bytes = 0;     ///< of one instance; 0: as large as need be (the last)
  int64_t lineBytes = 1; ///< the least that moves
  int64_t ways = 1;      ///< associativity; 1 where programs place data
  int64_t banks = 1;     ///< accesses to one bank wait for each other
  int64_t sharedBy = 1;  ///< workers that share one instance
  /// What one worker reads when alone; one of the two is given.
  double readBytesPerCycle = 0, readBytesPerSecond = 0;
  double writeBytesPerCycle = 0, writeBytesPerSecond = 0;
  /// What all its workers get together; 0: each gets what one does alone.
  double sharedBytesPerSecond = 0;
  double latencyCycles = 0;
  bool managed = false;      ///< programs place data in it; otherwise a cache
  int64_t perGroupBytes = 0; ///< at most, for one part of a grid; 0: all of it
  int64_t bytesOfPart() const { return perGroupBytes ? perGroupBytes : bytes; }
  /// Rows of so many bytes are swizzled on the way, in units of 16; 0: no.
  int64_t swizzleBytes = 0;
  Sources sources;
};

/// Types of one product: `left` times `right` is added to `accumulator`. "f32",
/// "tf32", "bf16", "f8e4m3", and signs of integers: "s8", "u8", "s32".
struct ProductTypes {
  std::string left, right, accumulator;
  bool operator==(const ProductTypes &other) const {
    return left == other.left && right == other.right &&
           accumulator == other.accumulator;
  }
};

/// How far one bit of a number moves an element of a fragment.
struct FragmentStep {
  int64_t rows = 0, columns = 0;
};

/// Which elements of a unit's m x n sums each thread of its scope holds:
/// tile's FragmentAttr says what the lists mean.
struct Fragment {
  std::vector<FragmentStep> registers, lanes;
  int64_t inFlight = 0; ///< steps that go on while the next one begins
};

/// Adds an m x k box times a k x n box to an m x n accumulator in one step.
/// Lanes are a unit with m = 1.
struct MultiplyUnit {
  std::string name;
  std::string scope; ///< who issues a step; empty: a worker
  int64_t m = 1, n = 1, k = 1;
  int64_t mostN = 0; ///< in steps of n; 0: n alone
  /// Of a unit with fragments: terms of its operands lie side by side, and rows
  /// or columns that do are not taken.
  bool termsInside = false;
  std::vector<ProductTypes> types;
  double stepsPerCycle = 1;
  double latencyCycles = 1; ///< until the next step on the same accumulator
  int64_t accumulators = 1; ///< that live at once
  /// "vectors", or registers of the unit's own, by a name.
  std::string accumulatorSpace = "vectors";
  /// Where operands may lie: "vectors", the unit's own registers, a memory.
  std::vector<std::string> leftFrom, rightFrom;
  std::vector<std::string> requiredFeatures;
  std::optional<Fragment> fragment; ///< none: a thread multiplies alone
  Sources sources;

  double flopsPerCycle() const { return 2.0 * m * n * k * stepsPerCycle; }
  bool takes(const ProductTypes &product) const;
};

/// What moves data between two memories beside the arithmetic.
/// What an engine that is told of a tensor once takes of it at each copy.
struct Boxes {
  int64_t rank = 1, size = 1; ///< at most, of dims; of elements along each
  std::string scope;          ///< one of it asks for the copies of all others
};

struct CopyEngine {
  std::string name;
  std::string from, to; ///< memories
  double bytesPerCycle = 0;
  int64_t minimumBytes = 1, alignmentBytes = 1;
  double startCycles = 0;
  bool asynchronous = false;
  /// Tiles whose copies go on while another is computed, where whoever copies
  /// waits for all of them at once; 0: as many as there are slots for.
  int64_t tilesAhead = 0;
  bool zeroFill = false; ///< what lies outside a box arrives as zeros
  bool transpose = false;
  bool gather = false;   ///< rows from a list of addresses
  int64_t multicast = 1; ///< workers that one copy can reach
  /// Until those that share copies know of each other that a slot is free.
  double multicastCycles = 0;
  /// Copies end by themselves, at a barrier in the memory they fill; none:
  /// whoever copies waits.
  std::optional<Boxes> boxes;
  Sources sources;
};

/// The way to the memory of another machine of the same program.
struct Link {
  std::string name;
  std::string to;            ///< "host": the program's first device
  double bytesPerSecond = 0; ///< each way
  double startNs = 0;        ///< of one copy, before its first byte
  Sources sources;
};

struct FixedCosts {
  double launchNs = 0;  ///< from one kernel's end to the next one's begin
  double barrierNs = 0; ///< of all workers
  Sources sources;
};

/// What only a systolic machine has: docs/systolic.md says what each means.
struct SystolicControl {
  bool interlocked = false;   ///< hazards on chip are ordered by hardware
  bool shadow = false;        ///< weights are loaded while others are in use
  bool extended = false;      ///< has the vector unit's instructions, too
  bool weightsStay = false;   ///< there is no output-stationary dataflow
  bool narrowResults = false; ///< sums cannot be stored as they are
  int64_t bankRowsPerCycle = 1;
  int64_t commandRows = 1;     ///< at most, in one command
  int64_t commandRowBytes = 0; ///< at most, in one row of a load; 0: any
  int64_t issueCycles = 1;
  int64_t queueDepth = 1;
  int64_t specialLanes = 1; ///< of exp, reciprocals and lookups
  int64_t vectorLatencyCycles = 1;
  int64_t arraySumBits = 0; ///< of sums in the array; 0: the accumulator's
  int64_t leastDepth = 0;   ///< cycles of an output-stationary product, least
  int64_t requestsInFlight = 0; ///< of loads, and as many of stores; 0: any
  int64_t requestBytes = 0;     ///< of one of them, at most; 0: any
  Sources sources;
};

struct Clock {
  double hz = 0;
  Sources sources;
};

struct MachineModel {
  std::string name;   ///< "x86-64-v3"
  std::string target; ///< whose it is: "cpu"
  /// Processors of which this is the model, in LLVM's spelling.
  std::vector<std::string> describes;
  MachineCode code;
  Clock clock;
  Workers workers;
  VectorRegisters vectors;
  std::vector<Scope> scopes;
  std::vector<Memory> memories;
  std::vector<MultiplyUnit> units;
  std::vector<CopyEngine> copyEngines;
  std::vector<Link> links; ///< none: as fast as the memories at both ends
  FixedCosts costs;
  std::optional<SystolicControl> systolic;
  /// Units of "tf32" may take products of f32: what a compilation allows, no
  /// figure of the machine, and in no file.
  bool roundsToTF32 = false;

  /// A small made-up machine, for passes that are run without a target.
  static MachineModel generic();

  /// Null when there is none.
  const Memory *memory(std::string_view name) const;
  const Scope *scope(std::string_view name) const;
  /// How many of a kind are in one of the kind above; 0: there are none.
  int64_t countOf(std::string_view kind) const;
  /// How many groups of a scope one worker has.
  int64_t groupsOf(const Scope &group) const;
  const Link *link(std::string_view to) const;
  /// Whether the unit may take products of these types: its own, and f32 where
  /// it takes tf32 and that is allowed.
  bool takes(const MultiplyUnit &unit, const ProductTypes &product) const;
  /// The fastest unit for these types, the first of equals; null: none.
  const MultiplyUnit *unit(const ProductTypes &product) const;
  /// The fastest that adds up in vector registers, its operands in either
  /// order. Without `groups`, of those that take one term at a time.
  const MultiplyUnit *vectorUnit(const ProductTypes &product,
                                 bool groups = true) const;
  /// The fastest with registers of its own for sums, whose features are there.
  const MultiplyUnit *matrixUnit(const ProductTypes &product) const;
  bool hasFeatures(const std::vector<std::string> &features) const;
  /// The nearest memory; every machine has one.
  const Memory &nearest() const { return memories.front(); }
  /// The farthest that a worker shares with no other.
  const Memory &farthestOwn() const;
  /// Of farthestOwn(), for what passes between two contractions of a kernel:
  /// their operands want the rest.
  int64_t scoreBytes() const { return farthestOwn().bytes / 4; }

  /// Elements of so many bytes that one worker computes on in a cycle where no
  /// products are summed up: a vector's, or as many as its threads have units.
  double lanesFor(int64_t elementBytes) const;
  /// The nearest memory that has room for so many bytes of all kernels' values:
  /// none that programs place parts in.
  const Memory &nearestFor(int64_t bytes) const;

  /// Of the largest memory that programs place data in; 0: there is none.
  int64_t managedBytes() const {
    int64_t bytes = 0;
    for (const Memory &memory : memories)
      bytes = std::max(bytes, memory.managed ? memory.bytes : 0);
    return bytes;
  }

  double readBytesPerCycle(const Memory &memory) const;
  double writeBytesPerCycle(const Memory &memory) const;
  /// One worker's share when all `active` workers read at once.
  double sharedReadBytesPerCycle(const Memory &memory, int64_t active) const;

private:
  template <typename Suits> const MultiplyUnit *fastestUnit(Suits suits) const;
};

} // namespace ashlar

#endif // ASHLAR_MACHINE_MACHINEMODEL_H
