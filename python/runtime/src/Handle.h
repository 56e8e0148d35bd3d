// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A counted handle of the C API.
#ifndef ASHLAR_PYTHON_HANDLE_H
#define ASHLAR_PYTHON_HANDLE_H

#include <ashlar/runtime/api.h>
#include <atomic>
#include <cstdint>

namespace ashlar::python {

/// How many forks lie between this process and the one that imported us.
inline std::atomic<uint32_t> forks{0};

/// Releases what it holds, except in a child made by fork: the threads that a
/// release waits for are the parent's and do not exist there.
template <typename T, void (*release)(T *)> class Handle {
public:
  Handle() = default;
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  ~Handle() { reset(); }

  T *get() const { return handle; }
  /// Where a _create call is to leave its result.
  T **out() {
    reset();
    born = forks;
    return &handle;
  }
  void reset() {
    if (handle && born == forks)
      release(handle);
    handle = nullptr;
  }
  bool isOfParent() const { return handle && born != forks; }

private:
  T *handle = nullptr;
  uint32_t born = 0;
};

} // namespace ashlar::python

#endif // ASHLAR_PYTHON_HANDLE_H
