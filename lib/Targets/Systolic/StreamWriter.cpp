// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StreamWriter.h"

#include <algorithm>

using namespace ashlar::systolic;

static bool isSame(const std::vector<Level> &a, const std::vector<Level> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Level &x, const Level &y) {
                      return x.count == y.count && x.rows == y.rows &&
                             x.bytes == y.bytes;
                    });
}

static int64_t rowsOf(const std::vector<Level> &levels) {
  int64_t rows = 1;
  for (const Level &level : levels)
    rows *= level.count;
  return rows;
}

//===-- Into pieces -------------------------------------------------------===//

/// How many of the outermost level's rows a command of `mostRows` may take;
/// none: it has to be taken apart.
static int64_t mostOfOutermost(const std::vector<Level> &levels,
                               const Machine &machine, uint32_t mostRows) {
  const bool isExtended = machine.flags & ASHLAR_SYSTOLIC_EXTENDED;
  const Level &outer = levels.back();
  int64_t inner = rowsOf(levels) / outer.count;
  if (levels.size() > (isExtended ? unsigned(ASHLAR_SYSTOLIC_LEVELS) : 1u))
    return 0;
  if (!isExtended && outer.rows != 1)
    return 0;
  int64_t most = int64_t(mostRows) / inner;
  return std::min<int64_t>({most, 65535, int64_t(outer.count)});
}

/// Takes rows apart: `place` and `bytes` move, levels shrink.
template <typename Emit>
static void takeApart(const Machine &machine, uint32_t mostRows,
                      std::vector<Level> levels, int64_t row, int64_t byte,
                      const Emit &emit) {
  if (levels.empty())
    return emit(levels, row, byte);
  Level outer = levels.back();
  int64_t most = mostOfOutermost(levels, machine, mostRows);
  if (most == int64_t(outer.count))
    return emit(levels, row, byte);
  levels.pop_back();
  int64_t step = std::max<int64_t>(most, 1);
  for (int64_t done = 0; done < int64_t(outer.count); done += step) {
    std::vector<Level> part = levels;
    auto count = uint32_t(std::min(step, int64_t(outer.count) - done));
    if (count > 1)
      part.push_back({count, outer.rows, outer.bytes});
    takeApart(machine, mostRows, part, row + done * outer.rows,
              byte + done * outer.bytes, emit);
  }
}

void StreamWriter::splitRows(Transfer transfer,
                             std::vector<Transfer> &pieces) const {
  takeApart(machine, machine.command_rows, joinLevels(transfer.levels), 0, 0,
            [&](const std::vector<Level> &levels, int64_t row, int64_t byte) {
              Transfer piece = transfer;
              piece.levels = levels;
              piece.place = uint32_t(transfer.place + row);
              if (piece.memory)
                piece.memory += uint64_t(byte);
              pieces.push_back(piece);
            });
}

std::vector<Transfer> StreamWriter::split(const Transfer &transfer) const {
  std::vector<Transfer> pieces;
  uint32_t most = 65535 / machine.dim * machine.dim;
  if (machine.command_row_bytes)
    most = machine.command_row_bytes / transfer.elementBytes;
  // Whole blocks, so that the next piece begins in column 0.
  uint32_t first = transfer.firstColumn;
  uint32_t done = 0;
  while (done < transfer.columns) {
    Transfer piece = transfer;
    uint32_t at = first + done;
    piece.firstColumn = at % machine.dim;
    piece.place = transfer.place + at / machine.dim * transfer.blockStride;
    uint32_t room = most > machine.dim ? most - piece.firstColumn : most;
    piece.columns = std::min(room, transfer.columns - done);
    if (piece.memory)
      piece.memory += uint64_t(done) * transfer.elementBytes;
    splitRows(piece, pieces);
    done += piece.columns;
  }
  return pieces;
}

std::vector<Fold> StreamWriter::split(const Fold &fold) const {
  std::vector<Fold> pieces;
  uint32_t done = 0;
  auto add = [&](std::vector<Level> rows, int64_t row) {
    Fold piece = fold;
    piece.rows = std::move(rows);
    piece.a = uint32_t(fold.a + row);
    piece.c = fold.c + done;
    done += uint32_t(rowsOf(piece.rows));
    pieces.push_back(piece);
  };
  if (fold.aIsTransposed) {
    auto rows = uint32_t(rowsOf(fold.rows));
    for (uint32_t first = 0; first < rows; first += machine.dim)
      add({{std::min(machine.dim, rows - first), 1}},
          int64_t(first) / machine.dim * fold.depth);
    return pieces;
  }
  const uint32_t most =
      fold.isOutputStationary ? machine.dim : machine.command_rows;
  std::vector<Level> levels = joinLevels(fold.rows);
  if (isExtended() || levels.empty()) {
    takeApart(machine, most, levels, 0, 0,
              [&](std::vector<Level> part, int64_t row, int64_t) {
                add(std::move(part), row);
              });
    return pieces;
  }
  // One level, whose rows may be any distance apart: A's stride.
  Level inner = levels[0];
  int64_t outer = rowsOf(levels) / inner.count;
  for (int64_t i = 0; i < outer; ++i) {
    int64_t row = 0, rest = i;
    for (size_t level = 1; level < levels.size(); ++level) {
      row += rest % levels[level].count * levels[level].rows;
      rest /= levels[level].count;
    }
    // About the same rows in each: the next matrix comes in the shadow of the
    // last piece.
    uint32_t parts = (inner.count + most - 1) / most;
    for (uint32_t part = 0; part < parts; ++part) {
      uint32_t begin = inner.count * part / parts;
      uint32_t end = inner.count * (part + 1) / parts;
      add({{end - begin, inner.rows}}, row + int64_t(begin) * inner.rows);
    }
  }
  return pieces;
}

//===-- Configuration -----------------------------------------------------===//

void StreamWriter::configureStream(uint32_t stream,
                                   const std::vector<Level> &levels) {
  if (isSame(streams[stream], levels))
    return;
  streams[stream] = levels;
  b.configStream(stream, levels);
}

void StreamWriter::configureColumns(uint32_t index, uint32_t first,
                                    uint32_t blockStride) {
  if (firstColumns[index] == first &&
      (index != 3 || storeBlockStride == blockStride))
    return;
  firstColumns[index] = first;
  if (index == 3)
    storeBlockStride = blockStride;
  b.configColumns(ASHLAR_SYSTOLIC_STREAM_MVIN + index, first,
                  index == 3 ? blockStride : 0);
}

/// Whether strides alone can say it.
static bool isLinear(const std::vector<Level> &levels) {
  return levels.empty() ||
         (levels.size() == 1 && levels[0].rows == 1 && levels[0].bytes >= 0);
}

void StreamWriter::load(unsigned id, const Transfer &transfer) {
  for (const Transfer &piece : split(transfer)) {
    LoadState &state = loads[id];
    bool linear = isLinear(piece.levels);
    uint64_t stride = state.stride;
    if (linear && !piece.levels.empty())
      stride = uint64_t(piece.levels[0].bytes);
    uint32_t blockStride = state.isKnown ? state.blockStride : machine.dim;
    if (piece.firstColumn + piece.columns > machine.dim)
      blockStride = piece.blockStride;
    if (!state.isKnown || stride != state.stride ||
        blockStride != state.blockStride ||
        piece.isWidened != state.isWidened) {
      state = {true, piece.isWidened, stride, blockStride};
      b.configLoad(id, stride, blockStride, piece.isWidened);
    }
    if (isExtended()) {
      uint32_t stream = ASHLAR_SYSTOLIC_STREAM_MVIN + id;
      configureStream(stream, linear ? std::vector<Level>() : piece.levels);
      configureColumns(id, piece.firstColumn, 0);
    }
    if (!isExtended() && piece.firstColumn)
      message = "transfers that begin within a row";
    b.load(piece.memory,
           {piece.place, uint32_t(rowsOf(piece.levels)), piece.columns}, id);
  }
}

void StreamWriter::store(const Transfer &transfer, bool relu, float scale) {
  for (const Transfer &piece : split(transfer)) {
    bool linear = isLinear(piece.levels) &&
                  (piece.levels.empty() ||
                   uint64_t(piece.levels[0].bytes) <= 0xffffffffu);
    uint32_t stride = storeStride;
    if (linear && !piece.levels.empty())
      stride = uint32_t(piece.levels[0].bytes);
    if (!storeKnown || stride != storeStride || relu != storeRelu ||
        scale != storeScale) {
      storeKnown = true;
      storeStride = stride;
      storeRelu = relu;
      storeScale = scale;
      b.configStore(stride,
                    relu ? ASHLAR_SYSTOLIC_RELU : ASHLAR_SYSTOLIC_NO_ACTIVATION,
                    scale);
    }
    if (isExtended()) {
      configureStream(ASHLAR_SYSTOLIC_STREAM_MVOUT,
                      linear ? std::vector<Level>() : piece.levels);
      bool isWide = piece.firstColumn + piece.columns > machine.dim;
      configureColumns(3, piece.firstColumn,
                       isWide ? piece.blockStride : storeBlockStride);
    }
    if (!isExtended() && piece.firstColumn)
      message = "transfers that begin within a row";
    b.store(piece.memory,
            {piece.place, uint32_t(rowsOf(piece.levels)), piece.columns});
  }
}

//===-- Arrays and the vector unit ----------------------------------------===//

void StreamWriter::foldPiece(const Fold &piece, bool isFirst, bool isLast) {
  bool linear = piece.rows.size() <= 1;
  uint32_t stride = aStride;
  if (piece.aIsTransposed)
    stride = 1;
  else if (linear && !piece.rows.empty())
    stride = uint32_t(piece.rows[0].rows);
  if (!executeKnown || stride != aStride ||
      piece.isTransposed != isTransposed ||
      piece.aIsTransposed != aIsTransposed ||
      piece.isOutputStationary != isOutputStationary) {
    executeKnown = true;
    aStride = stride;
    isTransposed = piece.isTransposed;
    aIsTransposed = piece.aIsTransposed;
    isOutputStationary = piece.isOutputStationary;
    b.configExecute(isOutputStationary ? ASHLAR_SYSTOLIC_OUTPUT_STATIONARY
                                       : ASHLAR_SYSTOLIC_WEIGHT_STATIONARY,
                    aStride, 1, 0, aIsTransposed, isTransposed);
  }
  if (isExtended())
    configureStream(ASHLAR_SYSTOLIC_STREAM_A,
                    linear ? std::vector<Level>() : piece.rows);
  auto rows = uint32_t(rowsOf(piece.rows));
  Matrix c = {piece.c, rows, piece.columns};
  if (isOutputStationary) {
    b.preload(Matrix::none(), isLast ? c : Matrix::none(),
              uint8_t(piece.array));
    b.compute({piece.a, rows, piece.depth},
              {piece.b, piece.depth, piece.columns}, isFirst,
              uint8_t(piece.array));
    return;
  }
  b.preload(isFirst ? Matrix{piece.b, piece.depth, piece.columns}
                    : Matrix::none(),
            c, uint8_t(piece.array));
  b.compute({piece.a, rows, piece.depth}, Matrix::none(), isFirst,
            uint8_t(piece.array));
}

void StreamWriter::configureVector(bool isInteger, uint32_t rightMode) {
  uint32_t type = isInteger ? ASHLAR_SYSTOLIC_S32 : ASHLAR_SYSTOLIC_F32;
  if (type == vectorType && rightMode == vectorRight)
    return;
  vectorType = type;
  vectorRight = rightMode;
  b.configVector(type, rightMode);
}

void StreamWriter::configureOperand(uint32_t stream,
                                    const VectorOperand &operand,
                                    uint32_t rows) {
  if (!operand.levels.empty())
    configureStream(stream, operand.levels);
  else if (operand.step == 1 || rows == 1)
    configureStream(stream, {});
  else
    configureStream(stream, {{rows, operand.step}});
}

void StreamWriter::vector(uint8_t funct, bool isInteger, Matrix result,
                          VectorOperand left, VectorOperand right,
                          uint32_t rightMode, const std::vector<Level> &walk) {
  bool walks = !walk.empty() || !left.levels.empty() || !right.levels.empty();
  if (walks && result.rows > machine.command_rows)
    message = "vector operations on more rows than a command has";
  bool isBinary = funct > ASHLAR_SYSTOLIC_COPY && funct < ASHLAR_SYSTOLIC_FILL;
  configureVector(isInteger, isBinary ? rightMode : vectorRight);
  for (uint32_t done = 0; done < result.rows; done += machine.command_rows) {
    uint32_t rows = std::min(machine.command_rows, result.rows - done);
    configureOperand(ASHLAR_SYSTOLIC_STREAM_LEFT, left, rows);
    configureStream(ASHLAR_SYSTOLIC_STREAM_RESULT, walk);
    bool stands = rightMode == ASHLAR_SYSTOLIC_ONE_ROW;
    if (isBinary)
      configureOperand(ASHLAR_SYSTOLIC_STREAM_RIGHT,
                       stands ? VectorOperand{right.place, 1} : right, rows);
    b.vector(funct, {result.address + done, rows, result.columns},
             uint32_t(left.place + int32_t(done) * left.step),
             isBinary ? uint32_t(right.place +
                                 (stands ? 0 : int32_t(done) * right.step))
                      : right.place);
  }
}

void StreamWriter::vectorImmediate(uint8_t funct, bool isInteger, Matrix result,
                                   VectorOperand left, double immediate,
                                   const std::vector<Level> &walk) {
  uint32_t bits;
  if (isInteger) {
    bits = uint32_t(int32_t(immediate));
  } else {
    auto number = float(immediate);
    std::memcpy(&bits, &number, sizeof(bits));
  }
  vector(funct, isInteger, result, left, {bits, 0}, vectorRight, walk);
}
