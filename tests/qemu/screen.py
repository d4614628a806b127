"""A terminal: what the guest's bytes make of a screen, and the answer to the question how large it is."""
import re

import pexpect

PARTS = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b([78])|([^\x1b])", re.S)


class Screen:
    """Rows of text, scrolling; the cursor waits behind the last column as those of real terminals do."""

    def __init__(self, guest, columns, rows):
        self.guest = guest
        self.columns, self.rows = columns, rows
        self.lines = [""] * rows
        self.row = self.column = 0
        self.saved = (0, 0)
        self.rest = ""

    def shown(self):
        """The lines down to the last that is not empty."""
        lines = [line.rstrip() for line in self.lines]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def down(self):
        if self.row == self.rows - 1:
            self.lines = self.lines[1:] + [""]
        else:
            self.row += 1

    def put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.down()
        elif char == "\b":
            self.column = min(self.column, self.columns - 1) - 1
        elif char >= " ":
            if self.column == self.columns:
                self.column = 0
                self.down()
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[: self.column] + char + line[self.column + 1 :]
            self.column += 1

    def obey(self, arguments, final):
        numbers = [int(n) for n in re.findall(r"\d+", arguments)]
        count = numbers[0] if numbers else 1
        if final in "ABCD" or self.column == self.columns:
            self.column = min(self.column, self.columns - 1)
        if final == "A":
            self.row = max(self.row - count, 0)
        elif final == "B":
            self.row = min(self.row + count, self.rows - 1)
        elif final == "C":
            self.column = min(self.column + count, self.columns - 1)
        elif final == "H":
            row, column = (numbers + [1, 1])[:2] if numbers else (1, 1)
            self.row, self.column = min(row, self.rows) - 1, min(column, self.columns) - 1
        elif final in "JK" and count == 2:
            self.lines = [""] * self.rows
        elif final in "JK":
            self.lines[self.row] = self.lines[self.row][: self.column]
            if final == "J":
                self.lines[self.row + 1 :] = [""] * (self.rows - self.row - 1)
        elif final == "n":
            self.guest.send(f"\x1b[{self.row + 1};{self.column + 1}R")

    def feed(self, text):
        text = self.rest + text
        end = 0
        for part in PARTS.finditer(text):
            if part.start() != end:
                break
            end = part.end()
            if part[2]:
                self.obey(part[1], part[2])
            elif part[3] == "7":
                self.saved = self.row, self.column
            elif part[3]:
                self.row, self.column = self.saved
            else:
                self.put(part[4])
        self.rest = text[end:]

    def wait(self, wanted, seconds=20):
        """Take what comes until wanted(self) is true."""
        while not wanted(self):
            try:
                self.feed(self.guest.console.read_nonblocking(4096, seconds).decode())
            except pexpect.TIMEOUT:
                raise AssertionError("the screen shows\n" + "\n".join(self.shown())) from None

    def wait_lines(self, lines):
        self.wait(lambda screen: screen.shown() == lines)

    def wait_last(self, line):
        self.wait(lambda screen: screen.shown()[-1:] == [line])
