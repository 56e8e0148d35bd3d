// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorData.h"
#include "WireScanner.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace ashlar::onnx_import;
using namespace mlir;

namespace {
class TensorDataTest : public testing::Test {
protected:
  TensorDataTest() { context.loadDialect<BuiltinDialect>(); }

  /// Converts a tensor whose raw data begin at byte `offset` of the file.
  llvm::Expected<TypedAttr> convert(onnx::TensorProto proto,
                                    const std::string &file, size_t offset,
                                    size_t size) {
    RawDataPlace place{offset, size};
    proto.set_raw_data(&place, sizeof(place));
    TensorData data(&context, "model.onnx",
                    llvm::MemoryBuffer::getMemBufferCopy(file), model);
    return data.convert(proto, "weight");
  }

  onnx::TensorProto tensor(ElementType type, std::vector<int64_t> shape) {
    onnx::TensorProto proto;
    proto.set_data_type(static_cast<int>(type));
    for (int64_t dim : shape)
      proto.add_dims(dim);
    return proto;
  }

  MLIRContext context;
  onnx::ModelProto model;
};

TEST_F(TensorDataTest, ReadsUnalignedDataOfEveryWidth) {
  std::string file(1 + 64, '\0');
  std::iota(file.begin(), file.end(), char(0));
  for (ElementType type : {ElementType::I8, ElementType::I16, ElementType::I32,
                           ElementType::I64}) {
    unsigned width =
        convertElementType(&context, type).getIntOrFloatBitWidth() / 8;
    auto value = convert(tensor(type, {2, 3}), file, 1, 6 * width);
    ASSERT_TRUE(bool(value));
    auto dense = dyn_cast<DenseElementsAttr>(*value);
    ASSERT_TRUE(dense);
    EXPECT_EQ(dense.getRawData(), ArrayRef<char>(file.data() + 1, 6 * width));
  }
}

TEST_F(TensorDataTest, KeepsWhatIsLargeWhereItIs) {
  std::string file(5000, '\0');
  std::iota(file.begin(), file.end(), char(0));
  auto value = convert(tensor(ElementType::F32, {300}), file, 3, 1200);
  ASSERT_TRUE(bool(value));
  auto resource = dyn_cast<DenseResourceElementsAttr>(*value);
  ASSERT_TRUE(resource);
  EXPECT_EQ(resource.getRawHandle().getKey(), "weight");
  // The blob outlives the TensorData that made it.
  EXPECT_EQ(resource.getRawHandle().getBlob()->getData(),
            ArrayRef<char>(file.data() + 3, 1200));
}

TEST_F(TensorDataTest, EqualElementsBecomeASplat) {
  for (ElementType type : {ElementType::F32, ElementType::F16, ElementType::U8,
                           ElementType::I64, ElementType::Bool}) {
    Type element = convertElementType(&context, type);
    size_t width = (element.getIntOrFloatBitWidth() + 7) / 8;
    std::string file(10000 * width, char(1));
    auto value = convert(tensor(type, {100, 100}), file, 0, file.size());
    ASSERT_TRUE(bool(value));
    auto dense = dyn_cast<DenseElementsAttr>(*value);
    ASSERT_TRUE(dense);
    EXPECT_TRUE(dense.isSplat());
    EXPECT_EQ(dense.getNumElements(), 10000);
  }
}

TEST_F(TensorDataTest, AnyByteButZeroIsTrue) {
  std::string file = {0, 1, 2, char(0x80)};
  auto value = convert(tensor(ElementType::Bool, {4}), file, 0, 4);
  ASSERT_TRUE(bool(value));
  EXPECT_EQ(llvm::to_vector(cast<DenseElementsAttr>(*value).getValues<bool>()),
            SmallVector<bool>({false, true, true, true}));
}

TEST_F(TensorDataTest, EmptyTensorsHaveNoElements) {
  for (ElementType type :
       {ElementType::F32, ElementType::I8, ElementType::Bool}) {
    auto value = convert(tensor(type, {3, 0, 2}), "", 0, 0);
    ASSERT_TRUE(bool(value));
    EXPECT_EQ(cast<DenseElementsAttr>(*value).getNumElements(), 0);
  }
}

TEST_F(TensorDataTest, RefusesSizesThatContradictTheData) {
  std::string file(64, 'x');
  auto wrong = [&](std::vector<int64_t> shape, size_t size) {
    auto value = convert(tensor(ElementType::F32, shape), file, 0, size);
    bool refused = !value;
    EXPECT_NE(llvm::toString(value.takeError()), "");
    return refused;
  };
  EXPECT_TRUE(wrong({4}, 15));
  EXPECT_TRUE(wrong({4}, 20));
  EXPECT_TRUE(wrong({0}, 4));
  EXPECT_TRUE(wrong({-4}, 16));
  EXPECT_TRUE(wrong({int64_t(1) << 40}, 16));
  EXPECT_TRUE(wrong({int64_t(1) << 62, 4}, 16));
  EXPECT_TRUE(wrong({int64_t(1) << 32, int64_t(1) << 32}, 0));
}

TEST(TensorBytes, CountsBytesAndBoundsThem) {
  MLIRContext context;
  Builder b(&context);
  auto bytes = [&](Type type, ArrayRef<int64_t> shape) -> int64_t {
    llvm::Expected<uint64_t> size = tensorBytes(type, shape);
    if (size)
      return *size;
    llvm::consumeError(size.takeError());
    return -1;
  };
  EXPECT_EQ(bytes(b.getF32Type(), {2, 3}), 24);
  EXPECT_EQ(bytes(b.getI1Type(), {2, 3}), 6);
  EXPECT_EQ(bytes(b.getF64Type(), {}), 8);
  EXPECT_EQ(bytes(b.getF64Type(), {5, 0}), 0);
  EXPECT_EQ(bytes(b.getI8Type(), {int64_t(1) << 39}), int64_t(1) << 39);
  EXPECT_EQ(bytes(b.getI8Type(), {int64_t(1) << 40}), -1);
  EXPECT_EQ(bytes(b.getI8Type(), {0, int64_t(1) << 40}), -1);
  EXPECT_EQ(bytes(b.getI8Type(), {-1}), -1);
}
} // namespace
