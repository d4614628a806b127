"""The guests of tests/qemu; and a guest whose tracing is left as it was found."""
import importlib.util
import sys
from pathlib import Path

import pytest

QEMU = Path(__file__).resolve().parents[1] / "qemu"
sys.path.insert(0, str(QEMU))
spec = importlib.util.spec_from_file_location("qemu_conftest", QEMU / "conftest.py")
shared = importlib.util.module_from_spec(spec)
spec.loader.exec_module(shared)

guest_pool = shared.guest_pool
guest = shared.guest
pytest_runtest_makereport = shared.pytest_runtest_makereport

RESET = (
    "echo nop > current_tracer; > set_ftrace_filter; > set_ftrace_notrace; > set_ftrace_pid; "
    "> set_ftrace_notrace_pid; > set_event; > set_event_pid; > set_event_notrace_pid; "
    "> set_graph_function; > set_graph_notrace; echo 128 > saved_cmdlines_size; "
    "echo 0 > max_graph_depth; echo 0 > tracing_thresh; echo local > trace_clock; echo 4 > buffer_subbuf_size_kb; echo 1408 > buffer_size_kb; "
    "echo 1 > options/overwrite; echo 1 > tracing_on; > error_log; > trace"
)
# Files that each test leaves as they were, for the next one on the same guest.
STATE = (
    "pwd; grep '' options/* tracing_cpumask buffer_percent set_ftrace_filter set_graph_function set_graph_notrace; "
    "cat enabled_functions saved_cmdlines_size /proc/sys/kernel/ftrace_enabled /proc/sys/kernel/stack_tracer_enabled "
    "function_profile_enabled; ls instances /sys/kernel/livepatch; grep Snapshot.is snapshot; jobs"
)


@pytest.fixture
def tracing(guest):
    guest.check(RESET)
    if not hasattr(guest, "fresh_state"):
        guest.fresh_state = guest.run(STATE)[0]
    yield guest
    guest.check(RESET)
    assert guest.run(STATE)[0] == guest.fresh_state
