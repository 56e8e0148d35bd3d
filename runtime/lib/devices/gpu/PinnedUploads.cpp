// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PinnedUploads.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace ashlar::runtime {

using namespace gpu;

void PinnedUploads::close() {
  for (const Piece &piece : pieces)
    if (piece.isRead)
      device.api.EventDestroy(piece.isRead);
  if (memory)
    device.api.HostFree(memory);
}

Status PinnedUploads::open() {
  const Functions &api = device.api;
  for (Piece &piece : pieces)
    if (!piece.isRead)
      ASHLAR_RETURN_IF_ERROR(device.check(
          &api.EventCreate,
          api.EventCreate(&piece.isRead, GpuDevice::withoutTiming)));
  void *made = nullptr;
  const Code code = api.HostAlloc(&made, std::size(pieces) * pieceBytes, 0);
  if (code != 0 && device.driver.causeOf(code) != Cause::Memory)
    return device.failed(&api.HostAlloc, code);
  memory = static_cast<char *>(made);
  return {};
}

Status PinnedUploads::copy(void *target, const void *source, size_t size,
                           Stream stream) {
  const Functions &api = device.api;
  if (!memory)
    ASHLAR_RETURN_IF_ERROR(open());
  if (!memory)
    return device.check(&api.CopyIn, api.CopyIn(target, source, size, stream));
  for (size_t at = 0; at < size; at += pieceBytes)
    ASHLAR_RETURN_IF_ERROR(copyPiece(static_cast<char *>(target) + at,
                                     static_cast<const char *>(source) + at,
                                     std::min(pieceBytes, size - at), stream));
  return {};
}

Status PinnedUploads::copyPiece(char *target, const char *source, size_t size,
                                Stream stream) {
  const Functions &api = device.api;
  Piece &piece = pieces[next];
  char *pinned = memory + next * pieceBytes;
  next = (next + 1) % std::size(pieces);
  bool isRead;
  if (std::exchange(piece.isGiven, false))
    ASHLAR_RETURN_IF_ERROR(device.await(piece.isRead, UINT64_MAX, isRead));
  std::memcpy(pinned, source, size);
  ASHLAR_RETURN_IF_ERROR(
      device.check(&api.CopyIn, api.CopyIn(target, pinned, size, stream)));
  ASHLAR_RETURN_IF_ERROR(
      device.check(&api.EventRecord, api.EventRecord(piece.isRead, stream)));
  piece.isGiven = true;
  return {};
}

} // namespace ashlar::runtime
