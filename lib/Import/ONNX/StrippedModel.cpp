// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StrippedModel.h"
#include "WireScanner.h"
#include "ashlar/Support/InputFile.h"

using namespace ashlar;
using namespace ashlar::onnx_import;

std::optional<StrippedModel>
ashlar::onnx_import::readStrippedModel(llvm::StringRef path) {
  auto file = readInputFile(path, /*isText=*/false);
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  auto stripped = stripRawData((*file)->getBuffer());
  if (!stripped) {
    llvm::consumeError(stripped.takeError());
    return std::nullopt;
  }
  StrippedModel found{std::move(*file), {}};
  if (!found.model.ParseFromString(*stripped))
    return std::nullopt;
  return found;
}
