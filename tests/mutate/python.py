"""The mutants of a Python file: operators of the same kinds as those of C, found in its syntax tree."""
import ast
import re

from mutant import UNDOES, Mutant, dropped, folded, numbered

SWAP = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
BOUNDS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
ARITHMETIC = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}
QUIET = frozenset(("print", "warn", "log", "debug", "info"))
MASK = re.compile(r"0x[0137]?[fF]{2,}")  # of the lowest bits
LOCKS = ("lock", "mutex", "condition", "cond")
SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete)


class PythonFinder:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.starts = [0]
        for line in text.split("\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.lines = text.split("\n")
        self.found = []

    def all(self):
        self._functions(ast.parse(self.text), "")
        return self.found

    def _functions(self, node, outer):
        for child in ast.iter_child_nodes(node):
            name = getattr(child, "name", "")
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = len(self.found)
                self.name, self.line = outer + name, child.lineno
                self._body(child.body)
                self.found[first:] = numbered(self.found[first:])
                self._functions(child, f"{outer}{name}.")
            else:
                self._functions(child, f"{outer}{name}." if isinstance(child, ast.ClassDef) else outer)

    # ---- places ----

    def _at(self, line, column):
        text = self.lines[line - 1]
        return self.starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))

    def _start(self, node):
        return self._at(node.lineno, node.col_offset)

    def _end(self, node):
        return self._at(node.end_lineno, node.end_col_offset)

    def _source(self, node):
        return self.text[self._start(node) : self._end(node)]

    def _add(self, shown, operator, start, end, new):
        """`shown` is the statement, or its head: (start, end)."""
        before = folded(self.text[shown[0] : shown[1]])
        after = folded(self.text[shown[0] : start] + new + self.text[end : shown[1]])
        lines = tuple(self.text.count("\n", 0, at) + 1 for at in shown) + (self.line,)
        self.found.append(
            Mutant(self.path, self.name, self.text.count("\n", 0, start) + 1, operator, start, end, new, before, after, lines)
        )

    # ---- statements ----

    def _body(self, body):
        for statement, after in zip(body, [*body[1:], None]):
            self._statement(statement)
            if after is not None:
                self._pair(statement, after)
            elif isinstance(statement, SIMPLE) and not self._is_quiet(statement):
                self._leave(statement)

    def _is_quiet(self, statement):
        if not isinstance(statement, ast.Expr):
            return False
        value = statement.value
        return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and called(value) in QUIET)

    def _statement(self, statement):
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assert)):
            return
        if self._is_quiet(statement):
            return
        blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(statement, "handlers", [])]
        end = min([self._start(block[0]) for block in blocks if block] or [self._end(statement)])
        shown = (self._start(statement), end)
        self._whole(statement, shown)
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, (ast.expr, ast.withitem)):
                self._expression(child, shown)
        for block in blocks:
            self._body(block)

    def _whole(self, statement, shown):
        start, end = shown
        if isinstance(statement, (ast.If, ast.While)):
            self._condition(statement, shown)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            self._add(shown, dropped(called(statement.value), "drop-call"), start, end, "pass")
        elif isinstance(statement, ast.AugAssign) or (
            isinstance(statement, ast.Assign) and not isinstance(statement.targets[0], (ast.Name, ast.Tuple))
        ):
            self._add(shown, "drop-assign", start, end, "pass")
        elif isinstance(statement, ast.Delete):
            self._add(shown, "drop-undo", start, end, "pass")
        elif isinstance(statement, (ast.Break, ast.Continue, ast.Raise)):
            self._add(shown, f"drop-{type(statement).__name__.lower()}", start, end, "pass")
        elif isinstance(statement, ast.Return) and statement.value is not None:
            self._return(statement, shown)
        elif isinstance(statement, ast.With):
            self._with(statement, shown)

    def _condition(self, statement, shown):
        start, end = self._start(statement.test), self._end(statement.test)
        inside = self.text[start:end]
        self._add(shown, "negate", start, end, f"not ({inside})")
        self._add(shown, "never", start, end, f"({inside}) and False")
        if isinstance(statement, ast.If):
            self._add(shown, "always", start, end, f"({inside}) or True")

    def _return(self, statement, shown):
        start, end = self._start(statement.value), self._end(statement.value)
        value = self.text[start:end]
        self._add(shown, "return", start, end, {"True": "False", "False": "True", "None": "0"}.get(value, "None"))

    def _with(self, statement, shown):
        """The block without its lock."""
        items = statement.items
        if len(items) == 1 and not items[0].optional_vars and any(word in self._source(items[0].context_expr).lower() for word in LOCKS):
            self._add(shown, "drop-lock", self._start(statement), self._end(items[0].context_expr), "if True")

    def _pair(self, first, second):
        """Neighbours change places when the second tells others."""
        if not (isinstance(first, SIMPLE) and isinstance(second, ast.Expr) and isinstance(second.value, ast.Call)):
            return
        if first.end_lineno != first.lineno or second.end_lineno != second.lineno or self._is_quiet(first):
            return
        if called(second.value) in ("put", "set", "notify", "notify_all", "send", "sendall", "append", "set_result", "start"):
            start, end = self._start(first), self._end(second)
            self._add((start, end), "swap-publish", start, end, f"{self._source(second)}; {self._source(first)}")

    def _leave(self, statement):
        """The function ends behind the last statement of a block."""
        if statement.end_lineno == statement.lineno:
            start, end = self._start(statement), self._end(statement)
            self._add((start, end), "return-early", end, end, "; return")

    # ---- expressions ----

    def _expression(self, node, shown):
        if isinstance(node, (ast.JoinedStr, ast.Lambda)):
            return
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            self._compare(node, shown)
        elif isinstance(node, ast.BoolOp):
            self._bool(node, shown)
        elif isinstance(node, ast.IfExp):
            for arm in (node.body, node.orelse):
                self._add(shown, "pick-arm", self._start(node), self._end(node), self._source(arm))
        elif isinstance(node, ast.BinOp):
            self._binary(node, shown)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start, end = self._start(node), self._start(node.operand)
            if "(" not in self.text[start:end]:
                self._add(shown, "drop-not", start, end, "")
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            self._constant(node, shown)
        elif isinstance(node, ast.Call) and called(node) in ("min", "max") and len(node.args) == 2:
            for argument in node.args:
                self._add(shown, "limit", self._start(node), self._end(node), self._source(argument))
        elif isinstance(node, ast.Call) and UNDOES.search(called(node)) and isinstance(node.func, ast.Attribute):
            self._undone(node, shown)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.expr, ast.comprehension, ast.keyword)):
                self._expression(child, shown)

    def _undone(self, node, shown):
        """`table.pop(key)` only looks: `table[key]`."""
        if called(node) == "pop" and len(node.args) == 1:
            self._add(
                shown, "drop-undo", self._start(node), self._end(node), f"{self._source(node.func.value)}[{self._source(node.args[0])}]"
            )

    def _compare(self, node, shown):
        operator = type(node.ops[0])
        start, end = self._end(node.left), self._start(node.comparators[0])
        # A bracket that belongs to an operand stays.
        between = self.text[start:end]
        head, tail = len(between) - len(between.lstrip(") ")), len(between) - len(between.rstrip("( "))
        name = "limit" if operator in BOUNDS else "equal"
        self._add(shown, name, start + head, end - tail, SWAP[operator])

    def _bool(self, node, shown):
        for i, value in enumerate(node.values):
            if i == 0:
                start, end = self._start(value), self._start(node.values[1])
            else:
                start, end = self._end(node.values[i - 1]), self._end(value)
            gone = self.text[start:end]
            if gone.count("(") == gone.count(")"):
                self._add(shown, "drop-operand", start, end, "")

    def _binary(self, node, shown):
        if type(node.op) not in ARITHMETIC or isinstance(node.left, (ast.JoinedStr, ast.List)) or is_text(node.left):
            return
        start, end = self._end(node.left), self._start(node.right)
        between = self.text[start:end]
        head, tail = len(between) - len(between.lstrip(") ")), len(between) - len(between.rstrip("( "))
        self._add(shown, "swap", start + head, end - tail, ARITHMETIC[type(node.op)])
        if isinstance(node.op, (ast.Add, ast.Sub)) and "(" not in between and ")" not in between:
            self._add(shown, "drop-term", start, self._end(node), "")

    def _constant(self, node, shown):
        start, end = self._start(node), self._end(node)
        if isinstance(node.value, bool):
            self._add(shown, "constant", start, end, str(not node.value))
            return
        for other in (node.value + 1, node.value - 1):
            if other >= 0:
                self._add(shown, "constant", start, end, str(other))
        if MASK.fullmatch(self.text[start:end]):
            self._add(shown, "narrow", start, end, self.text[start : end - 1])


def called(call):
    """The last word of what is called."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def python_mutants(path, text):
    return PythonFinder(path, text).all()
