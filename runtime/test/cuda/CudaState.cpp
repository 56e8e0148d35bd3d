// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state from the environment, and what every call begins with.

#include "CudaState.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

extern "C" [[gnu::visibility("default")]] CudaDouble ashlar_cuda_double;
CudaDouble ashlar_cuda_double;

static uint64_t numberOf(const char *variable, uint64_t otherwise) {
  const char *given = std::getenv(variable);
  return given && *given ? std::strtoull(given, nullptr, 0) : otherwise;
}

State &ashlar::cuda::state() {
  // Never destroyed: threads of streams may outlive main.
  static State *only = [] {
    auto *made = new State;
    if (const char *cc = std::getenv(ASHLAR_DOUBLE_PREFIX "CC"))
      std::sscanf(cc, "%d.%d", &made->major, &made->minor);
    made->driver = int(numberOf(ASHLAR_DOUBLE_PREFIX "DRIVER", 12040));
    made->multiprocessors =
        int(numberOf(ASHLAR_DOUBLE_PREFIX "MULTIPROCESSORS", 0));
    made->hasDescriptors = numberOf(ASHLAR_DOUBLE_PREFIX "DESCRIPTORS", 1) != 0;
    made->hasPools = numberOf(ASHLAR_DOUBLE_PREFIX "POOLS", 1) != 0;
    uint64_t devices = numberOf(ASHLAR_DOUBLE_PREFIX "DEVICES",
                                numberOf("ASHLAR_DOUBLE_DEVICES", 1));
    for (uint64_t i = 0; i < devices; ++i) {
      auto device = std::make_unique<Device>();
      device->ordinal = int(i);
      device->memory = numberOf(ASHLAR_DOUBLE_PREFIX "MEMORY", 8ull << 30);
      made->devices.push_back(std::move(device));
    }
    if (uint64_t lost = numberOf(ASHLAR_DOUBLE_PREFIX "LOST", 0))
      ashlar_cuda_double.start(lost, UNKNOWN, true);
    ashlar_cuda_double.launchesHang =
        numberOf(ASHLAR_DOUBLE_PREFIX "HANGS", 0) != 0;
    if (const char *misuse = std::getenv(ASHLAR_DOUBLE_PREFIX "MISUSE"))
      ashlar_cuda_double.isMisuseFailure = std::strcmp(misuse, "fail") == 0;
    return made;
  }();
  return *only;
}

std::vector<CUcontext> &ashlar::cuda::currentContexts() {
  static thread_local std::vector<CUcontext> stack;
  return stack;
}

std::vector<std::shared_ptr<Stream>> &ashlar::cuda::threadCaptures() {
  static thread_local std::vector<std::shared_ptr<Stream>> captures;
  return captures;
}

/// Whether a function's name begins with one of these, behind its vendor's.
static bool begins(const std::string &name,
                   std::initializer_list<const char *> with) {
  const size_t vendor = name.rfind("hip", 0) == 0 ? 3 : 2;
  for (const char *each : with)
    if (name.compare(vendor, std::strlen(each), each) == 0)
      return true;
  return false;
}

/// Ends in "Async", or one of those that a capture does not mind.
static bool isAllowedInCapture(const std::string &name) {
  return (begins(name, {"Memcpy", "Memset"}) &&
          name.find("Async") != name.npos) ||
         begins(name, {"LaunchKernel", "ModuleLaunchKernel",
                       "StreamBeginCapture", "StreamEndCapture"});
}
static bool isAllowedOfThread(const std::string &name) {
  return isAllowedInCapture(name) ||
         begins(name, {"GetError", "DeviceGet", "Func", "Graph", "SetDevice",
                       "GetDevice"}) ||
         (begins(name, {"Ctx"}) && name.find("Current") != name.npos);
}

void ashlar::cuda::count(CudaDouble::Kind kind, int64_t by) {
  ashlar_cuda_double.alive[kind] += by;
}

static bool isLostNow() {
  const CudaDouble &control = ashlar_cuda_double;
  return control.isLost && control.failing && control.calls >= control.failing;
}

static bool failsNow(const char *name) {
  CudaDouble &control = ashlar_cuda_double;
  uint64_t call = ++control.calls, failing = control.failing;
  if (failing == 0 || call < failing || (call > failing && !control.isLost))
    return false;
  const char *none = nullptr;
  if (control.failed.compare_exchange_strong(none, name))
    control.failedInCapture = !threadCaptures().empty();
  return true;
}

/// Where somebody counts them: ASHLAR_CUDA_DOUBLE_CALLS.
static void tellCall(const char *name) {
  static const bool isTold = numberOf(ASHLAR_DOUBLE_PREFIX "CALLS", 0) != 0;
  if (isTold)
    std::fprintf(stderr, "driver double: call: %s\n", name);
}

Call::Call(const char *name, Needs needs, bool givesBack) : called(name) {
  State &all = state();
  tellCall(name);
  bool fails = givesBack ? isLostNow() : failsNow(name);
  lock = Lock(all.mutex);
  if (needs == Nothing) {
    if (fails)
      refusal = ashlar_cuda_double.code;
    return;
  }
  if (!all.isInitialized) {
    refusal = misuse(NOT_INITIALIZED, "before cuInit");
    return;
  }
  auto &stack = currentContexts();
  if (stack.empty() && needs == Current)
    if (CUcontext standing = contextByDefault())
      stack.push_back(standing);
  if (!stack.empty()) {
    auto found = all.contexts.find(reinterpret_cast<uint64_t>(stack.back()));
    if (found != all.contexts.end())
      context = found->second.get();
    else if (needs == Current) {
      refusal =
          misuse(CONTEXT_IS_DESTROYED, "the current context was released");
      return;
    }
  }
  if (needs == Current && !context) {
    refusal = misuse(INVALID_CONTEXT, "no context is current");
    return;
  }
  if (!threadCaptures().empty() && !isAllowedOfThread(name)) {
    refusal = misuseOfCapture(*threadCaptures().back(),
                              "while this thread captures a stream");
    return;
  }
  if (fails && !givesBack)
    refusal = ashlar_cuda_double.code;
  else if (fails)
    result = ashlar_cuda_double.code;
  else if (needs == Current && context->fault && !givesBack)
    refusal = context->fault;
  else if (needs == Current)
    result = context->fault;
}

CUresult Call::misuse(CUresult code, const std::string &what) {
  ++ashlar_cuda_double.misuses;
  std::fprintf(stderr, "driver double: misuse: %s: %s\n", called, what.c_str());
  std::fflush(stderr);
  if (!ashlar_cuda_double.isMisuseFailure)
    std::abort();
  return code;
}

CUresult Call::misuseOfCapture(Stream &stream, const std::string &what) {
  stream.isCaptureInvalid = true;
  return misuse(STREAM_CAPTURE_UNSUPPORTED, what);
}

void Call::unknown(uint64_t handle, const char *kind) {
  auto &gone = state().gone;
  auto was = gone.find(handle);
  std::string what = "the " + std::string(kind) + " " + ptx::hex(handle);
  if (was != gone.end())
    what += std::string(" is a ") + was->second + " that was given back";
  else
    what += " is no handle of the driver's";
  refusal = misuse(INVALID_HANDLE, what);
}

Device *Call::device(int ordinal) {
  if (ordinal >= 0 && size_t(ordinal) < state().devices.size())
    return state().devices[size_t(ordinal)].get();
  refusal =
      misuse(INVALID_DEVICE, "there is no device " + std::to_string(ordinal));
  return nullptr;
}

std::shared_ptr<Stream> Call::stream(CUstream handle) {
  // 0, CU_STREAM_LEGACY; a thread's own one is as good.
  if (reinterpret_cast<uint64_t>(handle) <= 2)
    return context->standard;
  auto found = find(state().streams, handle, "stream");
  if (!found || !found->capturing || begins(called, {"StreamEndCapture"}))
    return found;
  const auto &own = threadCaptures();
  if (!isAllowedInCapture(called))
    refusal = misuseOfCapture(*found, "the stream captures");
  else if (std::find(own.begin(), own.end(), found) == own.end())
    refusal = misuseOfCapture(*found, "another thread's capture");
  else if (found->isCaptureInvalid)
    refusal = STREAM_CAPTURE_INVALIDATED;
  return refusal ? nullptr : found;
}

bool Call::checkDevice(CUdeviceptr address, uint64_t size, const char *which) {
  auto after = context->allocations.upper_bound(address);
  std::string what = std::string(which) + " of " + std::to_string(size) +
                     " bytes at " + ptx::hex(address);
  if (after != context->allocations.begin()) {
    auto &[begin, memory] = *--after;
    if (memory.isBeingFreed && address < begin + memory.size) {
      refusal = misuse(INVALID_VALUE, what + ", whose allocation was given "
                                             "back");
      return false;
    }
    if (address - begin <= memory.size &&
        size <= memory.size - (address - begin))
      return true;
    if (address - begin < memory.size)
      what += ", of which its allocation has " +
              std::to_string(memory.size - (address - begin));
  }
  // A variable of a module.
  if (context->memory.onHost(address, size))
    return true;
  refusal = misuse(INVALID_VALUE, what + ", which is no device memory of the "
                                         "current context");
  return false;
}
