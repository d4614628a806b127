"""gdb for Fathom: `ft` commands, backtraces through trampolines and hooked returns, printers. docs/debugging.md tells of them.

    gdb -x tools/gdb/fathom.py build/fathom.elf CORE        or: source tools/gdb/fathom.py
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from ft import commands, printers, sites, unwind  # noqa: E402

commands.register()
printers.register()
sites.register()
unwind.register()
