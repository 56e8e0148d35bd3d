// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Content.h"

#include <cstring>

namespace ashlar::runtime {

// So many candidates are compared, and so many blocks looked at for them: files
// that were made to have many of one hash share less, and take no more time.
static constexpr size_t mostCompared = 8, mostSeen = 4096;

Content::Content(Budget &budget, std::unique_ptr<ModuleFile> file,
                 const String &name, bool isShared)
    : isShared(isShared), budget(budget),
      source(new ContentSource{std::move(file), 1, {}}), name(name) {}

Content::~Content() {
  {
    std::lock_guard<std::mutex> lock(budget.content.mutex);
    for (ContentBlock *block : joined)
      block->lot.charge.leave(name);
    for (size_t i = 0; i < lotCount; ++i)
      lot(i).charge.leave(name);
    leave(source);
  }
  for (ContentBlock *block : blocks)
    if (block)
      drop(block, isCharged);
  if (isLoading)
    budget.content.loading.unlock();
}

void Content::begin(ashlar_device_t *codeMemory,
                    const Vector<ashlar_device_t *> &devices) {
  source->lots.reset(new ContentLot[1 + devices.size()]);
  for (; lotCount <= devices.size(); ++lotCount) {
    ContentLot &next = lot(lotCount);
    next.source = source;
    next.kind = lotCount ? ASHLAR_MEMORY_WEIGHTS : ASHLAR_MEMORY_CODE;
    next.memory = lotCount ? devices[lotCount - 1] : codeMemory;
    next.bytes = 0;
  }
  if (isShared) {
    budget.content.loading.lock();
    isLoading = true;
  }
}

/// Of few bytes, so that looking for them reads few pages of a file.
static uint64_t hashSamples(const uint8_t *data, uint64_t size) {
  constexpr size_t count = 8, bytes = 128;
  uint8_t samples[count * bytes];
  if (size <= sizeof(samples))
    return hashBytes(data, size_t(size));
  for (size_t i = 0; i < count; ++i)
    std::memcpy(samples + i * bytes, data + (size - bytes) / (count - 1) * i,
                bytes);
  return hashBytes(samples, sizeof(samples));
}

static const uint8_t *bytesOf(const ContentBlock &block) {
  return block.lot.source->file->at(block.offset);
}

ContentBlock *Content::find(const ContentBlock &wanted) const {
  SharedContent &all = budget.content;
  ContentBlock *tried[mostCompared], *found = nullptr;
  size_t count = 0, seen = 0;
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    for (ContentBlock *each = all.bucket(wanted.hash);
         each && count < mostCompared && seen < mostSeen;
         each = each->next, ++seen) {
      if (each->hash != wanted.hash || each->size != wanted.size ||
          &each->device != &wanted.device ||
          each->lot.kind != wanted.lot.kind ||
          each->lot.memory != wanted.lot.memory)
        continue;
      // It stays while it is compared, whoever unloads.
      ++each->users;
      tried[count++] = each;
    }
  }
  for (size_t i = 0; i < count; ++i)
    if (!found && std::memcmp(bytesOf(*tried[i]), bytesOf(wanted),
                              size_t(wanted.size)) == 0)
      found = tried[i];
    else
      drop(tried[i], false);
  return found;
}

ContentBlock *Content::take(size_t number, ashlar_device_t &device,
                            uint64_t offset, uint64_t size) {
  // What is made is there only once it is charged.
  bool mayShare = isShared && !file().isMade(offset);
  uint64_t hash = mayShare ? hashSamples(file().at(offset), size) : 0;
  ContentBlock made = {lot(number), device, hash,    offset, size,    1,
                       0,           {},     nullptr, false,  nullptr, nullptr};
  blocks.push_back(nullptr);
  ContentBlock *&block = blocks.back();
  if (mayShare)
    block = find(made);
  if (block) {
    foundBytes += size;
    return block;
  }
  if (made.lot.kind == ASHLAR_MEMORY_WEIGHTS && device.usesHostMemory())
    // The mapping is read-only and verified programs never write weights.
    made.address.base = const_cast<uint8_t *>(file().at(offset));
  block = new ContentBlock(made);
  block->lot.bytes += size;
  SharedContent &all = budget.content;
  std::lock_guard<std::mutex> lock(all.mutex);
  ++source->users;
  // What is lent, others must not need.
  if (mayShare && file().isMapped()) {
    ContentBlock *&first = all.bucket(hash);
    block->place = &first;
    block->next = first;
    if (first)
      first->place = &block->next;
    first = block;
  }
  return block;
}

Vector<Budget::Request> Content::requests() const {
  Vector<Budget::Request> list;
  for (size_t i = 0; i < lotCount; ++i)
    list.push_back({lot(i).kind, lot(i).bytes, nullptr, lot(i).memory});
  return list;
}

Status Content::charge() {
  Vector<Budget::Request> asked = requests();
  for (size_t i = 0; i < lotCount; ++i)
    asked[i].out = &lot(i).charge;
  ASHLAR_RETURN_IF_ERROR(budget.charge(name, asked));
  std::lock_guard<std::mutex> lock(budget.content.mutex);
  for (ContentBlock *block : blocks) {
    bool isNamed = block->lot.source == source;
    for (const ContentBlock *each : joined)
      isNamed |= &each->lot == &block->lot;
    if (isNamed)
      continue;
    joined.push_back(block);
    block->lot.charge.join(name);
  }
  for (ContentBlock *block : blocks)
    if (block->holders++)
      budget.countSaved(block->size);
  isCharged = true;
  return {};
}

void Content::finish() {
  if (!isLoading)
    return;
  // Comparing has read what others have; what is our own comes back from the
  // file when it is needed.
  if (foundBytes)
    file().release(0, file().size());
  isLoading = false;
  budget.content.loading.unlock();
}

void Content::drop(ContentBlock *block, bool isHolder) const noexcept {
  std::lock_guard<std::mutex> lock(budget.content.mutex);
  if (isHolder && --block->holders)
    budget.countSaved(0 - block->size);
  if (--block->users)
    return;
  if (block->place) {
    *block->place = block->next;
    if (block->next)
      block->next->place = block->place;
  }
  const DeviceOps &ops = block->device.ops;
  ContentSource *from = block->lot.source;
  if (block->executable)
    ops.unloadExecutable(block->device.state, block->executable);
  else if (block->isCopy)
    ops.free(block->device.state, block->address, block->size);
  else
    from->file->release(block->offset, block->size);
  block->lot.charge.payBack(block->size);
  delete block;
  leave(from);
}

void Content::leave(ContentSource *source) {
  if (--source->users == 0)
    delete source;
}

} // namespace ashlar::runtime
