"""Gives a program the terminal on its stdin as its own, and becomes that program.

    python -I -S controlling.py LC_CTYPE PROGRAM ARGUMENT...

Only a process itself can take a controlling terminal, after it has begun a session and before it
runs the program. Doing it in a forked copy of the server would run Python where other threads may
hold locks for ever; in a process of its own it is safe, and costs 6 ms before the program begins.
"""

import fcntl
import os
import signal
import sys
import termios


def main() -> None:
    locale, program = sys.argv[1:3]
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # Python ignores some signals and the server's parent may others: the program ignores none.
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) is not signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
    # Python has set this one where the environment asks for the locale "C".
    os.environ.pop("LC_CTYPE", None)
    if locale:
        os.environ["LC_CTYPE"] = locale
    try:
        os.execv(program, sys.argv[2:])
    except OSError as error:
        os.write(2, os.fsencode(f"{program}: {error.strerror}\n"))
        os._exit(126)


if __name__ == "__main__":
    main()
