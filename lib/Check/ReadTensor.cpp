// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Check/Tensor.h"
#include "ashlar/Support/InputFile.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/ToolOutputFile.h"
#include <cstring>

using namespace ashlar::check;
using llvm::Expected;
using llvm::formatv;
using llvm::StringRef;

char NotATensor::ID;

/// The types that both sides have.
static constexpr std::pair<onnx::TensorProto::DataType, ashlar_element_type_t>
    types[] = {
        {onnx::TensorProto::BOOL, ASHLAR_TYPE_BOOL},
        {onnx::TensorProto::INT8, ASHLAR_TYPE_I8},
        {onnx::TensorProto::INT16, ASHLAR_TYPE_I16},
        {onnx::TensorProto::INT32, ASHLAR_TYPE_I32},
        {onnx::TensorProto::INT64, ASHLAR_TYPE_I64},
        {onnx::TensorProto::UINT8, ASHLAR_TYPE_U8},
        {onnx::TensorProto::UINT16, ASHLAR_TYPE_U16},
        {onnx::TensorProto::UINT32, ASHLAR_TYPE_U32},
        {onnx::TensorProto::UINT64, ASHLAR_TYPE_U64},
        {onnx::TensorProto::FLOAT16, ASHLAR_TYPE_F16},
        {onnx::TensorProto::BFLOAT16, ASHLAR_TYPE_BF16},
        {onnx::TensorProto::FLOAT, ASHLAR_TYPE_F32},
        {onnx::TensorProto::DOUBLE, ASHLAR_TYPE_F64},
        {onnx::TensorProto::FLOAT8E4M3FN, ASHLAR_TYPE_F8E4M3FN},
        {onnx::TensorProto::FLOAT8E4M3FNUZ, ASHLAR_TYPE_F8E4M3FNUZ},
        {onnx::TensorProto::FLOAT8E5M2, ASHLAR_TYPE_F8E5M2},
        {onnx::TensorProto::FLOAT8E5M2FNUZ, ASHLAR_TYPE_F8E5M2FNUZ},
        {onnx::TensorProto::FLOAT8E8M0, ASHLAR_TYPE_F8E8M0},
        {onnx::TensorProto::FLOAT4E2M1, ASHLAR_TYPE_F4E2M1},
        {onnx::TensorProto::INT4, ASHLAR_TYPE_I4},
        {onnx::TensorProto::UINT4, ASHLAR_TYPE_U4},
        {onnx::TensorProto::INT2, ASHLAR_TYPE_I2},
        {onnx::TensorProto::UINT2, ASHLAR_TYPE_U2},
};

static ashlar_element_type_t convertType(int type) {
  for (auto [theirs, ours] : types)
    if (theirs == type)
      return ours;
  return ASHLAR_TYPE_NONE;
}

/// Appends the low `width` bytes of every entry.
template <typename Field>
static void append(std::vector<char> &bytes, const Field &field, size_t width) {
  for (auto entry : field) {
    const char *data = reinterpret_cast<const char *>(&entry);
    bytes.insert(bytes.end(), data, data + width);
  }
}

static std::vector<char> elements(const onnx::TensorProto &proto,
                                  size_t width) {
  std::vector<char> bytes;
  if (proto.has_raw_data()) {
    bytes.assign(proto.raw_data().begin(), proto.raw_data().end());
    return bytes;
  }
  switch (proto.data_type()) {
  case onnx::TensorProto::FLOAT:
    append(bytes, proto.float_data(), width);
    break;
  case onnx::TensorProto::DOUBLE:
    append(bytes, proto.double_data(), width);
    break;
  case onnx::TensorProto::INT64:
    append(bytes, proto.int64_data(), width);
    break;
  case onnx::TensorProto::UINT32:
  case onnx::TensorProto::UINT64:
    append(bytes, proto.uint64_data(), width);
    break;
  default:
    append(bytes, proto.int32_data(), width);
  }
  return bytes;
}

/// The bits of an element as files pack it, where that is less than a byte.
static unsigned packedBits(ashlar_element_type_t type) {
  switch (type) {
  case ASHLAR_TYPE_F4E2M1:
  case ASHLAR_TYPE_I4:
  case ASHLAR_TYPE_U4:
    return 4;
  case ASHLAR_TYPE_I2:
  case ASHLAR_TYPE_U2:
    return 2;
  default:
    return 0;
  }
}

/// One element a byte, the lowest bits first, as the runtime has them.
static std::vector<char> unpack(const std::vector<char> &packed, unsigned bits,
                                bool isSigned, uint64_t count) {
  std::vector<char> elements;
  for (uint64_t i = 0; i < std::min(count, packed.size() * (8 / bits)); ++i) {
    unsigned field = uint8_t(packed[i * bits / 8]) >> i * bits % 8;
    field &= (1u << bits) - 1;
    if (isSigned && field >> (bits - 1))
      field -= 1u << bits;
    elements.push_back(char(field));
  }
  return elements;
}

/// As files have them.
static std::string pack(const std::vector<char> &elements, unsigned bits) {
  std::string packed((elements.size() * bits + 7) / 8, 0);
  for (auto [i, element] : llvm::enumerate(elements))
    packed[i * bits / 8] |= (element & ((1 << bits) - 1)) << i * bits % 8;
  return packed;
}

int ashlar::check::onnxType(ashlar_element_type_t type) {
  for (auto [theirs, ours] : types)
    if (ours == type)
      return theirs;
  return onnx::TensorProto::UNDEFINED;
}

onnx::TensorProto ashlar::check::toProto(const Tensor &tensor) {
  onnx::TensorProto proto;
  proto.set_name(tensor.name);
  proto.set_data_type(onnxType(tensor.type));
  for (int64_t dim : tensor.shape)
    proto.add_dims(dim);
  if (unsigned bits = packedBits(tensor.type))
    proto.set_raw_data(pack(tensor.bytes, bits));
  else
    proto.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
  return proto;
}

llvm::Error ashlar::check::writeTensor(StringRef path, const Tensor &tensor) {
  onnx::TensorProto proto = toProto(tensor);
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &out) {
    out << proto.SerializeAsString();
    return llvm::Error::success();
  });
}

static llvm::Error refuse(StringRef path, const llvm::Twine &what) {
  return llvm::createStringError("test data " + path + " " + what);
}

Expected<Tensor> ashlar::check::readTensor(StringRef path) {
  auto file = readInputFile(path, /*isText=*/false);
  if (!file)
    return refuse(path, "cannot be read: " + llvm::toString(file.takeError()));
  onnx::TensorProto proto;
  if (!proto.ParseFromArray((*file)->getBufferStart(),
                            (*file)->getBufferSize()))
    return refuse(path, "is no TensorProto");
  Tensor tensor;
  tensor.name = proto.name();
  tensor.type = convertType(proto.data_type());
  if (tensor.type == ASHLAR_TYPE_NONE) {
    if (proto.data_type() == onnx::TensorProto::UNDEFINED)
      return llvm::make_error<NotATensor>("test data that is no tensor");
    return llvm::make_error<NotATensor>(
        "test data of type " +
        StringRef(
            onnx::TensorProto::DataType_Name(
                static_cast<onnx::TensorProto::DataType>(proto.data_type())))
            .lower());
  }
  size_t width = ashlar_element_type_size(tensor.type);
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  tensor.bytes = elements(proto, width);
  uint64_t size = width;
  for (int64_t dim : tensor.shape)
    if (dim < 0 || __builtin_mul_overflow(size, uint64_t(dim), &size))
      return refuse(path, "has a shape that no tensor has");
  if (unsigned bits = packedBits(tensor.type))
    tensor.bytes = unpack(
        tensor.bytes, bits,
        tensor.type == ASHLAR_TYPE_I4 || tensor.type == ASHLAR_TYPE_I2, size);
  if (size != tensor.bytes.size())
    return refuse(path, formatv("holds {0} bytes, but its type and shape need "
                                "{1}",
                                tensor.bytes.size(), size)
                            .str());
  if (tensor.shape.size() > ASHLAR_MAX_RANK)
    return llvm::make_error<NotATensor>("test data of rank " +
                                        std::to_string(tensor.shape.size()));
  return tensor;
}
