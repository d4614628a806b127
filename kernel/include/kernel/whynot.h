/*
 * Why a function cannot be traced: a sentence about a name that no call site has.
 *
 * The table is made from the kernel's debug information by tools/whynot and linked in by the second
 * link. Until then, and for a name in none of the tables, the answer is WHYNOT_UNKNOWN.
 *
 * Context:   thread; a near-name search takes some hundred instructions per symbol.
 * Locking:   none: constant data, work area on the caller's stack.
 * Ownership: the caller's buffer.
 */
#ifndef KERNEL_WHYNOT_H
#define KERNEL_WHYNOT_H

#include <stddef.h>
#include <kernel/whynot_format.h>

/*
 * Write a sentence without a full stop about `name` into `buf`, cut to `len` bytes with its NUL:
 *
 *   can be traced
 *   can be traced, but 2 calls are inlined: into foo (kernel/foo.c:12)
 *   inlined into foo (kernel/foo.c:12), bar (kernel/bar.c:7) and 3 more
 *   notrace: marked so in the source (kernel/foo.c:12)
 *   notrace: its file is built without call sites (trace/ring.c:12)
 *   assembly routine without a call site (arch/x86_64/switch.asm:12)
 *   label, not a function
 *   not in the kernel: unused, or optimised away by the compiler (kernel/foo.c:12)
 *   cold part of foo, entered by a jump
 *   compiled as foo.constprop.0, which can be traced
 *   no such function; did you mean: a, b, c
 *
 * Returns the reason, an enum whynot_reason (>= 0).
 */
int whynot_lookup(const char *name, char *buf, size_t len);

#endif
