// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckWrittenFiles.h"
#include "ashlar/Driver/StageTrace.h"
#include "ashlar/Emit/EmitObject.h"
#include "llvm/Support/FileSystem.h"
#include <filesystem>

using namespace ashlar;

/// Whether two names are those of one file, which may not be there yet.
static bool areSameFile(const std::string &x, const std::string &y) {
  namespace fs = std::filesystem;
  if (llvm::sys::fs::equivalent(x, y))
    return true;
  // Of a name none of which is there, the canonical form stays relative.
  std::error_code code;
  auto place = [&](const std::string &of) {
    fs::path whole = fs::absolute(of, code);
    return code ? fs::path() : fs::weakly_canonical(whole, code);
  };
  fs::path xPlace = place(x);
  return !code && xPlace == place(y) && !code;
}

bool ashlar::checkWrittenFiles(const CompileOptions &options,
                               llvm::ArrayRef<std::string> read,
                               llvm::StringRef what, llvm::raw_ostream &log) {
  auto isFree = [&](const char *flag, const std::string &written,
                    const char *writtenWhat, const std::string &taken,
                    llvm::StringRef takenWhat) {
    if (written.empty() || taken.empty() || !areSameFile(written, taken))
      return true;
    log << "error: " << flag << written << " is " << takenWhat << "; give "
        << writtenWhat << " another name\n";
    if (options.stages)
      options.stages->forbid();
    return false;
  };
  std::string module = options.stopEarly ? "" : options.output;
  std::string header =
      options.outputKind != OutputKind::Module ? objectHeaderPath(module) : "";
  std::string remarks = options.remarks == "-" ? "" : options.remarks;
  std::string list =
      options.listStrategies == "-" ? "" : options.listStrategies;
  std::string trace = options.trace == "-" ? "" : options.trace;
  const std::string &plan = options.writePrecisionPlan;
  for (const std::string &file : read)
    if (!isFree("-o ", module, "the module", file, what) ||
        !isFree("the header of -o, ", header, "the object", file, what) ||
        !isFree("--remarks=", remarks, "the remarks", file, what) ||
        !isFree("--list-strategies=", list, "the list", file, what) ||
        !isFree("--trace=", trace, "the trace", file, what) ||
        !isFree("--write-precision-plan=", plan, "the plan", file, what))
      return false;
  std::string headerIs = "the header of -o " + module;
  const struct {
    const char *flag;
    const std::string &path;
    const char *what;
    llvm::StringRef as;
  } all[] = {
      {"-o ", module, "the module", "the module itself"},
      {"the header of -o, ", header, "the object", headerIs},
      {"--remarks=", remarks, "the remarks", "the file of remarks"},
      {"--list-strategies=", list, "the list", "the list of strategies"},
      {"--write-precision-plan=", plan, "the plan", "the precision plan"},
      {"--trace=", trace, "the trace", "the trace"},
  };
  for (size_t i = 0; i != std::size(all); ++i)
    for (size_t j = 0; j != i; ++j)
      if (!isFree(all[i].flag, all[i].path, all[i].what, all[j].path,
                  all[j].as))
        return false;
  return true;
}
