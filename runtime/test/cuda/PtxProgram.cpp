// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxProgram.h"

#include "PtxDecoder.h"

using namespace ashlar::ptx;

Program::Program(Module of, Memory &memory)
    : parsed(std::move(of)), device(&memory) {
  try {
    placeVariables();
    // All are there before any is decoded, as they call each other.
    for (auto &[name, function] : parsed.functions) {
      if (!function->isDefined)
        continue;
      auto &code = codes[name] = std::make_unique<Code>();
      code->function = function.get();
    }
    for (auto &[name, code] : codes)
      Decoder(*this, *code).decodeAll();
  } catch (...) {
    releaseVariables();
    throw;
  }
}

Program::~Program() { releaseVariables(); }

void Program::releaseVariables() {
  for (auto &[name, address] : addresses)
    device->release(address);
  addresses.clear();
}

void Program::setRegisters(const Instruction &of, const uint32_t *slots,
                           size_t number) {
  if (registers.size() <= of.index)
    registers.resize(of.index + 1);
  registers[of.index] = {slots, number};
}

void Program::placeVariables() {
  for (auto &each : parsed.variables)
    if (!each->isExtern && each->size > 0) {
      uint64_t address =
          device->allocate(each->size, each->space == Space::Const, each->name);
      if (!address)
        throw Error("no memory for the variable '" + each->name + "' of " +
                    std::to_string(each->size) + " bytes");
      addresses[each->name] = address;
    }
  for (auto &each : parsed.variables) {
    auto at = addresses.find(each->name);
    if (at == addresses.end())
      continue;
    uint8_t *host = device->onHost(at->second, each->size);
    // What has no value is zero.
    std::memset(host, 0, each->size);
    std::memcpy(host, each->initial.data(), each->initial.size());
    for (const Variable::Pointer &pointer : each->pointers) {
      auto to = addresses.find(pointer.to);
      if (to == addresses.end())
        throw Error("the variable '" + each->name + "' points to '" +
                    pointer.to + "', which is defined nowhere");
      uint64_t address = to->second + uint64_t(pointer.plus);
      std::memcpy(host + pointer.at, &address, 8);
    }
  }
}

const Code *Program::kernel(const std::string &name) const {
  auto found = codes.find(name);
  return found != codes.end() && found->second->function->isEntry
             ? found->second.get()
             : nullptr;
}

uint64_t Program::addressOf(const std::string &name, uint64_t *size) const {
  auto found = addresses.find(name);
  if (found == addresses.end())
    return 0;
  if (size)
    for (auto &each : parsed.variables)
      if (each->name == name)
        *size = each->size;
  return found->second;
}

std::string Program::quote(uint32_t line) const {
  std::string text = "line " + std::to_string(line);
  if (line == 0 || line > parsed.lines.size())
    return text;
  const std::string &quoted = parsed.lines[line - 1];
  size_t begin = quoted.find_first_not_of(" \t");
  if (begin == quoted.npos)
    return text;
  text += ": ";
  // Tabs are for eyes that see columns.
  for (char c : quoted.substr(begin))
    text += c == '\t' ? ' ' : c;
  return text;
}
