// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an inspection says in more than one form: names, and figures that are
// put together from the index.

#ifndef ASHLAR_TOOLS_LIB_MODULEDESCRIPTION_H
#define ASHLAR_TOOLS_LIB_MODULEDESCRIPTION_H

#include "Inspection.h"

#include "Module.h"
#include "ModuleFile.h"
#include "ProgramChoice.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace ashlar::tools {

using Json = nlohmann::ordered_json;

struct Inspection::Parts {
  std::unique_ptr<runtime::ModuleFile> file;
  runtime::Runtime runtime;
  runtime::ProgramChoice choice;
  bool runsHere = false;
  const fb::Module &index() const { return file->index(); }
  const fb::Program &program() const {
    return *index().programs()->Get(runsHere ? choice.program : 0);
  }
  std::string title(const std::string &of) const {
    const fb::Program &made = program();
    return of + " of " + path.substr(path.rfind('/') + 1) + ", " +
           made.target()->str() + ":" + made.preset()->str();
  }
  /// What a load of it costs, for an entry that has pieces: the most of each
  /// figure, with the weights and the code of all. Nothing for others, where
  /// no program runs here, and beside further devices.
  std::optional<ashlar_contract_t> wholeContract(uint32_t entry) const;
  /// Of the program that this machine would take.
  std::unique_ptr<runtime::Module> planned;
  std::string path;
};

/// Whether an entry of a program says of an output's dim only how large it is
/// at most.
bool isBoundDim(const fb::Module &index, const fb::Program &program,
                uint32_t entry, uint32_t output, uint32_t dim);

/// Throws what is wrong as a Failure.
void check(const runtime::Status &status);

/// The entry of a program that has this name; the first one for none. Throws a
/// Failure that lists the names.
const fb::ProgramEntry &entryNamed(const fb::Module &index,
                                   const fb::Program &program,
                                   const std::string &name);

std::string textOf(const flatbuffers::String *string);

/// Of a program and of a further device of one: "TARGET:PRESET".
template <typename Table> std::string targetName(const Table &table) {
  return textOf(table.target()) + ":" + textOf(table.preset());
}
/// With all its devices.
std::string programName(const fb::Program &program);

/// The further device that runs a kernel; null: the program's own.
const fb::Companion *companionOf(const fb::Program &program,
                                 const fb::Kernel &kernel);

/// The model's own fields; files that older compilers wrote have none, and
/// what is no JSON is shown as the text it is.
Json machineJson(const fb::Machine *machine);
/// Zero where nobody says.
double clockHz(const fb::Machine *machine);

/// How often each kernel is launched in one run of each entry. In control
/// flow every command counts once, whatever a call decides.
std::vector<uint64_t> countLaunches(const fb::Program &program);

/// What a call of an entry costs at these sizes, a value for each symbol, with
/// the piece of that name; empty: there is one only.
std::string contractAtJson(const fb::Module &index, const fb::Entry &entry,
                           const std::vector<int64_t> &sizes,
                           const std::string &piece,
                           const ashlar_contract_t &contract);

/// From each of the model's nodes to its kernels, or to what became of it.
Json nodesJson(const fb::Program &program);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_MODULEDESCRIPTION_H
