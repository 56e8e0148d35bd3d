// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large copies to a device go by way of memory that the driver has pinned, in
// two pieces by turns: the host fills one while the device reads the other. A
// driver that is given any other memory stages it itself, for whoever asks, one
// after the other; pinned pieces are read by the device while other sessions'
// kernels run.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GPU_PINNEDUPLOADS_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GPU_PINNEDUPLOADS_H

#include "GpuDevice.h"

namespace ashlar::runtime {

/// Of one queue, whose rules on threads it has. The device is the thread's
/// current one for all calls.
class PinnedUploads {
public:
  static constexpr size_t pieceBytes = 512 * 1024;
  /// Copies of up to so many bytes drivers take at once, with the command.
  static constexpr size_t smallBytes = 64 * 1024;

  explicit PinnedUploads(const GpuDevice &device) : device(device) {}
  PinnedUploads(const PinnedUploads &) = delete;

  /// In the stream's order. The source is there, and was read when it returns.
  /// Takes the pinned memory at the first one.
  Status copy(void *target, const void *source, size_t size,
              gpu::Stream stream);

  /// Once, when the stream has finished; whoever does not get to the device
  /// calls it not.
  void close();

private:
  /// What the device reads while the host fills the other.
  struct Piece {
    gpu::EventId isRead = nullptr;
    bool isGiven = false; // to the device, since it was last waited for
  };
  /// `memory` stays null where there is no more to be pinned: the driver then
  /// stages what it is given, and the next large copy asks again.
  Status open();
  Status copyPiece(char *target, const char *source, size_t size,
                   gpu::Stream stream);

  const GpuDevice &device; // outlives it
  char *memory = nullptr;  // of both; null until the first large copy
  Piece pieces[2];
  size_t next = 0; // of `pieces`
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GPU_PINNEDUPLOADS_H
