// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of the inputs whose dims the model itself calls by names of --dim.
#include "ashlar/Driver/Compile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace ashlar;
using llvm::StringRef;

namespace {
class DimOpener {
public:
  DimOpener(CompileOptions &options, llvm::raw_ostream &log)
      : options(options), log(log), inputs(readONNXInputs(options.input)) {}

  bool openInputs() {
    return llvm::all_of(inputs,
                        [&](const ONNXInput &input) { return open(input); });
  }
  bool checkRanges();

private:
  bool open(const ONNXInput &input);
  std::string listNames() const;

  CompileOptions &options;
  llvm::raw_ostream &log;
  std::vector<ONNXInput> inputs;
};
} // namespace

/// Some exporters write -1 for a size that they leave open.
static bool isOpen(StringRef dim) {
  int64_t number;
  return dim.getAsInteger(10, number) || number == -1;
}

/// The names that a dim of the model is made of: "P + T" of P and T.
static llvm::SmallVector<StringRef> namesIn(StringRef dim) {
  llvm::SmallVector<StringRef> names;
  for (StringRef term : llvm::split(dim, '+'))
    for (StringRef factor : llvm::split(term, '*')) {
      int64_t number;
      factor = factor.trim(' ');
      if (!factor.empty() && factor.getAsInteger(10, number))
        names.push_back(factor);
    }
  return names;
}

static bool isNamed(const CompileOptions &options, StringRef name) {
  return llvm::any_of(options.sizes, [&](const SizeRange &range) {
    return range.name == name;
  });
}

/// "1x3xW", or with commas where a name has an x.
static std::string spellShape(llvm::ArrayRef<std::string> dims) {
  bool hasX =
      llvm::any_of(dims, [](StringRef dim) { return dim.contains('x'); });
  return llvm::join(dims, hasX ? "," : "x");
}

/// False where it is open in part and nothing says the rest.
bool DimOpener::open(const ONNXInput &input) {
  if (options.shapes.count(input.name) ||
      options.symbolicShapes.count(input.name) ||
      options.values.count(input.name))
    return true;
  bool isMeant = false, isWhole = true;
  std::vector<std::string> shape, spelled, missing, ranges;
  for (const std::string &dim : input.dims) {
    spelled.push_back(dim.empty() || dim == "-1" ? "?" : dim);
    if (!isOpen(dim)) {
      shape.push_back(dim);
      continue;
    }
    std::string own, unknown;
    if (parseOpenDim(dim, options.sizes, own, unknown)) {
      isMeant = true;
      shape.push_back(own);
      continue;
    }
    isWhole = false;
    shape.push_back("1");
    missing.push_back(spelled.back());
    for (StringRef name : namesIn(dim)) {
      isMeant |= isNamed(options, name);
      if (!isNamed(options, name) && !llvm::is_contained(ranges, name.str()))
        ranges.push_back(name.str());
    }
  }
  // An input of other names is for the importer to ask about.
  if (!isMeant)
    return true;
  if (isWhole) {
    options.symbolicShapes[input.name] = shape;
    return true;
  }
  // Names that --dim can take stand for themselves there.
  bool areNames = !ranges.empty() && !llvm::is_contained(missing, "?");
  std::string more, why;
  for (const std::string &name : ranges) {
    std::vector<SizeRange> parsed;
    areNames &= parseSizeRanges(name + "=1..8", parsed, why);
    more += (more.empty() ? "" : ",") + name + "=1..8";
  }
  log << "error: " << input.name << ": --dim opens a part of "
      << spellShape(spelled) << ", which leaves "
      << llvm::join(missing, " and ") << "; ";
  if (areNames)
    log << "add --dim=" << more << ", or give all of it: ";
  else
    log << "give all of it, putting your own sizes in: ";
  log << "--shape=" << input.name << "=" << spellShape(shape) << "\n";
  return false;
}

/// "batch (x), W (x), T (y)": what the model calls its open dims.
std::string DimOpener::listNames() const {
  std::vector<std::string> names;
  for (const ONNXInput &input : inputs)
    for (const std::string &dim : input.dims)
      if (isOpen(dim))
        for (StringRef name : namesIn(dim))
          if (std::string text = (name + " (" + input.name + ")").str();
              !llvm::is_contained(names, text))
            names.push_back(text);
  constexpr size_t most = 12;
  if (names.size() > most) {
    std::string more = std::to_string(names.size() - most) + " more";
    names.resize(most);
    names.push_back(more);
  }
  return llvm::join(names, ", ");
}

/// Each name must stand alone somewhere, since a call says sizes by the shapes
/// of its inputs.
bool DimOpener::checkRanges() {
  for (const SizeRange &range : options.sizes) {
    const std::string *input = nullptr, *within = nullptr;
    bool isAlone = false;
    for (auto &[name, shape] : options.symbolicShapes)
      for (const std::string &dim : shape)
        if (llvm::is_contained(namesIn(dim), StringRef(range.name))) {
          input = &name;
          within = &dim;
          isAlone |= dim == range.name;
        }
    if (!within) {
      std::string names = listNames();
      log << "error: --dim gives " << range.name
          << ", which no --shape uses and no input that --shape leaves alone "
             "has; the model calls "
          << (names.empty()
                  ? "no dim by a name; open one by "
                  : "its open dims " + names + "; use one of these, or ")
          << "--shape=NAME=" << spellShape({range.name, "3", "224", "224"})
          << "\n";
      return false;
    }
    if (!isAlone) {
      log << "error: --dim gives " << range.name
          << ", which is no dim by itself, so that no call could say it: "
          << *input << " has the dim " << *within
          << "; give that dim a name of its own, with a step where it is a "
             "multiple: --dim=N=8..64:8\n";
      return false;
    }
  }
  return true;
}

CompileStatus ashlar::openModelDims(CompileOptions &options,
                                    llvm::raw_ostream &log) {
  if (options.sizes.empty())
    return CompileStatus::Done;
  DimOpener opener(options, log);
  return opener.openInputs() && opener.checkRanges()
             ? CompileStatus::Done
             : CompileStatus::WrongUsage;
}
