"""The tools, sanitized, and a program with their tables by each compiler."""
import pytest

from tablekit import ROOT, SANITIZED, TOOLS, Program, must


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    directory = tmp_path_factory.mktemp("sanitized")
    paths = {name: directory / "tools" / name for name in TOOLS}
    must(
        "make",
        "-s",
        "-C",
        ROOT,
        "-f",
        "-",
        f"BUILD={directory}",
        f"HOST_CC_CMD={SANITIZED}",
        "HOST_OPT=-O0",
        *paths.values(),
        input="include tools/build.mk\n",
    )
    return paths


@pytest.fixture(scope="session", params=["gcc", "clang"])
def program(request, tools, tmp_path_factory):
    return Program(tools, tmp_path_factory.mktemp(request.param), request.param)
