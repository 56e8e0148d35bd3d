// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options that take one value and are given twice: said in our words, the same
// in every tool. Those that may be repeated take one value each time.

#ifndef ASHLAR_TOOLS_LIB_GIVENONCE_H
#define ASHLAR_TOOLS_LIB_GIVENONCE_H

#include <CLI/CLI.hpp>

namespace ashlar::tools {

/// Before parsing: the parser accepts all that are given, and what follows the
/// value of a repeatable option, such as a model's name, is not its next value.
inline void acceptRepeated(CLI::App &app) {
  for (CLI::Option *option : app.get_options()) {
    if (!option->get_positional())
      option->allow_extra_args(false);
    if (option->get_items_expected_max() == 1 &&
        option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw)
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

/// After it: what is wrong; empty: each was given once at most.
inline std::string findRepeated(const CLI::App &app) {
  for (const CLI::Option *option : app.get_options())
    if (option->get_items_expected_max() == 1 && option->count() > 1 &&
        option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeLast)
      return option->get_name() + " is given " +
             std::to_string(option->count()) +
             " times; expected it once at most";
  return "";
}

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_GIVENONCE_H
