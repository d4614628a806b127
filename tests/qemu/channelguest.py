"""A guest with both machine channels, and what tests of them share."""
import contextlib
import tempfile
import time
from pathlib import Path

import pytest

from guest import Guest
from ninep import Ninep

TRACING = "/sys/kernel/tracing"
SHELL = "/dev/shell"


def port_at(path, name="fathom.9p"):
    return [
        "-device",
        "virtio-serial-pci",
        "-chardev",
        f"socket,id=port,path={path},server=on,wait=off",
        "-device",
        f"virtserialport,chardev=port,name={name}",
    ]


@contextlib.contextmanager
def guest_with_channels():
    """.channel and .port are QEMU's sockets of COM2 and of the port."""
    with tempfile.TemporaryDirectory(prefix="fathom-channel-") as directory:
        channel = Path(directory) / "com2"
        with Guest("gcc", 2, com2=f"unix:{channel},server=on,wait=off", extra=port_at(f"{channel}.port")) as guest:
            guest.channel, guest.port = channel, f"{channel}.port"
            yield guest


@contextlib.contextmanager
def client_on(channel):
    with Ninep(channel) as one:
        one.version_after_noise()
        one.attach(0)
        yield one


def failure(call, *args):
    """The errno that a call ends with."""
    with pytest.raises(OSError) as info:
        call(*args)
    return info.value.errno


def output_of(client, fid):
    """The bytes of a file that has no positions, up to its end."""
    data = b""
    while part := client.read(fid, 0, 4000):
        data += part
    return data


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
