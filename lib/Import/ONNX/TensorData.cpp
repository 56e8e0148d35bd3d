// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorData.h"
#include "SmallTypes.h"
#include "WireScanner.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Support/InputFile.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ashlar::onnx_import;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;

/// Constants of at most this many bytes are attributes, so that folding sees
/// them; the rest stays in the file.
static constexpr uint64_t maximumInlineBytes = 1024;

static Error refuse(const Twine &message) {
  return llvm::createStringError(message.str());
}

Expected<uint64_t> ashlar::onnx_import::tensorBytes(Type element,
                                                    ArrayRef<int64_t> shape) {
  for (int64_t dim : shape)
    if (dim < 0)
      return refuse(formatv("has a negative dimension, {0}", dim));
  if (std::optional<int64_t> bytes = checkedByteSize(element, shape))
    return *bytes;
  return refuse("has more elements than memory can address");
}

/// Packs a repeated field whose entries may be wider than the element.
template <typename Element, typename Field>
static std::shared_ptr<std::vector<char>> pack(const Field &field) {
  auto bytes =
      std::make_shared<std::vector<char>>(field.size() * sizeof(Element));
  char *out = bytes->data();
  for (auto entry : field) {
    Element element = static_cast<Element>(entry);
    std::memcpy(out, &element, sizeof(element));
    out += sizeof(element);
  }
  return bytes;
}

static std::shared_ptr<std::vector<char>>
packTypedField(const onnx::TensorProto &proto) {
  switch (static_cast<ElementType>(proto.data_type())) {
  case ElementType::F32:
    return pack<float>(proto.float_data());
  case ElementType::F64:
    return pack<double>(proto.double_data());
  case ElementType::I64:
    return pack<int64_t>(proto.int64_data());
  case ElementType::U64:
    return pack<uint64_t>(proto.uint64_data());
  case ElementType::U32:
    return pack<uint32_t>(proto.uint64_data());
  case ElementType::I32:
    return pack<int32_t>(proto.int32_data());
  case ElementType::I16:
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return pack<int16_t>(proto.int32_data());
  default:
    // Bytes, whole or packed.
    return pack<int8_t>(proto.int32_data());
  }
}

static void countExternal(const onnx::GraphProto &graph, StringRef location,
                          size_t &count);

static void countExternal(const onnx::TensorProto &tensor, StringRef location,
                          size_t &count) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL)
    return;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data())
    count += entry.key() == "location" && entry.value() == location;
}

static void countExternal(const onnx::NodeProto &node, StringRef location,
                          size_t &count) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    countExternal(attribute.t(), location, count);
    countExternal(attribute.g(), location, count);
    for (const onnx::TensorProto &tensor : attribute.tensors())
      countExternal(tensor, location, count);
    for (const onnx::GraphProto &graph : attribute.graphs())
      countExternal(graph, location, count);
  }
}

static void countExternal(const onnx::GraphProto &graph, StringRef location,
                          size_t &count) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    countExternal(tensor, location, count);
  for (const onnx::NodeProto &node : graph.node())
    countExternal(node, location, count);
}

/// A file at fault is one error, whatever the number of its tensors.
Error TensorData::refuseFile(StringRef location, const Twine &what,
                             bool isFile) {
  if (!refusedFiles.insert(location).second)
    return refuse("");
  size_t tensors = 0;
  countExternal(model.graph(), location, tensors);
  for (const onnx::FunctionProto &function : model.functions())
    for (const onnx::NodeProto &node : function.node())
      countExternal(node, location, tensors);
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "external data " << (isFile ? "file" : "location") << " '";
  for (char c : location)
    out << (c ? StringRef(&c, 1) : "\\0");
  out << "' " << what;
  if (tensors > 1)
    out << "; " << tensors << " tensors of the model are to be in it";
  return refuse(text);
}

Expected<std::shared_ptr<llvm::MemoryBuffer>>
TensorData::externalFile(StringRef location) {
  if (auto it = externalFiles.find(location.str()); it != externalFiles.end())
    return it->second;
  // A file from a stranger must not read what lies outside its own folder.
  if (location.contains('\0'))
    return refuseFile(location,
                      "holds a NUL character; expected the name of a file");
  if (location.empty() || llvm::sys::path::is_absolute(location))
    return refuseFile(location,
                      "must be a path relative to the model's folder");
  // By its words first, then with the links that are really there.
  SmallString<256> inside(location);
  llvm::sys::path::remove_dots(inside, /*remove_dot_dot=*/true);
  if (*llvm::sys::path::begin(inside) == "..")
    return refuseFile(location, "leaves the model's folder");
  SmallString<256> path(llvm::sys::path::parent_path(modelPath));
  SmallString<256> folder, real;
  if (llvm::sys::fs::real_path(path.empty() ? "." : path.str(), folder))
    return refuse("cannot resolve the model's folder");
  llvm::sys::path::append(path, inside);
  if (std::error_code code = llvm::sys::fs::real_path(path, real))
    return refuseFile(location, "cannot be opened: " + code.message(), true);
  if (folder != "/")
    folder += '/';
  if (!StringRef(real).starts_with(folder))
    return refuseFile(location, "leaves the model's folder");
  auto buffer = readInputFile(real, /*isText=*/false);
  if (!buffer)
    return refuseFile(location,
                      "cannot be read: " + llvm::toString(buffer.takeError()),
                      true);
  return externalFiles[location.str()] = std::move(*buffer);
}

std::vector<std::string> TensorData::externalPaths() const {
  std::vector<std::string> paths;
  for (auto &[location, file] : externalFiles)
    paths.push_back(file->getBufferIdentifier().str());
  return paths;
}

Expected<TensorData::Bytes>
TensorData::locateExternal(const onnx::TensorProto &proto,
                           uint64_t expectedBytes) {
  StringRef location;
  uint64_t offset = 0, length = expectedBytes;
  for (const onnx::StringStringEntryProto &entry : proto.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    if (key == "location")
      location = value;
    else if ((key == "offset" && value.getAsInteger(10, offset)) ||
             (key == "length" && value.getAsInteger(10, length)))
      return refuse("external data has " + key + " '" + value +
                    "', expected a number of bytes");
  }
  if (length != expectedBytes)
    return refuse(formatv("external data has length {0}, but its type and "
                          "shape need {1} bytes",
                          length, expectedBytes));
  auto file = externalFile(location);
  if (!file)
    return file.takeError();
  uint64_t size = (*file)->getBufferSize();
  if (offset > size || length > size - offset)
    return refuse(formatv("external data file '{0}' is too short: bytes "
                          "[{1}, {2}+{3}) are needed, it has {4}",
                          location, offset, offset, length, size));
  return Bytes{{(*file)->getBufferStart() + offset, size_t(length)}, *file};
}

Expected<TensorData::Bytes> TensorData::locate(const onnx::TensorProto &proto,
                                               uint64_t expectedBytes) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return locateExternal(proto, expectedBytes);
  Bytes bytes;
  if (proto.has_raw_data()) {
    RawDataPlace place = decodePlace(proto.raw_data());
    bytes = {{file->getBufferStart() + place.offset, size_t(place.size)}, file};
  } else {
    auto packed = packTypedField(proto);
    bytes = {{packed->data(), packed->size()}, packed};
  }
  if (bytes.data.size() != expectedBytes)
    return refuse(formatv("holds {0} bytes, but its type and shape need {1}",
                          bytes.data.size(), expectedBytes));
  return bytes;
}

/// Whether all elements of `width` bytes equal the first.
static bool allEqual(ArrayRef<char> bytes, size_t width) {
  return !bytes.empty() &&
         std::memcmp(bytes.data(), bytes.end() - width, width) == 0 &&
         std::memcmp(bytes.data(), bytes.data() + width,
                     bytes.size() - width) == 0;
}

Expected<TypedAttr> TensorData::convert(const onnx::TensorProto &proto,
                                        StringRef name) {
  auto type = static_cast<ElementType>(proto.data_type());
  Type element = convertElementType(context, type);
  if (!element)
    return refuse("has element type " + elementTypeName(type) +
                  ", which is not supported");
  SmallVector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  Expected<uint64_t> size = tensorBytes(element, shape);
  if (!size)
    return size.takeError();
  if (unsigned bits = packedBits(type); bits && bits != 8) {
    *size = llvm::divideCeil(*size * bits, 8);
    shape = {int64_t(*size)};
  }
  Expected<Bytes> bytes = locate(proto, *size);
  if (!bytes)
    return bytes.takeError();
  auto tensorType = RankedTensorType::get(shape, element);
  ArrayRef<char> data = bytes->data;
  if (element.isInteger(1)) {
    // DenseElementsAttr packs bits, files hold bytes.
    SmallVector<bool> bits;
    for (char byte : data)
      bits.push_back(byte != 0);
    return TypedAttr(DenseElementsAttr::get(tensorType, bits));
  }
  size_t width = elementBytes(element);
  bool isSplat = allEqual(data, width);
  if (isSplat || *size <= maximumInlineBytes) {
    // Bounded copies: a file gives no alignment.
    SmallVector<char> aligned(data.begin(),
                              isSplat ? data.begin() + width : data.end());
    return TypedAttr(DenseElementsAttr::getFromRawBuffer(tensorType, aligned));
  }
  AsmResourceBlob blob = UnmanagedAsmResourceBlob::allocateWithAlign(
      data, /*align=*/1, [owner = bytes->owner](void *, size_t, size_t) {});
  return TypedAttr(
      DenseResourceElementsAttr::get(tensorType, name, std::move(blob)));
}
