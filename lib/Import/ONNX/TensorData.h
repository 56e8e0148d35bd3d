// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns TensorProtos into constants without copying what is large: raw data
// and external data stay in the mapped files.
#ifndef ASHLAR_LIB_IMPORT_ONNX_TENSORDATA_H
#define ASHLAR_LIB_IMPORT_ONNX_TENSORDATA_H

#include "NodeImporter.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <memory>

namespace ashlar::onnx_import {

/// The bytes of a tensor of these sizes; fails, saying why in one clause, where
/// a size is negative or no memory could hold it.
llvm::Expected<uint64_t> tensorBytes(mlir::Type element,
                                     llvm::ArrayRef<int64_t> shape);

class TensorData {
public:
  TensorData(mlir::MLIRContext *context, llvm::StringRef modelPath,
             std::shared_ptr<llvm::MemoryBuffer> file,
             const onnx::ModelProto &model)
      : context(context), modelPath(modelPath), file(std::move(file)),
        model(model) {}

  /// The value of `proto`: a splat where all elements are equal, a
  /// DenseElementsAttr when small, a resource pointing into the file otherwise.
  /// Of a type of less than a byte these are the packed bytes, in one
  /// dimension. `name` becomes the resource's key. The error is empty where the
  /// file that is at fault was named before.
  llvm::Expected<mlir::TypedAttr> convert(const onnx::TensorProto &proto,
                                          llvm::StringRef name);

  /// The external files that were read, in the order of their locations.
  std::vector<std::string> externalPaths() const;

private:
  struct Bytes {
    llvm::ArrayRef<char> data;
    std::shared_ptr<void> owner;
  };
  llvm::Expected<Bytes> locate(const onnx::TensorProto &proto,
                               uint64_t expectedBytes);
  llvm::Expected<Bytes> locateExternal(const onnx::TensorProto &proto,
                                       uint64_t expectedBytes);
  llvm::Expected<std::shared_ptr<llvm::MemoryBuffer>>
  externalFile(llvm::StringRef location);
  llvm::Error refuseFile(llvm::StringRef location, const llvm::Twine &what,
                         bool isFile = false);

  mlir::MLIRContext *context;
  std::string modelPath;
  std::shared_ptr<llvm::MemoryBuffer> file;
  const onnx::ModelProto &model;
  std::map<std::string, std::shared_ptr<llvm::MemoryBuffer>> externalFiles;
  llvm::StringSet<> refusedFiles;
};

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_TENSORDATA_H
