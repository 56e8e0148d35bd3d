// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What values hold that are no numbers: memory, accumulators, rings, tokens.
#ifndef ASHLAR_LIB_INTERPRET_OBJECTS_H
#define ASHLAR_LIB_INTERPRET_OBJECTS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Interpret/Interpret.h"

#include <functional>
#include <memory>

namespace ashlar::interpret {

struct Buffer;

/// Something that was begun, and what belongs to it until it is waited for.
struct Task {
  mlir::Operation *op = nullptr;
  /// Whether it may end yet; null: at any time.
  std::function<bool()> mayEnd;
  std::function<void()> effect;
  std::shared_ptr<Task> before; ///< an earlier one on the same accumulator
  struct Place {
    std::shared_ptr<Buffer> buffer;
    int64_t place;
    uint64_t generation;
    bool isWritten;
  };
  std::vector<Place> places;
  bool isDone = false, isWaited = false;

  ~Task();
  /// Somebody knows that it is done, with all that it follows.
  void giveBack();

private:
  void unmark();
};
using TaskRef = std::shared_ptr<Task>;

/// Elements, and which of them belong to tasks.
struct Buffer {
  /// What nothing has been written to is no number that anybody may expect.
  explicit Buffer(int64_t size) : elements(size, Number{0x7ff4dead7ff4dead}) {}

  std::vector<Number> elements;
  std::vector<Task *> writers;   ///< by element; empty: none
  std::vector<uint32_t> readers; ///< by element; empty: none
  std::vector<TaskRef> reading;  ///< tasks that read some of it
  uint64_t generation = 0;       ///< of a slot: how often it was taken
  bool isReleased = false;

  /// Empty: it may be read, or written, by what is no task.
  llvm::StringRef whyNot(int64_t place, bool writes) const {
    if (!writers.empty() && writers[place])
      return "what has been begun to be written and not waited for";
    if (writes && !readers.empty() && readers[place])
      return "what is still being read, and not waited for";
    return "";
  }
  void mark(const TaskRef &task, const std::shared_ptr<Buffer> &self,
            int64_t place, bool writes);
};

struct Object {
  virtual ~Object() = default;
};

/// A memref, or a slot.
struct View : Object {
  std::shared_ptr<Buffer> buffer;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> sizes, strides;
  tile::LayoutAttr layout; ///< of a slot
  uint64_t generation = 0;

  int64_t placeOf(llvm::ArrayRef<int64_t> index) const {
    if (layout)
      return layout.getPlace(index, sizes);
    int64_t place = offset;
    for (size_t d = 0; d != index.size(); ++d)
      place += index[d] * strides[d];
    return place;
  }
  bool holds(llvm::ArrayRef<int64_t> index) const {
    for (size_t d = 0; d != index.size(); ++d)
      if (index[d] < 0 || index[d] >= sizes[d])
        return false;
    return true;
  }
  bool isStale() const {
    return buffer->isReleased || buffer->generation != generation;
  }
};

struct Ring;

/// Workers that run side by side and share copies.
struct Cluster {
  unsigned count = 0;
  /// By where it is made: the ring of each worker that has come there.
  llvm::DenseMap<mlir::Operation *, std::vector<std::shared_ptr<Ring>>> rings;
};

struct Ring : Object {
  struct Slot {
    std::shared_ptr<Buffer> buffer;
    bool isTaken = false;
    std::vector<TaskRef> until; ///< once it is released
  };
  tile::RingType type;
  std::vector<Slot> slots;
  /// By copies, in their order: the slot, and what fills it.
  std::vector<std::pair<unsigned, TaskRef>> copies;
  uint64_t numTaken = 0;
  std::weak_ptr<Cluster> cluster; ///< its worker's, which has it; null: none
  mlir::Operation *op = nullptr;  ///< that has made it
  /// Of each copy that is shared: the memory and where it begins to read it.
  std::vector<std::pair<Buffer *, int64_t>> sources;
};

struct Slot : View {
  std::shared_ptr<Ring> ring;
  unsigned number = 0;
};

struct Token : Object {
  TaskRef task;
};

struct Accumulator : Object {
  mlir::Type element;
  llvm::SmallVector<int64_t> shape;
  std::vector<Number> values;
  TaskRef pending; ///< the last step on it, which is not done with it
};

} // namespace ashlar::interpret

#endif // ASHLAR_LIB_INTERPRET_OBJECTS_H
