// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpenCLShim.h"

#include "devices/opencl/OpenCLApi.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <tuple>
#include <type_traits>

using namespace ashlar::runtime::opencl;
using ashlar::test::OpenCLShim;

extern "C" [[gnu::visibility("default")]] OpenCLShim ashlar_opencl_shim;
OpenCLShim ashlar_opencl_shim;

namespace {

using FindExtension =
    decltype(Functions::GetExtensionFunctionAddressForPlatform);

/// The loader's, or behind it an extension's of the first platform that was
/// asked for one.
Platform askedLast = nullptr;
void *real(const char *name) {
  static void *loader = [] {
    if (const char *lost = std::getenv("ASHLAR_SHIM_LOST"))
      ashlar_opencl_shim.start(std::strtoull(lost, nullptr, 10), -5, true);
    return dlopen(ASHLAR_OPENCL_LOADER, RTLD_NOW | RTLD_LOCAL);
  }();
  if (!loader)
    return nullptr;
  if (void *found = dlsym(loader, name))
    return found;
  auto find = reinterpret_cast<FindExtension>(
      dlsym(loader, "clGetExtensionFunctionAddressForPlatform"));
  return find && askedLast ? find(askedLast, name) : nullptr;
}

template <typename Handle> constexpr int kindOf() {
  return std::is_same_v<Handle, Context>        ? 0
         : std::is_same_v<Handle, Memory>       ? 1
         : std::is_same_v<Handle, Program>      ? 2
         : std::is_same_v<Handle, Kernel>       ? 3
         : std::is_same_v<Handle, CommandQueue> ? 4
         : std::is_same_v<Handle, EventId>      ? 5
         : std::is_same_v<Handle, void *>       ? 6
                                                : 7;
}
template <typename Handle> void count(int by) {
  ashlar_opencl_shim.alive[kindOf<Handle>()] += by;
}

bool failsNow(const char *name) {
  OpenCLShim &shim = ashlar_opencl_shim;
  uint64_t call = ++shim.calls;
  if (shim.failing == 0 || call < shim.failing ||
      (call > shim.failing && !shim.isLost))
    return false;
  const char *none = nullptr;
  shim.failed.compare_exchange_strong(none, name);
  return true;
}

/// What a device says in place of its driver.
void pretend(uint32_t what, void *value) {
  static const bool isGpu = std::getenv("ASHLAR_SHIM_GPU");
  constexpr uint64_t typeGpu = 4;
  const OpenCLShim &shim = ashlar_opencl_shim;
  const uint64_t instead = what == deviceType           ? isGpu * typeGpu
                           : what == deviceLocalMemSize ? shim.localBytes.load()
                           : what == deviceMaxWorkGroupSize
                               ? shim.threads.load()
                               : 0;
  if (value && instead != 0)
    std::memcpy(value, &instead, sizeof(instead));
}

/// Null: it is none of the extensions that are watched.
void *watched(const char *name);

/// One for each function of the table.
template <typename Function, const char *const &name> struct Forward;
template <typename Result, typename... Given, const char *const &name>
struct Forward<Result (*)(Given...), name> {
  static Result call(Given... given) {
    static auto *function = reinterpret_cast<Result (*)(Given...)>(real(name));
    using Last =
        std::tuple_element_t<sizeof...(Given) - 1, std::tuple<Given...>>;
    using First = std::tuple_element_t<0, std::tuple<Given...>>;
    [[maybe_unused]] auto last =
        std::get<sizeof...(Given) - 1>(std::tuple<Given...>(given...));
    std::string_view called = name;
    constexpr bool isCreation = std::is_same_v<Last, Code *>;
    bool releases =
             called.substr(0, 9) == "clRelease" || called == "clMemFreeINTEL",
         retains = called.substr(0, 8) == "clRetain";
    if constexpr (isCreation || std::is_same_v<Result, Code>)
      if (!releases && !retains && (!function || failsNow(name))) {
        // The caller takes back what a driver may still be using.
        if (function && (called == "clFinish" || called == "clWaitForEvents"))
          function(given...);
        if constexpr (isCreation) {
          *last = ashlar_opencl_shim.code;
          return nullptr;
        } else {
          return ashlar_opencl_shim.code;
        }
      }
    if constexpr (std::is_same_v<First, Platform> &&
                  std::is_same_v<Result, void *>) {
      askedLast = std::get<0>(std::tuple<Given...>(given...));
      if (void *own = watched(last); own && real(last))
        return own;
    }
    Result result = function(given...);
    if constexpr (std::is_same_v<First, DeviceId>)
      if (called == "clGetDeviceInfo")
        pretend(std::get<1>(std::tuple<Given...>(given...)),
                std::get<3>(std::tuple<Given...>(given...)));
    if (called == "clEnqueueCommandBufferKHR")
      ++ashlar_opencl_shim.recorded;
    if constexpr (isCreation) {
      if (result)
        count<Result>(1);
      if constexpr (std::is_same_v<Result, void *>)
        ++ashlar_opencl_shim.shared;
      if constexpr (std::is_same_v<Result, Program>)
        if (result)
          ++(called == "clCreateProgramWithBinary"
                 ? ashlar_opencl_shim.fromBinary
                 : ashlar_opencl_shim.fromSpirv);
    } else if constexpr (std::is_same_v<Result, Code>) {
      if (result == 0 && (releases || retains))
        count<std::conditional_t<std::is_same_v<Last, void *>, Last, First>>(
            releases ? -1 : 1);
      if constexpr (std::is_same_v<Last, EventId *>)
        if (result == 0 && last)
          count<EventId>(1);
    }
    return result;
  }
};

} // namespace

// The exported names are bound to these functions when the library is loaded.
#define ASHLAR_SHIM_FUNCTION(RESULT, NAME, ARGUMENTS)                          \
  static constexpr const char *nameOf##NAME = "cl" #NAME;                      \
  extern "C" void *resolve##NAME() {                                           \
    return reinterpret_cast<void *>(                                           \
        &Forward<decltype(Functions::NAME), nameOf##NAME>::call);              \
  }                                                                            \
  extern "C" [[gnu::visibility("default")]] void cl##NAME()                    \
      __attribute__((ifunc("resolve" #NAME)));
ASHLAR_OPENCL_FUNCTIONS(ASHLAR_SHIM_FUNCTION)

#define ASHLAR_SHIM_NAME(RESULT, NAME, ARGUMENTS)                              \
  static constexpr const char *nameOf##NAME = "cl" #NAME;
ASHLAR_OPENCL_SHARED_MEMORY(ASHLAR_SHIM_NAME)
ASHLAR_OPENCL_COMMAND_BUFFERS(ASHLAR_SHIM_NAME)

static void *watchedOf(std::string_view name) {
#define ASHLAR_SHIM_WATCH(TABLE, NAME)                                         \
  if (name == nameOf##NAME)                                                    \
    return reinterpret_cast<void *>(                                           \
        &Forward<decltype(TABLE::NAME), nameOf##NAME>::call);
#define ASHLAR_SHIM_SHARED(RESULT, NAME, ARGUMENTS)                            \
  ASHLAR_SHIM_WATCH(SharedMemoryFunctions, NAME)
#define ASHLAR_SHIM_RECORDER(RESULT, NAME, ARGUMENTS)                          \
  ASHLAR_SHIM_WATCH(CommandBufferFunctions, NAME)
  ASHLAR_OPENCL_SHARED_MEMORY(ASHLAR_SHIM_SHARED)
  ASHLAR_OPENCL_COMMAND_BUFFERS(ASHLAR_SHIM_RECORDER)
  return nullptr;
}

namespace {
void *watched(const char *name) { return watchedOf(name); }
} // namespace
