#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command whose errors go to a terminal, and prints what that was sent:
a line each time that one begins anew.

  in_terminal.py COMMAND...
"""

import os
import pty
import subprocess
import sys

own, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stderr=theirs)
os.close(theirs)
sent = b""
while True:
    try:
        part = os.read(own, 65536)
    except OSError:  # what Linux says when the other end is closed
        break
    if not part:
        break
    sent += part
print(sent.decode().replace("\r\x1b[K", "\n"))
sys.exit(child.wait())
