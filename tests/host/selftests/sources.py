"""Folders of the sources of a Linux, from Debian's package of them: the ftrace self-tests, unless others are named.

The package is downloaded by an apt-get with lists of its own, and only the folders are kept, in build/host.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "qemu"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from guest import BUILDS  # noqa: E402
from packages import fetched  # noqa: E402

STORE = BUILDS["gcc"] / "host"
SUITES = {"6.1": "bookworm-security", "6.12": "bookworm-backports"}
FOLDER = "tools/testing/selftests/ftrace"


def sources(version, *folders):
    """The folder of the self-tests, or the first of those named."""
    folders = folders or (FOLDER,)
    kept = [STORE / f"linux-{version}" / folder for folder in folders]
    if not all(folder.exists() for folder in kept):
        STORE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=STORE) as work:
            inside = f"linux-source-{version}"
            fetched(Path(work), SUITES[version], ["download", inside])
            unpack = (
                f"dpkg-deb --fsys-tarfile {next(Path(work).glob('*.deb'))} | tar -xO ./usr/src/{inside}.tar.xz | xz -dc | tar -x -C {work} "
            )
            subprocess.run(unpack + " ".join(f"{inside}/{folder}" for folder in folders), shell=True, check=True)
            for folder, to in zip(folders, kept):
                if not to.exists():
                    to.parent.mkdir(parents=True, exist_ok=True)
                    (Path(work) / inside / folder).rename(to)
    return kept[0]
