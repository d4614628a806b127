"""C source as tokens, functions and statements: as much of a parser as mutating needs.

It knows this code base's form: the braces of a function stand in the first column, and a binary operator has
a blank on either side. What it does not understand it leaves alone.
"""
import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""
    (?P<space>[ \t\n]+)
  | (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<directive>(?<=\n)[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<char>'(?:\\.|[^'\\\n])+')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<mark><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""",
    re.X | re.S,
)

TYPE_WORDS = set(
    """auto bool char const double enum extern float inline int long register short signed static
    struct typedef union unsigned void volatile _Atomic _Bool _Static_assert static_assert""".split()
)
OPEN = {"(": ")", "[": "]", "{": "}"}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass
class Statement:
    """Indices into the tokens: [first, last], last is its `;`. `head` is the (first, last) inside of a condition."""

    kind: str  # if while do for switch return break continue goto call assign step declare asm other
    first: int
    last: int
    head: tuple = None
    block: int = 0  # the brace, or the statement with a head, that it stands in directly
    labels: tuple = ()  # of the function, that stand before it


@dataclass
class Function:
    name: str
    first: int  # its `{`
    last: int  # its `}`
    signature: str = ""  # the line of its name, up to the name
    statements: list = field(default_factory=list)
    labels: list = field(default_factory=list)


def tokens_of(text):
    """All tokens but blanks, comments and preprocessor lines."""
    tokens = []
    for match in TOKEN.finditer("\n" + text):
        if match.lastgroup not in ("space", "comment", "directive"):
            tokens.append(Token(match.lastgroup, match.group(), match.start() - 1, match.end() - 1))
    return tokens


def match_all(tokens):
    """The partner of each bracket, by index."""
    partner, stack = {}, []
    for i, token in enumerate(tokens):
        if token.kind != "mark":
            continue
        if token.text in OPEN:
            stack.append(i)
        elif token.text in OPEN.values() and stack:
            partner[i] = stack.pop()
            partner[partner[i]] = i
    return partner


class Source:
    """One file: its text, tokens and functions with their statements."""

    def __init__(self, text):
        self.text = text
        self.tokens = tokens_of(text)
        self.partner = match_all(self.tokens)
        self.block = 0
        self.functions = [self._function(i) for i, token in enumerate(self.tokens) if self._opens_function(i, token)]

    def _column(self, token):
        return token.start - (self.text.rfind("\n", 0, token.start) + 1)

    def _opens_function(self, i, token):
        return (
            token.text == "{"
            and token.kind == "mark"
            and self._column(token) == 0
            and i > 0
            and i in self.partner
            and self.tokens[i - 1].text not in ("=", ",")
        )

    def _name_before(self, i):
        """The word before the parameter list that ends before token i, and its line up to there."""
        while i > 0 and self.tokens[i - 1].text == ")":
            opening = self.partner[i - 1]
            word = self.tokens[opening - 1]
            if word.kind == "word" and not word.text.startswith("__"):
                return word.text, self.text[self.text.rfind("\n", 0, word.start) + 1 : word.start]
            i = opening - 1
        return "?", ""

    def _function(self, i):
        name, signature = self._name_before(i)
        function = Function(name, i, self.partner[i], signature)
        self._inside(function, i)
        return function

    def _inside(self, function, i):
        """The statements between the brace at i and its partner."""
        outer, self.block = self.block, i
        at = i + 1
        while at < self.partner[i]:
            at = self._statement(function, at)
        self.block = outer

    def _add(self, function, kind, first, last, head=None):
        function.statements.append(Statement(kind, first, last, head, self.block, tuple(function.labels)))

    # Each of these takes the index of a first token and returns the index behind the last one.

    def _statement(self, function, i):
        word = self.tokens[i].text
        if word == "{":
            self._inside(function, i)
            return self.partner[i] + 1
        if word in ("if", "while", "for", "switch"):
            return self._headed(function, i, word)
        if word == "do":
            return self._do(function, i)
        if word == "else":
            return self._arm(function, i, i + 1)
        if word in ("case", "default") or (self.tokens[i].kind == "word" and self.tokens[i + 1].text == ":"):
            if word not in ("case", "default"):
                function.labels.append(word)
            while self.tokens[i].text != ":":
                i += 1
            return i + 1
        if self._is_loop_macro(i):
            return self._statement(function, self.partner[i + 1] + 1)
        return self._plain(function, i)

    def _headed(self, function, i, word):
        closing = self.partner[i + 1]
        self._add(function, word, i, closing, (i + 2, closing - 1))
        return self._arm(function, i, closing + 1)

    def _arm(self, function, i, first):
        """The statement that the word at i decides about."""
        outer, self.block = self.block, i
        end = self._statement(function, first)
        self.block = outer
        return end

    def _do(self, function, i):
        at = self._statement(function, i + 1)  # now at its `while`
        closing = self.partner[at + 1]
        self._add(function, "do", at, closing, (at + 2, closing - 1))
        return closing + 2

    def _is_loop_macro(self, i):
        """list_for_each(...) and its like: a call followed by a statement instead of `;`."""
        if self.tokens[i].kind != "word" or self.tokens[i + 1].text != "(":
            return False
        return self.tokens[self.partner[i + 1] + 1].text == "{" or (
            "for_each" in self.tokens[i].text and self.tokens[self.partner[i + 1] + 1].text != ";"
        )

    def _plain(self, function, i):
        at = i
        assigns = steps = False
        while self.tokens[at].text != ";" or self.tokens[at].kind != "mark":
            if self.tokens[at].text in OPEN and self.tokens[at].kind == "mark":
                at = self.partner[at]
            elif self.tokens[at].text in ASSIGN:
                assigns = True
            elif self.tokens[at].text in ("++", "--"):
                steps = True
            at += 1
            if at >= function.last:
                return function.last
        self._add(function, self._kind(i, at, assigns, steps), i, at)
        return at + 1

    def _kind(self, i, last, assigns, steps):
        word = self.tokens[i].text
        if word in ("return", "break", "continue", "goto"):
            return word
        if word in ("asm", "__asm__"):
            return "asm"
        if self._declares(i):
            return "declare"
        if assigns:
            return "assign"
        if steps:
            return "step"
        if self.tokens[i].kind == "word" and self.tokens[last - 1].text == ")":
            return "call"
        return "other"

    def _declares(self, i):
        first, second = self.tokens[i], self.tokens[i + 1]
        if first.kind != "word":
            return False
        if first.text in TYPE_WORDS or second.kind == "word":
            return True
        # `type *name`: the star has a blank before it and none behind.
        return second.text == "*" and second.start > first.end and self.tokens[i + 2].start == second.end
