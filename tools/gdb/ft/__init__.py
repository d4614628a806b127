"""gdb's commands for Fathom, a file for each subject. They run inside gdb: tools/gdb/fathom.py loads them.

All of them only read memory, so they work on a machine that is stopped, hangs or has panicked, and on a core. What they
read may be damaged: every loop has a bound, and what cannot be is said in a sentence, beside what could be found out.
"""
