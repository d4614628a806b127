"""Failing, as all commands of tools/fathom do it."""
import contextlib
import errno
import struct

FAILED, USAGE, NOT_RUNNING, BUSY, NOTHING, DISK_FULL, DIED = range(1, 8)

MEANINGS = {
    0: "all went well",
    FAILED: "it failed",
    USAGE: "wrong usage",
    NOT_RUNNING: "no kernel there",
    BUSY: "the channel is busy",
    NOTHING: "nothing was traced",
    DISK_FULL: "the disk is full",
    DIED: "the kernel or QEMU ended meanwhile",
}
EXIT_CODES = "exit codes:\n" + "\n".join(f"  {code} {MEANINGS[code]:<19}{code + 4} {MEANINGS[code + 4]}" for code in range(4))


class Failure(Exception):
    """A sentence for the user, and the exit code that goes with it."""

    def __init__(self, text, code=FAILED):
        super().__init__(text)
        self.code = code


class Unread(Exception):
    """Standard output has no reader any more, as in front of `head`."""


SENSELESS = (ArithmeticError, LookupError, TypeError, ValueError, struct.error)  # where reading leads of what is not what it should be


@contextlib.contextmanager
def making_sense(what):
    """In here something is read that others have written; Failure says so where that cannot be understood."""
    try:
        yield
    except SENSELESS as err:
        raise Failure(f"{what} makes no sense: {err!r}") from None


def code_of(err):
    """The exit code for an OSError without a handler."""
    if err.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL
    if err.errno in (errno.EPIPE, errno.ECONNRESET):
        return DIED
    return FAILED
