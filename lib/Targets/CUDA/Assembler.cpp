// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembler.h"
#include "../LLVM/RunProgram.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace ashlar;
using namespace ashlar::cuda;

static constexpr StringRef wayOut = "compile without: --assembler=none";

static std::string firstPathOf(StringRef name) {
  if (auto found = sys::findProgramByName(name))
    return *found;
  auto home = sys::Process::GetEnv("CUDA_HOME");
  if (!home || home->empty())
    return "";
  SmallString<128> path(*home);
  sys::path::append(path, "bin", name);
  return sys::fs::can_execute(path) ? std::string(path) : "";
}

Expected<std::unique_ptr<Assembler>> Assembler::find(StringRef asked) {
  std::string name = asked.str(), whoSays = "--assembler";
  if (name.empty()) {
    name = sys::Process::GetEnv("ASHLAR_PTXAS").value_or("");
    whoSays = "ASHLAR_PTXAS";
  }
  if (name == "none")
    return nullptr;
  const bool isNamed = !name.empty();
  if (!isNamed)
    name = firstPathOf("ptxas");
  if (name.empty())
    return nullptr;
  if (auto found = sys::findProgramByName(name))
    name = *found;
  ScratchFolder folder("ashlar-ptxas");
  if (Error error = folder.takeError())
    return error;
  SmallVector<StringRef> release;
  auto run = runProgram(name, {"--version"}, folder,
                        {"saying its version", wayOut.str(), true});
  if (!run)
    return run.takeError();
  if (run->isDone &&
      Regex("release [0-9.]+, V([0-9.]+)").match(run->said, &release))
    return std::unique_ptr<Assembler>(
        new Assembler(name, "ptxas " + release[1].str()));
  if (!isNamed)
    return nullptr;
  return createStringError(
      whoSays + ": '" + name +
      "': expected NVIDIA's assembler ptxas, or 'none', found " +
      (run->isDone ? "another program"
                   : "none that runs: " + StringRef(run->said).trim()) +
      "; without one the module holds PTX alone, which drivers compile");
}

void ashlar::cuda::readAssemblerLog(StringRef log,
                                    StringMap<AssembledKernel> &kernels) {
  Regex entry("Compiling entry function '([^']+)'"),
      spills("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores"),
      registers("Used ([0-9]+) registers"), shared("([0-9]+) bytes smem"),
      // Matrix steps that wait for each other; and why.
      serial("\\(C75(08|1[0-5])\\)"), inFunction("function '([^']+)'");
  auto number = [](StringRef text) {
    uint64_t value = 0;
    return text.getAsInteger(10, value) ? 0 : value;
  };
  AssembledKernel *current = nullptr;
  SmallVector<StringRef> lines, found;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    if (entry.match(line, &found))
      current = &kernels[found[1]];
    if (serial.match(line)) {
      AssembledKernel *of =
          inFunction.match(line, &found) ? &kernels[found[1]] : current;
      if (of && of->serialized.empty())
        of->serialized = line.trim().str();
    }
    if (!current)
      continue;
    if (spills.match(line, &found)) {
      current->resources.stackBytes = number(found[1]);
      current->resources.spillBytes = number(found[2]);
    }
    if (registers.match(line, &found))
      current->resources.registers = number(found[1]);
    if (shared.match(line, &found))
      current->resources.sharedBytes = number(found[1]);
  }
}

/// Of each kernel's instructions, which are a section by its name.
static Error readCodeSizes(StringRef image,
                           StringMap<AssembledKernel> &kernels) {
  auto file = object::ELFFile<object::ELF64LE>::create(image);
  if (!file)
    return file.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    auto name = file->getSectionName(section);
    if (!name)
      return name.takeError();
    if (!name->consume_front(".text."))
      continue;
    if (auto found = kernels.find(*name); found != kernels.end())
      found->second.codeBytes = section.sh_size;
  }
  return Error::success();
}

static SmallVector<StringRef> entriesOf(StringRef text) {
  constexpr StringRef mark = ".entry ";
  SmallVector<StringRef> names;
  for (size_t at = 0; (at = text.find(mark, at)) != StringRef::npos;) {
    at += mark.size();
    names.push_back(text.substr(at).take_until(
        [](char c) { return c == '(' || c == '\n'; }));
  }
  return names;
}

Expected<Assembled> Assembler::assemble(StringRef text, StringRef processor,
                                        bool hasLines) const {
  ScratchFolder folder("ashlar-ptxas");
  if (Error error = folder.takeError())
    return error;
  if (Error error = folder.write("kernels.ptx", text))
    return error;
  std::string in = folder.file("kernels.ptx"),
              out = folder.file("kernels.cubin"),
              arch = "-arch=" + processor.str();
  SmallVector<StringRef> arguments = {"-v", arch, in, "-o", out};
  if (hasLines)
    arguments.push_back("-lineinfo");
  auto run = runProgram(path, arguments, folder,
                        {describeKernels(entriesOf(text)), wayOut.str()});
  if (!run)
    return run.takeError();
  if (!run->isDone)
    return createStringError("'" + path + "' (" + version +
                             ") does not take the code for " + processor.str() +
                             ": " + StringRef(run->said).trim().str() +
                             "; name a newer one, or " + wayOut.str());
  Assembled result;
  readAssemblerLog(run->said, result.kernels);
  result.image = folder.read("kernels.cubin");
  if (Error error = readCodeSizes(result.image, result.kernels))
    return createStringError(
        "'" + path + "' wrote no ELF file: " + toString(std::move(error)));
  return result;
}
