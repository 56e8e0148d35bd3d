// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of issue: docs/systolic.md, "How to order a stream", says why.
#include "Lowering.h"
#include "PartWriter.h"

#include <algorithm>
#include <memory>
#include <set>

using namespace ashlar::systolic;

namespace {

/// Contractions one after the other, on steps that they share.
class StreamOrder {
public:
  StreamOrder(const Machine &machine, StreamBuilder &builder, bool isJoined)
      : machine(machine), isJoined(isJoined), builder(builder),
        writer(machine, builder) {}

  /// Appends a contraction; returns why it cannot be.
  std::string add(const Part &part);
  void write();
  const std::string &error() const { return writer.error(); }

private:
  Areas areasFor(const Part &part) const;
  void enter(const StreamStep *step);
  void run(const StreamStep *step, const Commands &commands);
  void writeRound(int64_t i);
  void writeMixed(int64_t i);
  void writeLoads(int64_t i);
  void writeLateLoads(int64_t i);
  void writeEpilogues(const StreamStep *step,
                      const PartWriter::Callback &kept = nullptr);
  bool canFollowPlanes(int64_t i) const;
  size_t writeWithPlanes(const StreamStep *before, const StreamStep *now,
                         const Commands &folds);
  bool freesBesideLanes(int64_t step) const;
  void syncStores(int64_t step);
  void syncKept(const StreamStep *now, int64_t step);
  const StreamStep *stepAt(int64_t i) const {
    return i >= 0 && i < int64_t(plan.steps.size()) ? &plan.steps[size_t(i)]
                                                    : nullptr;
  }
  PartWriter *partOf(const StreamStep *step) const {
    return parts[step->part].get();
  }
  bool hasVector(const StreamStep *step) const {
    return step && partOf(step)->hasVector();
  }

  const Machine &machine;
  const bool isJoined;
  StreamBuilder &builder;
  StreamWriter writer;
  std::vector<std::unique_ptr<PartWriter>> parts;
  /// By part: its last step, the last one that has to have left before it, and
  /// the last of those whose stores have to be done.
  std::vector<int> lastSteps, freeSteps, storedSteps;
  Steps plan;
  WrittenRows written;
  /// By step: whether its places are taken by another than the next but one.
  std::vector<bool> isReusedLater;
  size_t entered = ~size_t(0);
  /// Results of which step the load queue knows to be in memory.
  int64_t knownStored = -1;
  /// And of which step that its epilogue is done, too.
  int64_t knownLeft = -1;
  /// And of which others, that stay on chip.
  std::set<int64_t> leftEarly;
  /// Results of which step arrays know to be on chip.
  int64_t knownKept = -1;
};
} // namespace

/// All rows, or a half of those of each memory.
Areas StreamOrder::areasFor(const Part &part) const {
  Areas areas;
  const int64_t rows[2] = {int64_t(machine.scratchpad_rows),
                           int64_t(machine.accumulator_rows)};
  for (int memory : {0, 1}) {
    int64_t kept = memory == 0 ? part.keptRows : 0;
    int64_t all = rows[memory] - kept, own = part.half < 0 ? all : all / 2;
    areas.begin[memory] = areas.next[memory] =
        kept + (part.half == 1 ? own : 0);
    areas.end[memory] = areas.begin[memory] + own;
  }
  return areas;
}

std::string StreamOrder::add(const Part &part) {
  auto made =
      std::make_unique<PartWriter>(*part.contraction, machine, part.choice,
                                   part.cuts.get(), areasFor(part), writer);
  if (!made->fits())
    return "the epilogue's operands do not fit on chip";
  int free = -1, stored = -1;
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i]->areas().overlap(made->areas())) {
      free = std::max(free, lastSteps[i]);
      if (parts[i]->hasStores())
        stored = std::max(stored, lastSteps[i]);
    }
  // What the epilogue keeps comes before anything else.
  int constants = written.lastOf(made->constantLoads());
  free = std::max(free, constants);
  // A stream that is one contraction writes nothing that it reads.
  planSteps(made->layout, made->areas(), free, isJoined ? &written : nullptr,
            plan);
  builder.kernel.regions.push_back({String(part.name), part.multiplyAdds,
                                    part.regionKind(), part.dataflow()});
  parts.push_back(std::move(made));
  freeSteps.push_back(free);
  storedSteps.push_back(std::max(stored, constants));
  lastSteps.push_back(int(plan.steps.size()) - 1);
  return plan.error;
}

/// What follows counts for a contraction.
void StreamOrder::enter(const StreamStep *step) {
  if (!step || entered == step->part)
    return;
  entered = step->part;
  builder.add(ASHLAR_SYSTOLIC_REGION, entered, 0);
}

void StreamOrder::run(const StreamStep *step, const Commands &commands) {
  if (commands.empty())
    return;
  enter(step);
  for (const auto &command : commands)
    command();
}

void StreamOrder::write() {
  auto count = int64_t(plan.steps.size());
  isReusedLater.assign(size_t(count + 2), false);
  for (int64_t i = 0; i < count; ++i)
    if (int64_t before = plan.steps[size_t(i)].reuses;
        before >= 0 && before + 2 < i)
      isReusedLater[size_t(before)] = true;
  for (int64_t i = 0; i < count + 2 && writer.error().empty(); ++i)
    writeRound(i);
}

/// One step computes, the next one's operands come, the one before gets its
/// epilogue and leaves.
void StreamOrder::writeRound(int64_t i) {
  const StreamStep *now = stepAt(i), *before = stepAt(i - 1);
  // Lanes take the same queue as epilogues, in its order: what is done needs
  // not wait for their operands.
  bool isEarly =
      hasVector(before) && now && !now->isFresh && partOf(now)->hasLanes();
  if (isEarly)
    writeEpilogues(before);
  if (now && now->isFresh) {
    if (i) {
      writer.sync(ASHLAR_SYSTOLIC_ALL_QUEUES, loadQueue);
      knownStored = knownLeft = i - 1;
    }
    enter(now);
    partOf(now)->writeFirstStep(plan, *now);
  } else if (now) {
    writer.sync(loadQueue,
                partOf(now)->engine() | (hasVector(now) ? vectorQueue : 0));
  }
  bool needsMargins = now && now->opensPart && partOf(now)->hasMargins();
  if (needsMargins && partOf(now)->isStored()) {
    enter(now);
    if (i)
      writer.sync(storeQueue, loadQueue | vectorQueue);
    partOf(now)->writeMargins();
  }
  if (writer.isInterlocked())
    return writeMixed(i);
  syncKept(now, i - 2);
  writeLoads(i);
  Commands stores;
  Commands folds;
  size_t folded = 0;
  if (now && !now->isFresh)
    partOf(now)->collectFolds(plan, *now, folds);
  if (before) {
    uint32_t source = partOf(before)->engine();
    if (hasVector(before)) {
      if (canFollowPlanes(i) && !needsMargins)
        folded = writeWithPlanes(before, now, folds);
      else if (!isEarly)
        writeEpilogues(before);
      source = vectorQueue;
    }
    partOf(before)->collectStores(plan, *before, stores);
    if (!stores.empty())
      writer.sync(source, storeQueue);
    // Later loads take the places of the step before; they must not wait for
    // this one.
    if (isReusedLater[size_t(i - 1)])
      writer.sync(partOf(before)->engine(), loadQueue);
  }
  syncKept(now, i - 1);
  // Said before lanes keep the vector unit busy.
  if (before && !partOf(before)->hasStores() && freesBesideLanes(i - 1)) {
    writer.sync(vectorQueue, loadQueue);
    leftEarly.insert(i - 1);
  }
  // Where the step before may have read.
  if (needsMargins && partOf(now)->keeps()) {
    writer.sync(arrayQueues, vectorQueue);
    enter(now);
    partOf(now)->epilogue.writeMargins();
  }
  // Lanes may write where arrays have read.
  if (now && partOf(now)->hasLanes() && partOf(now)->keeps())
    writer.sync(arrayQueues, vectorQueue);
  folds.erase(folds.begin(), folds.begin() + ptrdiff_t(folded));
  run(now, folds);
  // Places of results that left three steps before: those of the step before,
  // which leave now, are not waited for.
  if (const StreamStep *next = stepAt(i + 1); next && next->reusesResults)
    writer.sync(storeQueue | (partOf(next)->keeps() ? vectorQueue : 0),
                partOf(next)->engine());
  run(before, stores);
  writeLateLoads(i);
}

/// Whether step `i` can begin with the first columns of rows that the step
/// before combines, while the others are still to come.
bool StreamOrder::canFollowPlanes(int64_t i) const {
  const StreamStep *now = stepAt(i), *before = stepAt(i - 1);
  if (!now || now->isFresh || !before || machine.arrays != 1 ||
      now->keptFrom != i - 1 || knownKept >= i - 1 || partOf(now)->hasLanes() ||
      !partOf(before)->keepsPlanes(*before))
    return false;
  const KeptValue *read = partOf(now)->layout.contraction.a.kept;
  return read && read == partOf(before)->layout.contraction.result.kept;
}

/// Returns how many of the folds it has issued.
size_t StreamOrder::writeWithPlanes(const StreamStep *before,
                                    const StreamStep *now,
                                    const Commands &folds) {
  size_t done = 0;
  std::vector<int64_t> planes = partOf(now)->planesOf(plan, *now);
  writeEpilogues(before, [&](int64_t plane) {
    size_t end = done;
    while (end < folds.size() && planes[end] <= plane)
      ++end;
    if (end == done)
      return;
    writer.sync(vectorQueue, arrayQueues);
    run(now, Commands(folds.begin() + ptrdiff_t(done),
                      folds.begin() + ptrdiff_t(end)));
    enter(before);
    done = end;
  });
  return done;
}

/// Arrays wait for what the step reads on chip, if steps up to `step`, whose
/// results are there once the vector unit is done, have all of it.
void StreamOrder::syncKept(const StreamStep *now, int64_t step) {
  if (!now || now->keptFrom <= knownKept || now->keptFrom > step)
    return;
  writer.sync(vectorQueue, partOf(now)->engine());
  knownKept = step;
}

void StreamOrder::writeEpilogues(const StreamStep *step,
                                 const PartWriter::Callback &kept) {
  // Its operands came with the folds, unless it was the first of a stream.
  writer.sync(arrayQueues | (step->isFresh ? loadQueue : 0), vectorQueue);
  enter(step);
  partOf(step)->writeEpilogues(plan, *step, kept);
}

/// Whether a part waits for what the step has left on chip, and it or the one
/// before it has lanes.
bool StreamOrder::freesBesideLanes(int64_t step) const {
  for (size_t part = 1; part < parts.size(); ++part)
    if (freeSteps[part] == step &&
        (parts[part]->hasLanes() || parts[part - 1]->hasLanes()))
      return true;
  return false;
}

/// On an interlocked machine commands wait by themselves, but a queue that is
/// full holds up all.
void StreamOrder::writeMixed(int64_t i) {
  const StreamStep *now = stepAt(i), *next = stepAt(i + 1),
                   *last = stepAt(i - 2);
  Commands others, folds;
  if (last)
    partOf(last)->collectStores(plan, *last, others);
  if (next)
    partOf(next)->collectLoads(*next, -2, -1, others);
  if (now && !now->isFresh)
    partOf(now)->collectFolds(plan, *now, folds);
  if (hasVector(stepAt(i - 1)))
    partOf(stepAt(i - 1))->writeEpilogues(plan, *stepAt(i - 1));
  if (folds.empty())
    run(now, others);
  else
    interleave(folds, others);
}

/// The load queue learns that results of steps up to `step` are in memory.
void StreamOrder::syncStores(int64_t step) {
  writer.sync(storeQueue, loadQueue);
  knownStored = step;
}

/// Operands of the next step, but for those that the step before computes.
void StreamOrder::writeLoads(int64_t i) {
  const StreamStep *next = stepAt(i + 1), *before = stepAt(i - 1);
  if (!next || next->isFresh)
    return;
  // Where others were, everything has left: sums, and what epilogues read. That
  // is said early, while it says nothing of newer steps.
  auto isEarly = [&](int64_t step) { return leftEarly.count(step) != 0; };
  bool isLeft = std::count(freeSteps.begin(), freeSteps.end(), i - 4) != 0 &&
                !isEarly(i - 4);
  if (next->opensPart) {
    int64_t free = freeSteps[next->part];
    isLeft |= (free > knownLeft && !isEarly(free)) ||
              storedSteps[next->part] > knownStored;
  }
  if (isLeft) {
    writer.sync(storeQueue | vectorQueue, loadQueue);
    knownStored = knownLeft = i - 2;
  } else if (next->reusesOperands) {
    writer.sync(vectorQueue, loadQueue);
  }
  if (before && next->reuses == i - 1)
    writer.sync(partOf(before)->engine(), loadQueue);
  Commands loads;
  if (next->opensPart)
    partOf(next)->collectConstants(loads);
  partOf(next)->collectLoads(*next, -2, knownStored, loads);
  run(next, loads);
  loads.clear();
  partOf(next)->collectLoads(*next, knownStored, i - 2, loads);
  if (loads.empty())
    return;
  syncStores(i - 2);
  run(next, loads);
}

/// Those, once they have been stored.
void StreamOrder::writeLateLoads(int64_t i) {
  const StreamStep *next = stepAt(i + 1);
  Commands loads;
  if (next && !next->isFresh)
    partOf(next)->collectLoads(*next, std::max<int64_t>(-1, i - 2), i - 1,
                               loads);
  if (loads.empty())
    return;
  syncStores(i - 1);
  run(next, loads);
}

std::string ashlar::systolic::writeStream(const std::vector<Part> &parts,
                                          const Machine &machine,
                                          StreamBuilder &builder, bool *fits) {
  if (fits)
    *fits = false;
  StreamOrder order(machine, builder, parts.size() > 1);
  for (const Part &part : parts)
    if (std::string why = order.add(part); !why.empty())
      return why;
  if (fits)
    *fits = true;
  order.write();
  return order.error();
}

std::string ashlar::systolic::whyNotPart(const Part &part,
                                         const Machine &machine) {
  StreamBuilder builder("", 0);
  if (!(machine.flags & ASHLAR_SYSTOLIC_EXTENDED))
    return writeStream({part}, machine, builder);
  return StreamOrder(machine, builder, false).add(part);
}
