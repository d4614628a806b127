"""What a trace looks like without its facts: names, numbers, times, CPUs and addresses are replaced by
the width of their column, blanks stay. A line of ours has the layout of Linux when its shape is among
the shapes that a sample of Linux has:

    assert not strange(ours, sample("graph"), sample("graph-tail"))
    assert header(ours) == header(sample("graph"))

A shape names the form of the line and each column's width, so one blank too many is another shape.
"""
import re
from pathlib import Path

SAMPLES = Path(__file__).resolve().parent / "linux-6.1"

SYM = r"(?:0x[0-9a-f]+|[A-Za-z_.$][\w.$]*)(?:\+0x[0-9a-f]+/0x[0-9a-f]+)?(?: \[\w+\])?" r"(?: <[0-9a-f]{16}>)?"
FLAGS = r"[.dDb?][.nNpBbLl][.hHsSzZ~][.0-9a-f][.0-9a-f]"
SECONDS = r" *\d+\.\d{6}"
MARKS = r"[ $@*#!+]"


def sample(name):
    """The text of a sample of Linux: a file of linux-6.1/."""
    return (SAMPLES / name).read_text(encoding="latin-1")


def transcript(name):
    """The commands of a sample made of `$ command` and its output: [(command, output)]."""
    parts = re.split(r"^\$ (.*)\n", sample(name), flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2]))


def sym(text):
    """A symbol: which of its parts are there. The module's name is a fact of that kernel."""
    parts = ["SYM"]
    if re.search(r"\+0x[0-9a-f]+/0x", text):
        parts.append("+OFF/SIZE")
    if text.endswith(">"):
        parts.append(" <ADDR>")
    return "".join(parts)


def centred(field, width):
    """`field`, blanks included, centred in `width` columns as function_graph does it."""
    name = field.strip(" ")
    spare = max(width - len(name), 0)
    left = len(field) - len(field.lstrip(" "))
    if left == spare // 2 and len(field) == len(name) + spare:
        return "CENTRED%d" % width
    return "OFF-CENTRE%d,%d" % (left, len(field) - len(name) - left)


def right(field, width):
    """`field`, blanks included, set to the right in `width` columns, or wider and without a blank."""
    if len(field) == width or (len(field) > width and field == field.strip(" ")):
        return "RIGHT%d" % width
    return "NOT-RIGHT%d" % len(field)


def left(field, width):
    if len(field) == width or (len(field) > width and field == field.strip(" ")):
        return "LEFT%d" % width
    return "NOT-LEFT%d" % len(field)


# ---- what comes before the event itself: who, where, when ----


def normal_context(line):
    """`            bash-1234    [001] d..1.   123.456789: `, with or without flags and thread group."""
    m = re.match(r"( *\S.{0,15}?)-(\d+ *) (\((?:-------| *\d+)\) )?\[(\d{3,})\] (%s)?" r" (?:(%s)|( *\d+)): " % (FLAGS, SECONDS), line)
    if not m:
        return None
    when = "TIME " + right(m[6], 12) if m[6] else "COUNT " + right(m[7], 12)
    shape = "[task %s-%s%s CPU%d%s %s] " % (
        right(m[1], 16),
        left(m[2], 7),
        " TGID%d" % len(m[3]) if m[3] else "",
        len(m[4]),
        " FLAGS" if m[5] else "",
        when,
    )
    return shape, line[m.end() :]


def latency_context(line):
    """`    bash-1234      0d..1.  123us+: `"""
    m = re.match(r"( *\S.{0,7}?)-(\d[\d ]{6}|\d{8,}) ( *\d+)(%s) ( *-?\d+)(us%s)?: " % (FLAGS, MARKS), line)
    if not m:
        return None
    shape = "[lat %s-%s CPU %s FLAGS TIME %s%s] " % (right(m[1], 8), left(m[2], 7), right(m[3], 3), right(m[5], 4), " MARK" if m[6] else "")
    return shape, line[m.end() :]


def verbose_context(line):
    """`    bash    1234   0 1 00000000 00000000 [011c6f34] 22.276ms (+0.015ms): `"""
    m = re.match(
        r"( *\S.{0,15}?) ( *\d+) ( *\d+) (\d+) [0-9a-f]{8} [0-9a-f]{8} \[[0-9a-f]{8,}\]"
        r" (?:\d+\.\d{3}(ms) \(\+\d+\.\d{3}ms\)|-?\d+ \(\+\d+\)): ",
        line,
    )
    if not m:
        return None
    return "[verbose %s %s CPU %s %s] " % (right(m[1], 16), right(m[2], 7), right(m[3], 3), m[5] or "COUNT"), line[m.end() :]


def event(rest):
    """What stands behind the context of a line that is not function_graph's."""
    if rest == "<stack trace>":
        return rest
    m = re.fullmatch(r"(%s) <-(%s)( \(repeats: \d+, last_ts:(%s)\))?" % (SYM, SYM, SECONDS), rest)
    if m:
        again = " (repeats: N, last_ts:TIME %s)" % right(m[4], 13) if m[3] else ""
        return "%s <-%s%s" % (sym(m[1]), sym(m[2]), again)
    m = re.fullmatch(r"( +\d+):( *\d+):[A-Z] (==>|  \+) \[\d{3}\]( +\d+):( *\d+):[A-Z] \S+", rest)
    if m:
        return "SWITCH %s:%s:S %s [CPU]%s:%s:S COMM" % (right(m[1], 8), right(m[2], 3), m[3], right(m[4], 8), right(m[5], 3))
    if rest == "0":
        return rest
    m = re.fullmatch(r"# [0-9a-f]+ buf:( [0-9a-f]{2})*", rest)
    if m:
        return "# N buf: BYTES"
    m = re.fullmatch(r"(%s): .*" % SYM, rest)
    if m:
        return sym(m[1]) + ": TEXT"
    if re.fullmatch(SYM, rest):
        return sym(rest)
    return None


def record(line):
    for context in (normal_context, latency_context, verbose_context):
        found = context(line)
        if found:
            body = event(found[1])
            return found[0] + body if body else None
    # A symbol alone is too little to know a record by.
    if re.fullmatch(SYM, line):
        return None
    return event(line)


# ---- function_graph ----

GRAPH_BODIES = (
    (r"(%s)\(\) \{" % SYM, lambda m: sym(m[1]) + "() {"),
    (r"(%s)\(\);" % SYM, lambda m: sym(m[1]) + "();"),
    (r"\}", lambda m: "}"),
    (r"\} /\* (%s) \*/" % SYM, lambda m: "} /* %s */" % sym(m[1])),
    (r"/\* .* \*/", lambda m: "/* TEXT */"),
)


def graph_body(text):
    """A call, a return or a comment behind its indentation, which is two blanks a level."""
    body = text.lstrip(" ")
    odd = "ODD-INDENT " if (len(text) - len(body)) % 2 else ""
    for pattern, shape in GRAPH_BODIES:
        m = re.fullmatch(pattern, body)
        if m:
            return odd + shape(m)
    return None


def graph_columns(line):
    """The columns left of the duration: (shape, rest of the line)."""
    shape = ""
    m = re.match(r"(%s) \|  " % SECONDS, line) or re.match(r"( *\d+) us \|  ", line)
    if m:
        shape += "%s %s |  " % ("ABSTIME" if "." in m[1] else "RELTIME", right(m[1], 12 if "." in m[1] else 9))
        line = line[m.end() :]
    m = re.match(r" ( *\d+)\) ", line)
    if m:
        shape += " CPU%d) " % len(m[1])
        line = line[m.end() :]
    m = re.match(r"( *\S[^|]{0,6}-\d+ *) \| ", line)
    if m:
        shape += centred(m[1], 14) + " | "
        line = line[m.end() :]
    m = re.match(r" (%s|) \| " % FLAGS, line)
    if m and (m[1] or shape):
        shape += " %s | " % ("FLAGS" if m[1] else "")
        line = line[m.end() :]
    return shape, line


def graph_duration(line):
    m = re.match(r"(%s) (\d+(?:\.\d{1,3})?) us( +)\|  " % MARKS, line)
    if m:
        width = len(m[2]) + 3 + len(m[3])
        return "MARK DURATION%d|  " % width, line[m.end() :]
    m = re.match(r"( +)\|  ", line)
    if m:
        return "BLANK%d|  " % len(m[1]), line[m.end() :]
    return None


def graph(line):
    columns, rest = graph_columns(line)
    arrow = re.fullmatch(r"( *(?:==========>|<==========).*)", rest)
    if arrow:
        return "graph %s%s" % (columns, arrow[1])
    duration = graph_duration(rest)
    body = graph_body(duration[1] if duration else rest)
    if not body or not (columns or duration or rest != rest.lstrip(" ") or re.search(r"[(}/]", rest)):
        return None
    return "graph %s%s%s" % (columns, duration[0] if duration else "", body)


def graph_switch(line):
    """` 0)    <idle>-0    =>     sh-129    `"""
    m = re.fullmatch(r"(?:(%s) \|  )? ( *\d+)\) ( *\S.{0,6}?-\d+ *) => ( *\S.{0,6}?-\d+ *)(.*)" % SECONDS, line)
    if not m:
        return None
    # The blanks that end the first column and begin the second belong to the columns.
    return "graph SWITCH %sCPU%d) %s => %s%s" % ("TIME |  " if m[1] else "", len(m[2]), centred(m[3], 14), centred(m[4], 14), m[5])


# ---- other lines ----

HEADERS = (
    (r"# entries-in-buffer/entries-written: \d+/\d+   #P:\d+", "# entries-in-buffer/entries-written: N/N   #P:N"),
    (r"# (\S+) latency trace v1\.1\.5 on \S+", r"# \1 latency trace v1.1.5 on RELEASE"),
    (
        r"# latency: \d+ us, #\d+/\d+, CPU#\d+ \| \(M:(\S+) VP:(\d+), KP:(\d+), SP:(\d+) HP:(\d+) #P:\d+\)",
        r"# latency: N us, #N/N, CPU#N | (M:\1 VP:\2, KP:\3, SP:\4 HP:\5 #P:N)",
    ),
    (r"#    \| task: \S*-\d+ \(uid:\d+ nice:-?\d+ policy:\d+ rt_prio:\d+\)", "#    | task: COMM-N (uid:N nice:N policy:N rt_prio:N)"),
    (r"#  => started at: %s" % SYM, "#  => started at: SYM"),
    (r"#  => ended at:   %s" % SYM, "#  => ended at:   SYM"),
)


def head(line):
    for pattern, shape in HEADERS:
        m = re.fullmatch(pattern, line)
        if m:
            return m.expand(shape)
    return line if line.startswith("#") and not re.match(r"##### CPU|# [0-9a-f]+ buf:", line) else None


def stack_entry(line):
    m = re.fullmatch(r" => (%s)" % SYM, line)
    return " => " + sym(m[1]) if m else None


def stack_trace_file(line):
    """`  0)     2208      48   func+0x5/0x40`"""
    m = re.fullmatch(r"( *\d+)\) ( *\d+)   ( *\d+)   (%s)" % SYM, line)
    if m and "+" in m[4]:
        return "stack %s) %s   %s   %s" % (right(m[1], 3), right(m[2], 8), right(m[3], 5), sym(m[4]))
    m = re.fullmatch(r"        Depth    Size   Location    \(\d+ entries\)", line)
    return "        Depth    Size   Location    (N entries)" if m else None


def profile(line):
    """A line of trace_stat/functionN."""
    m = re.fullmatch(r"  (\S{30,}|\S.{29})  ( *\d+)    (\d+(?:\.\d+)?) us( +)(\d+(?:\.\d+)?) us( +)" r"(\d+(?:\.\d+)?) us( *)", line)
    if not m:
        return None
    widths = tuple(len(m[i]) + 3 + len(m[i + 1]) for i in (3, 5, 7))
    return "profile NAME%d  %s    TIME%d AVERAGE%d SQUARE%d" % ((len(m[1]), right(m[2], 10)) + widths)


def enabled(line):
    """A line of enabled_functions."""
    m = re.fullmatch(r"(%s) \((\d+)\)(R|.*?)( ->|\ttramp: )(.*)" % SYM, line)
    if m:
        tail = re.sub(r"0x[0-9a-f]{16}", "ADDR", m[5])
        tail = re.sub(r"[A-Za-z_.][\w.]*\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[\w+\])?", "SYM+OFF/SIZE", tail)
        return "enabled SYM (N)%s%s%s" % (m[3][:6], m[4], tail)  # newer kernels have more columns
    m = re.fullmatch(r"\tdirect-->(%s)" % SYM, line)
    return "enabled \tdirect-->" + sym(m[1]) if m else None


def probe(line):
    """A function command as set_ftrace_filter lists it."""
    m = re.fullmatch(r"%s:(\w+):(unlimited|count=\d+)" % SYM, line)
    return "SYM:%s:%s" % (m[1], re.sub(r"\d+", "N", m[2])) if m else None


def raw(line):
    """Lines of the options raw and hex."""
    # Hex first: its numbers may happen to have no letter.
    m = re.fullmatch(r"[0-9a-f]{8} [0-9a-f]{8} [0-9a-f]{16} (?:[0-9a-f]{16} [0-9a-f]{16} |type: \d+)", line)
    if m:
        return "hex " + ("type: N" if "type" in line else "PID CPU TIME ADDR ADDR ")
    m = re.fullmatch(r"\d+ \d+ \d+ ([0-9a-f]{16}) ([0-9a-f]{16})", line)
    if m:
        return "raw PID CPU TIME ADDR ADDR"
    if re.fullmatch(r"\d+ \d+ \d+ \d{20} \d{20} \d+ \d+", line):
        return "raw PID CPU TIME IP PARENT REPEATS DELTA"
    if re.match(r"\d+ \d+ \d+ (type: \d+$|[:#] [0-9a-f]{16} |# \d+ buf:)", line):
        return "raw " + re.sub(
            r"^\d+ \d+ \d+ ",
            "PID CPU TIME ",
            re.sub(
                r"([:#]) [0-9a-f]{16} (: )?.*", r"\1 ADDR \2TEXT", re.sub(r"(buf:).*", r"\1 BYTES", re.sub(r"type: \d+", "type: N", line))
            ),
        )
    return None


FIXED = (
    (r" -{42}", lambda m: m[0]),
    (r"CPU:\d+ \[LOST EVENTS\]", lambda m: "CPU:N [LOST EVENTS]"),
    (r"CPU:\d+ \[LOST \d+ EVENTS\]", lambda m: "CPU:N [LOST N EVENTS]"),
    (r"##### CPU \d+ buffer started ####", lambda m: "##### CPU N buffer started ####"),
    (r" \(Overruns: \d+\)", lambda m: " (Overruns: N)"),
    (r"        -----    ----   --------", lambda m: m[0]),
    (r"  Function +Hit +Time +Avg +s\^2", lambda m: m[0]),
    (r"  -+ +-+ +-+ +-+ +-+", lambda m: m[0]),
    (r"(entries|overrun|commit overrun|bytes|dropped events|read events): \d+", lambda m: m[1] + ": N"),
    (r"(oldest event ts|now ts): (%s)" % SECONDS, lambda m: "%s: TIME %s" % (m[1], right(m[2], 12))),
)


def fixed(line):
    for pattern, shape in FIXED:
        m = re.fullmatch(pattern, line)
        if m:
            return shape(m)
    return None


# The first that knows the line decides.
FORMS = (head, fixed, stack_entry, stack_trace_file, enabled, probe, graph_switch, graph, raw, profile, record)


def shape(line):
    """The shape of a line; None when no form of Linux knows it."""
    for form in FORMS:
        found = form(line)
        if found is not None:
            return found
    return None


def shapes(text):
    """Each line with its shape. That of a blank line says what it stands behind."""
    pairs = []
    before = "the beginning"
    for line in text.removesuffix("\n").split("\n"):
        found = shape(line) if line else "blank behind %s" % before
        pairs.append((line, found))
        before = found
    return pairs


def layout(text):
    """The set of the shapes that the lines of `text` have; None in it: some line has no known form."""
    return {found for _, found in shapes(text)}


def header(text):
    """The lines that begin with `#`, in order, their numbers and names masked."""
    return [h for h in map(head, text.split("\n")) if h is not None]


def strange(text, *samples):
    """The lines of `text` whose shape no sample has, with that shape."""
    known = set().union(*map(layout, samples)) - {None}
    return [(line, found) for line, found in shapes(text) if found not in known]


def nesting(text):
    """The lines of a function_graph trace whose indentation does not fit the calls before them, each with
    the lines that led there.

    Depth is followed on each CPU; it is not known at the beginning, after a switch of tasks and after
    lost events. An interrupt between a call's place on the shadow stack and its event, or between those of
    its return, is one level off; what it interrupted goes on where it was.
    """
    depth = {}  # of each CPU: of what runs, and of what that interrupted one level off
    arrived, bad = set(), []
    lines = text.split("\n")
    for at, line in enumerate(lines):
        columns, rest = graph_columns(line)
        cpu = re.search(r"(?:^|\|  ) ( *\d+)\) ", line)
        if not cpu or graph_switch(line) or graph(line) is None:
            if "LOST" in line:
                depth.clear()
            elif cpu:
                depth.pop(cpu[1], None)
            continue
        if "=====" in line:
            if "=>" in line:
                arrived.add(cpu[1])
            continue
        duration = graph_duration(rest)
        body = duration[1] if duration else rest
        level = (len(body) - len(body.lstrip(" "))) / 2
        body = body.strip(" ")
        if body.startswith("/*") or not columns:
            continue
        before = level + body.startswith("}")
        levels = depth.setdefault(cpu[1], [None if cpu[1] in arrived else before])
        if cpu[1] in arrived and (levels[-1] is None or abs(before - levels[-1]) == 1):
            levels.append(before)
        arrived.discard(cpu[1])
        while before != levels[-1] and len(levels) > 1:
            levels.pop()
        if levels[-1] not in (None, before):
            bad.append("\n".join(lines[max(0, at - 20) : at + 1]))
        levels[-1] = level + body.endswith("{")
    return bad
