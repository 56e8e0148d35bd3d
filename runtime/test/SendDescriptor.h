// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file descriptor on its way through a socket to another process.

#ifndef ASHLAR_RUNTIME_TEST_SENDDESCRIPTOR_H
#define ASHLAR_RUNTIME_TEST_SENDDESCRIPTOR_H

#include <cstring>
#include <sys/socket.h>

namespace ashlar::test {

/// A message of one byte with one descriptor.
struct DescriptorMessage {
  DescriptorMessage() {
    part.iov_base = &byte;
    part.iov_len = 1;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
  }
  char byte = 0;
  iovec part = {};
  msghdr message = {};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
};

inline bool sendDescriptor(int socket, int descriptor) {
  DescriptorMessage given;
  cmsghdr *head = CMSG_FIRSTHDR(&given.message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
  return sendmsg(socket, &given.message, MSG_NOSIGNAL) == 1;
}

/// Negative: none came.
inline int receiveDescriptor(int socket) {
  DescriptorMessage got;
  int descriptor = -1;
  if (recvmsg(socket, &got.message, MSG_CMSG_CLOEXEC) != 1)
    return -1;
  if (cmsghdr *head = CMSG_FIRSTHDR(&got.message))
    if (head->cmsg_type == SCM_RIGHTS)
      std::memcpy(&descriptor, CMSG_DATA(head), sizeof(int));
  return descriptor;
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_SENDDESCRIPTOR_H
