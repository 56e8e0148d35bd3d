// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rows of scratchpad and accumulator each operand, partial sum and result
// of a contraction has while it is computed, for one candidate of tiles, and
// whether that fits the chip.
#include "ChipLayout.h"

#include <algorithm>
#include <numeric>

using ashlar::LinearIndex;
using namespace ashlar::systolic;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

int ashlar::systolic::innermost(const Contraction &contraction,
                                llvm::ArrayRef<unsigned> dims) {
  for (size_t i = dims.size(); i-- > 0;)
    if (contraction.sizes[dims[i]] > 1)
      return int(dims[i]);
  return -1;
}

static bool isDense(const Contraction &contraction,
                    llvm::ArrayRef<unsigned> dims, const Access &access) {
  int last = innermost(contraction, dims);
  return last < 0 || access.strides[size_t(last)] == 1;
}

std::vector<int64_t> ashlar::systolic::boxOf(const Contraction &contraction,
                                             llvm::ArrayRef<unsigned> dims,
                                             int64_t most) {
  std::vector<int64_t> box(dims.size(), 1);
  int64_t inner = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    int64_t size = contraction.sizes[dims[i]];
    int64_t fits = std::max<int64_t>(1, std::min(size, most / inner));
    box[i] = divideUp(size, divideUp(size, fits));
    inner *= box[i];
    if (box[i] < size)
      break;
  }
  return box;
}

bool ashlar::systolic::canReadTapsInPlace(const Contraction &contraction) {
  int last = innermost(contraction,
                       contraction.isDepthwise ? contraction.n : contraction.k);
  if (last < 0 || contraction.aCoordinates.empty() ||
      contraction.a.strides[size_t(last)] != 1)
    return false;
  // Columns are one dim of A, and nothing else moves along it.
  const LinearIndex &columns = contraction.aCoordinates.back();
  for (size_t d = 0; d < contraction.sizes.size(); ++d)
    if (contraction.sizes[d] > 1 && columns.factors[d] != (int(d) == last))
      return false;
  for (const LinearIndex &coordinate : contraction.aCoordinates)
    for (size_t d = 0; d < contraction.sizes.size(); ++d)
      if (contraction.sizes[d] > 1 &&
          (coordinate.factors[d] < 0 ||
           (int(d) == last && coordinate.factors[d] != 0 &&
            &coordinate != &columns)))
        return false;
  return true;
}

bool ashlar::systolic::canRunOnLanes(const Contraction &contraction,
                                     const Machine &machine) {
  return machine.flags & ASHLAR_SYSTOLIC_EXTENDED && !contraction.isDepthwise &&
         !contraction.isExchanged && contraction.sideBySide.results == 1 &&
         !contraction.a.kept && !contraction.rows.exist() &&
         contraction.count(contraction.m) == 1 &&
         contraction.count(contraction.n) > 1 &&
         isDense(contraction, contraction.n, contraction.b);
}

namespace {
struct Transposes {
  bool a = false, b = false;
};
} // namespace

/// Factors come on chip as they lie in memory, if an array can turn them
/// around: it has one transposer, which output-stationary A needs for itself
/// unless its rows are terms.
static Transposes transposesOf(const Contraction &contraction,
                               const Machine &machine, const Choice &choice) {
  Transposes result;
  result.b = !contraction.sideBySide.taps &&
             contraction.count(contraction.n) > 1 &&
             isDense(contraction, contraction.k, contraction.b) &&
             !isDense(contraction, contraction.n, contraction.b);
  result.a = !choice.readsTapsInPlace && contraction.count(contraction.m) > 1 &&
             isDense(contraction, contraction.m, contraction.a) &&
             !isDense(contraction, contraction.k, contraction.a);
  // Without a first column for mvin, a row is one run.
  if (!(machine.flags & ASHLAR_SYSTOLIC_EXTENDED))
    result.a &= runsOf(contraction.digits(contraction.m, contraction.a), 0,
                       contraction.count(contraction.m))
                    .size() == 1;
  if (!result.b || result.a == choice.isOutputStationary)
    return result;
  // The smaller one comes element by element.
  if (!choice.isOutputStationary &&
      contraction.count(contraction.m) < contraction.count(contraction.n))
    result.a = false;
  else
    result.b = false;
  return result;
}

int64_t ashlar::systolic::singleElements(const Contraction &contraction,
                                         const Machine &machine,
                                         const Choice &choice) {
  int64_t rows = contraction.count(contraction.m),
          columns = contraction.count(contraction.n);
  int64_t terms = contraction.count(contraction.k);
  Transposes transposes = transposesOf(contraction, machine, choice);
  int64_t loads = 0;
  if (!transposes.a && !isDense(contraction, contraction.k, contraction.a))
    loads += rows * terms;
  if (!transposes.b && !isDense(contraction, contraction.n, contraction.b))
    loads += columns * terms;
  int64_t stores = isDense(contraction, contraction.n, contraction.result)
                       ? 0
                       : rows * columns;
  return contraction.count(contraction.batch) * std::max(loads, stores);
}

ChipLayout::ChipLayout(const Contraction &contraction, const Machine &machine,
                       const Choice &choice, const Cuts *cuts)
    : contraction(contraction), machine(machine), choice(choice),
      dim(machine.dim) {
  nBlocks = divideUp(contraction.count(contraction.n), dim);
  Transposes transposes = transposesOf(contraction, machine, choice);
  aIsTransposed = transposes.a;
  bIsTransposed = transposes.b;
  if (choice.isOnLanes) {
    aIsTransposed = true;
    bIsTransposed = false;
  }
  if (choice.readsTapsInPlace) {
    for (const LinearIndex &coordinate : contraction.aCoordinates) {
      int64_t step = 0;
      for (unsigned d : contraction.m)
        if (contraction.sizes[d] > 1)
          step = std::gcd(step, coordinate.factors[d]);
      for (unsigned d : contraction.k)
        if (contraction.sizes[d] > 1)
          step = std::gcd(step, coordinate.factors[d]);
      lattice.push_back(std::max<int64_t>(step, 1));
    }
  }
  makeFolds();
  if (cuts) {
    chunks = cuts->chunks;
    tileEnds = cuts->tileEnds;
    blocks = cuts->blocks;
  } else {
    cutRows();
    cutTerms();
    for (int64_t chunk = 0; chunk < int64_t(chunks.size()); ++chunk)
      for (int64_t nBlock = 0; nBlock < nBlocks; ++nBlock)
        blocks.push_back({chunk, nBlock});
  }
  for (Chunk &chunk : chunks) {
    chunk.pixels = choice.readsTapsInPlace ? 1 : chunk.rows;
    if (choice.readsTapsInPlace)
      for (int64_t extent : extentsOf(chunk.size))
        chunk.pixels *= extent;
  }
  placeFolds();
}

int64_t ChipLayout::columnsOf(int64_t nBlock) const {
  return std::min(dim, contraction.count(contraction.n) - nBlock * dim);
}

int64_t ChipLayout::cyclesOf(const Chunk &chunk, int64_t tile) const {
  int64_t begin = tileBegin(tile), end = tileEnds[size_t(tile)];
  if (choice.isOutputStationary || choice.isOnLanes) {
    int64_t terms = 0;
    for (int64_t i = begin; i < end; ++i)
      terms += kBlocks[size_t(i)].depth;
    if (choice.isOnLanes)
      return terms * dim / machine.vector_lanes;
    return pieces(chunk) * std::max(terms, dim);
  }
  int64_t load = dim * (bIsTransposed ? 2 : 1);
  return (end - begin) * std::max(chunk.rows, load);
}

uint64_t ChipLayout::address(const Access &access, int64_t element) const {
  return ashlar_systolic_address(access.binding,
                                 uint64_t(element * bytesOf(access.element)));
}

//===-- Rows --------------------------------------------------------------===//

/// How large a grid of A's a box of M and all taps read, by coordinate; the
/// columns do not count.
std::vector<int64_t>
ChipLayout::extentsOf(const std::vector<int64_t> &size) const {
  std::vector<int64_t> extents;
  for (size_t j = 0; j + 1 < contraction.aCoordinates.size(); ++j) {
    const LinearIndex &coordinate = contraction.aCoordinates[j];
    int64_t reach = 0;
    for (size_t i = 0; i < contraction.m.size(); ++i)
      reach += (size[i] - 1) * coordinate.factors[contraction.m[i]];
    for (unsigned d : contraction.k)
      reach += (contraction.sizes[d] - 1) * coordinate.factors[d];
    extents.push_back(reach / lattice[j] + 1);
  }
  return extents;
}

int64_t ChipLayout::pixelStep(unsigned d,
                              const std::vector<int64_t> &extents) const {
  int64_t step = 0, pitch = 1;
  for (size_t j = extents.size(); j-- > 0;) {
    step += contraction.aCoordinates[j].factors[d] / lattice[j] * pitch;
    pitch *= extents[j];
  }
  return step;
}

void ChipLayout::cutRows() {
  int64_t rows = contraction.count(contraction.m);
  if (!choice.readsTapsInPlace) {
    int64_t count = divideUp(rows, choice.chunkRows);
    // The last chunk has the rest.
    int64_t unit = rowUnit(), units = divideUp(rows, unit);
    for (int64_t batch = 0; batch < batches(); ++batch)
      for (int64_t i = 0; i < count; ++i) {
        int64_t first = units * i / count * unit;
        int64_t end = std::min(rows, units * (i + 1) / count * unit);
        if (first == end)
          continue;
        chunks.push_back({batch, first, end - first, {}, {}, 0});
      }
    return;
  }
  std::vector<int64_t> most =
      boxOf(contraction, contraction.m, choice.chunkRows);
  std::vector<int64_t> at(contraction.m.size(), 0);
  for (int64_t batch = 0; batch < batches(); ++batch) {
    std::fill(at.begin(), at.end(), 0);
    for (bool more = true; more;) {
      Chunk chunk{batch, 0, 1, at, {}, 0};
      for (size_t i = 0; i < at.size(); ++i) {
        int64_t size = contraction.sizes[contraction.m[i]];
        chunk.size.push_back(std::min(most[i], size - at[i]));
        chunk.rows *= chunk.size.back();
      }
      chunks.push_back(chunk);
      more = false;
      for (size_t i = at.size(); i-- > 0 && !more;) {
        at[i] += most[i];
        more = at[i] < contraction.sizes[contraction.m[i]];
        if (!more)
          at[i] = 0;
      }
    }
  }
}

std::vector<Box> ChipLayout::boxesOfRows(const Access &access,
                                         const Chunk &chunk) const {
  int64_t bytes = bytesOf(access.element);
  std::vector<Digit> digits = contraction.digits(contraction.m, access);
  for (Digit &digit : digits)
    digit.bytes *= bytes;
  if (!choice.readsTapsInPlace) {
    std::vector<Box> boxes =
        boxesOf(digits, chunk.first, chunk.first + chunk.rows);
    for (Box &box : boxes)
      box.rows -= chunk.first;
    return boxes;
  }
  Box box{0, 0, 0, {}};
  int64_t inner = 1;
  for (size_t i = digits.size(); i-- > 0;) {
    box.bytes += chunk.begin[i] * digits[i].bytes;
    box.levels.push_back(
        {uint32_t(chunk.size[i]), int32_t(inner), digits[i].bytes});
    inner *= chunk.size[i];
  }
  box.levels = joinLevels(box.levels);
  return {box};
}

//===-- Terms -------------------------------------------------------------===//

/// Of lanes.
int64_t ChipLayout::planeOf(int64_t tap) const {
  for (size_t i = contraction.k.size(); i-- > 0;) {
    int64_t size = contraction.sizes[contraction.k[i]];
    if (int(contraction.k[i]) == contraction.planes)
      return tap % size;
    tap /= size;
  }
  return 0;
}

void ChipLayout::makeFolds() {
  int64_t terms = contraction.count(contraction.k);
  if (contraction.isDepthwise) {
    for (int64_t tap = 0; tap < terms; ++tap)
      kBlocks.push_back({tap, 1, 0, planeOf(tap), 0});
  } else if (choice.readsTapsInPlace) {
    int last = innermost(contraction, contraction.k);
    int64_t columns = contraction.sizes[size_t(last)];
    int64_t taps = terms / columns, planes = divideUp(columns, dim);
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t tap = 0; tap < taps; ++tap)
        kBlocks.push_back({tap * columns + plane * dim,
                           std::min(dim, columns - plane * dim), 0, plane, 0});
  } else if (aIsTransposed || machine.flags & ASHLAR_SYSTOLIC_EXTENDED) {
    for (int64_t k = 0; k < terms; k += dim)
      kBlocks.push_back({k, std::min(dim, terms - k), 0, k / dim, 0});
  } else {
    // Without a first column for mvin, each run of terms has its own blocks.
    int64_t plane = 0;
    for (const Run &run :
         runsOf(contraction.digits(contraction.k, contraction.a), 0, terms))
      for (int64_t k = 0; k < run.length; k += dim)
        kBlocks.push_back(
            {run.first + k, std::min(dim, run.length - k), 0, plane++, 0});
  }
}

void ChipLayout::cutTerms() {
  auto count = int64_t(kBlocks.size());
  int64_t tiles = divideUp(count, choice.tileBlocks);
  for (int64_t tile = 0; tile < tiles; ++tile)
    tileEnds.push_back(count * (tile + 1) / tiles);
}

void ChipLayout::placeFolds() {
  for (int64_t tile = 0; tile < int64_t(tileEnds.size()); ++tile) {
    int64_t row = 0;
    for (int64_t i = tileBegin(tile); i < tileEnds[size_t(tile)]; ++i) {
      kBlocks[size_t(i)].bRow = row;
      row += bIsTransposed ? dim : kBlocks[size_t(i)].depth;
    }
  }
}

int64_t ChipLayout::bRows(int64_t tile) const {
  const KBlock &last = kBlocks[size_t(tileEnds[size_t(tile)] - 1)];
  return last.bRow + (bIsTransposed ? dim : last.depth);
}

int64_t ChipLayout::aRows(const Chunk &chunk, int64_t tile) const {
  const KBlock &end = kBlocks[size_t(tileEnds[size_t(tile)] - 1)];
  if (contraction.a.kept)
    return 0;
  if (aIsTransposed)
    return (end.first + end.depth - firstTerm(tile)) * pieces(chunk);
  int64_t first = kBlocks[size_t(tileBegin(tile))].plane;
  int64_t last = end.plane;
  return (last - first + 1) * chunk.pixels;
}

//===-- Loads -------------------------------------------------------------===//

std::vector<Transfer> ChipLayout::loadsOfA(const Chunk &chunk, int64_t tile,
                                           int64_t nBlock, int64_t begin,
                                           int64_t end, uint32_t place) const {
  if (aIsTransposed)
    return loadsOfColumns(chunk, tile, begin, end, place);
  const Access &a = contraction.a;
  std::vector<Transfer> loads;
  int64_t batch =
      a.offset + contraction.offsetOf(contraction.batch, a, chunk.batch);
  int64_t firstPlane = kBlocks[size_t(tileBegin(tile))].plane;
  Transfer load;
  load.elementBytes = uint32_t(bytesOf(a.element));
  load.blockStride = uint32_t(chunk.pixels);
  if (choice.readsTapsInPlace) {
    std::vector<int64_t> extents = extentsOf(chunk.size);
    int64_t at = batch;
    for (size_t i = 0; i < contraction.m.size(); ++i)
      at += chunk.begin[i] * a.strides[contraction.m[i]];
    int64_t pitch = 1;
    for (size_t j = extents.size(); j-- > 0;) {
      load.levels.push_back({uint32_t(extents[j]), int32_t(pitch),
                             contraction.aCoordinates[j].stride * lattice[j] *
                                 bytesOf(a.element)});
      pitch *= extents[j];
    }
    if (contraction.isDepthwise) {
      if (begin > tileBegin(tile))
        return loads;
      int64_t first = nBlock * dim;
      bool hasPlanes = contraction.planes >= 0;
      int64_t planes =
          hasPlanes ? contraction.sizes[size_t(contraction.planes)] : 1;
      for (int64_t plane = 0; plane < planes; ++plane)
        for (const Run &run : runsOf(contraction.digits(contraction.n, a),
                                     first, first + columnsOf(nBlock))) {
          int64_t tap = hasPlanes ? a.strides[size_t(contraction.planes)] : 0;
          load.memory = address(a, at + plane * tap + run.offset);
          load.place = uint32_t(place + plane * chunk.pixels);
          load.firstColumn = uint32_t(run.first - first);
          load.columns = uint32_t(run.length);
          loads.push_back(load);
        }
      return loads;
    }
    int last = innermost(contraction, contraction.k);
    int64_t columns = contraction.sizes[size_t(last)];
    int64_t p0 = kBlocks[size_t(begin)].plane;
    int64_t p1 = kBlocks[size_t(end - 1)].plane + 1;
    // A plane comes with the first of its blocks.
    if (begin > tileBegin(tile) && kBlocks[size_t(begin - 1)].plane == p0)
      ++p0;
    if (p0 >= p1)
      return loads;
    load.memory = address(a, at + p0 * dim);
    load.place = uint32_t(place + (p0 - firstPlane) * chunk.pixels);
    load.columns = uint32_t(std::min(p1 * dim, columns) - p0 * dim);
    loads.push_back(load);
    return loads;
  }
  const KBlock &last = kBlocks[size_t(end - 1)];
  std::vector<Box> boxes = boxesOfRows(a, chunk);
  auto block = size_t(begin);
  for (const Run &run :
       runsOf(contraction.digits(contraction.k, a),
              kBlocks[size_t(begin)].first, last.first + last.depth)) {
    while (kBlocks[block].first + kBlocks[block].depth <= run.first)
      ++block;
    for (const Box &box : boxes) {
      load.memory = address(a, batch + run.offset) + uint64_t(box.bytes);
      load.place =
          uint32_t(place + (kBlocks[block].plane - firstPlane) * chunk.pixels +
                   box.rows);
      load.firstColumn = uint32_t(run.first - kBlocks[block].first);
      load.columns = uint32_t(run.length);
      load.levels = box.levels;
      loads.push_back(load);
    }
  }
  return loads;
}

/// Joins transfers that differ by a constant step into one of more levels.
static std::vector<Transfer> joinTransfers(std::vector<Transfer> all) {
  auto isLike = [](const Transfer &a, const Transfer &b) {
    return a.columns == b.columns && a.firstColumn == b.firstColumn &&
           a.blockStride == b.blockStride &&
           a.levels.size() == b.levels.size() &&
           std::equal(a.levels.begin(), a.levels.end(), b.levels.begin(),
                      [](const Level &x, const Level &y) {
                        return x.count == y.count && x.rows == y.rows &&
                               x.bytes == y.bytes;
                      });
  };
  std::vector<Transfer> joined;
  for (size_t i = 0; i < all.size();) {
    size_t count = 1;
    if (i + 1 < all.size() && isLike(all[i], all[i + 1]) && all[i].memory) {
      auto bytes = int64_t(all[i + 1].memory - all[i].memory);
      auto rows = int64_t(all[i + 1].place) - int64_t(all[i].place);
      count = 2;
      while (
          i + count < all.size() && isLike(all[i], all[i + count]) &&
          int64_t(all[i + count].memory - all[i + count - 1].memory) == bytes &&
          int64_t(all[i + count].place) - int64_t(all[i + count - 1].place) ==
              rows)
        ++count;
      all[i].levels.push_back({uint32_t(count), int32_t(rows), bytes});
    }
    joined.push_back(all[i]);
    i += count;
  }
  return joined;
}

/// A as it lies in memory where its rows follow each other there: terms are
/// rows, and an array turns it around.
std::vector<Transfer> ChipLayout::loadsOfColumns(const Chunk &chunk,
                                                 int64_t tile, int64_t begin,
                                                 int64_t end,
                                                 uint32_t place) const {
  const Access &a = contraction.a;
  std::vector<Transfer> loads;
  int64_t at =
      a.offset + contraction.offsetOf(contraction.batch, a, chunk.batch);
  std::vector<Digit> k = contraction.digits(contraction.k, a);
  for (Digit &digit : k)
    digit.bytes *= bytesOf(a.element);
  std::vector<Run> runs = runsOf(contraction.digits(contraction.m, a),
                                 chunk.first, chunk.first + chunk.rows);
  Transfer load;
  load.elementBytes = uint32_t(bytesOf(a.element));
  for (int64_t i = begin; i < end; ++i) {
    const KBlock &block = kBlocks[size_t(i)];
    int64_t row = place + (block.first - firstTerm(tile)) * pieces(chunk);
    load.blockStride = uint32_t(block.depth);
    for (const Run &run : runs)
      for (const Box &box :
           boxesOf(k, block.first, block.first + block.depth)) {
        load.memory = address(a, at + run.offset) + uint64_t(box.bytes);
        load.place = uint32_t(row + box.first - block.first);
        load.firstColumn = uint32_t(run.first - chunk.first);
        load.columns = uint32_t(run.length);
        load.levels = box.levels;
        loads.push_back(load);
      }
  }
  return joinTransfers(std::move(loads));
}

/// B of results side by side: zeros, then what each one has of taps.
std::vector<Transfer> ChipLayout::loadsOfSeveral(int64_t batch, int64_t nBlock,
                                                 int64_t begin, int64_t end,
                                                 uint32_t place) const {
  const Access &b = contraction.b;
  const SideBySide &beside = contraction.sideBySide;
  int64_t n0 = nBlock * dim, n1 = n0 + columnsOf(nBlock);
  int64_t bytes = bytesOf(b.element);
  int64_t at = b.offset + contraction.offsetOf(contraction.batch, b, batch);
  int64_t k0 = kBlocks[size_t(begin)].first;
  int64_t k1 = kBlocks[size_t(end - 1)].first + kBlocks[size_t(end - 1)].depth;
  place += uint32_t(kBlocks[size_t(begin)].bRow);
  Transfer load;
  load.elementBytes = uint32_t(bytes);
  load.place = place;
  load.columns = uint32_t(n1 - n0);
  load.levels = {{uint32_t(k1 - k0), 1}};
  std::vector<Transfer> loads = {load};

  // Terms of one result, as B has them.
  std::vector<Digit> digits = contraction.digits(contraction.k, b);
  int64_t inner = 1, outer = 1, taps = contraction.sizes[beside.dim];
  bool isInner = true;
  for (size_t i = contraction.k.size(); i-- > 0;) {
    if (contraction.k[i] == beside.dim) {
      digits[i].size = beside.taps;
      isInner = false;
    } else {
      (isInner ? inner : outer) *= digits[i].size;
    }
    digits[i].bytes *= bytes;
  }
  int64_t rows = 1;
  for (size_t i = digits.size(); i-- > 0;) {
    digits[i].rows = rows;
    rows *= digits[i].size;
  }
  // The first dim of N says which result.
  std::vector<Digit> n = contraction.digits(contraction.n, b);
  n.erase(n.begin());
  for (int64_t result = 0; result < beside.results; ++result) {
    int64_t firstColumn = result * beside.columns;
    int64_t left = std::max(n0, firstColumn);
    int64_t right = std::min(n1, firstColumn + beside.columns);
    if (left >= right)
      continue;
    for (const Run &run : runsOf(n, left - firstColumn, right - firstColumn))
      for (int64_t i = 0; i < outer; ++i) {
        load.firstColumn = uint32_t(firstColumn + run.first - n0);
        load.columns = uint32_t(run.length);
        int64_t first = (i * taps + result * beside.step) * inner;
        int64_t from = std::max(k0, first);
        int64_t to = std::min(k1, first + beside.taps * inner);
        if (from >= to)
          continue;
        int64_t own = i * beside.taps * inner - first;
        for (const Box &box : boxesOf(digits, from + own, to + own)) {
          load.memory = address(b, at + run.offset) + uint64_t(box.bytes);
          load.place = uint32_t(place + box.first - own - k0);
          load.levels = box.levels;
          loads.push_back(load);
        }
      }
  }
  return loads;
}

std::vector<Transfer> ChipLayout::loadsOfB(int64_t batch, int64_t nBlock,
                                           int64_t tile, int64_t begin,
                                           int64_t end, uint32_t place) const {
  if (contraction.sideBySide.taps)
    return loadsOfSeveral(batch, nBlock, begin, end, place);
  const Access &b = contraction.b;
  std::vector<Transfer> loads;
  int64_t at = b.offset + contraction.offsetOf(contraction.batch, b, batch);
  int64_t bytes = bytesOf(b.element);
  int64_t n0 = nBlock * dim, n1 = n0 + columnsOf(nBlock);
  std::vector<Digit> n = contraction.digits(contraction.n, b);
  std::vector<Digit> k = contraction.digits(contraction.k, b);
  Transfer load;
  load.elementBytes = uint32_t(bytes);
  load.blockStride = uint32_t(dim);
  if (bIsTransposed)
    for (Digit &digit : n)
      digit.bytes *= bytes;
  else
    for (Digit &digit : k)
      digit.bytes *= bytes;
  // Blocks whose terms follow each other come together.
  for (int64_t i = begin; i < end;) {
    const KBlock &first = kBlocks[size_t(i)];
    int64_t k1 = first.first + first.depth;
    int64_t j = i + 1;
    // Transposed, a block that is not full ends a line of columns.
    while (j < end && kBlocks[size_t(j)].first == k1 &&
           (!bIsTransposed || kBlocks[size_t(j - 1)].depth == dim))
      k1 += kBlocks[size_t(j++)].depth;
    i = j;
    if (bIsTransposed) {
      for (const Run &run : runsOf(k, first.first, k1))
        for (const Box &box : boxesOf(n, n0, n1)) {
          int64_t column = run.first - first.first;
          load.memory = address(b, at + run.offset) + uint64_t(box.bytes);
          load.place =
              uint32_t(place + first.bRow + column / dim * dim + box.rows - n0);
          load.firstColumn = uint32_t(column % dim);
          load.columns = uint32_t(run.length);
          load.levels = box.levels;
          loads.push_back(load);
        }
      continue;
    }
    for (const Run &run : runsOf(n, n0, n1))
      for (const Box &box : boxesOf(k, first.first, k1)) {
        load.memory = address(b, at + run.offset) + uint64_t(box.bytes);
        load.place = uint32_t(place + first.bRow + box.first - first.first);
        load.firstColumn = uint32_t(run.first - n0);
        load.columns = uint32_t(run.length);
        load.levels = box.levels;
        loads.push_back(load);
      }
  }
  (void)tile;
  return joinTransfers(std::move(loads));
}

/// A, where a contraction before has left it.
void ChipLayout::setKeptRows(Fold &fold, const Chunk &chunk, int64_t nBlock,
                             const KBlock &block) const {
  const Access &a = contraction.a;
  int64_t element = a.offset +
                    contraction.offsetOf(contraction.batch, a, chunk.batch) +
                    contraction.offsetOf(contraction.k, a, block.first);
  if (contraction.isDepthwise)
    element += nBlock * dim;
  for (size_t i = contraction.m.size(); i-- > 0;) {
    int64_t stride = a.strides[contraction.m[i]];
    element += chunk.begin[i] * stride;
    fold.rows.push_back(
        {uint32_t(chunk.size[i]), int32_t(stride / a.kept->columns)});
  }
  fold.a = uint32_t(a.kept->rowOf(element, dim));
}

Fold ChipLayout::fold(const Chunk &chunk, int64_t nBlock, int64_t tile,
                      int64_t block, uint32_t a, uint32_t b) const {
  const KBlock &k = kBlocks[size_t(block)];
  Fold fold;
  fold.b = uint32_t(b + k.bRow);
  fold.depth = uint32_t(k.depth);
  fold.columns = uint32_t(columnsOf(nBlock));
  fold.isTransposed = bIsTransposed;
  fold.isOutputStationary = choice.isOutputStationary;
  if (contraction.a.kept) {
    setKeptRows(fold, chunk, nBlock, k);
    return fold;
  }
  if (aIsTransposed) {
    fold.aIsTransposed = true;
    fold.a = uint32_t(a + (k.first - firstTerm(tile)) * pieces(chunk));
    fold.rows = {{uint32_t(chunk.rows), 1}};
    return fold;
  }
  int64_t plane = k.plane - kBlocks[size_t(tileBegin(tile))].plane;
  fold.a = uint32_t(a + plane * chunk.pixels);
  if (!choice.readsTapsInPlace) {
    fold.rows = {{uint32_t(chunk.rows), 1}};
    return fold;
  }
  std::vector<int64_t> extents = extentsOf(chunk.size);
  int64_t tap = k.first;
  for (size_t i = contraction.k.size(); i-- > 0;) {
    unsigned d = contraction.k[i];
    if (contraction.isDepthwise ||
        int(d) != innermost(contraction, contraction.k))
      fold.a += uint32_t(tap % contraction.sizes[d] * pixelStep(d, extents));
    tap /= contraction.sizes[d];
  }
  for (size_t i = contraction.m.size(); i-- > 0;)
    fold.rows.push_back({uint32_t(chunk.size[i]),
                         int32_t(pixelStep(contraction.m[i], extents))});
  return fold;
}

std::vector<Run> ChipLayout::columnRuns(const Access &access, int64_t nBlock,
                                        bool isOne) const {
  int64_t first = nBlock * dim;
  if (isOne)
    return {{first, 1, 0}};
  return runsOf(contraction.digits(contraction.n, access), first,
                first + columnsOf(nBlock));
}

std::vector<Transfer> ChipLayout::rowsOfResults(const Access &access,
                                                const Chunk &chunk,
                                                int64_t nBlock, uint32_t place,
                                                bool isColumn) const {
  std::vector<Transfer> transfers;
  int64_t at = access.offset +
               contraction.offsetOf(contraction.batch, access, chunk.batch);
  int64_t n0 = nBlock * dim;
  Transfer transfer;
  transfer.elementBytes = uint32_t(bytesOf(access.element));
  for (const Run &run : columnRuns(access, nBlock, isColumn))
    for (const Box &box : boxesOfRows(access, chunk)) {
      transfer.memory = address(access, at + run.offset) + uint64_t(box.bytes);
      transfer.place = uint32_t(place + box.rows);
      transfer.firstColumn = uint32_t(run.first - n0);
      transfer.columns = uint32_t(run.length);
      transfer.levels = box.levels;
      transfers.push_back(transfer);
    }
  return transfers;
}

std::vector<Box> ChipLayout::keptRows(const Access &access, const Chunk &chunk,
                                      int64_t nBlock, int64_t first,
                                      int64_t count) const {
  const KeptValue &kept = *access.kept;
  std::vector<Digit> digits = contraction.digits(contraction.m, access);
  int64_t element =
      access.offset +
      contraction.offsetOf(contraction.batch, access, chunk.batch) +
      contraction.offsetOf(contraction.n, access, nBlock * dim);
  int64_t inner = 1;
  for (size_t i = digits.size(); i-- > 0;) {
    digits[i].bytes /= kept.columns;
    if (!choice.readsTapsInPlace)
      continue;
    element += chunk.begin[i] * access.strides[contraction.m[i]];
    digits[i].size = chunk.size[i];
    digits[i].rows = inner;
    inner *= chunk.size[i];
  }
  int64_t begin = choice.readsTapsInPlace ? 0 : chunk.first;
  std::vector<Box> boxes =
      boxesOf(digits, begin + first, begin + first + count);
  for (Box &box : boxes) {
    box.bytes += kept.rowOf(element, dim);
    box.rows -= begin;
    box.levels = joinLevels(box.levels);
  }
  return boxes;
}

std::vector<Transfer> ChipLayout::rowOfColumns(const Access &access,
                                               int64_t batch, int64_t nBlock,
                                               uint32_t place,
                                               bool isElement) const {
  std::vector<Transfer> transfers;
  int64_t at =
      access.offset + contraction.offsetOf(contraction.batch, access, batch);
  int64_t n0 = nBlock * dim;
  Transfer transfer;
  transfer.elementBytes = uint32_t(bytesOf(access.element));
  transfer.place = place;
  for (const Run &run : columnRuns(access, nBlock, isElement)) {
    transfer.memory = address(access, at + run.offset);
    transfer.firstColumn = uint32_t(run.first - n0);
    transfer.columns = uint32_t(run.length);
    transfers.push_back(transfer);
  }
  return transfers;
}
