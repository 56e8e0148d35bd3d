// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TextTable.h"

#include <algorithm>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace ashlar::tools {

static constexpr size_t gap = 2;
/// A first column is cut to no less, and a last one has no less room beside
/// the others.
static constexpr size_t leastName = 16, leastRest = 24;

size_t outputColumns() {
  winsize size = {};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col;
}

std::string formatNumber(const char *form, double number) {
  char text[48];
  std::snprintf(text, sizeof(text), form, number);
  return text;
}

static bool continuesCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

static size_t lengthOf(const std::string &text) {
  return text.size() -
         size_t(std::count_if(text.begin(), text.end(), continuesCharacter));
}

/// The first `columns` characters.
static std::string beginningOf(const std::string &text, size_t columns) {
  size_t end = 0;
  for (; end != text.size(); ++end)
    if (!continuesCharacter(text[end]) && columns-- == 0)
      break;
  return text.substr(0, end);
}

std::string cutText(const std::string &text, size_t columns) {
  if (lengthOf(text) <= columns)
    return text;
  return beginningOf(text, columns - std::min<size_t>(columns, 3)) +
         std::string("...").substr(0, columns);
}

std::string TextTable::format(size_t columns) const {
  const size_t last = aligns.size() - 1;
  std::vector<size_t> widths(last);
  size_t middle = gap;
  for (size_t i = 0; i != last; ++i) {
    for (const std::vector<std::string> &row : rows)
      widths[i] = std::max(widths[i], lengthOf(row[i]));
    middle += widths[i] + gap;
  }
  const bool isBelow = columns && middle + leastRest > columns;
  if (columns && middle > columns)
    widths[0] -=
        std::min(middle - columns, widths[0] - std::min(widths[0], leastName));
  std::string text;
  for (const std::vector<std::string> &row : rows) {
    std::string line(gap, ' ');
    for (size_t i = 0; i != last; ++i) {
      std::string cell = columns ? cutText(row[i], widths[i]) : row[i];
      std::string blanks(widths[i] - lengthOf(cell), ' ');
      line += (aligns[i] == Align::Left ? cell + blanks : blanks + cell) +
              std::string(gap, ' ');
    }
    if (isBelow) {
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
      line.assign(2 * gap, ' ');
    }
    size_t room = columns - std::min(columns, lengthOf(line));
    line += columns ? cutText(row[last], room) : row[last];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

} // namespace ashlar::tools
