// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The embedder's log, if there is one.

#ifndef ASHLAR_RUNTIME_LIB_LOGGER_H
#define ASHLAR_RUNTIME_LIB_LOGGER_H

#include "Status.h"

namespace ashlar::runtime {

class Logger {
public:
  void use(const ashlar_logger_t &given) { logger = given; }
  bool wants(ashlar_log_level_t level) const {
    return logger.log && uint32_t(level) >= logger.level;
  }
  /// Not under a lock: who listens may call.
  void log(ashlar_log_level_t level, const char *place,
           const Words &message) const;

private:
  ashlar_logger_t logger = {};
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_LOGGER_H
