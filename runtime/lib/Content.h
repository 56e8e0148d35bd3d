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
  ashlar_memory_kind_t kind; // code or weights
  ashlar_device_t *memory;   // null: the host's own
  uint64_t bytes;            // to be charged
  Charge charge;             // empty before, and once all blocks are gone
};

/// Bytes of a file where a device finds them. SharedContent::mutex guards the
/// counts and the links; the rest stays what the load has made of it.
struct ContentBlock {
  ASHLAR_OWN_NEW
  ContentLot &lot;
  ashlar_device_t &device; // whose they are
  uint64_t hash;           // of samples
  uint64_t offset;         // in the source's file
  uint64_t size;           // bytes
  uint64_t users;          // who keep it
  uint64_t holders;        // of these, those whose load has been charged
  DeviceAddress address;   // of weights
  void *executable;        // null: weights, or not loaded yet
  bool isCopy;             // the address is memory of the device's
  ContentBlock *next;      // of those that may be found
  ContentBlock **place;    // what points here; null: none does
};

/// One module's. Its load is one thread's; what was loaded, any thread reads.
class Content {
public:
  /// Budget and name live longer.
  Content(Budget &budget, std::unique_ptr<ModuleFile> file, const String &name,
          bool isShared);
  Content(const Content &) = delete;
  ~Content();

  /// The module's own, also where blocks are others'.
  const ModuleFile &file() const { return *source->file; }
  /// Code is 0; behind it, weights by device.
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
  /// What `requests` says, or nothing: OUT_OF_BUDGET. Holders of what others
  /// brought are joined.
  Status charge();
  /// All blocks are filled: others may have them.
  void finish();

  const bool isShared;           // with modules of the same budget
  Vector<ContentBlock *> blocks; // as often as they were taken
  uint64_t foundBytes = 0;       // that were there already

private:
  /// Another's with the same bytes in the same memory; null: there is none.
  ContentBlock *find(const ContentBlock &wanted) const;
  /// One of those who keep it goes; the last one frees it.
  void drop(ContentBlock *block, bool isHolder) const noexcept;
  /// The last one to go frees the file. The caller locks.
  static void leave(ContentSource *source);

  Budget &budget;                // lives longer
  ContentSource *const source;   // what this load brings
  const String &name;            // the module's, as a holder
  size_t lotCount = 0;           // 0: not begun
  Vector<ContentBlock *> joined; // one of each lot of others
  bool isCharged = false;        // `charge` went well
  bool isLoading = false;        // it has the lock
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_CONTENT_H
