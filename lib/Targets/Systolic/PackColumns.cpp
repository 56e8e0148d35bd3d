// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction whose columns or terms do not fill the array's leaves a part of
// it idle. R neighbouring results side by side, w = R v + p, fill R times as
// many columns: all read the taps s + p * step of the same rows of A, and the
// matrix of taps has zeros where one of them does not reach. With three taps
// and a step of one that is four taps for two results instead of six. Without
// taps the terms of R results stand beside each other, and B becomes a diagonal
// of blocks: 24 terms and 144 columns take two folds for each result, and six
// for five of them. Depthwise, a pixel's channels are followed by those of the
// next one: what each tap reads comes on chip for itself, in rows of R pixels.
#include "PackColumns.h"

#include <algorithm>

using ashlar::LinearIndex;
using namespace ashlar::systolic;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A dim of K that moves the same coordinate of A as dim `w` of M. -1: none;
/// -2: none that would do.
static int tapBeside(const Contraction &contraction, unsigned w,
                     int64_t &step) {
  const LinearIndex *moved = nullptr;
  for (const LinearIndex &coordinate : contraction.aCoordinates)
    if (coordinate.factors[w] != 0) {
      if (moved)
        return -2;
      moved = &coordinate;
    }
  if (!moved)
    return -1;
  int found = -1;
  for (unsigned d : contraction.k) {
    int64_t factor = moved->factors[d];
    if (factor == 0 || contraction.sizes[d] == 1)
      continue;
    if (found >= 0 || factor < 0 || moved->factors[w] % factor != 0 ||
        contraction.a.strides[d] != factor * moved->stride)
      return -2;
    found = int(d);
    step = moved->factors[w] / factor;
  }
  return found;
}

/// Whether B's columns lie side by side, or are few.
static bool hasColumnsTogether(const Contraction &contraction) {
  constexpr int64_t few = 16;
  if (contraction.count(contraction.n) <= few)
    return true;
  int64_t inner = 1;
  for (size_t i = contraction.n.size(); i-- > 0;) {
    if (contraction.sizes[contraction.n[i]] > 1 &&
        contraction.b.strides[contraction.n[i]] != inner)
      return false;
    inner *= contraction.sizes[contraction.n[i]];
  }
  return true;
}

/// What is read and written beside the factors.
template <typename Visit>
static void forEachOfResults(Contraction &contraction, Visit visit) {
  visit(contraction.result);
  if (contraction.unrounded)
    visit(*contraction.unrounded);
  for (Access &operand : contraction.operands)
    visit(operand);
}

/// A dim of its own for all operands.
static unsigned addDim(Contraction &contraction, int64_t size) {
  auto add = [](Access &access) { access.strides.push_back(0); };
  contraction.sizes.push_back(size);
  add(contraction.a);
  add(contraction.b);
  forEachOfResults(contraction, add);
  for (LinearIndex &coordinate : contraction.aCoordinates)
    coordinate.factors.push_back(0);
  return unsigned(contraction.sizes.size()) - 1;
}

static bool needsColumnsAlone(const Contraction &contraction) {
  return std::any_of(
      contraction.epilogue.values.begin(), contraction.epilogue.values.end(),
      [](const EpilogueValue &value) { return value.reach == Reach::Column; });
}

/// Takes every `results`th of dim `w`; the others are dim `p`. A is the
/// caller's.
static void setBeside(Contraction &packed, unsigned w, unsigned p,
                      int64_t results) {
  packed.sizes[w] /= results;
  packed.n.insert(packed.n.begin(), p);
  forEachOfResults(packed, [&](Access &access) {
    access.strides[p] = access.strides[w];
    access.strides[w] *= results;
  });
  packed.a.strides[w] *= results;
  for (LinearIndex &coordinate : packed.aCoordinates)
    coordinate.factors[w] *= results;
}

std::optional<Contraction>
ashlar::systolic::packColumns(const Contraction &contraction,
                              const Machine &machine, int64_t results) {
  if (!(machine.flags & ASHLAR_SYSTOLIC_EXTENDED) || contraction.isDepthwise ||
      contraction.isExchanged || contraction.m.empty() ||
      contraction.k.empty() || contraction.sideBySide.taps != 0 ||
      contraction.rows.exist() || contraction.unrounded ||
      !hasColumnsTogether(contraction))
    return std::nullopt;
  if (needsColumnsAlone(contraction))
    return std::nullopt;
  unsigned w = contraction.m.back();
  int64_t step = 1;
  int s = tapBeside(contraction, w, step);
  if (s == -2 || step < 1 || contraction.sizes[w] % results != 0 ||
      (s >= 0 && step > contraction.sizes[size_t(s)]))
    return std::nullopt;

  Contraction packed = contraction;
  unsigned p = addDim(packed, results);
  if (s < 0) {
    // One tap for each result, and B knows of none of them.
    unsigned t = addDim(packed, 1);
    packed.a.strides[t] = packed.a.strides[w];
    for (LinearIndex &coordinate : packed.aCoordinates)
      coordinate.factors[t] = coordinate.factors[w];
    packed.k.insert(packed.k.end() - 1, t);
    s = int(t);
  }
  packed.sideBySide = {unsigned(s), packed.sizes[size_t(s)], step,
                       contraction.count(contraction.n), results};
  packed.sizes[size_t(s)] += (results - 1) * step;
  setBeside(packed, w, p, results);
  return packed;
}

std::optional<Contraction>
ashlar::systolic::packLanes(const Contraction &contraction, int64_t results) {
  if (contraction.m.empty() || contraction.sideBySide.results != 1 ||
      contraction.sizes[contraction.m.back()] % results != 0 ||
      needsColumnsAlone(contraction))
    return std::nullopt;
  unsigned w = contraction.m.back();
  int64_t step = 1;
  int s = tapBeside(contraction, w, step);
  if (s == -2)
    return std::nullopt;
  Contraction packed = contraction;
  unsigned p = addDim(packed, results);
  packed.a.strides[p] = packed.a.strides[w];
  setBeside(packed, w, p, results);
  packed.sideBySide.results = results;
  packed.planes = s;
  if (s >= 0)
    for (LinearIndex &coordinate : packed.aCoordinates)
      coordinate.factors[size_t(s)] = 0;
  return packed;
}

/// What array or lanes take, if they never wait.
static int64_t cyclesOf(const Contraction &one, const Machine &machine) {
  const int64_t dim = machine.dim;
  int64_t blocks = one.count(one.batch) * divideUp(one.count(one.n), dim);
  int64_t rows = one.count(one.m), terms = one.count(one.k);
  if (one.isDepthwise)
    return blocks * rows * terms * dim / machine.vector_lanes;
  return blocks * divideUp(terms, dim) * std::max(rows, dim) / machine.arrays;
}

int64_t ashlar::systolic::savedByPacking(const Contraction &contraction,
                                         const Machine &machine) {
  std::vector<Contraction> packings = packingsOf(contraction, machine);
  return packings.empty()
             ? 0
             : cyclesOf(contraction, machine) - cyclesOf(packings[0], machine);
}

std::vector<Contraction>
ashlar::systolic::packingsOf(const Contraction &contraction,
                             const Machine &machine) {
  const int64_t dim = machine.dim;
  struct Candidate {
    int64_t cycles;
    Contraction contraction;
  };
  std::vector<Candidate> candidates;
  const int64_t alone = cyclesOf(contraction, machine);
  // With more, one would have been full before.
  int64_t filled =
      contraction.isDepthwise
          ? std::min<int64_t>(contraction.count(contraction.n), dim / 4)
          : std::min(contraction.count(contraction.n),
                     contraction.count(contraction.k));
  int64_t most = 2 * divideUp(dim, filled);
  for (int64_t results = 2; results <= most; ++results)
    if (auto packed = contraction.isDepthwise
                          ? packLanes(contraction, results)
                          : packColumns(contraction, machine, results))
      if (int64_t cycles = cyclesOf(*packed, machine); cycles * 20 < alone * 19)
        candidates.push_back({cycles, std::move(*packed)});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate &a, const Candidate &b) {
                     return a.cycles < b.cycles;
                   });
  std::vector<Contraction> best;
  for (Candidate &candidate : candidates) {
    if (best.size() == 2)
      break;
    best.push_back(std::move(candidate.contraction));
  }
  return best;
}
