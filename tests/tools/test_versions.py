"""The kernel, the library and CHANGELOG.md name one version, and the headings of CHANGELOG.md go back in time."""
import re

import pytest

from tablekit import ROOT

PATHS = ("CHANGELOG.md", "kernel/include/kernel/version.h", "trace/include/trace/version.h")


def numbers(text):
    """0.2 as [0, 2, 0], which is what the library calls it."""
    parts = [int(part) for part in text.split(".")]
    return parts + [0] * (3 - len(parts))


def complaints(changes, kernel, library):
    headings = re.findall(r"^## (.*)$", changes, re.M)
    versions = [
        re.fullmatch(r"(\d+\.\d+(?:\.[1-9]\d*)?) \((\d{4}-\d\d-\d\d)\)", heading) for heading in headings if heading != "Not released"
    ]
    if headings[:1] != ["Not released"]:
        yield "the first heading is not `Not released`"
    if not versions or None in versions:
        yield "a heading is not `0.2 (2026-11-24)`"
        return
    order = [(numbers(version[1]), version[2]) for version in versions]
    if any(newer[0] <= older[0] or newer[1] < older[1] for newer, older in zip(order, order[1:])):
        yield "the versions are out of order"
    if re.search(r'KERNEL_VERSION "(.*)"', kernel)[1] != versions[0][1]:
        yield f"the kernel is not {versions[0][1]}"
    text = ".".join(map(str, order[0][0]))
    if re.search(r'TRACE_VERSION_TEXT\s+"(.*)"', library)[1] != text:
        yield f"the library is not {text}"
    parts = [int(re.search(rf"TRACE_VERSION_{part}\s+(\d+)", library)[1]) for part in ("MAJOR", "MINOR", "PATCH")]
    if parts != order[0][0]:
        yield f"the library's numbers are not {text}"


def test_one_version():
    assert not list(complaints(*((ROOT / path).read_text(encoding="utf-8") for path in PATHS)))


CHANGES = "# Changes\n\n## Not released\n\n## 0.3 (2027-01-02)\n\n## 0.2.1 (2026-12-01)\n\n## 0.2 (2026-11-24)\n"
KERNEL = '#define KERNEL_VERSION "0.3"\n'
LIBRARY = (
    "#define TRACE_VERSION_MAJOR 0\n#define TRACE_VERSION_MINOR 3\n" '#define TRACE_VERSION_PATCH 0\n#define TRACE_VERSION_TEXT "0.3.0"\n'
)


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("0", "0", None),
        ("## Not released\n\n", "", "the first heading is not `Not released`"),
        ("0.2 (2026-11-24)", "0.2", "a heading is not `0.2 (2026-11-24)`"),
        ("0.2.1 (2026-12", "0.4.1 (2026-12", "the versions are out of order"),
        ("0.2.1 (2026-12", "0.2.1 (2027-12", "the versions are out of order"),
        ('KERNEL_VERSION "0.3"', 'KERNEL_VERSION "0.2"', "the kernel is not 0.3"),
        ('TEXT "0.3.0"', 'TEXT "0.3.1"', "the library is not 0.3.0"),
        ("MINOR 3", "MINOR 2", "the library's numbers are not 0.3.0"),
    ],
)
def test_a_version_that_is_wrong(old, new, complaint):
    assert old in CHANGES + KERNEL + LIBRARY
    assert list(complaints(*(text.replace(old, new) for text in (CHANGES, KERNEL, LIBRARY)))) == ([complaint] if complaint else [])
