// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the C++ header offers where there are no exceptions.

#include "ashlar/runtime/ashlar.hpp"

ashlar::Status runOnce(const std::string &path, std::vector<float> &x) {
  ashlar::Runtime runtime;
  ashlar::Module module;
  ashlar::Session session;
  if (ashlar::Status status = runtime.tryCreate(); !status)
    return status;
  if (ashlar::Status status = module.tryLoad(runtime.get(), path); !status)
    return status;
  if (ashlar::Status status = session.tryCreate(module.get()); !status)
    return status;
  std::vector<ashlar_tensor_t> outputs(1);
  return session.tryRun("main", {ashlar::tensor(x.data(), {int64_t(x.size())})},
                        outputs);
}
