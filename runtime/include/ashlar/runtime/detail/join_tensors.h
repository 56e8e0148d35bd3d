// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside batching.h: which dims of an entry's tensors requests are joined
// along, and how their rows come together and apart again. A row is what one
// step along the joined dim has, wherever that dim is.

#ifndef ASHLAR_RUNTIME_DETAIL_JOIN_TENSORS_H
#define ASHLAR_RUNTIME_DETAIL_JOIN_TENSORS_H

#include "ashlar/runtime/ashlar.hpp"

#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace ashlar::detail {

/// A failure of ours, with a place as those of the C API have it.
inline Status failure(ashlar_status_code_t code, const std::string &message,
                      const std::string &place = "") {
  return ashlar_status_t{int32_t(code), message.c_str(), place.c_str()};
}

/// What `act` gives; a failure in place of what it throws.
template <typename Act> Status guarded(Act &&act) {
#ifdef ASHLAR_NO_EXCEPTIONS
  return act();
#else
  try {
    return act();
  } catch (const std::exception &error) {
    return failure(ASHLAR_INTERNAL, error.what());
  }
#endif
}

/// Memory that kernels read in place.
class AlignedBytes {
public:
  /// Room for so many bytes, whose contents are undefined.
  Status reserve(uint64_t bytes) {
    if (bytes <= room)
      return {};
    room = 0;
    // So that there never is room for both.
    memory.reset();
    memory.reset(::operator new(size_t(bytes), alignment, std::nothrow));
    if (!memory)
      return failure(ASHLAR_INTERNAL, "no memory for a batch of " +
                                          std::to_string(bytes) + " bytes");
    room = bytes;
    return {};
  }
  char *data() const { return static_cast<char *>(memory.get()); }

private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(void *memory) const {
      ::operator delete(memory, alignment);
    }
  };
  std::unique_ptr<void, Free> memory;
  uint64_t room = 0;
};

/// An input or output of an entry.
struct JoinedTensor {
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  int32_t dim = -1; // along which requests are joined; -1: they are not

  int64_t rows(const ashlar_tensor_t &tensor) const {
    return tensor.shape[dim];
  }
};

/// "inputs[0] x"
inline std::string placeOf(bool isInput, size_t index, const JoinedTensor &of) {
  return (isInput ? "inputs[" : "outputs[") + std::to_string(index) + "] " +
         of.info.name;
}

/// Cuts a shape's text, "Nx3xmax_len", into the sizes of its dims. Symbols may
/// have an x in their names; fixed sizes and the symbol looked for help.
inline bool splitShape(const char *text, const ashlar_tensor_info_t &info,
                       const std::string &symbol,
                       std::vector<std::string> &out) {
  size_t dim = out.size();
  if (dim == info.rank)
    return *text == '\0';
  if (dim != 0 && *text++ != 'x')
    return false;
  auto take = [&](size_t length) {
    out.emplace_back(text, length);
    if (splitShape(text + length, info, symbol, out))
      return true;
    out.resize(dim);
    return false;
  };
  auto takeWord = [&](const std::string &word) {
    return !word.empty() &&
           std::strncmp(text, word.c_str(), word.size()) == 0 &&
           take(word.size());
  };
  if (info.shape[dim] >= 0) {
    std::string number = std::to_string(info.shape[dim]);
    return takeWord(number) || takeWord("<=" + number);
  }
  if (takeWord(symbol))
    return true;
  for (size_t length = 1; text[length - 1] != '\0'; ++length)
    if ((text[length] == 'x' || text[length] == '\0') && take(length))
      return true;
  return false;
}

inline std::vector<std::string> sizeTexts(const ashlar_tensor_info_t &info,
                                          const std::string &symbol) {
  std::vector<std::string> sizes;
  if (!splitShape(info.shape_text, info, symbol, sizes))
    sizes.clear();
  sizes.resize(info.rank);
  return sizes;
}

/// `bytes` of a dense tensor, and what lies before and behind the joined dim.
struct Extent {
  Extent(const JoinedTensor &of, const ashlar_tensor_t &tensor)
      : inner(ashlar_element_type_size(of.info.type)) {
    for (uint32_t i = 0; i < tensor.rank && i < ASHLAR_MAX_RANK; ++i)
      if (int32_t(i) < of.dim)
        outer *= uint64_t(tensor.shape[i]);
      else if (int32_t(i) > of.dim)
        inner *= uint64_t(tensor.shape[i]);
  }
  uint64_t bytes(int64_t rows) const { return outer * uint64_t(rows) * inner; }

  uint64_t outer = 1;
  uint64_t inner; // bytes of a row in each of these
};

/// Rows of a tensor, or a place for them in one.
struct Rows {
  char *data;    // of the whole tensor
  int64_t all;   // that it has
  int64_t first; // of those that are meant
};
inline void copyRows(const Rows &to, const Rows &from, int64_t count,
                     const Extent &extent) {
  uint64_t bytes = uint64_t(count) * extent.inner;
  for (uint64_t i = 0; i < extent.outer && bytes != 0; ++i)
    std::memcpy(to.data +
                    (i * uint64_t(to.all) + uint64_t(to.first)) * extent.inner,
                from.data + (i * uint64_t(from.all) + uint64_t(from.first)) *
                                extent.inner,
                size_t(bytes));
}

/// Whether both have the same rows, or are the same where they are not joined.
inline bool canJoin(const JoinedTensor &of, const ashlar_tensor_t &a,
                    const ashlar_tensor_t &b) {
  for (uint32_t i = 0; i < a.rank; ++i)
    if (int32_t(i) != of.dim && a.shape[i] != b.shape[i])
      return false;
  if (of.dim >= 0)
    return true;
  uint64_t bytes = Extent(of, a).bytes(1);
  return bytes == 0 || std::memcmp(a.data, b.data, size_t(bytes)) == 0;
}

} // namespace ashlar::detail

#endif // ASHLAR_RUNTIME_DETAIL_JOIN_TENSORS_H
