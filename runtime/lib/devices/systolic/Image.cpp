// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Image.h"

#include <cstring>

namespace ashlar::systolic {

using Header = ashlar_systolic_header_t;
using KernelRecord = ashlar_systolic_kernel_t;
using RegionRecord = ashlar_systolic_region_t;

static std::string number(uint64_t value) { return std::to_string(value); }

static std::string outside(const char *field, uint64_t least, uint64_t most,
                           uint64_t found) {
  return std::string("machine ") + field + ": expected " + number(least) +
         " to " + number(most) + ", found " + number(found);
}

std::string checkMachine(const Machine &m) {
  if (std::memchr(m.name, 0, sizeof(m.name)) == nullptr)
    return "machine name: expected a zero at its end";
  // Bounds that keep all products of two or three of them within 64 bits.
  struct {
    const char *field;
    uint64_t least, most, found;
  } const bounds[] = {{"clock_hz", 1, 1000000000000, m.clock_hz},
                      {"memory_bytes", 1, uint64_t(1) << 48, m.memory_bytes},
                      {"dim", 1, 1024, m.dim},
                      {"arrays", 1, ASHLAR_SYSTOLIC_MAX_ARRAYS, m.arrays},
                      {"input", 0, ASHLAR_SYSTOLIC_BF16, m.input},
                      {"flags", 0, 31, m.flags},
                      {"scratchpad_rows", 1, 1 << 22, m.scratchpad_rows},
                      {"accumulator_rows", 1, 1 << 22, m.accumulator_rows},
                      {"scratchpad_banks", 1, 1024, m.scratchpad_banks},
                      {"accumulator_banks", 1, 1024, m.accumulator_banks},
                      {"bank_rows_per_cycle", 1, 1024, m.bank_rows_per_cycle},
                      {"command_rows", m.dim, 65535, m.command_rows},
                      {"command_row_bytes", 0, 1 << 20, m.command_row_bytes},
                      {"issue_cycles", 1, 1 << 16, m.issue_cycles},
                      {"queue_depth", 1, 1 << 16, m.queue_depth},
                      {"memory_latency", 1, 1 << 20, m.memory_latency},
                      {"memory_bytes_per_1024_cycles", 1, 1 << 28,
                       m.memory_bytes_per_1024_cycles},
                      {"memory_burst_bytes", 1, 1 << 16, m.memory_burst_bytes},
                      {"vector_lanes", 1, 1 << 20, m.vector_lanes},
                      {"special_lanes", 1, 1 << 20, m.special_lanes},
                      {"vector_latency", 1, 1 << 16, m.vector_latency},
                      {"array_sum_bits", 0, 32, m.array_sum_bits},
                      {"least_depth", 0, 1024, m.least_depth},
                      {"requests_in_flight", 0, 1 << 12, m.requests_in_flight},
                      {"request_bytes", m.requests_in_flight ? 1u : 0u, 1 << 16,
                       m.request_bytes}};
  for (const auto &bound : bounds)
    if (bound.found < bound.least || bound.found > bound.most)
      return outside(bound.field, bound.least, bound.most, bound.found);
  if (m.scratchpad_rows % m.scratchpad_banks ||
      m.accumulator_rows % m.accumulator_banks)
    return "machine banks: expected as many rows in each";
  if (m.request_bytes & (m.request_bytes - 1) ||
      m.request_bytes % m.memory_burst_bytes)
    return "machine request_bytes: expected a power of two that holds whole "
           "bursts, found " +
           number(m.request_bytes);
  // Of the host, a quarter of a gigabyte for each memory.
  constexpr uint64_t mostWords = uint64_t(1) << 26;
  if (uint64_t(m.scratchpad_rows) * m.dim > mostWords ||
      uint64_t(m.accumulator_rows) * m.dim > mostWords)
    return "machine rows: expected at most " + number(mostWords) +
           " elements in a memory";
  for (uint32_t reserved : m.reserved)
    if (reserved)
      return "machine: a reserved field is not zero";
  return "";
}

bool countIssued(const Vector<Command> &commands, uint64_t &issued,
                 std::string &error) {
  constexpr uint64_t most = uint64_t(1) << 27;
  // Iterations of all loops around, outermost first.
  Vector<uint64_t> times = {1};
  issued = 0;
  auto fail = [&](size_t at, const std::string &why) {
    error = "instruction " + number(at) + ": " + why;
    return false;
  };
  bool advanced = false;
  for (size_t i = 0; i < commands.size(); ++i) {
    const Command &command = commands[i];
    if (advanced && (command.funct == ASHLAR_SYSTOLIC_LOOP ||
                     command.funct == ASHLAR_SYSTOLIC_END))
      return fail(i, "advance: expected a command after it, found a loop's");
    advanced = command.funct == ASHLAR_SYSTOLIC_ADVANCE;
    switch (command.funct) {
    case ASHLAR_SYSTOLIC_LOOP:
      if (times.size() > ASHLAR_SYSTOLIC_MAX_LOOPS)
        return fail(i, "loop: nested deeper than " +
                           number(ASHLAR_SYSTOLIC_MAX_LOOPS));
      if (command.rs1 == 0 || command.rs1 > most / times.back() || command.rs2)
        return fail(i, "loop: expected 1 to " + number(most / times.back()) +
                           " iterations, found " + number(command.rs1));
      times.push_back(times.back() * command.rs1);
      break;
    case ASHLAR_SYSTOLIC_END:
      if (times.size() == 1 || command.rs1 || command.rs2)
        return fail(i, "end: there is no loop to end here");
      times.pop_back();
      break;
    case ASHLAR_SYSTOLIC_ADVANCE:
      if (command.unit + 1u >= times.size())
        return fail(i, "advance: names loop " + number(command.unit) +
                           "; there are " + number(times.size() - 1));
      break;
    default:
      issued += times.back();
      if (issued > most)
        return fail(i,
                    "the loops issue more than " + number(most) + " commands");
    }
  }
  if (times.size() != 1)
    return fail(commands.size(), "expected the end of a loop");
  if (advanced)
    return fail(commands.size(), "advance: expected a command after it");
  return true;
}

namespace {
/// A checked view of the bytes.
class Reader {
public:
  Reader(const void *bytes, uint64_t size)
      : bytes(static_cast<const uint8_t *>(bytes)), size(size) {}

  /// Whether `count` records of T lie at `at`.
  template <typename T> bool holds(uint64_t at, uint64_t count) const {
    return at % 8 == 0 && at <= size && count <= (size - at) / sizeof(T);
  }
  template <typename T> T read(uint64_t at, uint64_t index) const {
    T value;
    std::memcpy(&value, bytes + at + index * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T>
  Vector<T> readAll(uint64_t at, uint64_t first, uint64_t count) const {
    Vector<T> values(count);
    if (count)
      std::memcpy(values.data(), bytes + at + first * sizeof(T),
                  count * sizeof(T));
    return values;
  }
  bool text(const Header &header, uint32_t place, String &out) const {
    if (place >= header.texts_bytes)
      return false;
    const char *begin =
        reinterpret_cast<const char *>(bytes + header.texts_at + place);
    const void *end = std::memchr(begin, 0, header.texts_bytes - place);
    if (!end)
      return false;
    out.assign(begin, static_cast<const char *>(end));
    return true;
  }

private:
  const uint8_t *bytes;
  uint64_t size;
};
} // namespace

static bool isWithin(uint64_t first, uint64_t count, uint64_t limit) {
  return first <= limit && count <= limit - first;
}

static std::string readKernel(const Reader &reader, const Header &header,
                              uint64_t index, Kernel &kernel) {
  auto record = reader.read<KernelRecord>(header.kernels_at, index);
  std::string place = "kernel " + number(index);
  if (!isWithin(record.first_command, record.command_count,
                header.command_count) ||
      !isWithin(record.first_region, record.region_count, header.region_count))
    return place + " names commands or regions that are not there";
  if (!reader.text(header, record.name, kernel.name) || kernel.name.empty())
    return place + " has no name";
  place = "kernel " + kernel.name + ", ";
  if (record.bindings > ASHLAR_SYSTOLIC_MAX_BINDINGS)
    return place + "bindings: expected at most " +
           number(ASHLAR_SYSTOLIC_MAX_BINDINGS) + ", found " +
           number(record.bindings);
  kernel.bindings = record.bindings;
  for (uint64_t i = 0; i < record.region_count; ++i) {
    auto region =
        reader.read<RegionRecord>(header.regions_at, record.first_region + i);
    Region &out = kernel.regions.emplace_back();
    if (!reader.text(header, region.name, out.name))
      return place + "region " + number(i) + " has no name";
    if (region.kind > ASHLAR_SYSTOLIC_DEPTHWISE)
      return place + "region " + number(i) + " has an unknown kind, " +
             number(region.kind);
    if (region.dataflow > ASHLAR_SYSTOLIC_KEEPS_SUMS)
      return place + "region " + number(i) + " has an unknown dataflow, " +
             number(region.dataflow);
    out.multiplyAdds = region.multiply_adds;
    out.kind = region.kind;
    out.dataflow = region.dataflow;
  }
  kernel.commands = reader.readAll<Command>(
      header.commands_at, record.first_command, record.command_count);
  std::string error;
  if (!countIssued(kernel.commands, kernel.issued, error))
    return place + error;
  if (kernel.issued != record.issued)
    return place + "issued: the loops issue " + number(kernel.issued) +
           " commands, the image says " + number(record.issued);
  return "";
}

std::string readImage(const void *bytes, uint64_t size, Image &image) {
  Reader reader(bytes, size);
  if (!reader.holds<Header>(0, 1))
    return "an image has at least " + number(sizeof(Header)) +
           " bytes, found " + number(size);
  auto header = reader.read<Header>(0, 0);
  if (std::memcmp(header.magic, ASHLAR_SYSTOLIC_MAGIC, sizeof(header.magic)))
    return "these are no systolic streams: the magic number is wrong";
  if (header.version != ASHLAR_SYSTOLIC_VERSION ||
      header.header_bytes != sizeof(Header))
    return "expected version " + number(ASHLAR_SYSTOLIC_VERSION) +
           " of the image, found " + number(header.version);
  if (header.image_bytes != size)
    return "expected " + number(header.image_bytes) + " bytes, found " +
           number(size);
  if (!reader.holds<KernelRecord>(header.kernels_at, header.kernel_count) ||
      !reader.holds<RegionRecord>(header.regions_at, header.region_count) ||
      !reader.holds<Command>(header.commands_at, header.command_count) ||
      !reader.holds<char>(header.texts_at, header.texts_bytes))
    return "a part of the image lies outside of it";
  std::string error = checkMachine(header.machine);
  if (!error.empty())
    return error;
  image.machine = header.machine;
  image.kernels.clear();
  // Kernels that share commands would multiply them.
  uint64_t commands = 0, regions = 0;
  for (uint64_t i = 0; i < header.kernel_count; ++i) {
    auto record = reader.read<KernelRecord>(header.kernels_at, i);
    if (record.first_command != commands || record.first_region != regions)
      return "kernel " + number(i) +
             ": its commands or regions do not follow "
             "the ones of the kernel before";
    commands += record.command_count;
    regions += record.region_count;
    error = readKernel(reader, header, i, image.kernels.emplace_back());
    if (!error.empty())
      return error;
  }
  return "";
}

namespace {
class Writer {
public:
  template <typename T> void add(const T &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
  }
  uint64_t align() {
    bytes.resize((bytes.size() + 7) / 8 * 8);
    return bytes.size();
  }
  std::string bytes;
};
} // namespace

std::string writeImage(const Image &image) {
  Writer writer;
  Header header = {};
  std::memcpy(header.magic, ASHLAR_SYSTOLIC_MAGIC, sizeof(header.magic));
  header.version = ASHLAR_SYSTOLIC_VERSION;
  header.header_bytes = sizeof(Header);
  header.machine = image.machine;
  header.kernel_count = image.kernels.size();
  std::string texts;
  auto addText = [&](std::string_view text) {
    auto place = uint32_t(texts.size());
    texts.append(text).push_back(0);
    return place;
  };
  writer.add(header);
  header.kernels_at = writer.align();
  Vector<RegionRecord> regions;
  for (const Kernel &kernel : image.kernels) {
    KernelRecord record = {};
    std::string ignored; // a reader tells
    record.first_command = header.command_count;
    record.command_count = kernel.commands.size();
    record.first_region = regions.size();
    record.region_count = kernel.regions.size();
    countIssued(kernel.commands, record.issued, ignored);
    record.name = addText(kernel.name);
    record.bindings = kernel.bindings;
    for (const Region &region : kernel.regions)
      regions.push_back({region.multiplyAdds, addText(region.name), region.kind,
                         region.dataflow});
    header.command_count += kernel.commands.size();
    writer.add(record);
  }
  header.regions_at = writer.align();
  header.region_count = regions.size();
  for (const RegionRecord &region : regions)
    writer.add(region);
  header.commands_at = writer.align();
  for (const Kernel &kernel : image.kernels)
    for (const Command &command : kernel.commands)
      writer.add(command);
  header.texts_at = writer.align();
  header.texts_bytes = texts.size();
  writer.bytes += texts;
  writer.align();
  header.image_bytes = writer.bytes.size();
  std::memcpy(writer.bytes.data(), &header, sizeof(header));
  return std::move(writer.bytes);
}

} // namespace ashlar::systolic
