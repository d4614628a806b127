"""Which mutants a file has: those of C and assembly; of C the faults of faults.py, too; of Python those of python.py.

A mutant changes one place of one function: a condition negated, decided or weakened, an operator swapped, a
constant off by one, a statement left out, another value returned. Strings, log lines, assertions, declarations
of arrays, fences and memory orders are left alone.
"""
import re

from ctext import Source
from faults import Faults, drop_name
from mutant import Mutant, folded, numbered
from python import python_mutants

# Calls whose loss or change needs no test: text for the log, assertions, hints and fences.
QUIET = re.compile(
    r"^(ASSERT|WARN|BUG|static_assert|_Static_assert|BUILD_BUG)|^(trace_plat_log|log_[a-z]+|pr_[a-z]+"
    r"|panic|printk|va_end|fprintf|perror|print_warning)$|_fence$|relax$|^barrier$|^prefetch$"
)
SWAP = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "*",
    "<<": ">>",
    ">>": "<<",
    "&": "|",
    "|": "&",
    "^": "&",
    "+=": "-=",
    "-=": "+=",
    "|=": "&=",
    "&=": "|=",
    "<<=": ">>=",
    ">>=": "<<=",
    "++": "--",
    "--": "++",
}
NAME = {
    "<": "bound",
    "<=": "bound",
    ">": "bound",
    ">=": "bound",
    "==": "equal",
    "!=": "equal",
    "&&": "and-or",
    "||": "and-or",
}
EINVAL = "22"
MASK = re.compile(r"0x[0137]?[fF]{2,}")  # of the lowest bits


class Finder:
    """Collects the mutants of one file."""

    def __init__(self, path, text):
        self.path = path
        self.source = Source(text)
        self.text = text
        self.tokens = self.source.tokens
        self.found = []
        self.faults = Faults(self)

    def all(self):
        """Every mutant, in the order of the text."""
        for function in self.source.functions:
            first = len(self.found)
            for statement in function.statements:
                if not self.is_quiet(statement):
                    self._structure(function, statement)
                    self._inside(function, statement)
            self.faults.of_function(function)
            self.found[first:] = numbered(self.found[first:])
        return self.found

    def is_quiet(self, statement):
        # `(void)x;` is for the compiler only.
        return (
            statement.kind == "asm"
            or QUIET.search(self.tokens[statement.first].text)
            or (self.tokens[statement.first].text == "(" and self.tokens[statement.first + 1].text == "void")
        )

    def _add(self, function, statement, operator, start, end, new):
        self.add(function, (statement.first, statement.last), operator, start, end, new)

    def add(self, function, span, operator, start, end, new):
        """The text from start to end becomes `new`; `span` are the first and last token of the statements it stands in."""
        first, last = self.tokens[span[0]].start, self.tokens[span[1]].end
        before = folded(self.text[first:last])
        after = folded(self.text[first:start] + new + self.text[end:last]) or "(nothing)"
        lines = (self._line(first), self._line(last), self._line(self.tokens[function.first].start))
        self.found.append(Mutant(self.path, function.name, self._line(start), operator, start, end, new, before, after, lines))

    def add_once(self, function, span, operator, start, end, new):
        """Of a chain of three operands the one in the middle goes with either neighbour."""
        self.add(function, span, operator, start, end, new)
        last = self.found[-1]
        if any((other.lines, other.after) == (last.lines, last.after) for other in self.found[-8:-1]):
            self.found.pop()

    def _line(self, at):
        return self.text.count("\n", 0, at) + 1

    # ---- whole conditions and statements ----

    def _structure(self, function, statement):
        if statement.kind in ("if", "while", "do"):
            self._condition(function, statement)
        elif statement.kind in ("call", "assign", "step", "break", "continue", "goto"):
            start, end = self.tokens[statement.first].start, self.tokens[statement.last].end
            self._add(function, statement, drop_name(self.tokens, statement), start, end, ";")
        elif statement.kind == "return":
            self._return(function, statement)

    def _condition(self, function, statement):
        first, last = statement.head
        start, end = self.tokens[first].start, self.tokens[last].end
        inside = self.text[start:end]
        self._add(function, statement, "negate", start, end, f"!({inside})")
        if statement.kind == "if":
            self._add(function, statement, "always", start, end, f"({inside}) || 1")
        self._add(function, statement, "never", start, end, f"({inside}) && 0")

    def _return(self, function, statement):
        if statement.last - statement.first < 2:
            return
        start, end = self.tokens[statement.first + 1].start, self.tokens[statement.last - 1].end
        value = self.text[start:end]
        if value in ("true", "false"):
            new = ["false" if value == "true" else "true"]
        elif value == "0":
            new = [f"-{EINVAL}"]
        elif value == "NULL" or value.startswith("&"):
            new = []
        else:
            new = ["0"]
        for text in new:
            self._add(function, statement, "return", start, end, text)

    # ---- tokens ----

    def _inside(self, function, statement):
        i = statement.first
        while i <= statement.last:
            token = self.tokens[i]
            if token.text in ("sizeof", "offsetof", "__attribute__", "_Alignof", "container_of") or (
                token.kind == "word" and QUIET.search(token.text)
            ):
                i = self.source.partner.get(i + 1, i) + 1
                continue
            if statement.kind == "declare" and token.text == "[" and not self._has_value(statement, i):
                i = self.source.partner[i] + 1
                continue
            self._token(function, statement, i)
            i += 1

    def _has_value(self, statement, i):
        return any(token.text == "=" for token in self.tokens[statement.first : i])

    def _token(self, function, statement, i):
        token = self.tokens[i]
        start, end = token.start, token.end
        if token.kind == "number":
            self._number_off(function, statement, token)
        elif token.kind == "word" and token.text in ("true", "false") and statement.kind != "return":
            self._add(function, statement, "constant", start, end, "false" if token.text == "true" else "true")
        elif token.kind == "word" and statement.kind in ("call", "assign"):
            self.faults.of_word(function, (statement.first, statement.last), i)
        elif token.kind == "mark" and token.text == "!":
            self._add(function, statement, "drop-not", start, end, "")
        elif token.kind == "mark" and token.text in ("++", "--"):
            if statement.kind not in ("step", "for"):
                self._add(function, statement, "swap", start, end, SWAP[token.text])
        elif token.kind == "mark" and token.text in SWAP and self._is_binary(i):
            operator = NAME.get(token.text, "swap")
            if operator == "bound" and self.faults.is_limit(i):
                operator = "limit"
            self._add(function, statement, operator, start, end, SWAP[token.text])
            self.faults.of_token(function, (statement.first, statement.last), i)
        elif token.kind == "mark" and token.text == "?":
            self.faults.of_token(function, (statement.first, statement.last), i)

    def _is_binary(self, i):
        token = self.tokens[i]
        return (
            self.text[token.start - 1] in " \n\t"
            and self.text[token.end] in " \n"
            and self.tokens[i - 1].text not in ("return", "case", "(", ",", "=")
        )

    def _number_off(self, function, statement, token):
        digits = re.match(r"0[xX][0-9a-fA-F]+|[0-9]+", token.text).group()
        suffix = token.text[len(digits) :]
        if (
            statement.kind == "return"
            and self.text[self.tokens[statement.first + 1].start : self.tokens[statement.last - 1].end] == token.text == "0"
        ):
            return
        value = int(digits, 8) if re.fullmatch(r"0[0-7]+", digits) else int(digits, 0)
        for other in (value + 1, value - 1):
            if other >= 0:
                self._add(function, statement, "constant", token.start, token.end, f"{other}{suffix}")
        if MASK.fullmatch(digits):
            self._add(function, statement, "narrow", token.start, token.end, f"{digits[:-1]}{suffix}")


# ---- assembly: an instruction left out, a condition turned round ----

INSTRUCTION = re.compile(
    r"^\s+(?!(?:global|extern|section|default|align|bits|resq|resb|resd|dq|dd|dw|db|times|"
    r"istruc|iend|at|push_all|pop_all)\b)([a-z][a-z0-9]+)\b[^:;]*"
)
JUMPS = {
    "je": "jne",
    "jne": "je",
    "jz": "jnz",
    "jnz": "jz",
    "jb": "jae",
    "jae": "jb",
    "ja": "jbe",
    "jbe": "ja",
    "jc": "jnc",
    "jnc": "jc",
    "js": "jns",
    "jns": "js",
}


def assembly_mutants(path, text):
    """In a routine, which starts with a label of its own name."""
    found, seen, at, routine, in_struc = [], {}, 0, "?", False
    for number, line in enumerate(text.split("\n"), 1):
        label = re.match(r"([a-z_]\w*):", line)
        routine = label[1] if label else routine
        in_struc = (in_struc or line.startswith(("struc", "%macro"))) and not line.startswith(("endstruc", "%endmacro"))
        match = INSTRUCTION.match(line)
        if match and routine != "?" and not in_struc:
            code = match.group().rstrip()
            start, end = at + match.start(1), at + len(code)
            options = [("drop-instruction", "nop" if match[1] not in JUMPS else "")]
            if match[1] in JUMPS:
                options.append(("negate", code.strip().replace(match[1], JUMPS[match[1]], 1)))
            for operator, new in options:
                key = (routine, folded(code), new)
                seen[key] = seen.get(key, 0) + 1
                found.append(
                    Mutant(
                        path,
                        routine,
                        number,
                        operator,
                        start,
                        end,
                        new,
                        folded(code),
                        new or "(nothing)",
                        (number, number, number),
                        seen[key],
                    )
                )
        at += len(line) + 1
    return found


def mutants_of(path, text, operators=""):
    """All that the file has; only those of `operators`, words with blanks between, if there are some."""
    if path.endswith(".asm"):
        found = assembly_mutants(path, text)
    elif path.endswith(".py"):
        found = python_mutants(path, text)
    else:
        found = Finder(path, text).all()
    return [mutant for mutant in found if not operators or mutant.operator in operators.split()]
