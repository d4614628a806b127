"""tests/mutants.md: what was found about mutants that no test kills.

A verdict stands under the heading of its file, is found by what the mutant says and not by its line, and takes two lines:

    - `function`: `text before` → `text after`
      equivalent: why

`(2nd)`, `(3rd)` … behind the function tell mutants apart that read alike.
"""
import re

from operators import mutants_of

KINDS = ("equivalent", "harmless", "hole")
HEADING = re.compile(r"^### `(.*)`$")
MUTANT = re.compile(r"^- `([^`]*)`(?: \((\d+)(?:st|nd|rd|th)\))?: `(.*)` → `(.*)`$")
REASON = re.compile(r"^  (\w+): \S")


def ordinal(n):
    return f"{n}{'th' if 10 < n % 100 < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def lines_of(mutant):
    which = f" ({ordinal(mutant.nth)})" if mutant.nth > 1 else ""
    return f"- `{mutant.function}`{which}: `{mutant.before}` → `{mutant.after}`"


class Verdicts:
    def __init__(self, text):
        """Raises ValueError for lines that look like a verdict and are none."""
        self.kinds = {}
        path = key = None
        for number, line in enumerate(text.splitlines(), 1):
            if heading := HEADING.match(line):
                path = heading[1]
            elif path and line.startswith("- "):
                match = MUTANT.match(line)
                if not match:
                    raise ValueError(f"line {number}: no mutant: {line}")
                key = (path, match[1], match[3], match[4], int(match[2] or 1))
            elif path and key and (reason := REASON.match(line)):
                if reason[1] not in KINDS:
                    raise ValueError(f"line {number}: {reason[1]} is none of {', '.join(KINDS)}")
                self.kinds[key] = reason[1]
                key = None

    def of(self, mutant):
        """equivalent, harmless, hole or None."""
        return self.kinds.get(mutant.key)

    def stale(self, root):
        """The keys of verdicts on mutants that the sources below `root` no longer have."""
        for path in sorted({key[0] for key in self.kinds}):
            text = (root / path).read_text() if (root / path).exists() else ""
            there = {mutant.key for mutant in mutants_of(path, text)}
            yield from (key for key in self.kinds if key[0] == path and key not in there)
