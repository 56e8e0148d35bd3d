// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights and code of a module, in blocks: code that is loaded, weights that
// were copied to a device, and with share_content also weights that are read
// from the file. Modules that share, charged to one budget, have one block for
// bytes that are the same. It lives until the last of them is gone, and keeps
// the file of the first, which it was made of.
//
// A hash of samples finds candidates; then all bytes are compared, since files
// may be made to have equal hashes. While a load looks, compares and fills its
// blocks it has the budget's lock of loads: no two bring the same, and nobody
// finds what is not there yet. Who unloads does not wait for it.

#ifndef ASHLAR_RUNTIME_LIB_CONTENT_H
#define ASHLAR_RUNTIME_LIB_CONTENT_H

#include "Budget.h"
#include "ModuleFile.h"
#include "OwnMemory.h"
#include "devices/Device.h"

namespace ashlar::runtime {

struct ContentLot;

/// What one load brings. SharedContent::mutex guards the count, and receipts
/// once the load is over.
struct ContentSource {
  ASHLAR_OWN_NEW
  const std::unique_ptr<ModuleFile> file;
  uint64_t users;                     // its module, and its blocks
  std::unique_ptr<ContentLot[]> lots; // code, then weights by device
};

/// What it brings of one kind into one memory: charged at once, paid back block
/// by block.
struct ContentLot {
  ASHLAR_OWN_NEW
  ContentSource *source;
  ashlar_memory_kind_t kind;
  ashlar_device_t *memory; // null: the host's own
  uint64_t bytes;          // to be charged
  Charge charge;
};

struct ContentBlock {
  ASHLAR_OWN_NEW
  ContentLot &lot;
  ashlar_device_t &device;
  uint64_t hash;
  uint64_t offset; // in the source's file
  uint64_t size;
  uint64_t users;   // who keep it
  uint64_t holders; // of these, those whose load has been charged
  DeviceAddress address;
  void *executable;     // null: weights, or not loaded yet
  bool isCopy;          // the address is memory of the device's
  ContentBlock *next;   // of those that may be found
  ContentBlock **place; // what points here; null: none does
};

class Content {
public:
  /// Budget and name live longer.
  Content(Budget &budget, std::unique_ptr<ModuleFile> file, const String &name,
          bool isShared);
  Content(const Content &) = delete;
  ~Content();

  const ModuleFile &file() const { return *source->file; }
  ContentLot &lot(size_t number) const { return source->lots[number]; }

  /// Before all others: makes the lots, code being charged in a memory of its
  /// own, and waits for other loads.
  void begin(ashlar_device_t *codeMemory,
             const Vector<ashlar_device_t *> &devices);
  /// A block of these bytes of the file: somebody's, or a new one of the lot,
  /// which is to be filled once it is charged. The host's weights are there.
  ContentBlock *take(size_t lot, ashlar_device_t &device, uint64_t offset,
                     uint64_t size);
  /// What is to be charged.
  Vector<Budget::Request> requests() const;
  Status charge();
  /// All blocks are filled: others may have them.
  void finish();

  const bool isShared;
  Vector<ContentBlock *> blocks; // as often as they were taken
  uint64_t foundBytes = 0;       // that were there already

private:
  ContentBlock *find(const ContentBlock &wanted) const;
  void drop(ContentBlock *block, bool isHolder) const noexcept;
  static void leave(ContentSource *source);

  Budget &budget;
  ContentSource *const source;
  const String &name;
  size_t lotCount = 0;
  Vector<ContentBlock *> joined; // one of each lot of others
  bool isCharged = false;
  bool isLoading = false; // it has the lock
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_CONTENT_H
