"""The pager, on a screen of its own."""
from guest import Guest
from screen import Screen

COLUMNS, ROWS = 60, 12


class Pager:
    """less on a small screen; rows() waits for what must be on it, above the last row."""

    def __init__(self, guest, command):
        self.guest = guest
        guest.send("resize\r")  # asked again, whatever terminal was silent before
        self.screen = Screen(guest, COLUMNS, ROWS)
        self.screen.wait(lambda s: s.lines[s.row] == "fathom# " and s.row > 1)
        guest.send(command + "\r")

    def rows(self, lines, last=":"):
        padded = [line.rstrip() for line in lines] + [""] * (ROWS - 1 - len(lines))
        self.screen.wait(lambda s: [line.rstrip() for line in s.lines] == padded + [last])

    def keys(self, keys):
        self.guest.send(keys)

    def quit(self):
        self.keys("q")
        self.guest.wait_prompt()
        assert self.guest.output_of("echo $?") == "0\n"


def numbers(first, last=None):
    return [str(n) for n in range(first, (last or first + ROWS - 2) + 1)]


def test_moving(guest):
    guest.check("seq 100 > /tmp/less")
    pager = Pager(guest, "less /tmp/less")
    pager.rows(numbers(1), "/tmp/less")
    for keys, first in (
        ("j", 2),
        ("\r", 3),
        ("\x1b[B", 4),
        ("k", 3),
        ("\x1b[A", 2),
        (" ", 13),
        ("f", 24),
        ("b", 13),
        ("d", 18),
        ("u", 13),
        ("\x1b[6~", 24),
        ("\x1b[5~", 13),
        ("7j", 20),
        ("3k", 17),
        ("50g", 50),
    ):
        pager.keys(keys)
        pager.rows(numbers(first))
    pager.keys("G")
    pager.rows(numbers(90), "(END)")
    pager.keys("jjj ")
    pager.rows(numbers(90), "(END)")
    pager.keys("k")
    pager.rows(numbers(89))
    pager.keys("gkkb")
    pager.rows(numbers(1), "/tmp/less")
    pager.quit()
    guest.check("rm /tmp/less")


def test_searching_in_a_pipe(guest):
    pager = Pager(guest, "seq 1000 | less")
    pager.rows(numbers(1))
    pager.keys("/9.3$\r")
    pager.rows(numbers(903))
    pager.keys("n")
    pager.rows(numbers(913))
    pager.keys("N")
    pager.rows(numbers(903))
    pager.keys("?^17x\x7f\r")
    pager.rows(numbers(179))
    pager.keys("n")
    pager.rows(numbers(178))
    pager.keys("N")
    pager.rows(numbers(179))
    pager.keys("/nowhere\r")
    pager.rows(numbers(179), "Pattern not found")
    pager.keys("G")
    pager.rows(numbers(990), "(END)")
    pager.quit()


def test_long_lines_wrap(guest):
    line = "".join(chr(97 + n % 26) for n in range(150))
    guest.check(f"echo short > /tmp/less; echo {line} >> /tmp/less; printf 'a\\tb\\001\\n' >> /tmp/less")
    pager = Pager(guest, "cat /tmp/less | less -S")
    rows = ["short", line[:60], line[60:120], line[120:], "a       b^A"]
    pager.rows(rows, "(END)")
    pager.quit()
    guest.check("for i in 1 2 3 4 5; do cat /tmp/less; done > /tmp/less5")
    pager = Pager(guest, "less /tmp/less5")
    pager.keys("jj")
    pager.rows((rows * 5)[2:13])
    pager.keys("k")
    pager.rows((rows * 5)[1:12])
    pager.keys("G")
    pager.rows((rows * 5)[-11:], "(END)")
    pager.quit()
    guest.check("rm /tmp/less /tmp/less5")


def test_what_has_no_end(guest):
    """Waits for a pipe and gives up at a key; memory is bounded, and it says so."""
    pager = Pager(guest, "{ seq 3; sleep 100; } | less")
    pager.rows(["1", "2", "3"], "Waiting for more; any key stops that")
    pager.keys("k")
    pager.rows(["1", "2", "3"])
    pager.keys("\x03")
    guest.wait_prompt()
    assert guest.output_of("echo $?") == "130\n"
    pager = Pager(guest, "while echo y; do :; done | less")
    pager.rows(["y"] * (ROWS - 1))
    pager.quit()


def test_elsewhere_it_is_cat(guest):
    assert guest.check("seq 3 | less | cat; seq 2 | more > /tmp/less; cat /tmp/less; rm /tmp/less") == "1\n2\n3\n1\n2\n"
    assert guest.run("less") == ("less: nothing to read: name a file, or put it behind a pipe\n", 1)
    assert guest.run("less /nosuch") == ("less: /nosuch: No such file or directory\n", 1)
    assert guest.check("less trace | wc -l; seq 2 | less & wait; sleep 0.1") == guest.check("cat trace | wc -l") + "1\n2\n"


def test_little_memory():
    """A quarter of the memory is kept of a text without end."""
    with Guest(cpus=1, mem="32M", limit=100) as guest:
        pager = Pager(guest, "cat /dev/zero | less")
        pager.rows(["^@" * 30] * (ROWS - 1))
        pager.keys("G")
        pager.screen.wait(lambda s: "are kept, the rest is not read" in s.lines[-1], 60)
        pager.keys("g")
        pager.rows(["^@" * 30] * (ROWS - 1))
        pager.quit()
        guest.check("sleep 0.1; hackbench 1 5")
