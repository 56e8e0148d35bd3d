// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of a machine file, once, for the reader and for the writer. A
// visitor has
//   text(key, string), texts(key, strings), flag(key, bool)
//   figure(key, number, least)              must be given
//   optional(key, number, least, default)   left out where it is the default
//   capacity(key, number)                   may be large, or left out
//   sources(Sources)                        where the figures come from
//   optionalText(key, string)               may be left out
//   optionalTexts(key, strings)             may be left out
//   object(key, value), list(key, vector)   values with fields of their own
//   optionalList(key, vector)               may be left out
//   part(key, optional)                     an object that may be left out
#ifndef ASHLAR_LIB_MACHINE_MACHINEFIELDS_H
#define ASHLAR_LIB_MACHINE_MACHINEFIELDS_H

#include "ashlar/Machine/MachineModel.h"
#include <type_traits>

namespace ashlar {

/// Of an object, const for a writer.
template <typename T, typename Object>
using Only = std::enable_if_t<std::is_same_v<std::remove_const_t<T>, Object>>;

template <typename Visitor, typename T, Only<T, MachineCode> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.text("triple", x.triple);
  v.text("processor", x.processor);
  v.text("tune", x.tune);
  v.texts("features", x.features);
  v.text("format", x.format);
}

template <typename Visitor, typename T, Only<T, Clock> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.figure("hz", x.hz, 1.0);
  v.sources(x.sources);
}

template <typename Visitor, typename T, Only<T, Workers> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.figure("count", x.count, int64_t(1));
  v.figure("threads", x.threads, int64_t(1));
  v.optional("resident_groups", x.residentGroups, int64_t(1), int64_t(0));
  v.optional("resident_threads", x.residentThreads, int64_t(1), int64_t(0));
  v.optional("register_bytes", x.registerBytes, int64_t(1), int64_t(0));
  v.optional("exponentials_per_cycle", x.exponentialsPerCycle, 0.001, 0.0);
  v.sources(x.sources);
}

template <typename Visitor, typename T, Only<T, VectorRegisters> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.figure("count", x.count, int64_t(1));
  v.figure("bytes", x.bytes, int64_t(1));
  v.optional("masked_element_bytes", x.maskedElementBytes, int64_t(1),
             int64_t(0));
  v.optionalTexts("requires", x.requiredFeatures);
  v.sources(x.sources);
}

template <typename Visitor, typename T, Only<T, Scope> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.text("name", x.name);
  v.text("kind", x.kind);
  v.optional("count", x.count, int64_t(1), int64_t(0));
  v.optional("register_bytes", x.registerBytes, int64_t(1), int64_t(0));
  v.sources(x.sources);
}

template <typename Visitor, typename T, Only<T, Memory> * = nullptr>
void visitFields(Visitor &v, T &x) {
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
}

template <typename Visitor, typename T, Only<T, ProductTypes> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.text("left", x.left);
  v.text("right", x.right);
  v.text("accumulator", x.accumulator);
}

template <typename Visitor, typename T, Only<T, FragmentStep> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.optional("rows", x.rows, int64_t(1), int64_t(0));
  v.optional("columns", x.columns, int64_t(1), int64_t(0));
}

template <typename Visitor, typename T, Only<T, Fragment> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.list("registers", x.registers);
  v.list("lanes", x.lanes);
  v.optional("in_flight", x.inFlight, int64_t(1), int64_t(0));
}

template <typename Visitor, typename T, Only<T, MultiplyUnit> * = nullptr>
void visitFields(Visitor &v, T &x) {
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
}

template <typename Visitor, typename T, Only<T, Boxes> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.figure("rank", x.rank, int64_t(1));
  v.figure("size", x.size, int64_t(1));
  v.text("scope", x.scope);
}

template <typename Visitor, typename T, Only<T, CopyEngine> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.text("name", x.name);
  v.text("from", x.from);
  v.text("to", x.to);
  v.figure("bytes_per_cycle", x.bytesPerCycle, 0.001);
  v.figure("minimum_bytes", x.minimumBytes, int64_t(1));
  v.figure("alignment_bytes", x.alignmentBytes, int64_t(1));
  v.figure("start_cycles", x.startCycles, 0.0);
  v.flag("asynchronous", x.asynchronous);
  v.optional("tiles_ahead", x.tilesAhead, int64_t(1), int64_t(0));
  v.flag("zero_fill", x.zeroFill);
  v.flag("transpose", x.transpose);
  v.flag("gather", x.gather);
  v.optional("multicast", x.multicast, int64_t(1), int64_t(1));
  v.optional("multicast_cycles", x.multicastCycles, 0.0, 0.0);
  v.part("boxes", x.boxes);
  v.sources(x.sources);
}

template <typename Visitor, typename T, Only<T, Link> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.text("name", x.name);
  v.text("to", x.to);
  v.figure("bytes_per_second", x.bytesPerSecond, 1.0);
  v.figure("start_ns", x.startNs, 0.0);
  v.sources(x.sources);
}

template <typename Visitor, typename T, Only<T, FixedCosts> * = nullptr>
void visitFields(Visitor &v, T &x) {
  v.figure("launch_ns", x.launchNs, 0.0);
  v.figure("barrier_ns", x.barrierNs, 0.0);
  v.sources(x.sources);
}

template <typename Visitor, typename T, Only<T, SystolicControl> * = nullptr>
void visitFields(Visitor &v, T &x) {
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
  v.optional("requests_in_flight", x.requestsInFlight, int64_t(1), int64_t(0));
  v.optional("request_bytes", x.requestBytes, int64_t(1), int64_t(0));
  v.sources(x.sources);
}

template <typename Visitor, typename T, Only<T, MachineModel> * = nullptr>
void visitFields(Visitor &v, T &x) {
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

} // namespace ashlar

#endif // ASHLAR_LIB_MACHINE_MACHINEFIELDS_H
