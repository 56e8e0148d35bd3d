// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/Tuning.h"
#include "ashlar/Machine/MachineFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace ashlar;

const TuningEntry *StrategyTuning::find(llvm::StringRef contraction) const {
  if (!isUsed())
    return nullptr;
  auto entry = table->entries.find(contraction.str());
  return entry == table->entries.end() ? nullptr : &entry->second;
}

void StrategyTuning::list(ListedContraction contraction) {
  std::lock_guard<std::mutex> lock(mutex);
  auto [known, isNew] = listed.emplace(contraction.contraction, contraction);
  if (isNew)
    return;
  for (std::vector<std::string> &place : contraction.places)
    known->second.places.push_back(std::move(place));
}

void StrategyTuning::refuse() {
  std::lock_guard<std::mutex> lock(mutex);
  refused = true;
}

bool StrategyTuning::isRefused() const {
  std::lock_guard<std::mutex> lock(mutex);
  return refused;
}

static void print(llvm::json::OStream &json, llvm::StringRef key,
                  const std::vector<int64_t> &numbers) {
  json.attributeArray(key, [&] {
    for (int64_t number : numbers)
      json.value(number);
  });
}

void StrategyTuning::printList(llvm::StringRef version,
                               const MachineModel &machine,
                               llvm::raw_ostream &out) const {
  llvm::json::OStream json(out, /*IndentSize=*/1);
  auto printContraction = [&](ListedContraction contraction) {
    // Entry points may have been visited in any order.
    llvm::sort(contraction.places);
    json.attribute("contraction", contraction.contraction);
    json.attributeArray("places", [&] {
      for (const std::vector<std::string> &nodes : contraction.places)
        json.array([&] {
          for (const std::string &node : nodes)
            json.value(llvm::json::fixUTF8(node));
        });
    });
    json.attributeArray("candidates", [&] {
      for (const auto &candidate : contraction.candidates)
        json.object([&] {
          print(json, "box", candidate.choice.box);
          if (!candidate.choice.order.empty())
            print(json, "order", candidate.choice.order);
          json.attribute("cycles", candidate.cycles);
        });
    });
  };
  json.object([&] {
    json.attribute("format", 1);
    json.attribute("version", version);
    json.attributeObject("machine", [&] {
      json.attribute("name", machine.name);
      json.attribute("sha256", machineDigest(machine));
    });
    json.attributeArray("contractions", [&] {
      for (const auto &each : listed)
        json.object([&] { printContraction(each.second); });
    });
  });
  out << "\n";
}
