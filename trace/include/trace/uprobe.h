/*
 * Probes in programs: a handler is called when a program comes to an instruction of a file, and when
 * the function that begins there returns.
 *
 *   file, offset --register--> int3 in each mapping of the file, now and later
 *   program ----> handler --> the instruction --> .. --> ret_handler --> the caller
 *
 * A place is an offset in a file; programs may have it at any address, and several programs at once.
 * The int3 stands in a private copy of the page that the program gets, never in the file: a program that reads
 * its own code there reads 0xcc. A program that is mapped, started or forked later has it from the
 * start.
 *
 * Context:   handlers - the thread of the program, preemption and interrupts on: they may fault
 *            and sleep, and call nothing that registers or unregisters. Everything else - thread, may block.
 * Locking:   one sleeping lock inside.
 * Ownership: a consumer belongs to its user, who may not change or free it between register and
 *            unregister. When unregister has returned no handler of it runs any more. A file is held from
 *            uprobe_file_get() to uprobe_file_put(), and by each consumer on it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_UPROBE_H
#define TRACE_UPROBE_H

#include <stddef.h>
#include <stdint.h>
#include <trace/atomic.h>
#include <trace/compiler.h>
#include <trace/platform_uprobes.h>

TRACE_BEGIN_DECLS

struct uprobe;

struct uprobe_consumer {
	/* Set by the user. */
	struct uprobe_file *file;
	uint64_t offset; /* bytes from the start of the file */
	uint64_t
		ref_ctr_offset; /* of a 16-bit counter of users in the file's data; 0: there is none */
	/* Called before the instruction: the address is in `regs`, whose registers may be changed. */
	void (*handler)(struct uprobe_consumer *self, struct ftrace_regs *regs);
	/*
	 * Called at the return of the function at `func`, whose first instruction the place has to be.
	 * The instruction pointer in `regs` is the address to which it returns.
	 */
	void (*ret_handler)(struct uprobe_consumer *self, uintptr_t func, struct ftrace_regs *regs);
	TRACE_ATOMIC uint64_t
		nmissed; /* returns that are not seen: no memory, too many nested calls */

	/* For the core only. Zero before first use. */
	struct uprobe *uprobe;			   /* NULL: it is not registered */
	struct uprobe_consumer *TRACE_ATOMIC next; /* of the same place, in order of registration */
};

/* ---- Files ---- */

/* Hold the file at `path`. 0; -ENOENT and the like; -EINVAL: it is no regular file; -ENODEV: no programs here. */
int uprobe_file_get(const char *path, struct uprobe_file **out_file);
/*
 * The path as a whole, with a slash in front and without `.`, `..` and double slashes: a relative one begins at the directory
 * of the calling thread. Links stay, and there need not be such a file. 0; -ENOENT; -ENAMETOOLONG; -ENODEV: no programs here.
 */
int uprobe_file_path(const char *path, char *out_path, size_t bytes);
void uprobe_file_put(struct uprobe_file *file);
/* Equal for two files if they are the same one. */
uint64_t uprobe_file_id(const struct uprobe_file *file);
uint64_t uprobe_file_bytes(struct uprobe_file *file);
/* Copy contents from `offset` on. The bytes that were copied: fewer at the end. */
size_t uprobe_file_read(struct uprobe_file *file, uint64_t offset, void *to, size_t bytes);

/* ---- Consumers ---- */

/*
 * Register consumers, all or none, by one walk through all programs. 0, or with nothing changed:
 *   -EINVAL      one is registered already; the offset, or that of the counter, is behind the end of the
 *                file; the counter's is odd; another consumer of the place has another counter
 *   -EILSEQ      no instruction begins there: see uprobe_refusal()
 *   -EOPNOTSUPP  the instruction cannot be probed: see uprobe_refusal()
 *   -ENOMEM
 *   -ENODEV      this host has no programs
 */
int register_uprobe(struct uprobe_consumer *consumer);
int register_uprobes(struct uprobe_consumer *const *consumers, size_t nr);
/* Does nothing with consumers that are not registered. */
void unregister_uprobe(struct uprobe_consumer *consumer);
void unregister_uprobes(struct uprobe_consumer *const *consumers, size_t nr);
/*
 * Can a probe be at `offset`? Returns 0, or the error that register_uprobe() would return, and writes
 * a sentence that says why, without a dot, to the `len` bytes at `out_text`.
 */
int uprobe_refusal(struct uprobe_file *file, uint64_t offset, char *out_text, size_t len);
/*
 * The offset at which the instruction begins that has the byte at `offset`, where one begins at `from`. `offset` itself
 * if the bytes between cannot be decoded, or if `from` is behind it. The time is that of the bytes between.
 */
uint64_t uprobe_insn_at(struct uprobe_file *file, uint64_t from, uint64_t offset);

/* ---- In handlers ---- */

/*
 * Copy from the memory of the running program, by faults if need be. False: some of it is not there,
 * and part of `to` may be written.
 */
bool uprobe_read_user(void *to, uintptr_t from, size_t bytes);
/*
 * The address at which the running program has the byte at `offset` of `file`, of the mapping that is
 * next to `addr`; 0: it has none.
 */
uintptr_t uprobe_file_address(struct uprobe_file *file, uint64_t offset, uintptr_t addr);

/* ---- Called by the host ---- */

/*
 * The running program has come to a breakpoint at regs' instruction pointer. True: it was a probe's, and
 * `regs` are those with which the program goes on. False, with nothing changed: it was not. Thread,
 * preemption on.
 */
bool uprobe_hit(struct ftrace_regs *regs);
/*
 * The running program has returned to the trampoline. True: `regs` have the address to which it goes on.
 * False: no function is known that would have returned so.
 */
bool uprobe_return(struct ftrace_regs *regs);
/*
 * A thread of a program was taken back to the breakpoint at `addr`, with its stack pointer `sp`, before it has executed the
 * instruction in the place where step() had sent it. When it comes to the breakpoint again, handlers are not called.
 */
void uprobe_hit_again(uintptr_t addr, uintptr_t sp);
/* Is there anything to change in that page, of TRACE_UPROBE_PAGE bytes, of a file? Any context. */
bool uprobe_in_page(uint64_t file, uint64_t page);
/*
 * Put breakpoints into a copy of that page, made for a program that has seen all changes up to number `seq` of
 * trace_uprobe_host.edit(), and none of the later ones. Thread.
 */
void uprobe_arm_page(uint64_t file, uint64_t page, uint8_t *copy, uint64_t seq);
/*
 * A mapping of any program has gone, or begun at other addresses: what threads remember of addresses counts no more.
 * Any context.
 */
void uprobe_maps_changed(void);
/* `child` begins as a copy of the running thread, stack included, and does not run yet. 0 or -ENOMEM. */
int uprobe_thread_forked(struct trace_thread *child);
/* The running thread begins another program. */
void uprobe_thread_execed(void);
/*
 * The address to which the running program returns where its stack has the trampoline's at `slot`. For
 * walks of its stack; probe context, in the thread itself.
 */
uintptr_t uprobe_return_address(const struct trace_thread *thread, uintptr_t ret, uintptr_t slot);

TRACE_END_DECLS

#endif
