"""Synthetic events in a guest."""
import re

EVENT = "events/synthetic/wakeup_latency"


def test_definitions(tracing):
    """Defined, listed, in events/ of each instance, refused while it is in use, gone."""
    tracing.check("echo 'wakeup_latency u64 lat; pid_t pid; int prio' >> synthetic_events")
    assert tracing.check("cat synthetic_events") == "wakeup_latency\tu64 lat; pid_t pid; int prio\n"
    assert tracing.check("cat dynamic_events") == "s:synthetic/wakeup_latency\tu64 lat; pid_t pid; int prio\n"
    assert {"enable", "filter", "format", "hist", "id", "trigger"} <= set(tracing.check(f"ls {EVENT}").split())
    assert "synthetic:wakeup_latency\n" in tracing.check("cat available_events")
    tracing.check("mkdir instances/two; echo 1 > instances/two/events/synthetic/enable")
    assert tracing.run("echo '!wakeup_latency' >> synthetic_events") == ("sh: write error: Device or resource busy\n", 1)
    tracing.check("rmdir instances/two; echo '!wakeup_latency u64 lat; pid_t pid; int prio' >> synthetic_events")
    assert tracing.check("cat synthetic_events; ls events").split().count("synthetic") == 0


def test_mistakes(tracing):
    assert tracing.run("echo 'x int a; nosuch b' >> synthetic_events") == ("sh: write error: Invalid argument\n", 1)
    assert re.fullmatch(r"\[ +\d+\.\d+\] synthetic_events: error: Invalid type\n  Command: x int a; nosuch b\n {20}\^\n",
                        tracing.check("cat error_log; > error_log"))
    assert tracing.check("cat synthetic_events") == ""
