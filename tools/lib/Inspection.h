// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a module file says about itself, for people and for programs.

#ifndef ASHLAR_TOOLS_LIB_INSPECTION_H
#define ASHLAR_TOOLS_LIB_INSPECTION_H

#include <memory>
#include <string>

namespace ashlar::tools {

class Inspection {
public:
  /// Maps and checks the file; runs nothing of it, so modules of other
  /// machines can be looked at. Throws a Failure.
  /// With keys, 32 bytes each, only what one of them has signed.
  explicit Inspection(const std::string &path, const std::string &keys = "");
  ~Inspection();

  std::string json() const;
  std::string table() const;
  /// In lines of at most `columns` characters, see TextTable::format.
  std::string kernelTable(size_t columns) const;
  /// The machine code of a kernel, of each program that has one of that name.
  std::string disassembly(const std::string &name) const;
  /// What each kernel for a systolic machine would cost on it, region by
  /// region, and all launches together; as a JSON array of programs where
  /// asked. Throws a Failure where no program is for one.
  std::string utilisation(bool asJson) const;
  /// Each of the model's nodes with its kernels; no node is missing.
  std::string nodeTable(size_t columns) const;
  /// What lies where in the arena of the program that this machine would take,
  /// else of the first: for `path` in .svg a picture, in .html a page. Of the
  /// entry of that name, empty for the first. Throws a Failure of wrong usage
  /// for other paths, and where there is no such entry.
  std::string memoryMap(const std::string &path,
                        const std::string &entry) const;
  /// A page of its commands, for `path` in .html.
  std::string graph(const std::string &path, const std::string &entry) const;
  /// What an entry costs at "N=2,W=320", a value for each symbol, in the
  /// program that this machine would take, else in the first. Throws a Failure
  /// of wrong usage for another form, and where the module is not for these
  /// sizes. As a JSON object where asked.
  std::string contractAt(const std::string &sizes, const std::string &entry,
                         bool asJson) const;
  /// The machine model of each program, as a file that ashlar-compile reads.
  std::string machineText() const;
  /// Hashes weights and code. Throws a Failure naming the section that
  /// differs.
  void verify() const;

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_INSPECTION_H
