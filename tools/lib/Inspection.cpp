// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModuleDescription.h"

#include "Disassembly.h"
#include "Failure.h"
#include "MemoryMap.h"
#include "Streams.h"

#include "EntryPieces.h"
#include "IndexVerifier.h"

namespace ashlar::tools {

using namespace ashlar::runtime;

void check(const Status &status) { tools::check(exportStatus(status)); }

Inspection::Inspection(const std::string &path, const std::string &keys)
    : parts(std::make_unique<Parts>()) {
  parts->path = path;
  check(ModuleFile::openFile(path.c_str(), parts->file, keys));
  parts->runsHere =
      chooseProgram(parts->runtime, parts->index(), {}, parts->choice).ok();
  // What a load costs is known as the runtime knows it.
  if (parts->runsHere && count(parts->program().pieces()) != 0) {
    std::unique_ptr<ModuleFile> file;
    check(ModuleFile::openFile(path.c_str(), file));
    auto runtime = std::make_shared<Runtime>();
    LoadOptions options;
    options.budget = runtime->budget();
    parts->planned =
        std::make_unique<Module>(runtime, std::move(file), std::move(options));
    check(parts->planned->plan());
  }
}

std::optional<ashlar_contract_t>
Inspection::Parts::wholeContract(uint32_t entry) const {
  if (!planned || count(program().companions()) != 0 ||
      planned->entries[entry].pieces.size() < 2)
    return std::nullopt;
  return contractOf(planned->entries[entry]);
}

Inspection::~Inspection() = default;

void Inspection::verify() const {
  check(parts->file->verifyWeights());
  for (size_t i = 0; i < count(parts->index().sections()); ++i) {
    const fb::Section &section = *parts->index().sections()->Get(uint32_t(i));
    if (section.kind() == fb::SectionKind::Code)
      check(parts->file->verifyHash(section, "code"));
  }
}

std::string Inspection::utilisation(bool asJson) const {
  const fb::Module &index = parts->index();
  Json list = Json::array();
  std::string text;
  for (size_t p = 0; p < count(index.programs()); ++p) {
    const fb::Program &program = *index.programs()->Get(uint32_t(p));
    std::optional<StreamUse> use =
        measureStreams(*parts->file, program, countLaunches(program));
    if (!use)
      continue;
    text += use->table(programName(program));
    list.push_back(use->json());
    list.back()["program"] = programName(program);
  }
  if (text.empty())
    throw Failure(Refused, "no program is for a systolic machine; expected one "
                           "with executables of format 'systolic'");
  return asJson
             ? list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
             : text.substr(1);
}

std::string Inspection::disassembly(const std::string &name) const {
  const fb::Module &index = parts->index();
  std::string text;
  for (size_t p = 0; p < count(index.programs()); ++p) {
    const fb::Program &program = *index.programs()->Get(uint32_t(p));
    for (size_t i = 0; i < count(program.kernels()); ++i) {
      const fb::Kernel &kernel = *program.kernels()->Get(uint32_t(i));
      if (textOf(kernel.name()) != name)
        continue;
      const fb::Executable &code =
          *program.executables()->Get(kernel.executable());
      const fb::Section &section = *index.sections()->Get(code.section());
      text += "\n" + name + " of " + programName(program) + ", " +
              textOf(code.format()) + "\n";
      std::optional<std::string> stream =
          disassembleStream(*parts->file, code, textOf(kernel.symbol()));
      text += stream ? *stream
                     : disassemble(parts->file->sectionData(section),
                                   section.size(), textOf(kernel.symbol()));
    }
  }
  if (text.empty())
    throw Failure(Refused, "no program has a kernel '" + name +
                               "'; --kernels lists those there are");
  return text;
}

static bool endsIn(const std::string &path, const std::string &ending) {
  return path.size() >= ending.size() &&
         path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

const fb::ProgramEntry &entryNamed(const fb::Module &index,
                                   const fb::Program &program,
                                   const std::string &name) {
  std::string known;
  for (uint32_t i = 0; i < count(program.entries()); ++i) {
    const fb::ProgramEntry &entry = *program.entries()->Get(i);
    std::string own = textOf(index.entries()->Get(entry.entry())->name());
    if (name.empty() || own == name)
      return entry;
    known += (i ? ", " : "") + own;
  }
  throw Failure(Refused, "--entry=" + name + ": expected one of " + known);
}

std::string Inspection::memoryMap(const std::string &path,
                                  const std::string &entry) const {
  if (!endsIn(path, ".svg") && !endsIn(path, ".html"))
    throw Failure(WrongUsage, "--memory-map=" + path +
                                  ": expected a name in .svg or .html");
  const fb::Program &program = parts->program();
  MemoryMap map = readMemoryMap(parts->index(), program,
                                entryNamed(parts->index(), program, entry));
  return endsIn(path, ".svg") ? drawMemoryMap(map, parts->title("Memory"))
                              : memoryMapPage(map, parts->title("Memory"));
}

std::string Inspection::graph(const std::string &path,
                              const std::string &entry) const {
  if (!endsIn(path, ".html"))
    throw Failure(WrongUsage, "--graph=" + path + ": expected a name in .html");
  const fb::Program &program = parts->program();
  return graphPage(readMemoryMap(parts->index(), program,
                                 entryNamed(parts->index(), program, entry)),
                   program, parts->title("Commands"));
}

} // namespace ashlar::tools
