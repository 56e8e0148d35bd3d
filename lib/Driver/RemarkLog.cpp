// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RemarkLog.h"
#include "ashlar/Support/ModelNodes.h"
#include "ashlar/Support/Remarks.h"
#include "llvm/Remarks/Remark.h"
#include "llvm/Remarks/RemarkFormat.h"
#include "llvm/Remarks/RemarkSerializer.h"

using namespace mlir;
using namespace ashlar;

class RemarkLog::Streamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Streamer(RemarkLog &log) : log(log) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    Entry entry;
    entry.type = remark.getRemarkTypeString().str();
    entry.category = remark.getCategoryName().str();
    entry.name = remark.getRemarkName().str();
    entry.function = remark.getFunction().str();
    entry.node = nodeName(remark.getLocation());
    entry.file = log.model;
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      entry.arguments.emplace_back(argument.key, argument.val);
    for (const std::string &name : nodeNames(remark.getLocation())) {
      auto number = log.nodeNumbers.find(name);
      if (entry.line == 0 && number != log.nodeNumbers.end())
        entry.line = number->second;
    }
    if (entry.line == 0)
      readPlace(entry);
    // Functions are compiled side by side.
    std::lock_guard<std::mutex> lock(log.mutex);
    entry.program = log.program;
    log.entries.push_back(std::move(entry));
  }

private:
  /// Ops of a model in MLIR are named by their place: 'linalg.generic@12:5'.
  static void readPlace(Entry &entry) {
    StringRef place = StringRef(entry.node).rsplit('@').second;
    if (place.consumeInteger(10, entry.line) || !place.consume_front(":") ||
        place.consumeInteger(10, entry.column))
      entry.line = entry.column = 0;
  }

  RemarkLog &log;
};

LogicalResult RemarkLog::listen(MLIRContext &context,
                                const std::string &modelFile) {
  model = modelFile;
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis =
      categories.failed = ".*";
  return remark::enableOptimizationRemarks(
      context, std::make_unique<Streamer>(*this),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

void RemarkLog::readNodes(ModuleOp module) {
  auto names = module->getAttrOfType<ArrayAttr>(modelNodesAttrName);
  // Nodes of a model in MLIR have lines of their own.
  if (!names || StringRef(model).ends_with(".mlir"))
    return;
  for (auto [i, name] : llvm::enumerate(names))
    nodeNumbers.try_emplace(cast<StringAttr>(name).str(), unsigned(i + 1));
}

RemarkLog::Part RemarkLog::takeFrom(size_t first) {
  Part part(std::make_move_iterator(entries.begin() + first),
            std::make_move_iterator(entries.end()));
  entries.resize(first);
  return part;
}

void RemarkLog::add(Part part) {
  llvm::move(part, std::back_inserter(entries));
}

/// One function's remarks are in order; functions by their names, programs in
/// the order in which they were compiled.
void RemarkLog::sort() {
  std::map<std::string, size_t> programs;
  for (const Entry &entry : entries)
    programs.try_emplace(entry.program, programs.size());
  llvm::stable_sort(entries, [&](const Entry &x, const Entry &y) {
    return std::pair(programs[x.program], x.function) <
           std::pair(programs[y.program], y.function);
  });
  // A node that is several ops may meet the same decision several times.
  auto same = [](const Entry &x, const Entry &y) {
    return std::tie(x.program, x.function, x.type, x.category, x.name, x.node,
                    x.arguments) == std::tie(y.program, y.function, y.type,
                                             y.category, y.name, y.node,
                                             y.arguments);
  };
  entries.erase(std::unique(entries.begin(), entries.end(), same),
                entries.end());
}

void RemarkLog::writeText(llvm::raw_ostream &out) const {
  const Entry *before = nullptr;
  for (const Entry &entry : entries) {
    if (!before || before->program != entry.program ||
        before->function != entry.function)
      out << "remarks of " << entry.function << " for " << entry.program
          << "\n";
    before = &entry;
    std::string line = entry.node + ": " + StringRef(entry.type).lower() +
                       ": " + entry.category + ": ";
    for (auto &[key, value] : entry.arguments)
      line += value;
    // A name of the model may hold anything.
    llvm::printEscapedString(line, out);
    out << "\n";
  }
}

llvm::Error RemarkLog::write(ReportFile &file, llvm::raw_ostream &out) {
  sort();
  bool isYAML = file.name().ends_with(".yaml") || file.name().ends_with(".yml");
  auto text = [&](llvm::raw_ostream &stream) -> llvm::Error {
    if (isYAML)
      return writeYAML(stream);
    writeText(stream);
    return llvm::Error::success();
  };
  return file.write(text, out);
}

llvm::Error RemarkLog::writeYAML(llvm::raw_ostream &out) const {
  auto serializer =
      llvm::remarks::createRemarkSerializer(llvm::remarks::Format::YAML, out);
  if (!serializer)
    return serializer.takeError();
  for (const Entry &entry : entries) {
    llvm::remarks::Remark remark;
    remark.RemarkType = entry.type == "Passed"   ? llvm::remarks::Type::Passed
                        : entry.type == "Missed" ? llvm::remarks::Type::Missed
                        : StringRef(entry.type).starts_with("Fail")
                            ? llvm::remarks::Type::Failure
                            : llvm::remarks::Type::Analysis;
    remark.PassName = entry.category;
    remark.RemarkName = entry.name;
    remark.FunctionName = entry.function;
    if (entry.line != 0)
      remark.Loc =
          llvm::remarks::RemarkLocation{entry.file, entry.line, entry.column};
    auto add = [&](StringRef key, StringRef value) {
      llvm::remarks::Argument &argument = remark.Args.emplace_back();
      argument.Key = key;
      argument.Val = value;
    };
    add("Program", entry.program);
    add("String", ": ");
    add("Node", entry.node);
    add("String", ": ");
    for (auto &[key, value] : entry.arguments)
      add(key == "Remark" ? "String" : StringRef(key), value);
    (*serializer)->emit(remark);
  }
  (*serializer)->finalize();
  return llvm::Error::success();
}
