"""The console as a terminal of programs: settings, lines, raw keys, jobs; and busybox's shell in place of the kernel's."""
import pytest
from guest import Guest
from programs import BUSYBOX, archive, built

MACHINES = [("gcc", 1, "qemu64"), ("clang", 4, "max")]


def files(build, tmp_path_factory):
    names = {"bin/busybox": BUSYBOX, "bin/terminal": built("terminal", build)}
    return archive(tmp_path_factory.mktemp("terminal") / f"{build}.cpio", names)


@pytest.fixture(scope="module", params=MACHINES, ids=lambda p: "-".join(map(str, p)))
def host(request, tmp_path_factory):
    build, cpus, cpu = request.param
    with Guest(build, cpus, cpu=cpu, initrd=files(build, tmp_path_factory), tests=True) as guest:
        yield guest


@pytest.mark.parametrize("name", ["settings", "window", "jobs", "session"])
def test_terminal(host, name):
    assert host.run(f"terminal {name}") == (f"{name} is right\n", 0)


def typed(host, command, *keys):
    """Type a command, then keys when it is ready; what it printed after that."""
    host.send(command + "\r")
    host.expect(rb"ready\r\n")
    for some in keys:
        host.send(some)
        host.listen(0.3)
    return host.wait_prompt()


def test_raw_keys(host):
    assert typed(host, "terminal keys 3 0", "a", "\x03", "\r").splitlines() == ["byte 97", "byte 3", "byte 13", "read 3"]
    assert typed(host, "terminal keys 0 2").splitlines() == ["read 0"]
    assert typed(host, "terminal keys 0 0").splitlines() == ["read 0"]
    assert typed(host, "terminal keys 9 2", "xy").splitlines() == ["byte 120", "byte 121", "read 2"]
    assert host.check("terminal settings") == "settings is right\n"  # the shell has put them back


def test_lines(host):
    """Keys that erase, literal ones, the end of the input; the kernel's shell reads again afterwards."""
    host.send("busybox cat -A\r")
    host.listen(0.3)
    host.send("hellp\x7fo wold\x17world\r")
    host.expect(rb"\r\nhello world\$\r\n")
    host.send("gone\x15a\x16\x03b\r")
    host.expect(rb"\r\na\^Cb\$\r\n")
    host.send("no end\x04\x04")
    assert host.wait_prompt() == "no endno end\n"
    assert host.check("echo again") == "again\n"


class Shell:
    """An ash that has the console, after its prompt."""

    def __init__(self, guest, prompt=rb"/ # (?:\x1b\[6n)?$"):
        self.guest, self.prompt = guest, prompt
        guest.expect(prompt)

    def run(self, line):
        self.guest.send(line + "\r")
        self.guest.expect(rb"\r\n")
        return self.wait()

    def wait(self):
        return self.guest.expect(self.prompt)[0].decode().replace("\r\n", "\n")

    def start(self, line, seen):
        """Type a line; it has printed `seen`."""
        self.guest.send(line + "\r")
        self.guest.expect(rb"\r\n")
        self.guest.expect(seen)

    def key(self, keys):
        self.guest.send(keys)


@pytest.fixture(params=MACHINES, ids=lambda p: "-".join(map(str, p)))
def machine(request, tmp_path_factory):
    build, cpus, cpu = request.param
    with Guest(build, cpus, cpu=cpu, initrd=files(build, tmp_path_factory), cmdline="init=/bin/sh", wait=False) as guest:
        yield guest


def test_init(machine):
    shell = Shell(machine)
    assert "job control" not in machine.everything()
    assert shell.run("echo hi | tr a-z A-Z; (exit 3); echo $?") == "HI\n3\n"
    jobs(shell)
    editor(shell)
    pager(shell)
    screens(shell)
    shell.key("exit\r")
    machine.wait_prompt()
    assert "init=/bin/sh has ended with status 0" in machine.everything()
    assert machine.check("busybox echo and on") == "and on\n"
    machine.send("busybox poweroff -f\r")
    assert machine.wait_exit() == 0


def jobs(shell):
    shell.start("sleep 100 | cat", b"")
    shell.guest.listen(0.3)
    shell.key("\x03")
    assert "^C" in shell.wait()
    assert shell.run("echo $?") == "130\n"
    shell.start("sleep 100", b"")
    shell.guest.listen(0.3)
    shell.key("\x1a")
    assert "Stopped" in shell.wait()
    assert "Stopped" in shell.run("jobs")
    assert "sleep 100" in shell.run("bg")
    assert "Running" in shell.run("jobs")
    shell.start("fg", rb"sleep 100\r\n")
    shell.guest.listen(0.3)
    shell.key("\x03")
    shell.wait()
    assert shell.run("jobs") == ""
    shell.run("cat &")
    shell.guest.listen(0.3)
    assert "Stopped (tty input)" in shell.run("jobs")
    shell.start("fg", rb"cat\r\n")
    shell.key("typed\r")
    shell.guest.expect(rb"typed\r\ntyped\r\n")
    shell.key("\x04")
    shell.wait()
    assert "late\nall\n" in shell.run("(sleep 0.2; echo late) & wait; echo all")


def editor(shell):
    shell.start("vi /tmp/text", rb"\[New file\]|100%")
    for keys in ("itwo", "\x1b", ":wq\r"):
        shell.key(keys)
        shell.guest.listen(0.2)
    assert shell.run("cat /tmp/text").endswith("two\n")


def pager(shell):
    shell.start("seq 100 | less", rb"standard input")
    shell.key(" ")
    shell.guest.expect(rb"\r\n[^\r]*46\r\n")
    shell.key("q")
    shell.wait()


def screens(shell):
    """top; another size of the terminal, of which programs in the foreground hear, and by which top goes."""
    script = 'trap "echo resized" WINCH; stty rows 30 cols 100; stty size; stty rows 30; stty size'
    assert shell.run(f"sh -c '{script}'").endswith("'\nresized\n30 100\n30 100\n")  # none when it keeps its size
    shell.run("for i in 1 2 3 4 5 6 7 8; do sleep 100 & done")
    for rows in 9, 11:
        assert shell.run(f"stty rows {rows}; stty size").endswith(f"{rows} 100\n")
        shell.start("top", rb"Mem: \d+K used, \d+K free[^\n]+\n[^\n]*CPU: [^\n]+\n[^\n]*Load average: [^\n]+\n[^\n]*  PID  PPID USER ")
        shell.guest.expect(rb"COMMAND[^\r]*(?:\r\n[^\r]* \d+ +\d+ 0 +[SR] [^\r]*){%d}" % (rows - 4))
        shell.key("q")
        assert shell.wait().count("\n") == 1
    shell.run("kill %1 %2 %3 %4 %5 %6 %7 %8; wait; stty rows 24 cols 80")


def test_from_the_shell(host):
    """A shell that the kernel's shell runs has jobs, too; Ctrl-C and Ctrl-Z do nothing to the shells themselves."""
    host.send("busybox sh\r")
    shell = Shell(host, rb"/sys/kernel/tracing # (?:\x1b\[6n)?$")
    assert "job control" not in host.everything().split("busybox sh")[-1]
    shell.start("sleep 100", b"")
    host.listen(0.3)
    shell.key("\x1a")
    assert "Stopped" in shell.wait()
    shell.key("\x03")
    shell.wait()
    shell.run("kill -9 %1; wait")
    shell.key("\x1a")
    assert "here\n" in shell.run("echo here")
    shell.key("exit\r")
    host.wait_prompt()
    assert host.check("echo there") == "there\n"
