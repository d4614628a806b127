"""Typing and pasting on the serial line: too much, too fast, and the reader that gets it."""
import re

import pytest

from screen import Screen

LONGEST = 8190  # bytes of a line
RING = 16384  # bytes that are kept until they are read
REFUSED = "sh: line of more than 8190 bytes: not run\n"


def echo_to_file(length, path="/tmp/abcdefghijklmnop"):
    """An echo into a file, `length` bytes."""
    tail = f" > {path}"
    return "echo " + "x" * (length - len(tail) - 5) + tail


def test_longest_line(guest):
    assert guest.run(echo_to_file(LONGEST)) == ("", 0)
    assert guest.check("wc -c < /tmp/abcdefghijklmnop; rm /tmp/abcdefghijklmnop") == f"{LONGEST - 28}\n"


def test_longer_line_is_refused_whole(guest):
    for length in LONGEST + 1, LONGEST + 9, LONGEST + 2000:
        assert guest.run(echo_to_file(length)) == (REFUSED, 1)
    assert guest.check("ls /tmp | grep -c abc; true") == "0\n"


def test_line_behind_a_refused_one_is_run(guest):
    guest.send(echo_to_file(9000) + "\recho next\r")
    guest.expect(REFUSED.replace("\n", "\r\n").encode())
    guest.expect(rb"\r\nnext\r\n")
    guest.wait_prompt()


def test_paste_with_a_refused_line_is_dropped(guest):
    """A loop whose second line is too long: its body is not run as commands of its own."""
    guest.send("for i in 1 2\rdo " + echo_to_file(9000) + "\recho body $i\rdone\r")
    guest.expect(REFUSED.replace("\n", "\r\n").encode())
    assert "body" not in guest.wait_prompt()
    assert guest.check("ls /tmp | grep -c abc; true") == "0\n"


def test_text_of_too_many_lines_is_refused(guest):
    guest.send("if true; then\r")
    for _ in range(8):
        guest.expect(rb"\r\n> ")
        guest.send(":" + " x" * 4080 + "\r")
    guest.expect(rb"\r\n> ")
    guest.send(":" + " x" * 4080 + "\recho body\rfi\r")
    guest.expect(rb"sh: command of more than 65534 bytes: not run\r\n")
    assert "body" not in guest.wait_prompt()
    assert guest.check("echo $?") == "1\n"


def test_what_found_no_room_spoils_its_line(guest):
    """Pasted without a reader: lines are run whole, or not at all. The reader comes back when a probe has seen all bytes arrive."""
    lines = [f"echo line-{n:06d}" for n in range(1500)]
    pasted = "\r".join(lines) + "\r"
    guest.check("cd /sys/kernel/tracing; echo p:typed console_rx > kprobe_events; echo 1 > events/kprobes/typed/enable")
    guest.send(f"until read name typed missed < kprobe_profile; [ $typed -ge {len(pasted)} ]; do sleep 0.1; done\r" + pasted)
    before, _ = guest.expect(rb"sh: typed faster than it could be read: not run\r\n")
    guest.wait_prompt()
    printed = before.decode().replace("\r\n", "\n").split("\n")
    ran = [p for p in printed if p.startswith("line-")]
    assert ran == [line[5:] for line in lines[: RING // len(lines[0] + "\r")]]
    guest.check("unset name typed missed; echo 0 > events/kprobes/typed/enable; echo > kprobe_events; cd /")


def test_read_takes_long_lines(guest):
    line = "y" * 4000
    guest.check(
        f"echo {line} > /tmp/long; for i in 1 2 3 4 5; do cat /tmp/long /tmp/long /tmp/long /tmp/long; done "
        "| tr '\\n' z > /tmp/longer; echo >> /tmp/longer; echo next >> /tmp/longer"
    )
    assert guest.check("read x < /tmp/long; echo ${#x}") == "4000\n"
    assert guest.run("unset x; { read x; echo $? ${#x}; read y; echo $y; } < /tmp/longer; rm /tmp/long /tmp/longer") == (
        "sh: read: Message too long\n1 0\nnext\n",
        0,
    )


def test_long_lines_are_listed_whole(guest):
    word = "z" * 700
    guest.check(f"v={word}; echo {word} > /dev/null")
    assert f"\nv='{word}'\n" in "\n" + guest.check("set")
    assert re.search(rf"^ *\d+  v={word}; echo {word} > /dev/null$", guest.check("history"), re.M)
    guest.check("unset v")


def test_pipes_of_many_commands(guest):
    for nr in 17, 40:
        command = "echo through" + " | cat" * (nr - 1)
        assert guest.run(command) == ("through\n", 0)
        assert guest.run(command + " | false") == ("", 1)


def test_background_jobs_get_no_keys(guest):
    guest.check("{ cat /dev/console; echo $? > /tmp/cat; } 2> /tmp/error & wait")
    assert guest.check("cat /tmp/cat /tmp/error") == "1\ncat: /dev/console: Input/output error\n"
    assert guest.check("{ read x < /dev/tty; echo $?; } 2>&1 & wait") == "sh: read: Input/output error\n1\n"
    guest.check("cat /dev/console > /dev/null 2> /dev/null &")
    for n in range(5):
        assert guest.check(f"echo mine {n}") == f"mine {n}\n"
    guest.check("wait; rm /tmp/cat /tmp/error")


def test_foreground_commands_get_the_keys(guest):
    guest.send("{ cat /dev/console | cat; (read x; echo got $x); } < /dev/tty\r")
    guest.expect(rb"\r\n")
    guest.send("one\r")
    guest.expect(rb"one\r\none\r\n")
    guest.send("\x04")
    guest.send("two\r")
    guest.expect(rb"two\r\ngot two\r\n")
    guest.wait_prompt()


@pytest.mark.parametrize("columns", [40, 132])
def test_lines_that_wrap(guest, columns):
    """Moving, inserting, deleting in rows of a terminal that says how wide it is."""
    screen = Screen(guest, columns, 24)
    text = "echo " + "".join(chr(97 + n % 26) for n in range(columns * 2 + 5))
    history = []

    def expect(line, at):
        whole = "fathom# " + line
        rows = [whole[n : n + columns] for n in range(0, len(whole), columns)]
        place = divmod(8 + at, columns)
        screen.wait(lambda s: s.shown() == history + [row.rstrip() for row in rows] and (s.row, s.column) == place)

    guest.check("resize > /dev/null 2> /dev/null")  # as if no terminal had been silent before
    guest.send("\x0c")  # Ctrl-L: the prompt is on the first row
    expect("", 0)
    guest.send(text)
    expect(text, len(text))
    guest.send("\x01")
    expect(text, 0)
    guest.send("\x1b[C" * 5 + "123")
    text = text[:5] + "123" + text[5:]
    expect(text, 8)
    guest.send("\x05\x7f\x7f")
    text = text[:-2]
    expect(text, len(text))
    guest.send("\x0c")
    expect(text, len(text))
    guest.send("\x15")
    expect("", 0)
    guest.send("\x19\r")
    screen.wait(lambda s: len(s.shown()) > 3 and s.lines[s.row] == "fathom# ")
    assert text[5:] == "".join(screen.shown()[-1 - -(-len(text[5:]) // columns) : -1])
    guest.check("true")
    screen = Screen(guest, columns, 24)
    guest.send("\x1b[A\x1b[A\x1b[A\x0c")  # over `true` and its `echo $?`
    expect(text, len(text))
    guest.send("\x03")
    guest.wait_prompt()


def test_resize(guest):
    screen = Screen(guest, 101, 33)
    guest.send("resize\r")
    screen.wait(lambda s: s.lines[:4] == ["resize", "COLUMNS=101;", "LINES=33;", "fathom# "])
    screen = Screen(guest, 80, 24)
    guest.send("resize\r")
    screen.wait(lambda s: s.lines[:4] == ["resize", "COLUMNS=80;", "LINES=24;", "fathom# "])
    assert guest.run("resize") == ("\x1b7\x1b[999;999H\x1b[6n\x1b8resize: the terminal does not say\nCOLUMNS=80;\nLINES=24;\n", 0)
