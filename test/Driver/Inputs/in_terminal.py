#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command whose errors go to a terminal, and prints what that was sent:
a line each time that one begins anew. The command is stopped two thirds of the
time: what is said from the third second on is said on fast machines too.

  in_terminal.py COMMAND...
"""

import os
import pty
import signal
import subprocess
import sys
import threading
import time


def hold_back(child):
    while child.poll() is None:
        child.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        child.send_signal(signal.SIGCONT)
        time.sleep(0.05)


own, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stderr=theirs)
os.close(theirs)
threading.Thread(target=hold_back, args=[child]).start()
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
