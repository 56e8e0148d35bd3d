// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranges of --dim and the shapes that are written in their names.
#include "SplitText.h"
#include "ashlar/Driver/CompileOptions.h"
#include "ashlar/Support/Refusal.h"
#include <algorithm>
#include <cctype>
#include <charconv>

using namespace ashlar;

// Products of sizes and numbers of a formula stay far from overflows.
static constexpr int64_t largestSize = int64_t(1) << 40;

static std::string trim(const std::string &text) {
  size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos)
    return "";
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// The whole of `text` as a number of at least `minimum`.
static bool parseSize(const std::string &text, int64_t minimum, int64_t &size) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), size);
  return error == std::errc() && end == text.data() + text.size() &&
         size >= minimum;
}

/// What is wrong with the name of a range.
static Refusal whyNotName(const std::string &name,
                          const std::vector<SizeRange> &others) {
  bool isName = !name.empty() && (name[0] < '0' || name[0] > '9');
  for (char c : name)
    isName &=
        c == '_' || c == '.' || std::isalnum(static_cast<unsigned char>(c));
  if (!isName)
    return "expected a name of letters, digits, _ and ., that does not begin "
           "with a digit, found '" +
           name +
           "'; give it another one here and in --shape (--dim=N=1..8 "
           "--shape=INPUT=Nx3)";
  for (const SizeRange &other : others)
    if (other.name == name)
      return "expected each name once, found " + name + " again after " +
             other.text() + "; leave one of the ranges out";
  return std::nullopt;
}

/// What is wrong with the sizes of a range.
static Refusal whyNotSizes(const SizeRange &range) {
  auto form = [&](int64_t minimum, int64_t maximum) {
    SizeRange better = range;
    better.minimum = minimum;
    better.maximum = maximum;
    return better.text();
  };
  if (range.maximum < range.minimum)
    return "expected the smaller size first, found " +
           std::to_string(range.minimum) + " before " +
           std::to_string(range.maximum) + "; type " +
           form(range.maximum, range.minimum);
  if (range.minimum % range.step == 0 && range.maximum % range.step == 0)
    return std::nullopt;
  int64_t first = (range.minimum + range.step - 1) / range.step;
  int64_t last = std::max(first, range.maximum / range.step);
  return "expected a range that begins and ends at multiples of " +
         std::to_string(range.step) + ", found " +
         std::to_string(range.minimum) + " and " +
         std::to_string(range.maximum) + "; type " +
         form(first * range.step, last * range.step);
}

/// Reads one range; gives what is wrong with it.
static Refusal readSizeRange(const std::string &text, SizeRange &range,
                             const std::vector<SizeRange> &others) {
  size_t equals = text.find('='), dots = text.find("..");
  if (equals == std::string::npos || dots == std::string::npos || dots < equals)
    return "expected NAME=1..8[,NAME=...], or NAME=64..960:32 for multiples "
           "of 32";
  range.name = text.substr(0, equals);
  if (Refusal why = whyNotName(range.name, others))
    return why;
  size_t colon = std::min(text.find(':', dots), text.size());
  std::pair<std::string, int64_t *> numbers[] = {
      {text.substr(equals + 1, dots - equals - 1), &range.minimum},
      {text.substr(dots + 2, colon - dots - 2), &range.maximum},
      {colon == text.size() ? "1" : text.substr(colon + 1), &range.step}};
  for (auto &[number, size] : numbers)
    if (int64_t least = size == &range.step ? 1 : 0;
        !parseSize(number, least, *size) || *size > largestSize)
      return "expected whole numbers of " + std::to_string(least) + " to " +
             std::to_string(largestSize) + ", found '" + number + "'; type " +
             range.name + "=1..8, or " + range.name +
             "=64..960:32 for multiples of 32";
  return whyNotSizes(range);
}

bool ashlar::parseSizeRanges(const std::string &text,
                             std::vector<SizeRange> &sizes, std::string &why) {
  std::vector<SizeRange> parsed = sizes;
  for (const std::string &part : split(text, ',')) {
    SizeRange range;
    if (Refusal wrong = readSizeRange(part, range, parsed)) {
      why = "'" + part + "': " + *wrong;
      return false;
    }
    parsed.push_back(range);
  }
  sizes = parsed;
  return true;
}

/// Calls `take(term, factor, text)` for each factor of a sum of products.
template <typename Take>
static void forEachFactor(const std::string &dim, Take take) {
  std::vector<std::string> terms = split(dim, '+');
  for (size_t term = 0; term != terms.size(); ++term) {
    std::vector<std::string> factors = split(terms[term], '*');
    for (size_t factor = 0; factor != factors.size(); ++factor)
      take(term, factor, trim(factors[factor]));
  }
}

static const SizeRange *findRange(const std::vector<SizeRange> &sizes,
                                  const std::string &name) {
  for (const SizeRange &range : sizes)
    if (range.name == name)
      return &range;
  return nullptr;
}

bool ashlar::parseOpenDim(const std::string &text,
                          const std::vector<SizeRange> &sizes, std::string &dim,
                          std::string &unknown) {
  std::string spelled;
  bool isOpen = false;
  unknown.clear();
  forEachFactor(text, [&](size_t term, size_t factor, const std::string &part) {
    int64_t number;
    bool isName = findRange(sizes, part) != nullptr;
    if (!isName && !parseSize(part, 0, number)) {
      if (unknown.empty())
        unknown = part.empty() ? "nothing" : "'" + part + "'";
      return;
    }
    isOpen |= isName;
    spelled += factor != 0 ? "*" : term != 0 ? "+" : "";
    spelled += part;
  });
  if (!unknown.empty())
    return false;
  dim = isOpen ? spelled : std::to_string(sizeOfDim(spelled, {}, {}));
  return true;
}

int64_t ashlar::sizeOfDim(const std::string &dim,
                          const std::vector<SizeRange> &sizes,
                          const std::vector<int64_t> &values) {
  // What is larger than any tensor is refused as such.
  auto bounded = [](__int128 value) {
    return int64_t(std::min<__int128>(value, int64_t(1) << 62));
  };
  int64_t sum = 0, product = 0;
  forEachFactor(dim, [&](size_t, size_t factor, const std::string &part) {
    int64_t size = 0;
    (void)parseSize(part, 0, size);
    for (size_t i = 0; i != sizes.size(); ++i)
      if (sizes[i].name == part)
        size = values[i];
    if (factor == 0) {
      sum = bounded(__int128(sum) + product);
      product = size;
    } else {
      product = bounded(__int128(product) * size);
    }
  });
  return bounded(__int128(sum) + product);
}

namespace {
/// Dims parted by x where names may hold one: as few readings as make sense.
struct ShapeReader {
  const std::vector<std::string> &pieces; ///< between any two x
  const std::vector<SizeRange> &sizes;
  /// How the pieces from each one on can be read: none, one, more.
  std::vector<unsigned> ways;
  std::vector<size_t> next;           ///< the first piece of the next dim
  std::vector<std::string> read = {}; ///< the dim that begins at each piece
  std::vector<size_t> otherwise = {}; ///< of a second reading

  explicit ShapeReader(const std::vector<std::string> &pieces,
                       const std::vector<SizeRange> &sizes)
      : pieces(pieces), sizes(sizes), ways(pieces.size() + 1, 0),
        next(pieces.size()), read(pieces.size()), otherwise(pieces.size(), 0) {
    ways.back() = 1;
    for (size_t i = pieces.size(); i-- != 0;)
      findWays(i);
  }

  void findWays(size_t i) {
    std::string text;
    for (size_t end = i + 1; end <= pieces.size(); ++end) {
      text += (end == i + 1 ? "" : "x") + pieces[end - 1];
      std::string dim, unknown;
      if (ways[end] == 0 || !parseOpenDim(text, sizes, dim, unknown))
        continue;
      if (ways[i] == 0) {
        next[i] = end;
        read[i] = dim;
      } else {
        otherwise[i] = end;
      }
      ways[i] = std::min(2u, ways[i] + ways[end]);
    }
  }

  /// With commas; of two readings, the first or the second.
  std::string spell(bool second) const {
    std::string text;
    for (size_t i = 0; i != pieces.size();) {
      size_t end = second && otherwise[i] != 0 ? otherwise[i] : next[i];
      second &= end == next[i];
      for (size_t j = i; j != end; ++j)
        text += (j != i ? "x" : i != 0 ? "," : "") + pieces[j];
      i = end;
    }
    return text;
  }

  /// The first part that is neither a size nor a name.
  std::string findUnknown() const {
    std::string run;
    for (const std::string &piece : pieces) {
      std::string dim, unknown;
      if (parseOpenDim(piece, sizes, dim, unknown)) {
        if (!run.empty())
          break;
        continue;
      }
      run += (run.empty() ? "" : "x") + piece;
    }
    return run.empty() ? "nothing" : "'" + run + "'";
  }
};
} // namespace

static std::string knownNames(const std::vector<SizeRange> &sizes) {
  std::string names;
  for (const SizeRange &range : sizes)
    names += (names.empty() ? "" : ", ") + range.name;
  return names.empty() ? "none" : names;
}

static std::string whyUnknown(const std::string &unknown,
                              const std::vector<SizeRange> &sizes) {
  std::string why =
      "expected sizes and names that --dim gives (" + knownNames(sizes) +
      "), such as 1x3x224x224, Nx3x48xW or Nx8*W, found " + unknown;
  if (unknown.size() < 3 || unknown[0] != '\'')
    return why + "; type a size there";
  std::string name = unknown.substr(1, unknown.size() - 2);
  return why + "; type a size" +
         (whyNotName(name, {}) ? " or a name there"
                               : ", or add --dim=" + name + "=1..8");
}

bool ashlar::parseSymbolicShape(const std::string &text,
                                const std::vector<SizeRange> &sizes,
                                std::string &name,
                                std::vector<std::string> &shape,
                                std::string &why) {
  // The name comes first and may itself hold '='.
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    why = "expected NAME=1x3x224x224, or NAME=Nx3x48xW with N and W given by "
          "--dim";
    return false;
  }
  std::string dims = text.substr(equals + 1);
  std::vector<std::string> parsed;
  std::string unknown;
  if (dims.find(',') != std::string::npos) {
    for (const std::string &part : split(dims, ','))
      if (!parseOpenDim(part, sizes, parsed.emplace_back(), unknown)) {
        why = whyUnknown(unknown, sizes);
        return false;
      }
  } else {
    std::vector<std::string> pieces = split(dims, 'x');
    ShapeReader reader(pieces, sizes);
    if (reader.ways[0] == 0) {
      why = whyUnknown(reader.findUnknown(), sizes);
      return false;
    }
    if (reader.ways[0] > 1) {
      std::string first = reader.spell(false), second = reader.spell(true);
      why = "can be read as " + first + " and as " + second +
            "; part the dims by commas (--shape=" + text.substr(0, equals) +
            "=" + (first.find(',') != std::string::npos ? first : second) +
            "), or give one of the names another spelling";
      return false;
    }
    for (size_t i = 0; i != pieces.size(); i = reader.next[i])
      parsed.push_back(reader.read[i]);
  }
  std::vector<int64_t> largest;
  for (const SizeRange &range : sizes)
    largest.push_back(range.maximum);
  for (const std::string &dim : parsed)
    if (sizeOfDim(dim, sizes, largest) > largestSize) {
      why = "expected sizes of at most " + std::to_string(largestSize) +
            ", found that " + dim +
            " may be larger; make the range of --dim "
            "smaller";
      return false;
    }
  name = text.substr(0, equals);
  shape = parsed;
  return true;
}
