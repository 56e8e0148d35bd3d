// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever a path names: what is no regular file is refused at once.

#include "Loaded.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace ashlar::test;

namespace {

class RegularFiles : public RuntimeTest {
protected:
  void expectRefused(const std::string &path, const char *found) {
    ashlar_module_t *tried = nullptr;
    ashlar_status_t status =
        ashlar_module_load_file(runtime, path.c_str(), nullptr, &tried);
    EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT) << path;
    EXPECT_NE(std::strstr(status.message, found), nullptr) << status.message;
    EXPECT_EQ(path, status.place);
    EXPECT_EQ(tried, nullptr);
  }
  std::string place(const char *name) {
    std::string path =
        testing::TempDir() + "/" + name + "-" + std::to_string(getpid());
    unlink(path.c_str());
    return path;
  }
};

TEST_F(RegularFiles, OthersAreRefused) {
  std::string fifo = place("fifo"), name = place("socket");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expectRefused(fifo, "found a FIFO");
  unlink(fifo.c_str());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(name.size(), sizeof(address.sun_path));
  std::strcpy(address.sun_path, name.c_str());
  int server = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(
      bind(server, reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
  expectRefused(name, "found a socket");
  close(server);
  unlink(name.c_str());
  expectRefused("/dev/zero", "found a device");
  expectRefused(testing::TempDir(), "found a folder");
}

TEST_F(RegularFiles, AMissingOneIsNotFound) {
  EXPECT_CODE(
      ASHLAR_NOT_FOUND,
      ashlar_module_load_file(runtime, "/nowhere/model.ash", nullptr, &module));
}

} // namespace
