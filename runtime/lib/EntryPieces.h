// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry that no one form serves has several in a program, its pieces, each
// for a part of the sizes.

#ifndef ASHLAR_RUNTIME_LIB_ENTRYPIECES_H
#define ASHLAR_RUNTIME_LIB_ENTRYPIECES_H

#include "Module.h"
#include "OwnMemory.h"

namespace ashlar::runtime {

/// All of a program, an entry's in the order in which they are tried.
Vector<const fb::ProgramEntry *> allEntries(const fb::Program &program);

/// For people: the sizes of a piece, "N=2..8, W=1"; of what is none, "".
String rangesText(const fb::Module &module, const fb::ProgramEntry &piece);

/// The first piece whose ranges hold these sizes, one for each of the module's
/// symbols; below zero: the entry does not read it. INVALID_ARGUMENT names the
/// ranges that there are.
Status findPiece(const fb::Module &module,
                 const Vector<const fb::ProgramEntry *> &pieces,
                 const int64_t *symbols, const fb::ProgramEntry *&out);

/// The outputs as a piece has them, with the formulas of its sizes.
inline const flatbuffers::Vector<flatbuffers::Offset<fb::TensorDescription>> *
outputsOf(const fb::Entry &entry, const fb::ProgramEntry &piece) {
  return piece.outputs() ? piece.outputs() : entry.outputs();
}

/// Whether the entry says of a dimension of an output only how large it is at
/// most, since data or the piece decide.
bool isBound(const ashlar_entry_t &entry, size_t output, size_t dimension);

/// As the file has it, further devices' memory apart.
ashlar_contract_t contractOfHost(const fb::Contract &contract);

/// At the largest sizes; of pieces, the most of each figure, and of weights and
/// code what all of them have.
ashlar_contract_t contractOf(const ashlar_entry_t &entry);

/// Of a piece at these sizes, as contractOf has it: the arena that a session
/// takes for them, and the outputs and inputs as they are then.
Status contractAt(const fb::Entry &entry, const fb::ProgramEntry &piece,
                  const int64_t *symbols, ashlar_contract_t &out);

/// That of a loaded module, with the weights and the code of all pieces.
Status contractOfCall(const ashlar_entry_t &entry,
                      const fb::ProgramEntry &piece, const int64_t *symbols,
                      ashlar_contract_t &out);

/// Of a piece of the file: as many ranges as the module has symbols, and the
/// entry's outputs.
Status verifyPiece(const fb::Module &module, const fb::Entry &entry,
                   const fb::ProgramEntry &piece);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_ENTRYPIECES_H
