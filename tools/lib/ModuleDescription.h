// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an inspection says in more than one form: names, and figures that are
// put together from the index.

#ifndef ASHLAR_TOOLS_LIB_MODULEDESCRIPTION_H
#define ASHLAR_TOOLS_LIB_MODULEDESCRIPTION_H

#include "Inspection.h"

#include "ModuleFile.h"
#include "ProgramChoice.h"

#include <nlohmann/json.hpp>

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
  std::string path;
};

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

/// From each of the model's nodes to its kernels, or to what became of it.
Json nodesJson(const fb::Program &program);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_MODULEDESCRIPTION_H
