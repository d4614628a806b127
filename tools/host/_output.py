"""Files that a command writes: whole, or not at all."""
import contextlib
import os
from pathlib import Path

from host._common import Failure


@contextlib.contextmanager
def replaced(name, mode="w"):
    """An open file that takes the place of `name` at the end. If something fails, an old one stays and nothing else is left."""
    target = Path(name).resolve()
    if not target.parent.is_dir():
        raise Failure(f"there is no folder {target.parent}")
    is_file = target.is_file() or not target.exists()  # and not /dev/stdout, or a pipe
    partial = target.with_name(f"{target.name}.{os.getpid()}") if is_file else target
    try:
        with open(partial, mode, encoding=None if "b" in mode else "utf-8") as file:
            yield file
        if is_file:
            partial.rename(target)
    finally:
        if is_file:
            partial.unlink(missing_ok=True)
