"""table.py OURS CHUNKS: the table of `run`, from what `bench` and the peers have printed in all rounds."""
import re
import statistics
import sys

ROWS = (
    (
        "one event, the cycle counter as clock",
        (
            ("rdtsc", "rdtsc alone"),
            ("ring_16", "ring buffer, 16 bytes"),
            ("func_event", "function tracer, with the call"),
            ("ust_rdtsc", "LTTng-UST tracepoint, one 64-bit number"),
        ),
    ),
    (
        "one event, `clock_gettime()`",
        (("gettime_func_event", "function tracer, with the call"), ("ust", "LTTng-UST tracepoint, one 64-bit number")),
    ),
    ("entry and exit, the cycle counter", (("graph_pair", "function_graph"),)),
    (
        "entry and exit, `clock_gettime()`",
        (
            ("gettime_graph_pair", "function_graph"),
            ("uftrace", "uftrace, `gcc -pg -mfentry`"),
            ("xray", "XRay, flight data recorder, all calls kept"),
        ),
    ),
)


def main(ours, chunks):
    best, median = {}, {}
    for name, low, middle in re.findall(r"^\| `(\w+)` \| .* \| ([\d.]+) \| ([\d.]+) \| \d+ \| [\d.]+ \|$", ours, re.M):
        best[name] = min(best.get(name, float("inf")), float(low))
        median.setdefault(name, []).append(float(middle))
    for name, value in re.findall(r"^(\w+)\t([\d.]+)$", chunks, re.M):
        best[name] = min(best.get(name, float("inf")), float(value))
        median.setdefault(name, []).append(float(value))
    print("| | ns, best | median | to the first of its part, best | median |\n|---|---|---|---|---|")
    for title, rows in ROWS:
        print(f"| **{title}** | | | | |")
        first = rows[0][0] if rows[0][0] != "rdtsc" else "func_event"
        for name, what in rows:
            middle = statistics.median(median[name])
            print(
                f"| {what} | {best[name]:.1f} | {middle:.1f} | {best[name] / best[first]:.2f} | "
                f"{middle / statistics.median(median[first]):.2f} |"
            )


main(*(open(name, encoding="utf-8").read() for name in sys.argv[1:]))
