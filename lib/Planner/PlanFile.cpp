// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Planner/PlanFile.h"
#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_set>

using namespace ashlar;
using namespace ashlar::planner;

static std::string_view trim(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

static std::vector<std::string_view> splitLine(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    size_t comma = line.find(',');
    cells.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos)
      return cells;
    line.remove_prefix(comma + 1);
  }
}

static std::string quote(std::string_view text) {
  std::string shown = "'";
  for (char c : text.substr(0, 60))
    shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > 60 ? "...'" : "'");
}

namespace {
class Reader {
public:
  explicit Reader(NamedBuffers &result) : result(result) {}

  Refusal readLine(std::string_view line) {
    ++number;
    if (trim(line).empty())
      return std::nullopt;
    return columnOf.empty() ? readHeader(line) : readBuffer(line);
  }

  Refusal finish() {
    if (columnOf.empty())
      return "expected a first line 'id,lower,upper,size', found no line";
    return std::nullopt;
  }

private:
  static constexpr const char *names[] = {"id",   "lower",     "upper",
                                          "size", "alignment", "offset"};
  enum Column { Id, Lower, Upper, Size, Alignment, Offset, ColumnCount };

  std::string fault(const std::string &what) {
    return "line " + std::to_string(number) + ": " + what;
  }

  Refusal readHeader(std::string_view line) {
    size_t position[ColumnCount];
    std::fill(std::begin(position), std::end(position), std::string::npos);
    for (std::string_view cell : splitLine(line)) {
      size_t column = 0;
      while (column != ColumnCount && cell != names[column])
        ++column;
      if (column == ColumnCount)
        return fault("expected the columns id, lower, upper, size and perhaps "
                     "alignment and offset, found " +
                     quote(cell));
      if (position[column] != std::string::npos)
        return fault("column " + quote(cell) + " is there twice");
      position[column] = columnOf.size();
      columnOf.push_back(static_cast<Column>(column));
    }
    for (size_t column : {Id, Lower, Upper, Size})
      if (position[column] == std::string::npos)
        return fault("expected the columns id, lower, upper, size, but " +
                     quote(names[column]) + " is missing");
    result.haveAlignments = position[Alignment] != std::string::npos;
    return std::nullopt;
  }

  Refusal readBuffer(std::string_view line) {
    std::vector<std::string_view> cells = splitLine(line);
    if (cells.size() != columnOf.size())
      return fault("expected " + std::to_string(columnOf.size()) +
                   " values, found " + std::to_string(cells.size()));
    int64_t values[ColumnCount] = {0, 0, 0, 0, 1, 0};
    for (size_t i = 0; i != cells.size(); ++i) {
      Column column = columnOf[i];
      if (column == Id) {
        if (!seen.insert(cells[i]).second)
          return fault("expected ids that differ, found " + quote(cells[i]) +
                       " again");
        result.ids.emplace_back(cells[i]);
        continue;
      }
      const char *end = cells[i].data() + cells[i].size();
      auto [stop, error] =
          std::from_chars(cells[i].data(), end, values[column]);
      if (error != std::errc() || stop != end || cells[i].empty())
        return fault("expected a whole number of 64 bits as " +
                     std::string(names[column]) + ", found " + quote(cells[i]));
    }
    return addBuffer(
        {values[Lower], values[Upper], values[Size], values[Alignment]});
  }

  Refusal addBuffer(const Buffer &buffer) {
    if (buffer.bytes < 0)
      return fault("expected a size of at least 0, found " +
                   std::to_string(buffer.bytes));
    if (buffer.lower >= buffer.upper)
      return fault("expected a lifetime that ends after it begins, found " +
                   std::to_string(buffer.lower) + " to " +
                   std::to_string(buffer.upper) + " (upper is exclusive)");
    if (buffer.alignment < 1 || buffer.alignment > mostAlignment)
      return fault("expected an alignment from 1 to " +
                   std::to_string(mostAlignment) + ", found " +
                   std::to_string(buffer.alignment));
    total += buffer.bytes > mostTotalBytes ? mostTotalBytes : buffer.bytes;
    total += buffer.alignment;
    if (total > mostTotalBytes)
      return fault("expected sizes whose sum stays below 2^60 bytes, with "
                   "this buffer it does not");
    result.buffers.push_back(buffer);
    return std::nullopt;
  }

  NamedBuffers &result;
  std::vector<Column> columnOf;              ///< by position in a line
  std::unordered_set<std::string_view> seen; ///< ids, in the text
  size_t number = 0;
  int64_t total = 0;
};
} // namespace

Refusal ashlar::planner::readPlanFile(std::string_view text,
                                      NamedBuffers &result) {
  result = NamedBuffers();
  Reader reader(result);
  while (!text.empty()) {
    size_t end = text.find('\n');
    if (Refusal fault = reader.readLine(text.substr(0, end)))
      return fault;
    if (end == std::string_view::npos)
      break;
    text.remove_prefix(end + 1);
  }
  return reader.finish();
}

std::string
ashlar::planner::writePlanFile(const NamedBuffers &named,
                               const std::vector<int64_t> &offsets) {
  std::string text = named.haveAlignments
                         ? "id,lower,upper,size,alignment,offset\n"
                         : "id,lower,upper,size,offset\n";
  for (size_t i = 0; i != named.buffers.size(); ++i) {
    const Buffer &buffer = named.buffers[i];
    text += named.ids[i];
    for (int64_t value : {buffer.lower, buffer.upper, buffer.bytes})
      text += ',' + std::to_string(value);
    if (named.haveAlignments)
      text += ',' + std::to_string(buffer.alignment);
    text += ',' + std::to_string(offsets[i]) + '\n';
  }
  return text;
}
