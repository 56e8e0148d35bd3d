// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DriverCache.h"

#include "ModuleFile.h"
#include "NewFile.h"
#include "RegularFile.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace ashlar::runtime {

namespace {

/// Then come the processor and the driver, the code, and the binary.
struct Header {
  char magic[8];
  uint64_t version;
  uint64_t driverSize;
  uint64_t codeSize;
  uint64_t binarySize;
  uint64_t binaryHash;
};
constexpr char magic[8] = {'A', 'S', 'H', 'D', 'R', 'I', 'V', 'E'};
constexpr uint64_t version = 1;

Header headerOf(size_t driverSize, size_t codeSize) {
  Header header = {{}, version, driverSize, codeSize, 0, 0};
  std::memcpy(header.magic, magic, sizeof(magic));
  return header;
}

/// The line of the first processor's instruction sets.
String processorFlags() {
  String text(8192, 0);
  std::FILE *file = std::fopen("/proc/cpuinfo", "re");
  if (!file)
    return "";
  text.resize(std::fread(&text[0], 1, text.size(), file));
  std::fclose(file);
  size_t begin = text.find("\nflags");
  if (begin == text.npos)
    begin = text.find("\nFeatures");
  if (begin == text.npos)
    return "";
  return text.substr(begin + 1, text.find('\n', begin + 1) - begin);
}

bool readAll(int file, void *to, size_t size, uint64_t at) {
  auto *bytes = static_cast<char *>(to);
  while (size) {
    ssize_t count = pread(file, bytes, size, off_t(at));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes += count, at += uint64_t(count), size -= size_t(count);
  }
  return true;
}

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    bytes.remove_prefix(size_t(count));
  }
  return true;
}

} // namespace

DriverCache::DriverCache(std::string_view folder, const Logger &logger)
    : folder(folder), logger(logger), processor(processorFlags()) {}

String DriverCache::pathOf(const Source &source) const {
  // Whoever has the same name is told apart by what stands in the entry.
  String all = concat(processor, source.driver);
  uint64_t parts[] = {hashBytes(all.data(), all.size()),
                      hashBytes(source.code.data(), source.code.size())};
  char name[32];
  std::snprintf(
      name, sizeof(name), "/%016llx.driver",
      static_cast<unsigned long long>(hashBytes(parts, sizeof(parts))));
  return folder + name;
}

void DriverCache::warn(const String &path, const String &why) const {
  if (!warned.exchange(true) && logger.wants(ASHLAR_LOG_WARNING))
    logger.log(ASHLAR_LOG_WARNING, path.c_str(),
               concat(why, ": code for drivers is compiled on each load; "
                           "driver_cache names a folder that is there and can "
                           "be written"));
}

void DriverCache::note(const String &path, const char *why) const {
  if (logger.wants(ASHLAR_LOG_INFO))
    logger.log(ASHLAR_LOG_INFO, path.c_str(),
               concat(why, ": the driver compiles anew"));
}

String DriverCache::find(const Source &source) const {
  String path = pathOf(source);
  RegularFile file;
  std::string problem = file.open(path.c_str());
  if (!problem.empty()) {
    // keep() says so where the folder is missing.
    if (!file.isMissing())
      warn(path, String(problem));
    return "";
  }
  Header expected = headerOf(processor.size() + source.driver.size(),
                             source.code.size()),
         found;
  constexpr size_t known = offsetof(Header, binarySize);
  uint64_t front = sizeof(Header) + expected.driverSize + expected.codeSize;
  String bytes;
  if (file.size() > front &&
      readAll(file.descriptor(), &found, sizeof(found), 0) &&
      std::memcmp(&found, &expected, known) == 0 &&
      found.binarySize == file.size() - front) {
    bytes.resize(file.size() - sizeof(Header));
    if (!readAll(file.descriptor(), &bytes[0], bytes.size(), sizeof(Header)))
      bytes.clear();
  }
  std::string_view rest = bytes;
  for (std::string_view part :
       {std::string_view(processor), source.driver, source.code}) {
    if (rest.substr(0, part.size()) != part)
      rest = {};
    rest.remove_prefix(std::min(part.size(), rest.size()));
  }
  if (rest.empty() || hashBytes(rest.data(), rest.size()) != found.binaryHash) {
    note(path, "the entry is broken or another's");
    return "";
  }
  bytes.erase(0, bytes.size() - rest.size());
  return bytes;
}

void DriverCache::keep(const Source &source, std::string_view binary) const {
  String path = pathOf(source);
  Header header =
      headerOf(processor.size() + source.driver.size(), source.code.size());
  header.binarySize = binary.size();
  header.binaryHash = hashBytes(binary.data(), binary.size());
  NewFile file;
  std::string problem = file.create(path.c_str(), /*streams=*/false);
  if (problem.empty()) {
    std::string_view parts[] = {
        {reinterpret_cast<const char *>(&header), sizeof(header)},
        processor,
        source.driver,
        source.code,
        binary};
    for (std::string_view part : parts)
      if (problem.empty() && !writeAll(file.descriptor(), part))
        problem = std::strerror(errno);
  }
  if (problem.empty())
    problem = file.keep();
  if (!problem.empty())
    warn(path, String(problem));
}

void DriverCache::refused(const Source &source) const {
  note(pathOf(source), "the driver refused its own code");
}

} // namespace ashlar::runtime
