// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CalibrationFolder.h"
#include "TensorFile.h"
#include <algorithm>
#include <filesystem>

using namespace ashlar;
namespace fs = std::filesystem;

/// The file of one input, or an empty path.
static fs::path find(const fs::path &set, size_t number, std::string name) {
  // Names of inputs may hold what names of files cannot.
  std::replace(name.begin(), name.end(), '/', '_');
  std::error_code code;
  for (const std::string &stem : {name, "input_" + std::to_string(number)})
    for (const char *ending : {".npy", ".pb"})
      if (fs::is_regular_file(set / (stem + ending), code))
        return set / (stem + ending);
  return {};
}

static Refusal read(const fs::path &set, size_t number, const std::string &name,
                    uint32_t type, const std::vector<int64_t> &shape,
                    std::vector<char> &bytes) {
  fs::path file = find(set, number, name);
  if (file.empty())
    return set.string() + ": expected a file for input '" + name + "', " +
           name + ".npy, .pb or input_" + std::to_string(number) +
           ".npy, .pb, found none";
  try {
    tools::Tensor tensor = tools::readTensorFile(file.string());
    if (tensor.type() != type || tensor.shape() != shape)
      return file.string() + ": expected " + ashlar_element_type_name(type) +
             " " + tools::shapeText(shape) + " for input '" + name +
             "', found " + ashlar_element_type_name(tensor.type()) + " " +
             tools::shapeText(tensor.shape());
    bytes.assign(tensor.data(), tensor.data() + tensor.bytes());
    return std::nullopt;
  } catch (const std::exception &error) {
    return error.what();
  }
}

Refusal ashlar::openCalibrationFolder(const std::string &folder,
                                      CalibrationInputs &inputs) {
  std::error_code code;
  std::vector<fs::path> sets;
  bool hasFiles = false;
  for (fs::directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code)) {
    std::string ending = at->path().extension().string();
    if (at->is_directory())
      sets.push_back(at->path());
    else
      hasFiles |= ending == ".npy" || ending == ".pb";
  }
  if (code)
    return code.message();
  if (hasFiles)
    sets = {folder};
  if (sets.empty())
    return "expected files NAME.npy or NAME.pb, or folders of them, found "
           "none";
  std::sort(sets.begin(), sets.end());
  inputs.sets = sets.size();
  inputs.source = [sets](size_t set, size_t number, const std::string &name,
                         uint32_t type, const std::vector<int64_t> &shape,
                         std::vector<char> &bytes) {
    return read(sets[set], number, name, type, shape, bytes);
  };
  return std::nullopt;
}
