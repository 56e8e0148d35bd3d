// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the unit tests of the importer share: small models and a folder.
#ifndef ASHLAR_TEST_UNIT_IMPORT_ONNXFILE_H
#define ASHLAR_TEST_UNIT_IMPORT_ONNXFILE_H

#include "onnx-ml.pb.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"

namespace ashlar::test {

/// A folder that is gone with the object.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  /// Writes a file into it and returns its path.
  std::string write(llvm::StringRef name, llvm::StringRef bytes) const;

private:
  llvm::SmallString<128> path;
};

/// y = x * w + w with a weight of 400 raw elements, a scalar in a typed field,
/// and a node of two nested graphs that hold raw weights, too.
onnx::ModelProto exampleModel();

} // namespace ashlar::test

#endif // ASHLAR_TEST_UNIT_IMPORT_ONNXFILE_H
