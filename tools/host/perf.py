"""fathom perf: the profiler's samples, and trace events, as a perf.data, for `perf report`, `perf script` and the tools that read these.

The events profile:sample become samples of the clock `cpu-clock`, all others samples of their trace points, with the stacks that the options
stacktrace and userstacktrace have written behind them as call chains. sched_process_fork, _exit and _exec tell of threads and programs. The names
of functions go into a file of their own beside it, in the form of /proc/kallsyms, as perf.data has no place for them; the build-id in
the file keeps perf from taking those of its own kernel instead. Functions of programs have names if --root says where their files are.

`record COMMAND` takes the samples first, with options of `fathom record` before COMMAND; `report` and `script`, each with trace.dat or live and
options of perf behind it, start Debian's perf; `stat` and `top` run the kernel's own commands `perf stat` and `profile`.
"""
import argparse
import collections
import hashlib
import shlex
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from host import _boot, _perf_data, _programs, _recording, _settings, _source
from host._common import NOTHING, Failure
from host._events import Lost, UnknownType
from host._guest import Guest, quoted
from host._output import replaced

HELP = "write the profiler's samples, and trace events, as a perf.data"
EXAMPLE = "tools/fathom perf -o perf.data trace.dat; perf report -i perf.data --kallsyms perf.data.kallsyms"
CONTEXT_USER = 1


def add_output(parser):
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="perf.data", help="the file to write, - for a pipe to perf (default: %(default)s)"
    )
    parser.add_argument(
        "--kallsyms", metavar="FILE", help="the file for names of functions (default: that of -o, with .kallsyms behind it)"
    )
    parser.add_argument("--to", metavar="COMMAND", help="start `COMMAND -i - --kallsyms FILE`, such as 'perf report', and write into it")
    parser.add_argument(
        "--elf", metavar="FILE", help="the kernel's fathom.elf: a copy with the build-id is written, for `perf annotate -k`"
    )
    _programs.add_arguments(parser)


def add_of_a_source(parser):
    add_output(parser)
    _source.add_arguments(parser)


def add_arguments(parser):
    add_of_a_source(parser)
    parser.add_argument("words", metavar="WORDS", nargs=argparse.REMAINDER, help=f"behind {', '.join(JOBS)} in place of trace.dat")


# ---- The recording ----


class Sample:
    """An event, and the stacks behind it."""

    def __init__(self, event):
        self.event, self.kernel, self.user, self.process = event, [], [], event.pid
        self.is_of_clock = event.system == "profile" and event.name == "sample"
        self.is_user = self.is_of_clock and event.number("context") == CONTEXT_USER

    def ip(self):
        return self.event.number("ip") if self.is_of_clock else (self.kernel or [0])[0]

    def record(self, number):
        event, ip = self.event, self.ip()
        kernel = [] if self.is_user else self.kernel or ([ip] if ip else [])
        user = self.user or ([ip] if self.is_user else [])
        period = event.number("period") if self.is_of_clock else 1
        data = struct.pack("<QQIIQIIQ", number, ip, self.process, event.pid, event.ts, event.cpu, 0, period)
        data += _perf_data.chain_of(kernel, user) + (b"" if self.is_of_clock else _perf_data.raw_of(event.data))
        return _perf_data.record(_perf_data.SAMPLE, _perf_data.IN_USER if self.is_user else _perf_data.IN_KERNEL, data)


def addresses(callers):
    """Those of a stack, up to its end."""
    found = []
    for address in callers if isinstance(callers, list) else []:
        if address in (0, (1 << 64) - 1):
            break
        found.append(address & (1 << 64) - 1)
    return found


WAITING = 64  # events of a thread that a stack may come behind


def samples_of(recording):
    """
    All samples, in the order of time. A stack belongs to the event before it of the same CPU; that of a program to all events of its
    thread since the stack before, too: it may have been written when the program went on. Events of tracers are none.
    """
    samples, before, waiting = [], {}, {}
    for event in recording.events():
        if isinstance(event, Lost):
            waiting.clear()
            continue
        last = before.get(event.cpu)
        if event.system != "ftrace" and not isinstance(event.type, UnknownType):
            before[event.cpu] = Sample(event)
            samples.append(before[event.cpu])
            waiting.setdefault(event.pid, collections.deque(maxlen=WAITING)).append(samples[-1])
        elif last and event.name == "kernel_stack":
            last.kernel = addresses(event.fields.get("caller"))
        elif event.name == "user_stack":
            for sample in waiting.pop(event.pid, ()):
                sample.user, sample.process = addresses(event.fields.get("caller")), event.number("tgid")
        else:
            before.pop(event.cpu, None)
    return samples


# ---- Its records ----


def kallsyms_of(symbols):
    """perf finds the beginning of the kernel by the name in that of its map."""
    return f"{symbols.addresses[0]:016x} T _text\n" + "".join(
        f"{address:016x} T {name}\n" for address, name in zip(symbols.addresses, symbols.names)
    )


def kernel_map(symbols):
    first = symbols.addresses[0]
    return _perf_data.kernel_map(first, symbols.addresses[-1] + 0x1000 - first)


def comm_of(recording, pid):
    return recording.comm(pid) if pid else "swapper"


def names_of(recording, samples):
    """A record for the name of each thread."""
    threads = {sample.event.pid: sample.process for sample in samples}
    return b"".join(_perf_data.name(process, pid, comm_of(recording, pid)) for pid, process in sorted(threads.items()))


def program_maps(files, process, time=0):
    """files: (path or None, what was added to its addresses) of each."""
    code = [(path.resolve(), one) for path, base in files if path for one in _programs.code_of(path, base)]
    return b"".join(_perf_data.program_map(process, one, path, time) for path, one in code)


def older_programs(recording, samples):
    """The code of processes that had begun before the recording."""
    first = {}
    for sample in samples:
        if sample.is_user or sample.user:
            first.setdefault(sample.process, sample.event)
    programs = recording.programs
    older = [(process, event) for process, event in first.items() if programs and process not in programs.runs]
    return b"".join(program_maps(programs.files(event, process), process) for process, event in older)


def life_of(recording, event):
    """The records of an event that tells of a thread or of a program."""
    pid = event.number("child_pid" if event.name == "sched_process_fork" else "pid")
    if event.system != "sched":
        return b""
    if event.name == "sched_process_fork":
        named = _perf_data.name(pid, pid, comm_of(recording, pid), event.ts)
        return _perf_data.birth(pid, event.number("parent_pid"), event.ts) + named
    if event.name == "sched_process_exec" and recording.programs:
        return program_maps(recording.programs.files(event, pid), pid, event.ts)
    return _perf_data.end(pid, event.ts) if event.name == "sched_process_exit" else b""


def attributes_of(samples):
    """{number of the event's type: its attribute}; that of the clock first."""
    found = {sample.event.type.id: sample for sample in sorted(samples, key=lambda one: not one.is_of_clock)}
    return {
        number: _perf_data.Attribute.clock(one.event.number("period")) if one.is_of_clock else _perf_data.Attribute.tracepoint(number)
        for number, one in found.items()
    }


def numbered(attributes):
    for number, one in enumerate(attributes, 1):
        one.number = number
    return list(attributes)


def digest_of(symbols):
    """The build-id: of the names, so that those of another kernel are not taken for this one's."""
    return hashlib.sha1(kallsyms_of(symbols).encode()).digest()


def features_of(recording, attributes):
    features = {_perf_data.BUILD_ID: _perf_data.build_id(digest_of(recording.symbols))}
    formats = {}
    for number, one in attributes.items():
        if one.is_raw:
            system, text = recording.formats[number]
            formats.setdefault(system, []).append(text)
    if formats:
        features[_perf_data.TRACING_DATA] = _perf_data.tracing_data(recording.header_page, formats)
    return features


def perf_data(recording, samples, is_pipe=False):
    attributes = attributes_of(samples)
    ordered = numbered(attributes.values())
    records = [kernel_map(recording.symbols), names_of(recording, samples), older_programs(recording, samples)]
    for sample in samples:
        records += [life_of(recording, sample.event), sample.record(attributes[sample.event.type.id].number)]
    write = _perf_data.piped_of if is_pipe else _perf_data.file_of
    return write(ordered, features_of(recording, attributes), b"".join(records))


def write_names(recording, path):
    with replaced(path) as file:
        file.write(kallsyms_of(recording.symbols))


def write_elf(recording, options, path):
    """perf takes a kernel's file only if it has the build-id of the recording, and Fathom's has none."""
    with tempfile.NamedTemporaryFile() as note:
        note.write(struct.pack("<III", 4, 20, 3) + b"GNU\0" + digest_of(recording.symbols))
        note.flush()
        words = ["objcopy", "--add-section", f".note.gnu.build-id={note.name}", options.elf, path]
        made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode:
        raise Failure(made.stderr.strip())


def write_into(command, recording, samples):
    """The names have to be there before perf begins to read."""
    with tempfile.NamedTemporaryFile(suffix=".kallsyms") as names:
        write_names(recording, names.name)
        words = [*shlex.split(command), "-i", "-", "--kallsyms", names.name]
        done = subprocess.run(words, input=perf_data(recording, samples, is_pipe=True), check=False)
    if done.returncode:
        raise Failure(f"{words[0]} ended with status {done.returncode}")


def summary(samples):
    nr_clock = sum(sample.is_of_clock for sample in samples)
    return f"{nr_clock} samples" + (f", {len(samples) - nr_clock} events" if nr_clock < len(samples) else "")


def name_of(output):
    """Of the file that others stand beside."""
    return "perf.data" if output == "-" else output


def write_files(options, recording, samples):
    is_pipe, name = options.output == "-", name_of(options.output)
    names = options.kallsyms or f"{name}.kallsyms"
    write_names(recording, names)
    if options.elf:
        write_elf(recording, options, f"{name}.elf")
    if is_pipe:
        sys.stdout.buffer.write(perf_data(recording, samples, is_pipe=True))
        return
    with replaced(options.output, "wb") as file:
        file.write(perf_data(recording, samples))
    print(f"{options.output}: {summary(samples)}; perf report -i {options.output} --kallsyms {names}")


def convert(options):
    recording = _source.opened_with_programs(options)
    samples = samples_of(recording)
    if not samples:
        raise Failure(f"{options.source} has neither events profile:sample (docs/profiling.md) nor other trace events", NOTHING)
    if not recording.symbols.addresses:
        raise Failure(f"{options.source} has no names of functions")
    if options.to:
        write_into(options.to, recording, samples)
    else:
        write_files(options, recording, samples)


# ---- The commands of perf ----


def parsed(job, add, words, options):
    """The options, and those among the words; a wrong one ends with this job's usage."""
    parser = argparse.ArgumentParser(prog=f"fathom perf{job}")
    add(parser)
    return parser.parse_args(words, options)


def add_of_record(parser):
    add_output(parser)
    _settings.add_arguments(parser)
    _boot.add_arguments(parser)
    parser.add_argument("words", metavar="COMMAND", nargs="*", help="a line for the kernel's shell; without one, until Ctrl-C")


def record(options):
    """The profiler's samples, with stacks, and what -e asks for beside them; the trace.dat of it stays beside the perf.data."""
    if options.instance:
        raise Failure("-B stands behind record, as that of fathom record")
    options = parsed(" record", add_of_record, ["-e", "profile:sample", "-T", *options.words], options)
    target = options.output
    options.output, options.file_version, options.compression = Path(f"{name_of(target)}.trace.dat"), None, None
    _recording.record(options)
    options.source, options.output, options.instance = str(options.output), target, None
    convert(options)


def into_perf(options):
    """`report` or `script` of Debian's perf. The first word is the source unless it is an option."""
    job, words = options.source, options.words
    is_named = bool(words) and not words[0].startswith("-")
    options.source = words[0] if is_named else "trace.dat"
    options.to = shlex.join(["perf", job, *words[is_named:]])
    convert(options)


def in_the_kernel(options):
    """A command of the kernel's shell that does the same; its words are given as they are."""
    words = KERNEL_COMMANDS[options.source] + "".join(f" {quoted(word)}" for word in options.words)
    with Guest(options.channel) as guest:
        status, _ = guest.sh(words, _recording.show)
    if status:
        raise Failure(f"the command ended with status {status}")


KERNEL_COMMANDS = {"stat": "perf stat", "top": "profile"}
JOBS = {"record": record, "report": into_perf, "script": into_perf, "stat": in_the_kernel, "top": in_the_kernel}


def run(options):
    job = JOBS.get(options.source)
    if job:
        job(options)
    else:
        convert(parsed("", add_of_a_source, [*options.words, options.source], options))
