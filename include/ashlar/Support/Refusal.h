// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_SUPPORT_REFUSAL_H
#define ASHLAR_SUPPORT_REFUSAL_H

#include <optional>
#include <string>

namespace ashlar {

/// Why something is refused, in words that a message can show; nothing: it is
/// not. `if (Refusal why = check(x)) log << *why;`
using Refusal = std::optional<std::string>;

} // namespace ashlar

#endif // ASHLAR_SUPPORT_REFUSAL_H
