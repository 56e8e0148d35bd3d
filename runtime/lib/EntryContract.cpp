// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an entry costs, at its largest sizes and at given ones.

#include "ArenaPlacement.h"
#include "EntryPieces.h"
#include "IndexVerifier.h"
#include "PlaceValues.h"
#include "SessionNeeds.h"
#include "SizeExpression.h"
#include "TensorShape.h"

#include <algorithm>

namespace ashlar::runtime {

ashlar_contract_t contractOfHost(const fb::Contract &contract) {
  ashlar_contract_t out = ASHLAR_CONTRACT_INIT;
  out.weights_bytes = contract.weights_bytes();
  out.code_bytes = contract.code_bytes();
  out.arena_bytes = contract.arena_bytes();
  out.arena_lower_bound_bytes = contract.arena_lower_bound_bytes();
  out.outputs_bytes = contract.outputs_bytes();
  out.staging_bytes = contract.staging_bytes();
  out.scratch_bytes_per_worker = contract.scratch_bytes_per_worker();
  out.peak_bytes = contract.peak_bytes();
  out.state_bytes = contract.state_bytes().value_or(0);
  return out;
}

/// As the file has it, with further devices' figures added.
static ashlar_contract_t readContract(const fb::Contract &contract) {
  ashlar_contract_t out = contractOfHost(contract);
  for (uint32_t i = 0; i < count(contract.companions()); ++i) {
    const fb::CompanionContract &other = *contract.companions()->Get(i);
    out.weights_bytes += other.weights_bytes();
    out.code_bytes += other.code_bytes();
    out.arena_bytes += other.arena_bytes();
    out.arena_lower_bound_bytes += other.arena_lower_bound_bytes();
  }
  return out;
}

static void sumUp(ashlar_contract_t &contract) {
  contract.peak_bytes = contract.weights_bytes + contract.code_bytes +
                        contract.arena_bytes + contract.outputs_bytes +
                        contract.staging_bytes +
                        contract.scratch_bytes_per_worker;
}

ashlar_contract_t contractOf(const ashlar_entry_t &entry) {
  ashlar_contract_t most = readContract(*entry.pieces.front()->contract());
  if (entry.pieces.size() == 1)
    return most;
  auto raise = [](uint64_t &to, uint64_t value) { to = std::max(to, value); };
  for (const fb::ProgramEntry *piece : entry.pieces) {
    ashlar_contract_t own = readContract(*piece->contract());
    raise(most.arena_bytes, own.arena_bytes);
    raise(most.arena_lower_bound_bytes, own.arena_lower_bound_bytes);
    raise(most.outputs_bytes, own.outputs_bytes);
    raise(most.staging_bytes, own.staging_bytes);
    raise(most.scratch_bytes_per_worker, own.scratch_bytes_per_worker);
  }
  entry.module->addLoaded(most);
  sumUp(most);
  return most;
}

/// The most bytes that live at one time.
static uint64_t mostAlive(const Vector<ArenaValue> &values) {
  // As many begin as there are values: that is where a peak is.
  uint64_t most = 0;
  for (const ArenaValue &at : values) {
    uint64_t alive = 0;
    for (const ArenaValue &value : values)
      if (value.first <= at.first && at.first <= value.last)
        alive += value.size;
    most = std::max(most, alive);
  }
  return most;
}

Status contractAt(const fb::Entry &entry, const fb::ProgramEntry &piece,
                  const int64_t *symbols, ashlar_contract_t &out) {
  out = readContract(*piece.contract());
  Vector<ArenaValue> values;
  uint64_t arena = 0;
  auto evaluate = [&](const fb::SizeExpression &size, int64_t &value) {
    return evaluateSize(size, symbols, value)
               ? Status()
               : corrupt("a size of the program overflows or is negative for "
                         "these inputs");
  };
  ASHLAR_RETURN_IF_ERROR(placeValues(piece, evaluate, values, arena));
  out.arena_bytes -= piece.contract()->arena_bytes() - arena;
  if (!values.empty())
    out.arena_lower_bound_bytes -=
        piece.contract()->arena_lower_bound_bytes() -
        std::min(mostAlive(values),
                 piece.contract()->arena_lower_bound_bytes());
  auto shapeOf = [&](const fb::TensorDescription &tensor, int64_t *shape,
                     uint64_t &bytes) {
    return evaluateShape(tensor, symbols, shape, bytes);
  };
  out.staging_bytes = out.outputs_bytes = 0;
  if (!addTensors(entry.inputs(), shapeOf, out.staging_bytes) ||
      !addTensors(outputsOf(entry, piece), shapeOf, out.outputs_bytes))
    return corrupt("a shape overflows for these inputs");
  sumUp(out);
  return {};
}

Status contractOfCall(const ashlar_entry_t &entry,
                      const fb::ProgramEntry &piece, const int64_t *symbols,
                      ashlar_contract_t &out) {
  ASHLAR_RETURN_IF_ERROR(contractAt(*entry.entry, piece, symbols, out));
  if (entry.pieces.size() > 1)
    entry.module->addLoaded(out);
  sumUp(out);
  return {};
}

} // namespace ashlar::runtime
