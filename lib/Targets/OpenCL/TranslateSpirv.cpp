// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TranslateSpirv.h"
#include "../LLVM/RunProgram.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ashlar;

std::string ashlar::opencl::withoutScalarNulls(StringRef words) {
  // SPIR-V 1.2, sections 2.3 and 3.32.
  enum {
    Header = 5,
    TypeBool = 20,
    TypeInt = 21,
    TypeFloat = 22,
    ConstantFalse = 42,
    Constant = 43,
    ConstantNull = 46
  };
  const size_t count = words.size() / 4;
  auto word = [&](size_t i) {
    return support::endian::read32le(words.data() + 4 * i);
  };
  std::string out;
  raw_string_ostream stream(out);
  auto write = [&](uint32_t value) {
    char bytes[4];
    support::endian::write32le(bytes, value);
    stream.write(bytes, sizeof(bytes));
  };
  DenseMap<uint32_t, uint32_t> bits; // of scalar types; 0: true or false
  for (size_t i = 0; i < count;) {
    const uint32_t length = i < Header ? 1 : word(i) >> 16,
                   op = i < Header ? 0 : word(i) & 0xffff;
    if (length == 0 || length > count - i)
      break;
    if (op == TypeInt || op == TypeFloat)
      bits[word(i + 1)] = word(i + 2);
    else if (op == TypeBool)
      bits[word(i + 1)] = 0;
    if (auto type = bits.end();
        op == ConstantNull && (type = bits.find(word(i + 1))) != bits.end()) {
      const uint32_t values = divideCeil(type->second, 32);
      write((3 + values) << 16 | (values == 0 ? ConstantFalse : Constant));
      write(word(i + 1));
      write(word(i + 2));
      for (uint32_t j = 0; j != values; ++j)
        write(0);
    } else {
      stream << words.substr(4 * i, 4 * length);
    }
    i += length;
  }
  return out;
}

/// LLVM's back end writes functions for what fills and copies memory, by names
/// that llvm-spirv takes for LLVM's own, whose names it spells otherwise: they
/// are any functions, by names of the same length.
static std::string withOtherNames(std::string words) {
  constexpr StringRef before = "spirv.llvm_", after = "helper.for_";
  static_assert(before.size() == after.size());
  for (size_t at = 0; (at = words.find(before.data(), at)) != words.npos;)
    words.replace(at, after.size(), after.data());
  return words;
}

static constexpr StringRef wayOut = "compile for opencl:generic";

static Expected<std::string> findTranslator() {
  const std::string named =
      sys::Process::GetEnv("ASHLAR_LLVM_SPIRV").value_or("");
  auto found = sys::findProgramByName(named.empty() ? "llvm-spirv-15"
                                                    : StringRef(named));
  // A path is taken for what it says.
  if (found && sys::fs::can_execute(*found))
    return *found;
  return createStringError(
      named.empty()
          ? "expected the program llvm-spirv-15 in PATH, which translates "
            "kernels for drivers without SPIR-V; install it (Debian: "
            "llvm-spirv-15), name it by ASHLAR_LLVM_SPIRV, or compile for "
            "opencl:generic"
          : "ASHLAR_LLVM_SPIRV: expected the program llvm-spirv of LLVM 15, "
            "found no program '" +
                named + "'");
}

/// Why there is no bitcode.
static std::string whyNone(const ProgramRun &run, StringRef written) {
  std::string said = StringRef(run.said).trim().split('\n').first.str();
  if (run.isDone)
    return (written.empty() ? "it wrote no file" : "it wrote no LLVM bitcode") +
           (said.empty() ? "" : ", and said: " + said);
  return said.empty() ? "it failed and said nothing" : said;
}

Expected<std::string>
ashlar::opencl::translateSpirv(StringRef words, ArrayRef<StringRef> kernels) {
  auto translator = findTranslator();
  if (!translator)
    return translator.takeError();
  ScratchFolder folder("ashlar-spirv");
  if (Error error = folder.takeError())
    return error;
  if (Error error = folder.write("kernels.spv",
                                 withOtherNames(withoutScalarNulls(words))))
    return error;
  std::string in = folder.file("kernels.spv"), out = folder.file("kernels.bc");
  auto run = runProgram(*translator, {"-r", in, "-o", out}, folder,
                        {describeKernels(kernels), wayOut.str()});
  if (!run)
    return run.takeError();
  std::string bitcode = folder.read("kernels.bc");
  if (run->isDone && StringRef(bitcode).starts_with("BC"))
    return bitcode;
  return createStringError(
      "'" + *translator + "' did not translate the kernels: " +
      whyNone(*run, bitcode) + "; expected llvm-spirv of LLVM 15; name it by " +
      "ASHLAR_LLVM_SPIRV, or " + wayOut);
}
