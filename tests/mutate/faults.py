"""Faults as a programmer makes them in C: a wait or an undoing step that is missing, a publish before the write,
a lock that is let go too early, an arm of a rollback that is skipped, a limit off by one, a condition too few."""
import re

from mutant import dropped

PUBLISHES = re.compile(
    r"^(trace_)?atomic_(store|exchange|fetch_or|fetch_add|compare)|_(publish|flag|enable|raise|wake|wake_all|kick|notify)$"
    r"|^list_(add|push)"
)
UNLOCKS = re.compile(r"unlock|irq_restore|preempt_enable|_leave$|read_end")
LOCKS = re.compile(r"(?<!un)lock(_irq|_irqsave)?$|irq_save|preempt_disable")
LIMIT = re.compile(
    r"\b[A-Z][A-Z0-9_]{2,}\b|\bsizeof\b|(^|_|\b)(size|max|nr|len|room|bytes|end|limit|capacity|left|mask|last|count|budget)\b"
)
CAPITALS = re.compile(r"[A-Z][A-Z0-9_]{2,}$")
SIMPLE = ("call", "assign", "step")
ZEROS = (
    (re.compile(r"\*\s*$"), "NULL"),
    (re.compile(r"\bbool\b"), "false"),
    (re.compile(r"\bvoid\b"), ""),
    (re.compile(r"\bstruct\b|\bunion\b"), None),
    (re.compile(r"\b(int|long|unsigned|size_t|ssize_t|char|short|u?int\d+_t|uintptr_t|enum \w+)\b"), "0"),
)


def early_value(signature):
    """The value of an early return: success or nothing; None where that is a struct or not known."""
    return next((value for type_word, value in ZEROS if type_word.search(signature)), None)


class Faults:
    """Of one file; `finder` collects them."""

    def __init__(self, finder):
        self.finder, self.source, self.tokens, self.text = finder, finder.source, finder.tokens, finder.text

    def of_function(self, function):
        statements = [statement for statement in function.statements if not self.finder.is_quiet(statement)]
        for statement, after in zip(statements, statements[1:]):
            self._pair(function, statement, after)
        value = early_value(function.signature)
        for i, statement in enumerate(statements):
            if statement.kind == "goto":
                self._goto(function, statement)
            if value is not None and statement.kind in SIMPLE:
                self._early(function, statement, statements[i + 1 :], value)

    def _piece(self, statement):
        return self.text[self.tokens[statement.first].start : self.tokens[statement.last].end]

    def _word(self, statement):
        return self.tokens[statement.first].text

    # ---- two statements ----

    def _pair(self, function, first, second):
        """Neighbours change places."""
        if first.kind not in SIMPLE or second.kind not in SIMPLE or first.block != second.block:
            return
        if first.last + 1 != second.first or first.labels != second.labels:
            return
        if UNLOCKS.search(self._word(second)) and second.kind == "call":
            operator = "early-unlock"
        elif LOCKS.search(self._word(first)) and first.kind == "call":
            operator = "late-lock"
        elif PUBLISHES.search(self._word(second)) or PUBLISHES.search(self._word(first)) or self._links(second):
            operator = "swap-publish"
        else:
            return
        start, end = self.tokens[first.first].start, self.tokens[second.last].end
        self.finder.add(function, (first.first, second.last), operator, start, end, f"{self._piece(second)} {self._piece(first)}")

    def _links(self, statement):
        """`*link = new;`, `list.places[i] = new;`: a pointer that others follow."""
        return statement.kind == "assign" and re.match(r"\*\w+ = \w+;$|[\w.>-]+\[\w+\] = \w+;$", self._piece(statement))

    # ---- ways out ----

    def _goto(self, function, statement):
        """The next label behind the one that is jumped to: what stands there first is not undone."""
        label = self.tokens[statement.first + 1].text
        if label not in function.labels:
            return
        behind = function.labels[function.labels.index(label) + 1 :]
        if behind:
            token = self.tokens[statement.first + 1]
            self.finder.add(function, (statement.first, statement.last), "skip-arm", token.start, token.end, behind[0])

    def _early(self, function, statement, behind, value):
        """The function ends behind a statement in an arm, or before one of its own."""
        leave = f"return {value};" if value else "return;"
        start, end = self.tokens[statement.first].start, self.tokens[statement.last].end
        if statement.block == function.first:
            if self.tokens[statement.first - 1].text != "{":
                self.finder.add(function, (statement.first, statement.last), "return-early", start, start, f"{leave} ")
        elif behind and not any(other.block == statement.block for other in behind[:1]):
            self.finder.add(
                function, (statement.first, statement.last), "return-early", start, end, f"{{ {self._piece(statement)} {leave} }}"
            )

    # ---- within a statement ----

    def of_token(self, function, span, i):
        """Faults at the operator token i, a binary one."""
        text = self.tokens[i].text
        if text in ("&&", "||"):
            self._operand(function, span, i)
        elif text == "?":
            self._arm(function, span, i)
        elif text == "==" and self.is_limit(i) and CAPITALS.match(self.tokens[i + 1].text):
            self.finder.add(function, span, "limit", self.tokens[i].start, self.tokens[i].end, ">")
        elif text == "|" and CAPITALS.match(self.tokens[i - 1].text) and CAPITALS.match(self.tokens[i + 1].text):
            self.finder.add(function, span, "drop-flag", self.tokens[i - 1].start, self.tokens[i + 1].start, "")
            self.finder.add(function, span, "drop-flag", self.tokens[i - 1].end, self.tokens[i + 1].end, "")
        elif text in ("+", "-"):
            left, right = self._reach(i, -1, ADDENDS), self._reach(i, 1, ADDENDS)
            if left is not None and right is not None and left < i < right:
                self.finder.add(function, span, "drop-term", self.tokens[i - 1].end, self.tokens[right].end, "")

    def of_word(self, function, span, i):
        """A named value that is stored or passed becomes 0."""
        around = self.tokens[i - 1].text, self.tokens[i + 1].text
        if CAPITALS.match(self.tokens[i].text) and around[0] in (",", "=") and around[1] in (",", ")", ";"):
            self.finder.add(function, span, "zero", self.tokens[i].start, self.tokens[i].end, "0")

    def is_limit(self, i):
        """Is the comparison at token i one with a size, a limit or a count?"""
        left, right = self._reach(i, -1, OPERANDS), self._reach(i, 1, OPERANDS)
        return any(LIMIT.search(self.text[self.tokens[a].start : self.tokens[b].end]) for a, b in ((left, i - 1), (i + 1, right)))

    def _operand(self, function, span, i):
        """One side of && or || goes, with the operator."""
        stops = OPERANDS if self.tokens[i].text == "&&" else OPERANDS - {"&&"}
        left, right = self._reach(i, -1, stops), self._reach(i, 1, stops)
        for start, end in ((self.tokens[left].start, self.tokens[i + 1].start), (self.tokens[i - 1].end, self.tokens[right].end)):
            self.finder.add_once(function, span, "drop-operand", start, end, "")

    def _arm(self, function, span, i):
        """Of `condition ? a : b` one arm, always."""
        depth, colon = 0, i + 1
        while depth or self.tokens[colon].text != ":":
            depth += {"?": 1, ":": -1}.get(self.tokens[colon].text, 0)
            colon = self.source.partner[colon] + 1 if self.tokens[colon].text in ("(", "[", "{") else colon + 1
            if colon >= len(self.tokens) or self.tokens[colon].text == ";":
                return
        left, right = self._reach(i, -1, ARMS), self._reach(colon, 1, ARMS)
        start, end = self.tokens[left].start, self.tokens[right].end
        for first, last in ((i + 1, colon - 1), (colon + 1, right)):
            if colon - i > 1:  # not `a ?: b`
                self.finder.add(function, span, "pick-arm", start, end, self.text[self.tokens[first].start : self.tokens[last].end])

    def _reach(self, i, step, stops):
        """The last token on that side of token i that belongs to its operand."""
        opening, closing = ("([{", ")]}") if step > 0 else (")]}", "([{")
        at = i + step
        while 0 < at < len(self.tokens) - 1:
            text = self.tokens[at].text
            if self.tokens[at].kind == "mark" and text in closing or self.tokens[at].kind == "mark" and text in stops:
                break
            if text == "return":
                break
            if self.tokens[at].kind == "mark" and text in opening:
                at = self.source.partner[at]
            at += step
        return at - step


ARMS = frozenset((";", ",", "=", "+=", "-=", "|=", "&=", "^=", "{", "}", "?", ":"))
OPERANDS = ARMS | {"&&", "||"}
ADDENDS = OPERANDS | {"+", "-", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "<<", ">>"}


def drop_name(tokens, statement):
    """The operator that leaves a call statement out: by the name of what is called, or because it stands behind a label."""
    name = tokens[statement.first].text
    operator = dropped(name, f"drop-{statement.kind}")
    if statement.labels and operator == "drop-call":
        return "drop-undo"
    return operator
