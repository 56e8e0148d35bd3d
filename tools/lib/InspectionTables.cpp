// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module and its machines as text for people.

#include "ModuleDescription.h"

#include "Bytes.h"
#include "EntryPieces.h"
#include "Failure.h"
#include "IndexVerifier.h"
#include "SizeExpression.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>

namespace ashlar::tools {

using namespace ashlar::runtime;

static std::string pad(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

static std::string tensorLine(const char *role,
                              const fb::TensorDescription &tensor,
                              const fb::Module &index,
                              const std::function<bool(uint32_t)> &isBound) {
  std::string shape;
  for (size_t j = 0; j < count(tensor.shape()); ++j)
    shape += std::string(j ? "x" : "") + (isBound(uint32_t(j)) ? "<=" : "") +
             std::string(
                 sizeText(*tensor.shape()->Get(uint32_t(j)), index.symbols()));
  return std::string("  ") + role + "  " + pad(textOf(tensor.name()), 24) +
         " " + pad(ashlar_element_type_name(uint32_t(tensor.type())), 5) + " " +
         (shape.empty() ? "scalar" : shape) + "\n";
}

static std::string contractLine(const char *name, uint64_t bytes,
                                const char *note) {
  return "  " + pad(name, 16) + pad(formatBytes(bytes), 12) + note + "\n";
}

static std::string contractTable(const ashlar_contract_t &contract,
                                 const std::string &companions) {
  auto line = contractLine;
  return line("weights", contract.weights_bytes, "once per module") +
         line("code", contract.code_bytes, "once per module") +
         line("arena", contract.arena_bytes, "per session") +
         line("  lower bound", contract.arena_lower_bound_bytes,
              "no plan needs less") +
         line("outputs", contract.outputs_bytes, "if the session owns them") +
         line("staging", contract.staging_bytes, "if inputs are unaligned") +
         line("scratch", contract.scratch_bytes_per_worker, "per thread") +
         companions + line("peak", contract.peak_bytes, "with one thread") +
         (contract.state_bytes
              ? line("states", contract.state_bytes, "the caller's, besides")
              : "");
}

/// Further devices apart.
static std::string contractTable(const fb::Contract &contract,
                                 const fb::Program &program) {
  auto line = contractLine;
  std::string companions;
  for (uint32_t i = 0; i < count(contract.companions()); ++i) {
    const fb::CompanionContract &other = *contract.companions()->Get(i);
    companions += "  on " + targetName(*program.companions()->Get(i)) + "\n" +
                  line("  weights", other.weights_bytes(), "once per module") +
                  line("  code", other.code_bytes(), "once per module") +
                  line("  arena", other.arena_bytes(), "per session") +
                  line("    lower bound", other.arena_lower_bound_bytes(),
                       "no plan needs less");
  }
  return contractTable(contractOfHost(contract), companions);
}

/// The beginning of a text on one line: control characters are shown as dots.
static std::string excerpt(const std::string &text, size_t most) {
  std::string line = text.substr(0, most);
  if (line.size() < text.size())
    // No part of a character of UTF-8 stays.
    while (!line.empty() &&
           (static_cast<unsigned char>(text[line.size()]) & 0xc0) == 0x80)
      line.pop_back();
  for (char &c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      c = '.';
  return line.size() < text.size()
             ? line + "... (" + formatBytes(text.size()) + ")"
             : line;
}

static std::string metadataTable(const fb::Module &index) {
  std::string text = count(index.metadata()) ? "\nmetadata\n" : "";
  for (size_t i = 0; i < count(index.metadata()); ++i) {
    const fb::Metadata &metadata = *index.metadata()->Get(uint32_t(i));
    text += "  " + pad(excerpt(textOf(metadata.key()), 60), 24) + " " +
            excerpt(textOf(metadata.value()), 48) + "\n";
  }
  return text;
}

std::string Inspection::table() const {
  const fb::Module &index = parts->index();
  std::string text = "file      " + formatBytes(parts->file->size()) +
                     ", format " +
                     std::to_string(parts->file->header().major_version) + "." +
                     std::to_string(parts->file->header().minor_version) + "\n";
  if (const fb::Provenance *from = index.provenance()) {
    text += "made by   ashlar " + textOf(from->version());
    for (size_t i = 0; i < count(from->flags()); ++i)
      text += " " + textOf(from->flags()->Get(uint32_t(i)));
    text += "\n";
    for (size_t i = 0; i < count(from->precision()); ++i)
      text += (i ? "          " : "precision ") +
              textOf(from->precision()->Get(uint32_t(i))) + "\n";
  }
  text += "weights   " + std::to_string(count(index.weights())) + "\n";
  for (size_t i = 0; i < count(index.entries()); ++i) {
    const fb::Entry &entry = *index.entries()->Get(uint32_t(i));
    text += "\nentry " + textOf(entry.name()) + "\n";
    for (size_t j = 0; j < count(entry.inputs()); ++j)
      text += tensorLine("in ", *entry.inputs()->Get(uint32_t(j)), index,
                         [](uint32_t) { return false; });
    for (uint32_t j = 0; j < count(entry.outputs()); ++j)
      text +=
          tensorLine("out", *entry.outputs()->Get(j), index, [&](uint32_t dim) {
            return isBoundDim(index, parts->program(), uint32_t(i), j, dim);
          });
  }
  text += metadataTable(index) + "\nprograms\n";
  for (size_t start = 0; start < parts->choice.log.size();) {
    size_t end = parts->choice.log.find('\n', start);
    text += "  " + parts->choice.log.substr(start, end - start) + "\n";
    start = end + 1;
  }
  if (!parts->runsHere)
    return text;
  const fb::Program &program = *index.programs()->Get(parts->choice.program);
  for (uint32_t i = 0; i < count(index.entries()); ++i)
    if (auto whole = parts->wholeContract(i))
      text += "\nmemory of " + textOf(index.entries()->Get(i)->name()) +
              ", the most of all sizes\n" + contractTable(*whole, "");
  for (const fb::ProgramEntry *entry : allEntries(program)) {
    std::string sizes(rangesText(index, *entry));
    text += "\nmemory of " +
            textOf(index.entries()->Get(entry->entry())->name()) +
            (sizes.empty() ? "" : " for " + sizes) + "\n" +
            contractTable(*entry->contract(), program);
  }
  return text;
}

/// A value for each symbol, as "N=2,W=320" says.
static std::vector<int64_t> readSizes(const fb::Module &index,
                                      const std::string &text) {
  std::string form, ranges;
  std::vector<int64_t> sizes(count(index.symbols()), -1);
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    const fb::Symbol &symbol = *index.symbols()->Get(i);
    form += (i ? "," : "") + textOf(symbol.name()) + "=" +
            std::to_string(symbol.maximum());
  }
  auto refuse = [&](const std::string &why) {
    throw Failure(WrongUsage,
                  "--sizes=" + text + ": " + why +
                      (form.empty() ? "" : "; type --sizes=" + form));
  };
  if (sizes.empty())
    refuse("the module leaves no sizes open");
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    size_t equals = std::min(part.find('='), part.size());
    uint32_t number = 0;
    while (number < sizes.size() &&
           textOf(index.symbols()->Get(number)->name()) !=
               part.substr(0, equals))
      ++number;
    const char *first = part.c_str() + std::min(equals + 1, part.size());
    int64_t value = -1;
    auto [last, error] =
        std::from_chars(first, part.c_str() + part.size(), value);
    if (number == sizes.size() || sizes[number] != -1 || error != std::errc() ||
        last != part.c_str() + part.size())
      refuse("expected a value for each size, found '" + part + "'");
    const fb::Symbol &symbol = *index.symbols()->Get(number);
    if (value < symbol.minimum() || value > symbol.maximum() ||
        value % symbol.step() != 0)
      refuse(textOf(symbol.name()) + " is " + std::to_string(value) +
             "; the module was compiled for " +
             std::to_string(symbol.minimum()) + " to " +
             std::to_string(symbol.maximum()) +
             (symbol.step() == 1
                  ? ""
                  : ", multiples of " + std::to_string(symbol.step())));
    sizes[number] = value;
  }
  if (std::find(sizes.begin(), sizes.end(), -1) != sizes.end())
    refuse("expected a value for each size");
  return sizes;
}

std::string Inspection::contractAt(const std::string &text,
                                   const std::string &name, bool asJson) const {
  const fb::Module &index = parts->index();
  const fb::Program &program = parts->program();
  std::vector<int64_t> sizes = readSizes(index, text);
  const fb::ProgramEntry &first = entryNamed(index, program, name);
  Vector<const fb::ProgramEntry *> pieces;
  for (const fb::ProgramEntry *piece : allEntries(program))
    if (piece->entry() == first.entry())
      pieces.push_back(piece);
  const fb::ProgramEntry *piece = nullptr;
  check(findPiece(index, pieces, sizes.data(), piece));
  const fb::Entry &entry = *index.entries()->Get(first.entry());
  ashlar_contract_t contract;
  // Of all pieces, weights and code are loaded.
  check(parts->planned
            ? contractOfCall(parts->planned->entries[first.entry()], *piece,
                             sizes.data(), contract)
            : runtime::contractAt(entry, *piece, sizes.data(), contract));
  std::string of(rangesText(index, *piece));
  if (asJson)
    return contractAtJson(index, entry, sizes, of, contract);
  return "memory of " + textOf(entry.name()) + " at " + text +
         (of.empty() ? "" : ", with the piece for " + of) + "\n" +
         contractTable(contract, "");
}

static std::string describeMachine(const std::string &target,
                                   const fb::Machine *machine) {
  std::string text = "\nmachine of " + target + "\n";
  if (!machine)
    return text + "  not in this file\n";
  return text + "  sha256 " + textOf(machine->sha256()) + "\n" +
         machineJson(machine)["model"].dump(2, ' ', false,
                                            Json::error_handler_t::replace) +
         "\n";
}

std::string Inspection::machineText() const {
  std::string text;
  for (size_t p = 0; p < count(parts->index().programs()); ++p) {
    const fb::Program &program = *parts->index().programs()->Get(uint32_t(p));
    text += describeMachine(targetName(program), program.machine());
    for (uint32_t i = 0; i < count(program.companions()); ++i) {
      const fb::Companion &companion = *program.companions()->Get(i);
      text += describeMachine(targetName(companion), companion.machine());
    }
  }
  return text;
}

} // namespace ashlar::tools
