// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Check/Tensor.h"
#include "onnx-ml.pb.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>

using namespace ashlar::check;
using llvm::Expected;
using llvm::formatv;
using llvm::StringRef;

char NotATensor::ID;

static ashlar_element_type_t convertType(int type) {
  switch (type) {
  case onnx::TensorProto::BOOL:
    return ASHLAR_TYPE_BOOL;
  case onnx::TensorProto::INT8:
    return ASHLAR_TYPE_I8;
  case onnx::TensorProto::INT16:
    return ASHLAR_TYPE_I16;
  case onnx::TensorProto::INT32:
    return ASHLAR_TYPE_I32;
  case onnx::TensorProto::INT64:
    return ASHLAR_TYPE_I64;
  case onnx::TensorProto::UINT8:
    return ASHLAR_TYPE_U8;
  case onnx::TensorProto::UINT16:
    return ASHLAR_TYPE_U16;
  case onnx::TensorProto::UINT32:
    return ASHLAR_TYPE_U32;
  case onnx::TensorProto::UINT64:
    return ASHLAR_TYPE_U64;
  case onnx::TensorProto::FLOAT16:
    return ASHLAR_TYPE_F16;
  case onnx::TensorProto::BFLOAT16:
    return ASHLAR_TYPE_BF16;
  case onnx::TensorProto::FLOAT:
    return ASHLAR_TYPE_F32;
  case onnx::TensorProto::DOUBLE:
    return ASHLAR_TYPE_F64;
  case onnx::TensorProto::FLOAT8E4M3FN:
    return ASHLAR_TYPE_F8E4M3FN;
  case onnx::TensorProto::FLOAT8E4M3FNUZ:
    return ASHLAR_TYPE_F8E4M3FNUZ;
  case onnx::TensorProto::FLOAT8E5M2:
    return ASHLAR_TYPE_F8E5M2;
  case onnx::TensorProto::FLOAT8E5M2FNUZ:
    return ASHLAR_TYPE_F8E5M2FNUZ;
  case onnx::TensorProto::FLOAT8E8M0:
    return ASHLAR_TYPE_F8E8M0;
  case onnx::TensorProto::FLOAT4E2M1:
    return ASHLAR_TYPE_F4E2M1;
  case onnx::TensorProto::INT4:
    return ASHLAR_TYPE_I4;
  case onnx::TensorProto::UINT4:
    return ASHLAR_TYPE_U4;
  case onnx::TensorProto::INT2:
    return ASHLAR_TYPE_I2;
  case onnx::TensorProto::UINT2:
    return ASHLAR_TYPE_U2;
  default:
    return ASHLAR_TYPE_NONE;
  }
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

static llvm::Error refuse(StringRef path, const llvm::Twine &what) {
  return llvm::createStringError("test data " + path + " " + what);
}

Expected<Tensor> ashlar::check::readTensor(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return refuse(path, "cannot be read: " + file.getError().message());
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
