// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of a machine file, once, for the reader and for the writer. A
// visitor has
//   text(key, string), texts(key, strings), flag(key, bool, default)
//   figure(key, number, least)              must be given
//   optional(key, number, least, default)   is left out where it has its
//   default capacity(key, number)                   may be large, or left out
//   sources(Sources)                        where the figures come from
//   optionalText(key, string)               may be left out
//   object(key, value), list(key, vector)   values with fields of their own
//   optionalList(key, vector)               may be left out
//   part(key, optional)                     an object that may be left out
#ifndef ASHLAR_LIB_MACHINE_MACHINEFIELDS_H
#define ASHLAR_LIB_MACHINE_MACHINEFIELDS_H

#include "ashlar/Machine/MachineModel.h"
#include <type_traits>

namespace ashlar {

template <typename Visitor, typename T> void visitFields(Visitor &v, T &x) {
  using Object = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Object, MachineCode>) {
    v.text("triple", x.triple);
    v.text("processor", x.processor);
    v.text("tune", x.tune);
    v.texts("features", x.features);
    v.text("format", x.format);
  } else if constexpr (std::is_same_v<Object, Clock>) {
    v.figure("hz", x.hz, 1.0);
    v.sources(x.sources);
  } else if constexpr (std::is_same_v<Object, Workers>) {
    v.figure("count", x.count, int64_t(1));
    v.figure("threads", x.threads, int64_t(1));
    v.optional("resident_groups", x.residentGroups, int64_t(1), int64_t(0));
    v.optional("resident_threads", x.residentThreads, int64_t(1), int64_t(0));
    v.optional("register_bytes", x.registerBytes, int64_t(1), int64_t(0));
    v.sources(x.sources);
  } else if constexpr (std::is_same_v<Object, VectorRegisters>) {
    v.figure("count", x.count, int64_t(1));
    v.figure("bytes", x.bytes, int64_t(1));
    v.optional("masked_element_bytes", x.maskedElementBytes, int64_t(1),
               int64_t(0));
    v.optionalTexts("requires", x.requiredFeatures);
    v.sources(x.sources);
  } else if constexpr (std::is_same_v<Object, Scope>) {
    v.text("name", x.name);
    v.text("kind", x.kind);
    v.optional("count", x.count, int64_t(1), int64_t(0));
    v.optional("register_bytes", x.registerBytes, int64_t(1), int64_t(0));
    v.sources(x.sources);
  } else if constexpr (std::is_same_v<Object, Memory>) {
    v.text("name", x.name);
    v.capacity("bytes", x.bytes);
    v.figure("line_bytes", x.lineBytes, int64_t(1));
    v.optional("ways", x.ways, int64_t(1), int64_t(1));
    v.optional("banks", x.banks, int64_t(1), int64_t(1));
    v.figure("shared_by", x.sharedBy, int64_t(1));
    v.optional("read_bytes_per_cycle", x.readBytesPerCycle, 0.001, 0.0);
    v.optional("read_bytes_per_second", x.readBytesPerSecond, 1.0, 0.0);
    v.optional("write_bytes_per_cycle", x.writeBytesPerCycle, 0.001, 0.0);
    v.optional("write_bytes_per_second", x.writeBytesPerSecond, 1.0, 0.0);
    v.optional("shared_bytes_per_second", x.sharedBytesPerSecond, 1.0, 0.0);
    v.figure("latency_cycles", x.latencyCycles, 0.0);
    v.flag("managed", x.managed);
    v.optional("per_group_bytes", x.perGroupBytes, int64_t(1), int64_t(0));
    v.optional("swizzle_bytes", x.swizzleBytes, int64_t(32), int64_t(0));
    v.sources(x.sources);
  } else if constexpr (std::is_same_v<Object, ProductTypes>) {
    v.text("left", x.left);
    v.text("right", x.right);
    v.text("accumulator", x.accumulator);
  } else if constexpr (std::is_same_v<Object, FragmentStep>) {
    v.optional("rows", x.rows, int64_t(1), int64_t(0));
    v.optional("columns", x.columns, int64_t(1), int64_t(0));
  } else if constexpr (std::is_same_v<Object, Fragment>) {
    v.list("registers", x.registers);
    v.list("lanes", x.lanes);
    v.optional("in_flight", x.inFlight, int64_t(1), int64_t(0));
  } else if constexpr (std::is_same_v<Object, MultiplyUnit>) {
    v.text("name", x.name);
    v.optionalText("scope", x.scope);
    v.optional("most_n", x.mostN, int64_t(1), int64_t(0));
    v.flag("terms_inside", x.termsInside);
    v.figure("m", x.m, int64_t(1));
    v.figure("n", x.n, int64_t(1));
    v.figure("k", x.k, int64_t(1));
    v.list("types", x.types);
    v.figure("steps_per_cycle", x.stepsPerCycle, 0.0001);
    v.figure("latency_cycles", x.latencyCycles, 0.0);
    v.figure("accumulators", x.accumulators, int64_t(1));
    v.text("accumulator_space", x.accumulatorSpace);
    v.texts("left_from", x.leftFrom);
    v.texts("right_from", x.rightFrom);
    v.optionalTexts("requires", x.requiredFeatures);
    v.part("fragment", x.fragment);
    v.sources(x.sources);
  } else if constexpr (std::is_same_v<Object, Boxes>) {
    v.figure("rank", x.rank, int64_t(1));
    v.figure("size", x.size, int64_t(1));
    v.text("scope", x.scope);
  } else if constexpr (std::is_same_v<Object, CopyEngine>) {
    v.text("name", x.name);
    v.text("from", x.from);
    v.text("to", x.to);
    v.figure("bytes_per_cycle", x.bytesPerCycle, 0.001);
    v.figure("minimum_bytes", x.minimumBytes, int64_t(1));
    v.figure("alignment_bytes", x.alignmentBytes, int64_t(1));
    v.figure("start_cycles", x.startCycles, 0.0);
    v.flag("asynchronous", x.asynchronous);
    v.flag("zero_fill", x.zeroFill);
    v.flag("transpose", x.transpose);
    v.flag("gather", x.gather);
    v.optional("multicast", x.multicast, int64_t(1), int64_t(1));
    v.optional("multicast_cycles", x.multicastCycles, 0.0, 0.0);
    v.part("boxes", x.boxes);
    v.sources(x.sources);
  } else if constexpr (std::is_same_v<Object, Link>) {
    v.text("name", x.name);
    v.text("to", x.to);
    v.figure("bytes_per_second", x.bytesPerSecond, 1.0);
    v.figure("start_ns", x.startNs, 0.0);
    v.sources(x.sources);
  } else if constexpr (std::is_same_v<Object, FixedCosts>) {
    v.figure("launch_ns", x.launchNs, 0.0);
    v.figure("barrier_ns", x.barrierNs, 0.0);
    v.sources(x.sources);
  } else if constexpr (std::is_same_v<Object, SystolicControl>) {
    v.flag("interlocked", x.interlocked);
    v.flag("shadow", x.shadow);
    v.flag("extended", x.extended);
    v.flag("weights_stay", x.weightsStay);
    v.flag("narrow_results", x.narrowResults);
    v.figure("bank_rows_per_cycle", x.bankRowsPerCycle, int64_t(1));
    v.figure("command_rows", x.commandRows, int64_t(1));
    v.optional("command_row_bytes", x.commandRowBytes, int64_t(1), int64_t(0));
    v.figure("issue_cycles", x.issueCycles, int64_t(1));
    v.figure("queue_depth", x.queueDepth, int64_t(1));
    v.figure("special_lanes", x.specialLanes, int64_t(1));
    v.figure("vector_latency_cycles", x.vectorLatencyCycles, int64_t(1));
    v.optional("array_sum_bits", x.arraySumBits, int64_t(1), int64_t(0));
    v.optional("least_depth", x.leastDepth, int64_t(1), int64_t(0));
    v.optional("requests_in_flight", x.requestsInFlight, int64_t(1),
               int64_t(0));
    v.optional("request_bytes", x.requestBytes, int64_t(1), int64_t(0));
    v.sources(x.sources);
  } else {
    static_assert(std::is_same_v<Object, MachineModel>);
    v.text("name", x.name);
    v.text("target", x.target);
    v.optionalTexts("describes", x.describes);
    v.object("code", x.code);
    v.object("clock", x.clock);
    v.object("workers", x.workers);
    v.object("vectors", x.vectors);
    v.optionalList("scopes", x.scopes);
    v.list("memories", x.memories);
    v.list("units", x.units);
    v.list("copy_engines", x.copyEngines);
    v.optionalList("links", x.links);
    v.object("costs", x.costs);
    v.part("systolic", x.systolic);
  }
}

} // namespace ashlar

#endif // ASHLAR_LIB_MACHINE_MACHINEFIELDS_H
