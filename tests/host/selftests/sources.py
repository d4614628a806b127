"""The ftrace self-tests of a version of Linux, from Debian's package of its sources.

The package is downloaded by an apt-get with lists of its own, and only the folder of the tests is kept, in build/host.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "qemu"))

from guest import BUILDS  # noqa: E402

STORE = BUILDS["gcc"] / "host"
SUITES = {"6.1": "bookworm-security", "6.12": "bookworm-backports"}
FOLDER = "tools/testing/selftests/ftrace"


def mirror(archive):
    """The address from which this machine takes its packages of an archive of Debian."""
    sites = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)"], check=True, capture_output=True, text=True).stdout.split()
    for site in sorted(set(sites)):
        if site.rstrip("/").rsplit("/", 1)[-1] == archive:
            return site
    sys.exit(f"run: apt has no source of {archive}")


def download(version, folder):
    """Debian's package with the sources of a Linux, by apt-get with a list of packages that is ours alone."""
    state = folder / "apt"
    (state / "lists" / "partial").mkdir(parents=True)
    (state / "cache" / "archives" / "partial").mkdir(parents=True)
    suite = SUITES[version]
    archive = "debian-security" if suite.endswith("security") else "debian"
    (state / "sources.list").write_text(
        "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] " f"{mirror(archive)} {suite} main\n"
    )
    (state / "status").touch()
    apt = [
        "apt-get",
        "-q",
        "-o",
        f"Dir::State={state}",
        "-o",
        f"Dir::State::status={state}/status",
        "-o",
        f"Dir::Cache={state}/cache",
        "-o",
        f"Dir::Etc::SourceList={state}/sources.list",
        "-o",
        "Dir::Etc::SourceParts=-",
        "-o",
        "APT::Sandbox::User=",
    ]
    subprocess.run([*apt, "update"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*apt, "download", f"linux-source-{version}"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.deb"))


def sources(version):
    """The folder of the self-tests."""
    kept = STORE / f"linux-{version}" / FOLDER
    if not kept.exists():
        STORE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=STORE) as work:
            package = download(version, Path(work))
            inside = f"linux-source-{version}"
            subprocess.run(
                f"dpkg-deb --fsys-tarfile {package} | tar -xO ./usr/src/{inside}.tar.xz | xz -dc | " f"tar -x -C {work} {inside}/{FOLDER}",
                shell=True,
                check=True,
            )
            os.renames(f"{work}/{inside}", STORE / f"linux-{version}")
    return kept
