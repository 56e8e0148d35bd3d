// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What devices share whose driver launches kernels in one dimension and hands
// back faults in memory.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_LAUNCHEDKERNELS_H
#define ASHLAR_RUNTIME_LIB_DEVICES_LAUNCHEDKERNELS_H

#include "../OwnMemory.h"
#include "Device.h"

#include <algorithm>

namespace ashlar::runtime {

/// UNSUPPORTED unless workgroups have one dimension, no clusters, no memory but
/// the code's own, or `sharedBytes` at most, and the usual arguments. `device`
/// is for people.
inline Status requireOneDimension(const KernelForm &form, const String &device,
                                  uint64_t sharedBytes = 0) {
  const uint32_t (&cluster)[3] = form.cluster, (&block)[3] = form.block;
  if (form.arguments.empty() && form.sharedBytes <= sharedBytes &&
      block[1] <= 1 && block[2] <= 1 &&
      cluster[0] * cluster[1] * cluster[2] == 1)
    return {};
  return failure(ASHLAR_UNSUPPORTED,
                 concat("kernel ", form.symbol,
                        " has clusters, workgroups of more than one "
                        "dimension, ",
                        form.sharedBytes,
                        " bytes of memory that they share or arguments of its "
                        "own order, which ",
                        device, " does not have"),
                 form.symbol);
}

/// Of a queue: the run whose launches nobody has looked at for a fault yet, and
/// what a trace is to be told of them. Any thread.
template <typename Traced> class LaunchFaults {
public:
  template <typename Device>
  explicit LaunchFaults(const Device &device) : traced(device) {}

  /// Launches from now on are the run's. False: another one's have not been
  /// looked at, which would hear of this one's.
  bool begin(RunControl &run) {
    std::lock_guard<std::mutex> lock(mutex);
    if (control && control != &run)
      return false;
    control = &run;
    ++launches;
    return true;
  }
  /// The run has handed these of its commands over, first to last.
  void hand(uint32_t from, uint32_t to) {
    std::lock_guard<std::mutex> lock(mutex);
    first = std::min(first, from);
    last = std::max(last, to);
  }
  /// Begins of all times, and whether somebody has to look.
  uint64_t soFar(bool &isExpected) {
    std::lock_guard<std::mutex> lock(mutex);
    isExpected = control != nullptr;
    return launches;
  }
  /// After `words` were read, fault and command, behind so many begins: the run
  /// hears of a fault, which is then taken out of the words. Whether there was
  /// one.
  bool tell(uint64_t seenLaunches, uint32_t *words) {
    std::lock_guard<std::mutex> lock(mutex);
    RunControl *told = control;
    if (!told)
      return false;
    if (seenLaunches == launches) {
      control = nullptr;
      forget();
      traced.tell();
    }
    int32_t code = int32_t(words[0]);
    if (code == 0)
      return false;
    told->fail(words[1], code);
    words[0] = 0;
    return true;
  }
  /// Nobody looks any more. The run hears what it was that may have failed.
  void drop() {
    std::lock_guard<std::mutex> lock(mutex);
    if (control && first != Command::none)
      control->suspect(first, last);
    control = nullptr;
    forget();
    traced.drop();
  }
  /// `with` is given what is traced.
  template <typename With> auto trace(With with) {
    std::lock_guard<std::mutex> lock(mutex);
    return with(traced);
  }

private:
  void forget() { first = Command::none, last = 0; }

  std::mutex mutex;
  RunControl *control = nullptr;            // null: there is none
  uint64_t launches = 0;                    // begins of all times
  uint32_t first = Command::none, last = 0; // of its commands, handed over
  Traced traced;                            // GpuTrace or such
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_LAUNCHEDKERNELS_H
