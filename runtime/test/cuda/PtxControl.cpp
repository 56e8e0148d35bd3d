// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, calls, barriers of the block.

#include "PtxBarrier.h"
#include "PtxHandlers.h"

#include <algorithm>

using namespace ashlar::ptx;

/// Deeper calls are a recursion without an end.
static constexpr size_t maxDepth = 64;

namespace {

const Instruction *branch(Thread &, const Instruction *i) { return i->target; }

const Instruction *branchIndexed(Thread &t, const Instruction *i) {
  uint32_t index = get<uint32_t>(t, i->a);
  if (index >= i->count)
    throw Fault(Fault::IllegalAddress,
                "brx.idx with " + std::to_string(index) + ", beyond its " +
                    std::to_string(i->count) + " targets");
  return i->targets[index];
}

const Instruction *leave(Thread &t, const Instruction *i) {
  expectBulkDone(t);
  t.state = Thread::Exited;
  t.pc = i;
  return nullptr;
}

/// more: count, then from, to and size of each argument; then the same of the
/// results.
const Instruction *call(Thread &t, const Instruction *i) {
  if (t.frames.size() >= maxDepth)
    throw Fault(Fault::Limit, "calls deeper than " + std::to_string(maxDepth));
  const Code &code = *i->callee;
  Frame &from = *t.frames.back();
  auto frame = std::make_unique<Frame>();
  enter(*frame, t, code);
  const uint32_t *moves = i->more;
  for (uint32_t k = *moves++; k > 0; --k, moves += 3)
    std::memcpy(frame->params.data() + moves[1], from.params.data() + moves[0],
                moves[2]);
  std::copy_n(from.registers.begin(), special::LocalBase,
              frame->registers.begin());
  frame->registers[special::SharedBase] = from.registers[special::SharedBase];
  frame->registers[special::DynamicBase] = from.registers[special::DynamicBase];
  frame->call = i;
  t.frames.push_back(std::move(frame));
  t.r = t.frames.back()->registers.data();
  return code.instructions.data();
}

const Instruction *giveBack(Thread &t, const Instruction *i) {
  if (t.frames.size() == 1)
    return leave(t, i);
  if (t.watch)
    t.watch->leave(t);
  std::unique_ptr<Frame> done = std::move(t.frames.back());
  t.frames.pop_back();
  Frame &to = *t.frames.back();
  const uint32_t *moves = done->call->more;
  moves += 1 + 3 * moves[0];
  for (uint32_t k = *moves++; k > 0; --k, moves += 3)
    std::memcpy(to.params.data() + moves[1], done->params.data() + moves[0],
                moves[2]);
  t.local.resize(done->localBase);
  t.r = to.registers.data();
  return done->call + 1;
}

const Instruction *trap(Thread &, const Instruction *) {
  throw Fault(Fault::Trap, "a trap");
}

const Instruction *nothing(Thread &, const Instruction *i) { return i + 1; }

void decodeBra(Decoder &d) {
  d.take("uni");
  d.expectOperands(1);
  if (d.operand(0).kind != Operand::Name)
    d.fail("expected a label");
  Instruction made = d.make(branch);
  d.branchTo(d.operand(0).name, made);
  d.emit(made);
}

void decodeBrx(Decoder &d) {
  d.take("uni");
  if (!d.take("idx"))
    d.fail("expected .idx");
  d.expectOperands(2);
  Instruction made = d.make(branchIndexed);
  made.a = d.source(0, Type::U32);
  d.useTable(made, d.operand(1).name);
  d.emit(made);
}

void decodeCall(Decoder &d) {
  d.take("uni");
  d.expectOperands(1, 3);
  size_t at = 0;
  const std::vector<Operand> none;
  const std::vector<Operand> *results = &none, *arguments = &none;
  if (d.operand(0).kind == Operand::Group)
    results = &d.operand(at++).elements;
  if (at >= d.operands() || d.operand(at).kind != Operand::Name)
    d.fail("expected a function's name; calls by address are not known");
  const Code *callee = d.codeOf(d.operand(at).name);
  if (!callee)
    d.fail("the function '" + d.operand(at).name + "' is defined nowhere");
  if (++at < d.operands()) {
    if (d.operand(at).kind != Operand::Group)
      d.fail("expected the arguments in parentheses");
    arguments = &d.operand(at).elements;
  }
  const Function &function = *callee->function;
  if (arguments->size() != function.parameters.size() ||
      results->size() != function.results.size())
    d.fail("'" + function.name + "' takes " +
           std::to_string(function.parameters.size()) +
           " arguments and gives " + std::to_string(function.results.size()) +
           " results");
  std::vector<uint32_t> moves;
  auto add = [&](const Operand &here, const Variable &there, bool isResult) {
    if (here.kind != Operand::Place || here.variable->space != Space::Param)
      d.fail("expected arguments and results in .param");
    if (here.variable->size != there.size)
      d.fail("'" + here.variable->name + "' has " +
             std::to_string(here.variable->size) + " bytes, '" + there.name +
             "' " + std::to_string(there.size));
    uint32_t mine = uint32_t(here.variable->offset),
             its = uint32_t(there.offset);
    moves.push_back(isResult ? its : mine);
    moves.push_back(isResult ? mine : its);
    moves.push_back(uint32_t(there.size));
  };
  moves.push_back(uint32_t(arguments->size()));
  for (size_t k = 0; k < arguments->size(); ++k)
    add((*arguments)[k], *function.parameters[k], false);
  moves.push_back(uint32_t(results->size()));
  for (size_t k = 0; k < results->size(); ++k)
    add((*results)[k], *function.results[k], true);
  Instruction made = d.make(call);
  made.callee = callee;
  made.more = d.list(std::move(moves));
  d.emit(made);
}

template <Handler run> void decodePlain(Decoder &d) {
  d.take("uni");
  d.expectOperands(0);
  d.emit(d.make(run));
}

const Instruction *fenceProxy(Thread &t, const Instruction *i) {
  t.block->cluster->shared.fenceProxy(t.number);
  t.block->cluster->mbarriers.publish(t.number);
  return i + 1;
}

const Instruction *publishMbarriers(Thread &t, const Instruction *i) {
  t.block->cluster->mbarriers.publish(t.number);
  return i + 1;
}

void decodeFence(Decoder &d) {
  // fence.proxy.tensormap: no kernel changes maps here.
  if (d.statement().operands.size() == 2 && d.take("proxy")) {
    d.takeOf({"tensormap::generic"});
    d.takeOf({"acquire", "release"});
    d.takeOf({"cta", "cluster", "gpu", "sys"});
    Instruction at;
    Space space = Space::Generic;
    d.address(d.operand(0), at, space);
    return d.emit(d.make(nothing));
  }
  d.expectOperands(0);
  if (d.take("proxy") && d.take("async")) {
    bool isGlobal = d.take("global");
    d.takeOf({"shared::cta", "shared::cluster"});
    return d.emit(d.make(isGlobal ? nothing : fenceProxy));
  }
  // Of mbarriers that the thread initialized, for who is asynchronous.
  if (d.take("mbarrier_init")) {
    if (!d.take("release") || !d.take("cluster"))
      d.fail("expected .release.cluster");
    return d.emit(d.make(publishMbarriers));
  }
  d.takeOf({"sc", "acq_rel", "acquire", "release"});
  d.takeOf({"cta", "cluster", "gpu", "sys", "gl"});
  d.take("alias");
  d.emit(d.make(nothing));
}

/// Launches follow each other anyway.
void decodeGridDependency(Decoder &d) {
  if (d.takeOf({"launch_dependents", "wait"}) < 0)
    d.fail("expected .launch_dependents or .wait");
  d.expectOperands(0);
  d.emit(d.make(nothing));
}

void decodeNanosleep(Decoder &d) {
  d.takeType();
  d.expectOperands(1);
  d.emit(d.make(nothing));
}

/// flags: how; a: which barrier; b: threads, Zero for all; c: what is reduced.
const Instruction *waitAtBarrier(Thread &t, const Instruction *i) {
  arriveAtBarrier(t, i);
  t.state = Thread::AtBarrier;
  t.pc = i;
  return nullptr;
}

const Instruction *arrive(Thread &t, const Instruction *i) {
  arriveAtBarrier(t, i);
  passBarrier(t);
  return i + 1;
}

void decodeBar(Decoder &d) {
  if (d.take("warp")) {
    if (!d.take("sync"))
      d.fail("expected .sync");
    return decodeWarpSync(d);
  }
  bool isOld = d.statement().opcode == "bar";
  if (!isOld && d.take("cluster"))
    return decodeClusterBarrier(d);
  d.take("cta");
  bool isAligned = d.take("aligned") || isOld;
  int kind = d.takeOf({"sync", "arrive", "red"});
  if (kind < 0)
    d.fail("expected .sync, .arrive or .red");
  Instruction made = d.make(kind == 1 ? arrive : waitAtBarrier);
  made.flags = isAligned ? barrierAligned : 0;
  size_t at = 0;
  if (kind == 2) {
    int op = d.takeOf({"popc", "and", "or"});
    Type type = d.takeType();
    if (op < 0 || type == Type::None)
      d.fail("expected .popc, .and or .or");
    made.flags |= uint32_t(op + 1) << barrierReduces;
    made.dst = d.destination(at++);
  }
  made.a = d.source(at++, Type::U32);
  bool hasCount = d.operands() > at + (kind == 2 ? 1 : 0);
  made.b = hasCount ? d.source(at++, Type::U32) : uint32_t(special::Zero);
  if (kind == 1 && !hasCount)
    d.fail("expected a number of threads");
  if (kind == 2)
    made.c = d.source(at++, Type::Pred);
  d.expectOperands(at);
  d.emit(made);
}

} // namespace

void ashlar::ptx::enter(Frame &frame, Thread &t, const Code &code) {
  const Function &function = *code.function;
  frame.code = &code;
  // What no one wrote is no number that works.
  frame.registers.assign(code.slots(), 0xcdcdcdcdcdcdcdcd);
  std::copy(code.constants.begin(), code.constants.end(),
            frame.registers.begin() + function.slots);
  frame.params.assign(function.paramBytes, 0xcd);
  frame.localBase = (t.local.size() + 15) / 16 * 16;
  t.local.resize(frame.localBase + function.localBytes, 0xff);
  frame.registers[special::LocalBase] = frame.localBase;
  frame.registers[special::Zero] = 0;
}

const Family &ashlar::ptx::controlling() {
  static const Family all = {{"bra", decodeBra},
                             {"brx", decodeBrx},
                             {"call", decodeCall},
                             {"ret", decodePlain<giveBack>},
                             {"exit", decodePlain<leave>},
                             {"trap", decodePlain<trap>},
                             {"brkpt", decodePlain<trap>},
                             {"membar", decodeFence},
                             {"fence", decodeFence},
                             {"nanosleep", decodeNanosleep},
                             {"bar", decodeBar},
                             {"barrier", decodeBar},
                             {"griddepcontrol", decodeGridDependency}};
  return all;
}
