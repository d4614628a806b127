"""The tool, built with the address and undefined-behaviour sanitizers, and a place to make objects."""
import pytest

from workshop import SANITIZED, Workshop, build_tool


@pytest.fixture(scope="session")
def tool(tmp_path_factory):
    return build_tool(tmp_path_factory.mktemp("sanitized"), SANITIZED)


@pytest.fixture(scope="session")
def fast_tool(tmp_path_factory):
    return build_tool(tmp_path_factory.mktemp("fast"), "gcc")


@pytest.fixture
def shop(tmp_path):
    return Workshop(tmp_path)
