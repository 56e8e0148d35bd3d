// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WriteSums.h"
#include "PartWriter.h"

#include <algorithm>

using namespace ashlar::systolic;

namespace {
/// Rows and columns of the result that are in the accumulator at a time.
struct Block {
  int64_t firstRow, rows;
  int64_t firstColumn, columns;
  uint32_t place; ///< of its first row
};

class SumWriter {
public:
  SumWriter(const Contraction &sum, const Machine &machine,
            StreamBuilder &builder)
      : sum(sum), machine(machine), writer(machine, builder) {
    cut();
  }

  std::string write();

private:
  void cut();
  std::vector<Transfer> transfersOf(const Access &access, const Block &block,
                                    int64_t firstColumn, int64_t columns,
                                    uint32_t place) const;
  void collectLoads(const Block &block, Commands &commands);
  void collectStores(const Block &block, Commands &commands);

  const Contraction &sum;
  const Machine &machine;
  StreamWriter writer;
  std::vector<Block> blocks;
};
} // namespace

/// Of halves of the accumulator in turn: the next block comes while one leaves.
/// As many columns as a request has bytes.
void SumWriter::cut() {
  int64_t dim = machine.dim, rows = sum.count(sum.m);
  int64_t allColumns = sum.count(sum.n);
  int64_t wide = std::max<int64_t>(machine.command_row_bytes / dim * dim, dim);
  int64_t half = machine.accumulator_rows / 2;
  int64_t planes = (std::min(wide, allColumns) + dim - 1) / dim;
  int64_t most = half / planes;
  // Whole commands, where there are several.
  if (most > machine.command_rows)
    most = most / machine.command_rows * machine.command_rows;
  for (int64_t row = 0; row < rows; row += most)
    for (int64_t column = 0; column < allColumns; column += wide)
      blocks.push_back({row, std::min(most, rows - row), column,
                        std::min(wide, allColumns - column),
                        uint32_t(blocks.size() % 2 * size_t(half))});
}

/// Columns of a block, `place` that of the first row on chip.
std::vector<Transfer> SumWriter::transfersOf(const Access &access,
                                             const Block &block,
                                             int64_t firstColumn,
                                             int64_t columns,
                                             uint32_t place) const {
  std::vector<Digit> digits = sum.digits(sum.m, access);
  int64_t bytes = bytesOf(access.element);
  for (Digit &digit : digits)
    digit.bytes *= bytes;
  std::vector<Transfer> transfers;
  for (const Box &box :
       boxesOf(digits, block.firstRow, block.firstRow + block.rows)) {
    Transfer transfer;
    transfer.memory = ashlar_systolic_address(
        access.binding,
        uint64_t((access.offset + firstColumn) * bytes + box.bytes));
    transfer.place = uint32_t(int64_t(place) + box.rows - block.firstRow);
    transfer.columns = uint32_t(columns);
    transfer.blockStride = uint32_t(block.rows);
    transfer.elementBytes = uint32_t(bytes);
    transfer.isWidened = true;
    transfer.levels = box.levels;
    transfers.push_back(transfer);
  }
  return transfers;
}

/// One operand, and then the other on top of it.
void SumWriter::collectLoads(const Block &block, Commands &commands) {
  const uint32_t place = ASHLAR_SYSTOLIC_ACCUMULATOR | block.place;
  auto load = [&](unsigned id, const Access &access, uint32_t first) {
    for (const Transfer &transfer :
         transfersOf(access, block, block.firstColumn, block.columns, first))
      for (const Transfer &piece : writer.split(transfer))
        commands.push_back([this, id, piece] { writer.load(id, piece); });
  };
  load(0, sum.a, place);
  load(1, sum.operands[size_t(sum.epilogue.addend)],
       place | ASHLAR_SYSTOLIC_ACCUMULATE);
}

void SumWriter::collectStores(const Block &block, Commands &commands) {
  int64_t dim = machine.dim;
  for (int64_t done = 0; done < block.columns; done += dim)
    for (const Transfer &transfer :
         transfersOf(sum.result, block, block.firstColumn + done,
                     std::min(dim, block.columns - done),
                     ASHLAR_SYSTOLIC_ACCUMULATOR |
                         uint32_t(block.place + done / dim * block.rows)))
      for (const Transfer &piece : writer.split(transfer))
        commands.push_back([this, piece] {
          writer.store(piece, sum.epilogue.relu, sum.epilogue.scale);
        });
}

std::string SumWriter::write() {
  for (size_t i = 0; i <= blocks.size(); ++i) {
    Commands loads, stores;
    if (i < blocks.size())
      collectLoads(blocks[i], loads);
    if (i > 0)
      collectStores(blocks[i - 1], stores);
    writer.sync(loadQueue, storeQueue);
    writer.sync(storeQueue, loadQueue);
    interleave(loads, stores);
  }
  return writer.error();
}

ashlar::Refusal ashlar::systolic::whyNoSum(const Contraction &sum,
                                           const Machine &machine) {
  if (sum.epilogue.addend < 0)
    return "it is depthwise, and the machine has no vector unit";
  const Access &addend = sum.operands[size_t(sum.epilogue.addend)];
  if (!sum.margins.empty())
    return "it is a sum of two operands, and there are elements around it";
  for (const Access *access : {&sum.a, &addend, &sum.result})
    if (access->element != Element::S8 || access->strides[sum.n.front()] != 1)
      return "it is a sum of two operands, and they are no bytes side by side";
  return std::nullopt;
}

std::string ashlar::systolic::writeSum(const Contraction &sum,
                                       const Machine &machine,
                                       const std::string &name,
                                       StreamBuilder &builder) {
  builder.region(name, ASHLAR_SYSTOLIC_OTHER, 0);
  return SumWriter(sum, machine, builder).write();
}
