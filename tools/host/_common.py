"""What all commands of tools/fathom share: how they fail."""
import errno

FAILED, USAGE, NOT_RUNNING, BUSY, NOTHING, DISK_FULL, DIED = range(1, 8)

EXIT_CODES = """exit codes:
  0 all went well      4 the channel is busy
  1 it failed          5 nothing was traced
  2 wrong usage        6 the disk is full
  3 no kernel there    7 the kernel or QEMU ended meanwhile"""


class Failure(Exception):
    """A sentence for the user, and the exit code that goes with it."""

    def __init__(self, text, code=FAILED):
        super().__init__(text)
        self.code = code


def code_of(err):
    """The exit code for an OSError that nobody has handled."""
    if err.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL
    if err.errno in (errno.EPIPE, errno.ECONNRESET):
        return DIED
    return FAILED
