// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Ocloc.h"
#include "../LLVM/RunProgram.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace ashlar;
using namespace ashlar::levelzero;

static constexpr StringRef usualName = "ocloc",
                           wayOut = "compile without: --assembler=none";

bool levelzero::isOcloc(StringRef path) {
  return sys::path::filename(path).starts_with(usualName);
}

Expected<std::unique_ptr<Ocloc>> Ocloc::find(StringRef asked) {
  std::string name, whoSays = "--assembler";
  if (asked == "none" || isOcloc(asked))
    name = asked.str();
  if (name.empty()) {
    name = sys::Process::GetEnv("ASHLAR_OCLOC").value_or("");
    whoSays = "ASHLAR_OCLOC";
  }
  if (name == "none")
    return nullptr;
  const bool isNamed = !name.empty();
  auto found = sys::findProgramByName(isNamed ? StringRef(name) : usualName);
  // A path is taken for what it says.
  const bool isThere = found && sys::fs::can_execute(*found);
  if (!isThere && !isNamed)
    return nullptr;
  ScratchFolder folder("ashlar-ocloc");
  if (Error error = folder.takeError())
    return error;
  // It says what it is where it is told nothing.
  if (isThere) {
    auto run = runProgram(*found, {}, folder,
                          {"saying what it is", wayOut.str(), true});
    if (!run)
      return run.takeError();
    if (StringRef(run->said).contains("ocloc is a tool"))
      return std::unique_ptr<Ocloc>(new Ocloc(*found));
  }
  if (!isNamed)
    return nullptr;
  return createStringError(
      whoSays + ": '" + name +
      "': expected Intel's compiler for GPUs, ocloc, or 'none', found " +
      (isThere ? "another program" : "no program") +
      "; without one the module holds SPIR-V alone, which drivers compile");
}

void ashlar::levelzero::readSpills(StringRef log,
                                   StringMap<NativeKernel> &kernels) {
  Regex spilled("kernel ([^ ]+) .*spilled around [0-9]+");
  SmallVector<StringRef> lines, found;
  log.split(lines, '\n');
  for (StringRef line : lines)
    if (spilled.match(line, &found)) {
      KernelResources &own = kernels[found[1]].resources;
      own.spillBytes = std::max<uint64_t>(own.stackBytes, 1);
    }
}

/// What it said of what is wrong; it repeats the whole command behind that.
static std::string firstError(StringRef said) {
  SmallVector<StringRef> lines;
  said.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (line.contains_insensitive("error") ||
        line.contains_insensitive("could not"))
      return line.trim().str();
  return lines.empty() ? "it said nothing" : lines.front().trim().str();
}

/// As the runtime has a driver compile SPIR-V: buffers beyond 4 GiB, divisions
/// as IEEE 754 has them.
static constexpr StringRef usualOptions =
    "-ze-opt-greater-than-4GB-buffer-required "
    "-cl-fp32-correctly-rounded-divide-sqrt";

/// Twice the registers for half as many threads.
static std::string moreRegisters(ArrayRef<std::string> kernels) {
  std::string options;
  for (const std::string &name : kernels)
    options += " -ze-opt-large-grf-kernel " + name;
  return options;
}

/// Those that keep some in memory.
static std::vector<std::string> spillingOf(const NativeCode &code) {
  std::vector<std::string> names;
  for (const auto &[name, kernel] : code.kernels)
    if (kernel.resources.spillBytes)
      names.push_back(name.str());
  llvm::sort(names);
  return names;
}

static uint64_t spilledBytes(const NativeCode &code) {
  uint64_t all = 0;
  for (const auto &[name, kernel] : code.kernels)
    all += kernel.resources.spillBytes;
  return all;
}

Expected<NativeCode> Ocloc::compile(StringRef words, StringRef gpu,
                                    ArrayRef<StringRef> kernels,
                                    ArrayRef<std::string> withMatrices) const {
  const std::string options = usualOptions.str() + moreRegisters(withMatrices);
  Expected<NativeCode> made = compileWith(words, gpu, kernels, options);
  if (!made)
    return made;
  std::vector<std::string> spilling = spillingOf(*made);
  llvm::erase_if(spilling, [&](const std::string &name) {
    return llvm::is_contained(withMatrices, name);
  });
  if (spilling.empty())
    return made;
  Expected<NativeCode> again =
      compileWith(words, gpu, kernels, options + moreRegisters(spilling));
  if (again && spilledBytes(*again) < spilledBytes(*made))
    return again;
  if (!again) { // an old one knows no such option
    Error why = again.takeError();
    if (isTooLate(why))
      return std::move(why);
    consumeError(std::move(why));
  }
  return made;
}

Expected<NativeCode> Ocloc::compileWith(StringRef words, StringRef gpu,
                                        ArrayRef<StringRef> kernels,
                                        StringRef options) const {
  ScratchFolder folder("ashlar-ocloc");
  if (Error error = folder.takeError())
    return error;
  if (Error error = folder.write("kernels.spv", words))
    return error;
  const std::string in = folder.file("kernels.spv"), out = folder.file("out");
  auto run =
      runProgram(path,
                 {"compile", "-file", in, "-spirv_input", "-device", gpu,
                  "--format", "zebin", "-exclude_ir", "-output_no_suffix",
                  "-output", "kernels", "-out_dir", out, "-options", options},
                 folder, {describeKernels(kernels), wayOut.str()});
  if (!run)
    return run.takeError();
  NativeCode made;
  // Which of both it is called is a matter of the version.
  made.image = folder.read("out/kernels.bin");
  if (made.image.empty())
    made.image = folder.read("out/kernels");
  // It may report success of a build that failed.
  if (!run->isDone || made.image.empty())
    return createStringError("'" + path + "' does not compile for " + gpu +
                             ": " + firstError(run->said));
  if (Error error = readZebin(made.image, made.kernels))
    return createStringError("'" + path + "' wrote no zebin for " + gpu + ": " +
                             toString(std::move(error)));
  readSpills(run->said, made.kernels);
  return made;
}
