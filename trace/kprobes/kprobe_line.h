/*
 * A line of /sys/kernel/debug/kprobes/list, as Linux prints it: the address, the kind of probe, its
 * place, four blanks, and its state.
 *
 * Context: thread.
 */
#ifndef KPROBE_LINE_H
#define KPROBE_LINE_H

#include <trace/fmt.h>
#include <trace/platform.h>

/* `letter`: k at an instruction, r at a return. Returns the length. */
static inline size_t kprobe_line_print(char *buf, size_t size, uintptr_t addr, char letter,
				       const char *about)
{
	char name[TRACE_SYM_LEN] = "";
	uintptr_t start = addr;
	size_t bytes;

	trace_plat_symbol(addr, name, &start, &bytes);
	return trace_scnprintf(buf, size, "%016lx  %c  %s+0x%lx    %s\n", (unsigned long)addr,
			       letter, name, (unsigned long)(addr - start), about);
}

#endif
