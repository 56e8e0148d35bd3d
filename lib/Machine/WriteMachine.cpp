// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MachineFields.h"
#include "ashlar/Machine/MachineFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace ashlar;
using llvm::StringRef;

namespace {
/// The visitor that writes; fields come in the order of MachineFields.h.
class Writer {
public:
  Writer(llvm::json::OStream &out, bool withSources)
      : out(out), withSources(withSources) {}

  void text(StringRef key, const std::string &value) {
    out.attribute(key, value);
  }
  void optionalText(StringRef key, const std::string &value) {
    if (!value.empty())
      text(key, value);
  }
  void texts(StringRef key, const std::vector<std::string> &values) {
    out.attributeArray(key, [&] {
      for (const std::string &value : values)
        out.value(value);
    });
  }
  void optionalTexts(StringRef key, const std::vector<std::string> &values) {
    if (!values.empty())
      texts(key, values);
  }
  template <typename T> void figure(StringRef key, const T &value, T) {
    out.attribute(key, value);
  }
  template <typename T>
  void optional(StringRef key, const T &value, T, T unlessGiven) {
    if (value != unlessGiven)
      out.attribute(key, value);
  }
  void capacity(StringRef key, const int64_t &value) {
    optional(key, value, int64_t(1), int64_t(0));
  }
  void flag(StringRef key, const bool &value) {
    if (value)
      out.attribute(key, value);
  }
  void sources(const Sources &sources) {
    if (!withSources || sources.empty())
      return;
    if (sources.size() == 1 && sources.begin()->first.empty())
      return out.attribute("source", sources.begin()->second);
    out.attributeObject("source", [&] {
      for (const auto &[name, source] : sources)
        out.attribute(name, source);
    });
  }
  template <typename T> void object(StringRef key, const T &value) {
    out.attributeObject(key, [&] { visitFields(*this, value); });
  }
  template <typename T>
  void part(StringRef key, const std::optional<T> &value) {
    if (value)
      object(key, *value);
  }
  template <typename T> void list(StringRef key, const std::vector<T> &values) {
    out.attributeArray(key, [&] {
      for (const T &value : values)
        out.object([&] { visitFields(*this, value); });
    });
  }

  template <typename T>
  void optionalList(StringRef key, const std::vector<T> &values) {
    if (!values.empty())
      list(key, values);
  }

private:
  llvm::json::OStream &out;
  bool withSources;
};

std::string print(const MachineModel &machine, bool pretty, bool withSources) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream out(stream, pretty ? 2 : 0);
  Writer writer(out, withSources);
  out.object([&] { visitFields(writer, machine); });
  return text;
}
} // namespace

std::string ashlar::printMachine(const MachineModel &machine, bool pretty) {
  return print(machine, pretty, /*withSources=*/true);
}

std::string ashlar::machineDigest(const MachineModel &machine) {
  llvm::SHA256 hash;
  hash.update(print(machine, /*pretty=*/false, /*withSources=*/false));
  auto digest = hash.final();
  return llvm::toHex(digest, /*LowerCase=*/true);
}
