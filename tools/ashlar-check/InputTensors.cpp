// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "InputTensors.h"
#include "Failure.h"
#include "TensorFile.h"

using namespace ashlar;

/// "random", "random:7" or a file.
static tools::Tensor make(const std::string &text, const std::string &name,
                          uint32_t type, const std::vector<int64_t> &shape) {
  if (text == "random")
    return tools::randomTensor(name, 0, type, shape);
  if (text.rfind("random:", 0) == 0)
    return tools::randomTensor(name, std::stoull(text.substr(7)), type, shape);
  return tools::readTensorFile(text);
}

check::InputSource
check::inputsFrom(std::map<std::string, std::string> sources) {
  return
      [sources = std::move(sources)](const std::string &name, uint32_t type,
                                     const std::vector<int64_t> &shape,
                                     std::vector<char> &bytes) -> std::string {
        auto source = sources.find(name);
        std::string text = source == sources.end() ? "random" : source->second;
        std::string place = "--input=" + name + "=" + text + ": ";
        try {
          tools::Tensor tensor = make(text, name, type, shape);
          if (tensor.type() != type || tensor.shape() != shape)
            return place + "expected " + ashlar_element_type_name(type) + " " +
                   tools::shapeText(shape) + ", found " +
                   ashlar_element_type_name(tensor.type()) + " " +
                   tools::shapeText(tensor.shape());
          bytes.assign(tensor.data(), tensor.data() + tensor.bytes());
          return "";
        } catch (const std::exception &error) {
          return place + error.what();
        }
      };
}
