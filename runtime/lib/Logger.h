// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The embedder's log, if there is one.

#ifndef ASHLAR_RUNTIME_LIB_LOGGER_H
#define ASHLAR_RUNTIME_LIB_LOGGER_H

#include "Status.h"

namespace ashlar::runtime {

/// Set once, before others look; then any thread.
class Logger {
public:
  /// The embedder's function lives as long as the runtime.
  void use(const ashlar_logger_t &given) { logger = given; }
  /// Before a message is made that costs something.
  bool wants(ashlar_log_level_t level) const {
    return logger.log && uint32_t(level) >= logger.level;
  }
  /// Not under a lock: who listens may call.
  void log(ashlar_log_level_t level, const char *place,
           const Words &message) const;

private:
  ashlar_logger_t logger = {}; // without a function: nobody listens
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_LOGGER_H
