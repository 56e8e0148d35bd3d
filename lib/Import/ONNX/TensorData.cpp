// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorData.h"
#include "SmallTypes.h"
#include "WireScanner.h"
#include "ashlar/Analysis/ByteSize.h"
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

Expected<std::shared_ptr<llvm::MemoryBuffer>>
TensorData::externalFile(StringRef location) {
  if (auto it = externalFiles.find(location.str()); it != externalFiles.end())
    return it->second;
  // A file from a stranger must not read what lies outside its own folder.
  if (location.empty() || llvm::sys::path::is_absolute(location))
    return refuse("external data location '" + location +
                  "' must be a path relative to the model's folder");
  for (StringRef part : llvm::make_range(llvm::sys::path::begin(location),
                                         llvm::sys::path::end(location)))
    if (part == "..")
      return refuse("external data location '" + location +
                    "' leaves the model's folder");
  SmallString<256> path(llvm::sys::path::parent_path(modelPath));
  SmallString<256> folder, real;
  if (llvm::sys::fs::real_path(path.empty() ? "." : path.str(), folder))
    return refuse("cannot resolve the model's folder");
  llvm::sys::path::append(path, location);
  if (std::error_code code = llvm::sys::fs::real_path(path, real))
    return refuse("external data file '" + location +
                  "' cannot be opened: " + code.message());
  if (folder != "/")
    folder += '/';
  if (!StringRef(real).starts_with(folder))
    return refuse("external data location '" + location +
                  "' leaves the model's folder");
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(real, status) ||
      !llvm::sys::fs::is_regular_file(status))
    return refuse("external data '" + location + "' is not a regular file");
  auto buffer = llvm::MemoryBuffer::getFile(real, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return refuse("external data file '" + location +
                  "' cannot be read: " + buffer.getError().message());
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
    bytes = {{model->getBufferStart() + place.offset, size_t(place.size)},
             model};
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
