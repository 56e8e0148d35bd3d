// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckWrittenFiles.h"
#include "ashlar/Emit/EmitObject.h"
#include "llvm/Support/FileSystem.h"
#include <filesystem>

using namespace ashlar;

/// Whether two names are those of one file, which may not be there yet.
static bool areSameFile(const std::string &x, const std::string &y) {
  namespace fs = std::filesystem;
  if (llvm::sys::fs::equivalent(x, y))
    return true;
  std::error_code xCode, yCode;
  fs::path xPlace = fs::weakly_canonical(x, xCode);
  fs::path yPlace = fs::weakly_canonical(y, yCode);
  return !xCode && !yCode && xPlace == yPlace;
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
  return isFree("--remarks=", remarks, "the remarks", module,
                "the module itself") &&
         isFree("--trace=", trace, "the trace", module, "the module itself") &&
         isFree("--trace=", trace, "the trace", remarks,
                "the file of remarks") &&
         isFree("--trace=", trace, "the trace", list,
                "the list of strategies") &&
         isFree("--trace=", trace, "the trace", plan, "the precision plan") &&
         isFree("--list-strategies=", list, "the list", remarks,
                "the file of remarks") &&
         isFree("--write-precision-plan=", plan, "the plan", module,
                "the module itself") &&
         isFree("--write-precision-plan=", plan, "the plan", remarks,
                "the file of the remarks") &&
         isFree("--write-precision-plan=", plan, "the plan", list,
                "the list of strategies");
}
