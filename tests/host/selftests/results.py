"""Results of the self-tests, as ftracetest prints them, and the lists of those that are expected."""
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULT = re.compile(r"^\[\d+\]( \(instance\) )?.*\[([A-Z]+)\]$", re.M)


def found(said):
    """{False or True, for the run in an instance: result} of the output of one test."""
    return {bool(instance): result for instance, result in RESULT.findall(said)}


def expected(name, shell=None):
    """{(test, whether in an instance): (result, reason)} of those that do not pass, from the list of that name.

    A reason that begins with a shell in brackets is for that shell alone.
    """
    table = {}
    for line in (HERE / name).read_text().splitlines():
        if line and not line.startswith("#"):
            test, result, reason = line.split(None, 2)
            only = re.match(r"\[(\w+)\] ", reason)
            if not only or only.group(1) == shell:
                table[test.removesuffix("+instance"), test.endswith("+instance")] = result, reason
    return table
