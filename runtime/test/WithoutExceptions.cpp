// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the C++ header offers where there are no exceptions.

#include "ashlar/runtime/ashlar.hpp"
#include "ashlar/runtime/batching.h"

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

ashlar::Status runJoined(ashlar_module_t *module, ashlar_entry_t *entry,
                         std::vector<float> &x,
                         std::vector<ashlar_tensor_t> &outputs) {
  ashlar::Batcher batcher;
  if (ashlar::Status status = batcher.tryCreate(module, entry); !status)
    return status;
  return batcher.tryRun({ashlar::tensor(x.data(), {int64_t(x.size())})},
                        outputs);
}
