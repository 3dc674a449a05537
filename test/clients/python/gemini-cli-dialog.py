"""Drives the first-start dialog of Gemini CLI in a terminal, as its user does: "Use Gemini API Key" is chosen already, and the key of the environment stands in the field, so that Enter is pressed twice. Ends when the CLI waits for a question.

Arguments: the command that starts the CLI.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

WAIT_SECONDS = 90
# The CLI takes no keys in the first moment of a window.
DRAWN_SECONDS = 1
ROWS, COLUMNS = 50, 160


def main():
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execvp(sys.argv[1], sys.argv[1:])
    try:
        for words in ("Use Gemini API Key", "Enter Gemini API Key"):
            wait_for(terminal, words)
            time.sleep(DRAWN_SECONDS)
            os.write(terminal, b"\r")
        wait_for(terminal, "Type your message")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def wait_for(terminal, words):
    shown = ""
    until = time.monotonic() + WAIT_SECONDS
    while words not in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown):
        left = until - time.monotonic()
        if left <= 0 or not select.select([terminal], [], [], left)[0]:
            raise SystemExit(f"the terminal never showed {words!r}, but {shown[-2000:]}")
        shown += os.read(terminal, 65536).decode(errors="replace")


main()
