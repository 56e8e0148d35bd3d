// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxDecoder.h"

const ashlar::ptx::Family &ashlar::ptx::copying() {
  static const Family all;
  return all;
}
