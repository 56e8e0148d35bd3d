// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LevelProblem.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/ContractDims.h"
#include "ashlar/Analysis/RingBytes.h"
#include "ashlar/Analysis/SlotBox.h"
#include "ashlar/Analysis/WordCopies.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace ashlar;

LevelProblem::LevelProblem(tile::ContractOp op, const MachineModel &machine,
                           bool openSizes)
    : op(op), machine(machine), openSizes(openSizes),
      numParallel(op.getParallel().size()) {
  ContractDims dims = dimsOf(op);
  sizes = dims.sizes;
  k = dims.k;
  unsigned last = numParallel - 1;
  (llvm::is_contained(dims.batch, last) ? lanes : n).push_back(last);
  for (unsigned d : dims.m)
    if (d != last)
      m.push_back(d);
  for (Value operand : {op.getA(), op.getB()})
    if (tile::hasMargins(operand))
      surrounded.push_back(operand);
  for (const Scope &scope : machine.scopes)
    if (scope.kind == "grid")
      outer = std::exchange(inner, &scope);
}

bool LevelProblem::use(const MultiplyUnit &one) {
  unit = &one;
  return takesOperands() && findGroup() && findPaths();
}

SmallVector<const MultiplyUnit *> LevelProblem::findUnits() {
  ProductTypes own = productOf(op), wide = own;
  wide.left = wide.right = wide.accumulator;
  SmallVector<const MultiplyUnit *> units;
  const MultiplyUnit *fastest = nullptr;
  for (bool isOwn : {true, false})
    for (const MultiplyUnit &one : machine.units) {
      if (!machine.takes(one, isOwn ? own : wide) ||
          !machine.scope(one.scope) ||
          // Lanes of all three have no rows and terms to share.
          (!lanes.empty() && (one.m != 1 || one.k != 1)))
        continue;
      if (one.fragment && isOwn)
        units.push_back(&one);
      else if (!one.fragment &&
               (!fastest || one.flopsPerCycle() > fastest->flopsPerCycle()) &&
               (!fastest || isOwn || !fastest->takes(own)))
        fastest = &one;
    }
  if (fastest)
    units.push_back(fastest);
  return units;
}

bool LevelProblem::findGroup() {
  group = machine.scope(unit->scope);
  sums = machine.memory(unit->accumulatorSpace);
  return group->registerBytes || sums;
}

/// Whether slots leave out what lies between the places of a row dim's steps:
/// no other dim has more than one place there in a tile.
bool LevelProblem::isLeftOut(AffineMap map, AffineExpr expr, unsigned dim) {
  if (expr == map.getResults().back() || !llvm::is_contained(m, dim) ||
      stepAlong(expr, dim) < 1 || expr.isFunctionOfDim(k.back()))
    return false;
  return llvm::none_of(llvm::seq(numParallel), [&](unsigned d) {
    return d != dim && expr.isFunctionOfDim(d);
  });
}

bool LevelProblem::takesOperands() {
  if (!unit->fragment)
    return true;
  if (k.empty() || m.empty() || n.empty())
    return false;
  for (auto [map, side] :
       {std::pair(op.getAMap(), m.back()), std::pair(op.getBMap(), n.back())}) {
    if (map.getNumResults() < 2)
      return false;
    // A unit that goes on by itself finds rows without a thread's help: they
    // lie in a box as they are counted.
    if (unit->fragment->inFlight != 0) {
      int64_t before = -1;
      for (AffineExpr expr : map.getResults())
        for (int64_t d = 0; d != int64_t(map.getNumDims()); ++d) {
          int64_t step = stepAlong(expr, d);
          // A tile has one place of a window, however far apart these are.
          bool isWindow = d >= numParallel && d != k.back();
          if (step != 0 && step != 1 && !isWindow && !isLeftOut(map, expr, d))
            return false;
          if (step == 0 || !llvm::is_contained(m, unsigned(d)))
            continue;
          if (d <= before)
            return false;
          before = d;
        }
    }
    AffineExpr last = map.getResults().back();
    if (last != getAffineDimExpr(k.back(), op.getContext()) &&
        (unit->termsInside || last != getAffineDimExpr(side, op.getContext())))
      return false;
  }
  return true;
}

bool ashlar::takesRows(const CopyEngine &engine, ShapedType type,
                       AffineMap map) {
  int64_t bytes = elementBytes(type.getElementType());
  return type.getRank() != 0 && isa<AffineDimExpr>(map.getResults().back()) &&
         !type.isDynamicDim(type.getRank() - 1) &&
         type.getShape().back() * bytes % engine.alignmentBytes == 0;
}

bool LevelProblem::takesBoxes(const CopyEngine &engine, ShapedType type,
                              AffineMap map) {
  if (!unit->fragment || !isGridded() || !type.hasStaticShape() ||
      type.getRank() == 0 || type.getRank() > engine.boxes->rank)
    return false;
  // Of masked terms, the last, zeros are read where the tensor ends.
  unsigned last = k.back();
  for (auto [expr, size] : llvm::zip(map.getResults(), type.getShape()))
    if (expr.isFunctionOfDim(last) && sizes[last] != 1 &&
        (expr != getAffineDimExpr(last, op.getContext()) || size < sizes[last]))
      return false;
  return true;
}

const CopyEngine *LevelProblem::engineOf(Value operand,
                                         const CopyEngine &engine) {
  if (!isComputed(operand))
    return &engine;
  for (const CopyEngine &one : machine.copyEngines)
    if (!one.asynchronous && one.from == engine.from && one.to == engine.to)
      return &one;
  return nullptr;
}

int64_t ashlar::bytesRead(Value operand) {
  auto decode = operand.getDefiningOp<tile::DecodeOp>();
  if (!decode)
    return byteSize(operand.getType());
  int64_t bytes = 0;
  for (Value input : decode.getInputs())
    bytes += byteSize(input.getType());
  return bytes;
}

bool LevelProblem::takes(const CopyEngine &engine, Value operand,
                         AffineMap map) {
  auto type = cast<ShapedType>(operand.getType());
  if (isComputed(operand))
    return !engine.boxes && engineOf(operand, engine);
  if (hasMargins(operand) && engine.asynchronous && !engine.zeroFill)
    return false;
  if (engine.boxes && !takesBoxes(engine, type, map))
    return false;
  int64_t bytes = elementBytes(type.getElementType());
  // Threads that wait for what they copy take any element.
  if (!engine.asynchronous &&
      engine.alignmentBytes <= std::max<int64_t>(bytes, 4))
    return true;
  // Rows that threads read are padded.
  return !readsLanes() &&
         (engine.alignmentBytes <= bytes || takesRows(engine, type, map));
}

static SlotBox slotOf(AffineMap map, const LevelCandidate &one, bool isWhole) {
  SmallVector<unsigned> dims(map.getNumDims());
  std::iota(dims.begin(), dims.end(), 0);
  return SlotBox(map, dims, ArrayRef(one.tile).take_front(dims.size()),
                 isWhole);
}

bool LevelProblem::fitsBoxes(const LevelCandidate &one) {
  if (!hasRoles())
    return true;
  auto fits = [&](Value operand, AffineMap map, int64_t across) {
    int64_t bytes = elementBytes(getElementTypeOrSelf(operand));
    SlotBox slot = slotOf(map, one, path.size() > 1);
    int64_t last = slot.shape.back();
    for (auto [size, step] : llvm::drop_end(llvm::zip(slot.shape, slot.steps)))
      if ((size - 1) * step + 1 > path.front()->boxes->size ||
          step > SlotBox::mostStep)
        return false;
    if (last > path.front()->boxes->size && !layoutOf(operand, last))
      return false;
    // Each of those that share it copies as many rows.
    const int64_t *outermost =
        llvm::find_if(slot.shape, [](int64_t size) { return size != 1; });
    if (across > 1 &&
        (outermost + 1 >= slot.shape.end() || *outermost % across != 0 ||
         slot.steps[outermost - slot.shape.begin()] != 1))
      return false;
    return layoutOf(operand, last) &&
           slot.numElements() / last % (8 * across) == 0 &&
           last * bytes % 32 == 0;
  };
  return fits(op.getA(), op.getAMap(), 1) &&
         fits(op.getB(), op.getBMap(), one.across);
}

bool LevelProblem::findPaths() {
  near = nullptr;
  paths.clear();
  for (const Memory &memory : machine.memories)
    if (memory.managed && llvm::is_contained(unit->leftFrom, memory.name))
      near = &memory;
  if (!near)
    return false;
  // Backwards, the shortest first: few engines, so a plain search.
  std::vector<std::vector<const CopyEngine *>> ways = {{}};
  for (size_t i = 0; i != ways.size() && i < 64; ++i) {
    const std::string &to =
        ways[i].empty() ? near->name : ways[i].front()->from;
    if (!paths.empty() && paths.front().size() < ways[i].size())
      break;
    if (to == machine.memories.back().name) {
      paths.push_back(ways[i]);
      continue;
    }
    for (const CopyEngine &engine : machine.copyEngines)
      if (engine.to == to && takes(engine, op.getA(), op.getAMap()) &&
          takes(engine, op.getB(), op.getBMap())) {
        ways.push_back(ways[i]);
        ways.back().insert(ways.back().begin(), &engine);
      }
  }
  // Threads copy by what was named first; only roles have a choice.
  bool hasOwn = false;
  llvm::erase_if(paths, [&](const Path &way) {
    bool isOwn = llvm::none_of(way, [](auto *one) { return one->boxes; });
    return isOwn && std::exchange(hasOwn, true);
  });
  return !paths.empty();
}

int64_t LevelProblem::rowsOf(ArrayRef<int64_t> tile) {
  int64_t rows = 1;
  for (unsigned d : m)
    rows *= tile[d];
  return rows;
}
int64_t LevelProblem::termsOf(const LevelCandidate &one) {
  int64_t terms = 1;
  for (unsigned d : k)
    terms *= one.tile[d];
  return terms;
}
std::optional<unsigned> LevelProblem::dimAcross(const LevelCandidate &one) {
  for (unsigned d : m)
    if (sizes[d] > one.tile[d])
      return d;
  return std::nullopt;
}

/// Of what a tile reads of an operand.
static int64_t bytesOf(Value operand, AffineMap map, const LevelCandidate &one,
                       bool isWhole) {
  return elementBytes(getElementTypeOrSelf(operand)) *
         slotOf(map, one, isWhole).numElements();
}

void LevelProblem::measureSlots(LevelCandidate &one) {
  if (group->registerBytes) {
    bool isWhole = path.size() > 1;
    one.bytesA = bytesOf(op.getA(), op.getAMap(), one, isWhole);
    one.bytesB = bytesOf(op.getB(), op.getBMap(), one, isWhole);
    return;
  }
  // Arrays walk windows by themselves.
  auto size = [](Value operand) {
    return elementBytes(getElementTypeOrSelf(operand));
  };
  int64_t columns = columnsOf(one.tile), terms = termsOf(one);
  one.bytesA = rowsOf(one.tile) * (lanes.empty() ? 1 : columns) * terms *
               size(op.getA());
  one.bytesB = columns * terms * size(op.getB());
}

int64_t LevelProblem::bytesOfPhases(const LevelCandidate &one) {
  constexpr int64_t words = 2, rings = 2, wordBytes = 8;
  return hasRoles()
             ? rings * int64_t(llvm::alignTo(words * one.slots * wordBytes,
                                             sharedAlignment))
             : 0;
}

int64_t LevelProblem::groupsOf(const LevelCandidate &one) {
  int64_t groups = 1;
  for (auto [part, tile] : llvm::zip(one.part, one.tile))
    groups *= llvm::divideCeil(tile, part);
  return groups;
}

bool LevelProblem::hasFewWords(const LevelCandidate &one) {
  constexpr int64_t wordBytes = 4;
  // Arrays have engines that need no thread.
  if (!group->registerBytes ||
      llvm::none_of(path, [](const CopyEngine *engine) {
        return engine->asynchronous && engine->minimumBytes == wordBytes;
      }))
    return true;
  int64_t threads = groupsOf(one) * machine.countOf("lane");
  return std::max(one.bytesA, one.bytesB) <=
         threads * mostWordsUnrolled * wordBytes;
}

int64_t LevelProblem::mostSlots() {
  int64_t most = 4;
  for (const CopyEngine *engine : path)
    if (engine->tilesAhead != 0)
      most =
          std::min(most, engine->tilesAhead + 1 +
                             (unit->fragment ? unit->fragment->inFlight : 0));
  return most;
}

int64_t LevelProblem::rowOf(AffineMap map, const LevelCandidate &one) {
  int64_t row = 1;
  for (unsigned d = 0; map.getNumResults() && d != map.getNumDims(); ++d)
    if (map.getResults().back().isFunctionOfDim(d))
      row *= one.tile[d];
  return row;
}
