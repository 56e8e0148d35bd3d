// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of PTX text. Dots belong to words: ".reg", "ld.global.f32",
// "%tid.x".

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXLEXER_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXLEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::ptx {

struct Token {
  enum Kind : uint8_t { End, Word, Number, Text, Mark };
  Kind kind = End;
  std::string_view text; // of Text without its quotes
  uint32_t line = 0;     // from 1

  bool is(std::string_view what) const { return kind != Text && text == what; }
};

/// The last one is End. Throws Error.
std::vector<Token> tokensOf(std::string_view text);

/// The lines, for messages.
std::vector<std::string> linesOf(std::string_view text);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXLEXER_H
