/*
 * Host functions for probes in programs, <trace/uprobe.h>: one table, which a host without programs does not
 * have. trace_plat_uprobes() of <trace/platform_events.h> gives it.
 *
 *   files     the places of probes are offsets in them
 *   mappings  parts of files in address spaces; breakpoints are written into private copies of pages
 *   machine   instructions, and how a thread goes on behind one
 *
 * Context:   thread, preemption on, unless a function says otherwise.
 * Ownership: the table belongs to the host, and is there for good.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_PLATFORM_UPROBES_H
#define TRACE_PLATFORM_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct ftrace_regs;
struct trace_thread;
struct uprobe_file; /* the host's: a file that is held */

#define TRACE_UPROBE_PAGE     4096u
#define TRACE_UPROBE_INSN_MAX 15u /* bytes of the longest instruction */

/* A change of mappings: of one byte, or of a counter of 16 bits. */
struct trace_uprobe_edit {
	uint64_t offset; /* in the file */
	int16_t delta; /* that is added to the counter there; 0: it is a byte, which becomes `to` where it is `from` */
	uint8_t from, to;
};

/* Apply it to a copy of the page that it is in. */
static TRACE_ALWAYS_INLINE void trace_uprobe_edit_apply(const struct trace_uprobe_edit *edit,
							uint8_t *copy)
{
	uint8_t *at = copy + edit->offset % TRACE_UPROBE_PAGE;

	if (edit->delta) {
		uint16_t *counter = (uint16_t *)(void *)at;

		__atomic_fetch_add(counter, (uint16_t)edit->delta, __ATOMIC_RELAXED);
	} else if (*at == edit->from) {
		*(volatile uint8_t *)at = edit->to;
	}
}

/* The machine half's data of an instruction. */
struct trace_uprobe_insn {
	uint8_t bytes[TRACE_UPROBE_INSN_MAX + 1];
	uint8_t len;
	uint64_t opaque[4];
};

struct trace_uprobe_host {
	/* ---- Files ---- */

	/* As uprobe_file_get() and its like of <trace/uprobe.h>. */
	int (*file_get)(const char *path, struct uprobe_file **out_file);
	int (*file_path)(const char *path, char *out_path, size_t bytes);
	struct uprobe_file *(*file_hold)(struct uprobe_file *file); /* once more */
	void (*file_put)(struct uprobe_file *file);
	uint64_t (*file_id)(const struct uprobe_file *file);
	uint64_t (*file_bytes)(struct uprobe_file *file);
	size_t (*file_read)(struct uprobe_file *file, uint64_t offset, void *to, size_t bytes);

	/* ---- Mappings ---- */

	/*
	 * Change number `seq`, one more than the last one: go through all private mappings of the file in all
	 * programs, those too that are being made or copied, and apply the edits, which are in the order of their
	 * offsets. Pages that a program does not have yet stay so: uprobe_arm_page() will be asked about
	 * them. Programs that have not seen change `base` are left out. 0, and no CPU executes the old bytes
	 * any more; -ENOMEM, and some programs have not seen the change.
	 */
	int (*edit)(uint64_t file, const struct trace_uprobe_edit *edits, size_t nr, uint64_t seq,
		    uint64_t base);
	/* The file and the offset in it that the running program has at `addr`, privately mapped. */
	bool (*locate)(uintptr_t addr, uint64_t *out_file, uint64_t *out_offset);
	/* As uprobe_file_address(). */
	uintptr_t (*address)(uint64_t file, uint64_t offset, uintptr_t addr);
	/* Copy from and to the running program's memory, by faults if need be. False: not all of it. */
	bool (*read)(void *to, uintptr_t from, size_t bytes);
	bool (*write)(uintptr_t to, const void *from, size_t bytes);

	/* ---- Machine ---- */

	/*
	 * Prepare to execute the instruction that begins with these bytes at another place. NULL; or the
	 * reason why it cannot be, a sentence without a dot, which lasts. out_insn->len is 0 if they are no
	 * instruction at all.
	 */
	const char *(*prepare)(const uint8_t *bytes, size_t len,
			       struct trace_uprobe_insn *out_insn);
	/*
	 * Have the running program go on with the instruction that belongs to regs' instruction pointer: do it, or
	 * let it go to a copy. Without memory for that the program is ended. *remembered is 0, or what
	 * the host has left there when the thread did the same instruction at the same address.
	 */
	void (*step)(const struct trace_uprobe_insn *insn, struct ftrace_regs *regs,
		     uintptr_t *remembered);
	/*
	 * The address of the trampoline in the running program, which calls uprobe_return(). False: no memory.
	 */
	bool (*trampoline)(uintptr_t *out_addr);
	/* The byte of a breakpoint. */
	uint8_t breakpoint;
};

TRACE_END_DECLS

#endif
