"""The boot menu of the image that `make` builds offers a trace from the start (test_make.py: it goes on by itself)."""
import time

import pytest
from guest import BUILDS, Guest, GuestError

MENU = rb"Fathom, trace from boot"


def at_menu(uefi):
    guest = Guest("gcc", 2, uefi=uefi, iso=BUILDS["gcc"] / "fathom.iso", wait=False)
    guest.expect(MENU)
    return guest


@pytest.mark.parametrize("uefi", [False, True])
def test_second_entry_traces_from_boot(uefi):
    """The menu waits a second and this machine may be busy: a key that came too late gets a new boot."""
    for _ in range(10):
        with at_menu(uefi) as guest:
            guest.send("\x0e")  # as the arrow down, but one byte
            time.sleep(0.3)
            guest.send("\r")
            guest.wait_prompt()
            if guest.check("cat current_tracer") == "function\n":
                assert "ftrace=function" in guest.check("cat /proc/cmdline")
                assert guest.check("grep -c smp_start_all trace") != "0\n"
                return
    raise GuestError("the key never reached the menu in time")
