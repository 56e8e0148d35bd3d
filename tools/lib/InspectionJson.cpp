// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module as JSON.

#include "ModuleDescription.h"

#include "EntryPieces.h"
#include "IndexVerifier.h"
#include "SizeExpression.h"

#include <functional>

namespace ashlar::tools {

using namespace ashlar::runtime;

/// A number, or text where symbols or pieces decide.
static Json sizeJson(const fb::SizeExpression &size, const fb::Module &index,
                     bool isBound) {
  int64_t value = 0;
  if (isBound)
    return "<=" + sizeText(size, index.symbols());
  if (isConstantSize(size) && evaluateSize(size, nullptr, value))
    return value;
  return sizeText(size, index.symbols());
}

static Json tensorsJson(
    const flatbuffers::Vector<flatbuffers::Offset<fb::TensorDescription>>
        *tensors,
    const fb::Module &index,
    const std::function<bool(uint32_t, uint32_t)> &isBound) {
  Json list = Json::array();
  for (size_t i = 0; i < count(tensors); ++i) {
    const fb::TensorDescription &tensor = *tensors->Get(uint32_t(i));
    Json shape = Json::array();
    for (size_t j = 0; j < count(tensor.shape()); ++j)
      shape.push_back(sizeJson(*tensor.shape()->Get(uint32_t(j)), index,
                               isBound(uint32_t(i), uint32_t(j))));
    list.push_back({{"name", textOf(tensor.name())},
                    {"type", ashlar_element_type_name(uint32_t(tensor.type()))},
                    {"shape", shape}});
  }
  return list;
}

static void setFigures(Json &json, const ashlar_contract_t &contract) {
  json["weights_bytes"] = contract.weights_bytes;
  json["code_bytes"] = contract.code_bytes;
  json["arena_bytes"] = contract.arena_bytes;
  json["arena_lower_bound_bytes"] = contract.arena_lower_bound_bytes;
  json["outputs_bytes"] = contract.outputs_bytes;
  json["staging_bytes"] = contract.staging_bytes;
  json["scratch_bytes_per_worker"] = contract.scratch_bytes_per_worker;
  json["peak_bytes"] = contract.peak_bytes;
  if (contract.state_bytes)
    json["state_bytes"] = contract.state_bytes;
}

std::string contractAtJson(const fb::Module &index, const fb::Entry &entry,
                           const std::vector<int64_t> &sizes,
                           const std::string &piece,
                           const ashlar_contract_t &contract) {
  Json out = {{"entry", textOf(entry.name())}, {"sizes", Json::object()}};
  for (uint32_t i = 0; i < sizes.size(); ++i)
    out["sizes"][textOf(index.symbols()->Get(i)->name())] = sizes[i];
  out["piece"] = piece.empty() ? Json() : Json(piece);
  setFigures(out["contract"] = Json::object(), contract);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Figures of the first device; those of others stand apart, and in the peak.
static Json contractJson(const fb::Contract &contract,
                         const fb::Program &program) {
  Json devices = {textOf(program.device_type())}, companions = Json::array();
  for (uint32_t i = 0; i < count(contract.companions()); ++i) {
    const fb::CompanionContract &other = *contract.companions()->Get(i);
    const fb::Companion &device = *program.companions()->Get(i);
    devices.push_back(textOf(device.device_type()));
    companions.push_back(
        {{"target", targetName(device)},
         {"weights_bytes", other.weights_bytes()},
         {"code_bytes", other.code_bytes()},
         {"arena_bytes", other.arena_bytes()},
         {"arena_lower_bound_bytes", other.arena_lower_bound_bytes()}});
  }
  Json out = Json::object();
  setFigures(out, contractOfHost(contract));
  out["devices"] = devices;
  out["companions"] = companions;
  return out;
}

/// The entry with the largest peak speaks for its program.
static Json programContract(const fb::Program &program) {
  const fb::Contract *worst = nullptr;
  for (const fb::ProgramEntry *entry : allEntries(program)) {
    const fb::Contract *one = entry->contract();
    if (!worst || one->peak_bytes() > worst->peak_bytes())
      worst = one;
  }
  return worst ? contractJson(*worst, program) : Json();
}

/// Of entries that have pieces: the sizes and the contract of each.
static Json piecesJson(const fb::Program &program, const fb::Module &index) {
  Json pieces = Json::array();
  for (const fb::ProgramEntry *piece : allEntries(program)) {
    if (!piece->ranges())
      continue;
    Json ranges = Json::object();
    for (uint32_t i = 0; i < count(piece->ranges()); ++i) {
      const fb::SizeRange &range = *piece->ranges()->Get(i);
      ranges[textOf(index.symbols()->Get(i)->name())] = {
          {"minimum", range.minimum()},
          {"maximum", range.maximum()},
          {"step", range.step()}};
    }
    pieces.push_back(
        {{"entry", textOf(index.entries()->Get(piece->entry())->name())},
         {"sizes", ranges},
         {"contract", contractJson(*piece->contract(), program)}});
  }
  return pieces;
}

static Json costJson(const fb::SizeExpression *size) {
  return size ? Json(size->constant()) : Json();
}

static Json
stringsJson(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>
                *strings) {
  Json list = Json::array();
  for (size_t i = 0; i < count(strings); ++i)
    list.push_back(textOf(strings->Get(uint32_t(i))));
  return list;
}

/// Of the device's kernels in the first form that it takes, and in others.
static Json executablesJson(const fb::Program &program,
                            const fb::Module &index) {
  Json list = Json::array();
  for (uint32_t i = 0; i < count(program.executables()); ++i) {
    const fb::Executable &one = *program.executables()->Get(i);
    const fb::Section &section = *index.sections()->Get(one.section());
    Json form = {{"format", textOf(one.format())},
                 {"bytes", section.size()},
                 {"device", one.device()}};
    if (uint32_t of = variantOf(one))
      form["variant_of"] = of - 1;
    if (present(one.made_by()))
      form["made_by"] = textOf(one.made_by());
    list.push_back(std::move(form));
  }
  return list;
}

/// null: no assembler was asked.
static Json resourcesJson(const fb::KernelResources *of) {
  if (!of)
    return Json();
  return {
      {"registers", of->registers()},      {"shared_bytes", of->shared_bytes()},
      {"stack_bytes", of->stack_bytes()},  {"spill_bytes", of->spill_bytes()},
      {"groups_per_worker", of->groups()}, {"occupancy", of->occupancy()}};
}

static Json programJson(const fb::Program &program, const fb::Module &index) {
  Json kernels = Json::array();
  std::vector<uint64_t> launches = countLaunches(program);
  for (size_t i = 0; i < count(program.kernels()); ++i) {
    const fb::Kernel &kernel = *program.kernels()->Get(uint32_t(i));
    const fb::Companion *companion = companionOf(program, kernel);
    double hz = clockHz(companion ? companion->machine() : program.machine());
    kernels.push_back(
        {{"name", textOf(kernel.name())},
         {"target", companion ? targetName(*companion) : targetName(program)},
         {"nodes", stringsJson(kernel.nodes())},
         {"operators", stringsJson(kernel.operators())},
         {"buffers", stringsJson(kernel.buffers())},
         {"flops", costJson(kernel.flops())},
         {"bytes", costJson(kernel.bytes())},
         {"launches", launches[i]},
         {"bound", textOf(kernel.bound())},
         {"bound_cycles", kernel.bound_cycles()},
         {"bound_us",
          hz > 0 ? Json(double(kernel.bound_cycles()) / hz * 1e6) : Json()},
         {"code_bytes", kernel.code_bytes()},
         {"scratch_bytes", kernel.scratch_bytes()},
         {"resources", resourcesJson(kernel.resources())}});
  }
  Json companions = Json::array();
  for (uint32_t i = 0; i < count(program.companions()); ++i) {
    const fb::Companion &companion = *program.companions()->Get(i);
    companions.push_back(
        {{"target", textOf(companion.target())},
         {"preset", textOf(companion.preset())},
         {"device_type", textOf(companion.device_type())},
         {"required_features", stringsJson(companion.required_features())},
         {"machine", machineJson(companion.machine())}});
  }
  return {{"target", textOf(program.target())},
          {"preset", textOf(program.preset())},
          {"device_type", textOf(program.device_type())},
          {"required_features", stringsJson(program.required_features())},
          {"companions", companions},
          {"executables", executablesJson(program, index)},
          {"machine", machineJson(program.machine())},
          {"predicted_ns", program.predicted_ns()},
          {"contract", programContract(program)},
          {"pieces", piecesJson(program, index)},
          {"kernels", kernels},
          {"nodes", nodesJson(program)}};
}

std::string Inspection::json() const {
  const fb::Module &index = parts->index();
  Json out;
  out["format_version"] = {parts->file->header().major_version,
                           parts->file->header().minor_version};
  out["file_bytes"] = parts->file->size();
  out["entries"] = Json::array();
  bool hasPieces = count(parts->program().pieces()) != 0;
  for (uint32_t i = 0; i < count(index.entries()); ++i) {
    const fb::Entry &entry = *index.entries()->Get(i);
    // What data decides is a number, the largest.
    auto isBound = [&](uint32_t output, uint32_t dim) {
      return hasPieces && isBoundDim(index, parts->program(), i, output, dim);
    };
    out["entries"].push_back(
        {{"name", textOf(entry.name())},
         {"inputs", tensorsJson(entry.inputs(), index,
                                [](uint32_t, uint32_t) { return false; })},
         {"outputs", tensorsJson(entry.outputs(), index, isBound)}});
  }
  out["contract"] = Json();
  out["devices"] = Json::array();
  if (parts->runsHere) {
    out["contract"] =
        programContract(*index.programs()->Get(parts->choice.program));
    for (uint32_t i = 0; i < count(index.entries()); ++i)
      if (auto whole = parts->wholeContract(i);
          whole &&
          whole->peak_bytes > out["contract"]["peak_bytes"].get<uint64_t>())
        setFigures(out["contract"], *whole);
    for (const ashlar_device_t *device : parts->choice.devices)
      out["devices"].push_back(device->name);
    if (out["contract"].is_object())
      out["contract"]["devices"] = out["devices"];
  }
  out["placement"] = parts->choice.log;
  out["programs"] = Json::array();
  for (size_t i = 0; i < count(index.programs()); ++i)
    out["programs"].push_back(
        programJson(*index.programs()->Get(uint32_t(i)), index));
  const fb::Provenance *from = index.provenance();
  out["provenance"] = {
      {"version", from ? textOf(from->version()) : ""},
      {"flags", stringsJson(from ? from->flags() : nullptr)},
      {"model_sha256", from ? textOf(from->model_sha256()) : ""},
      {"precision", stringsJson(from ? from->precision() : nullptr)}};
  uint64_t random = 0;
  for (size_t i = 0; i < count(index.weights()); ++i)
    if (const fb::Weight *weight = index.weights()->Get(uint32_t(i));
        weight->random())
      random += weight->size();
  if (random != 0)
    out["random_weights_bytes"] = random;
  // Keys are known to differ; to look for each would take long for many.
  Json::object_t metadata;
  for (size_t i = 0; i < count(index.metadata()); ++i) {
    const fb::Metadata &entry = *index.metadata()->Get(uint32_t(i));
    metadata.Json::object_t::Container::emplace_back(textOf(entry.key()),
                                                     textOf(entry.value()));
  }
  out["metadata"] = std::move(metadata);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace ashlar::tools
