// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of text under their heads. In a terminal, lines are no longer than it is
// wide; in pipes and files, nothing is cut.

#ifndef ASHLAR_TOOLS_LIB_TEXTTABLE_H
#define ASHLAR_TOOLS_LIB_TEXTTABLE_H

#include <cstddef>
#include <string>
#include <vector>

namespace ashlar::tools {

/// Columns of the terminal behind stdout; 0 where stdout is none.
size_t outputColumns();

/// One number by a form of printf.
std::string formatNumber(const char *form, double number);

/// At most `columns` characters of UTF-8; what is cut ends in "...".
std::string cutText(const std::string &text, size_t columns);

class TextTable {
public:
  enum class Align { Left, Right };

  /// The last column stands in lines of its own where little room is left for
  /// it. It is cut, and the first one.
  TextTable(std::vector<std::string> heads, std::vector<Align> aligns)
      : aligns(std::move(aligns)), rows{std::move(heads)} {}

  /// As many cells as there are heads.
  void add(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }

  /// Lines of at most `columns` characters where the columns between allow
  /// that; 0: as long as they are.
  std::string format(size_t columns) const;

private:
  std::vector<Align> aligns;
  std::vector<std::vector<std::string>> rows;
};

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_TEXTTABLE_H
