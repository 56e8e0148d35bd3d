// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the sample modules that multiply by their weight.

#ifndef ASHLAR_RUNTIME_TEST_PRODUCTTEST_H
#define ASHLAR_RUNTIME_TEST_PRODUCTTEST_H

#include "Loaded.h"

namespace ashlar::test {

class ProductTest : public RuntimeTest {
protected:
  ashlar_tensor_t matrix(Floats &values) {
    ashlar_tensor_t tensor = tensorOf(values.data(), 64);
    tensor.rank = 2;
    tensor.shape[0] = tensor.shape[1] = 8;
    return tensor;
  }
  ashlar_status_t run() {
    for (size_t i = 0; i < 64; ++i)
      x[i] = float(int(i * 7 % 11) - 5);
    ashlar_tensor_t inputs[] = {matrix(x)}, outputs[] = {matrix(z)};
    return ashlar_session_run(session, "main", inputs, 1, outputs, 1);
  }
  /// z = factor * max(0, x w)
  void expectProduct(float factor = 1) {
    for (size_t i = 0; i < 8; ++i)
      for (size_t j = 0; j < 8; ++j) {
        float sum = 0;
        for (size_t k = 0; k < 8; ++k)
          sum += x[i * 8 + k] * float(int((k + j) % 5) - 2);
        EXPECT_EQ(z[i * 8 + j], sum > 0 ? factor * sum : 0);
      }
  }
  /// z = 2 max(0, x w) of the modules over two devices, call after call.
  void runShared() {
    for (int round = 0; round < 4; ++round) {
      z[0] = -999;
      ASSERT_OK(run());
      expectProduct(2);
    }
  }
  Floats x{64}, z{64};
};

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_PRODUCTTEST_H
