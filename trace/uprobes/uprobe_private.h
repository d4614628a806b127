/*
 * Shared declarations of the files of probes in programs: see <trace/uprobe.h>, <trace/platform_uprobes.h>.
 *
 *   struct uprobe_consumer --uprobe--> struct uprobe    one for each place, file and offset
 *         '--next--> ..                 |-- code: mark in the table, the breakpoint
 *               ^-----------------first-|-- count: mark in the table, the counter of users
 *                                       '-- instruction, of the machine half
 *
 * A mark is something that pages of a file differ in, in programs. Changes of marks are numbered: a mark
 * came by change `since` and goes by change `until`. A program has seen all changes up to some number, which the
 * host keeps; a page that comes into the program later gets the marks that were there at that number.
 *
 * A thread that is in handlers says so in trace_thread.uprobe_phase, for those that wait until it has left.
 *
 * Locking:   the lock of uprobe.c for changes. The table and lists of consumers are read without it by threads that are in
 *            a phase, and with preemption off.
 * Ownership: a place is held by its consumers, all together, and by each frame of a shadow stack.
 */
#ifndef UPROBE_PRIVATE_H
#define UPROBE_PRIVATE_H

#include <stdatomic.h>
#include <trace/platform.h>
#include <trace/platform_uprobes.h>
#include <trace/thread.h>
#include <trace/uprobe.h>

struct uprobe_mark {
	struct uprobe_mark *_Atomic next; /* in its chain */
	uint64_t file;
	struct trace_uprobe_edit edit;
	_Atomic uint64_t since, until;
};

struct uprobe {
	struct uprobe_mark code;
	struct uprobe_mark count; /* its delta is 0: there is no counter */
	struct uprobe_file *file;
	struct uprobe_consumer *_Atomic first;
	_Atomic uint32_t nr_returns; /* consumers that want returns */
	_Atomic uint32_t refs;
	struct trace_uprobe_insn insn;
	struct uprobe *next_in_change;
	bool is_due; /* during a change: its marks have yet to come or go */
};

/* ---- The table: uprobe_table.c ---- */

void uprobe_table_add(struct uprobe_mark *mark);
void uprobe_table_remove(struct uprobe_mark *mark);
/* The place; NULL when there is none. The lock is held, or preemption is off, or in a phase. */
struct uprobe *uprobe_table_find(uint64_t file, uint64_t offset);
/* Marks in it. Any context. */
extern _Atomic uint32_t uprobe_nr_marks;
static TRACE_ALWAYS_INLINE uint32_t uprobe_table_nr(void)
{
	return atomic_load_explicit(&uprobe_nr_marks, memory_order_relaxed);
}

/* ---- Changes, with the lock held: uprobe_change.c ---- */

/* Places that come, or go, together. Zero at first. */
struct uprobe_change {
	struct uprobe *first, *last;
};
/* Keep memory for changes of all places that there are, and of `nr` more. 0 or -ENOMEM. */
int uprobe_change_reserve(size_t nr);
/* Give it back if there is no place any more. */
void uprobe_change_release(void);
void uprobe_change_add(struct uprobe_change *change, struct uprobe *uprobe);
/* Have all programs see the marks of the places, a file at a time. 0; -ENOMEM, with some undone. */
int uprobe_change_make(struct uprobe_change *change);
/* The same back, of those that were made and not undone. */
void uprobe_change_undo(struct uprobe_change *change);

/* ---- Checks: uprobe_check.c ---- */

/* Why no probe can be somewhere: a sentence without a dot, and the error. */
struct uprobe_refusal {
	const char *why;
	int err;
};
/* Prepare the instruction at `offset`. 0 or -errno. */
int uprobe_check(struct uprobe_file *file, uint64_t offset, struct trace_uprobe_insn *out_insn,
		 struct uprobe_refusal *out_refusal);
int uprobe_check_counter(struct uprobe_file *file, uint64_t offset,
			 struct uprobe_refusal *out_refusal);

/* ---- Threads: uprobe_thread.c ---- */

#define UPROBE_AGAIN	  4u
#define UPROBE_CACHE	  8u
#define UPROBE_FRAMES_MAX 64u /* nested calls of a thread whose returns are seen */

/* A call whose return address was replaced. */
struct uprobe_frame {
	uintptr_t slot; /* address of the return address */
	uintptr_t ret;	/* what was there */
	uintptr_t func;
	struct uprobe *uprobe; /* held */
	bool is_chained;       /* the trampoline was there: the frame below has the same slot */
};

/* A place that a thread has hit. It is that of the address until the epoch ends. */
struct uprobe_memory {
	uintptr_t addr;
	struct uprobe *uprobe;
	uint64_t epoch;
	uintptr_t step; /* the host's */
};

/* The data of a thread that has hit a probe. Only the thread itself uses it. */
struct uprobe_thread {
	struct uprobe_memory cache[UPROBE_CACHE]; /* by address */
	/* Hits that were seen already, each by a signal and others in its handler; addr 0: none. */
	struct {
		uintptr_t addr, sp;
	} again[UPROBE_AGAIN];
	uint32_t nr_again; /* that ever were */
	uintptr_t trampoline;
	uint32_t nr_frames;
	struct uprobe_frame *frames; /* UPROBE_FRAMES_MAX; NULL: there was no need yet */
};

struct uprobe_thread *uprobe_thread_create(struct trace_thread *thread);
/* That of the running thread; NULL: no memory. */
static TRACE_ALWAYS_INLINE struct uprobe_thread *uprobe_thread_get(struct trace_thread *thread)
{
	return TRACE_LIKELY(thread->uprobe) ? thread->uprobe : uprobe_thread_create(thread);
}
/*
 * Changes when what a thread remembers of addresses counts no more, and before a place is freed.
 */
extern _Atomic uint64_t uprobe_epoch;
extern _Atomic uint64_t uprobe_phase_now; /* even */
/*
 * The running thread is in handlers from now on, and preemption is off: who waits for that afterwards finds the phase
 * stored, or the thread finds the table as it is after the change.
 */
static TRACE_ALWAYS_INLINE void uprobe_phase_begin(struct trace_thread *thread)
{
	trace_plat_preempt_disable();
	atomic_store_explicit(&thread->uprobe_phase,
			      atomic_load_explicit(&uprobe_phase_now, memory_order_relaxed) | 1,
			      memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}
/* It has left them. */
static TRACE_ALWAYS_INLINE void uprobe_phase_end(struct trace_thread *thread)
{
	atomic_store_explicit(&thread->uprobe_phase, 0, memory_order_release);
}
/* Wait until every thread has left the handlers that it may be in now. */
void uprobe_phase_wait(void);
void uprobe_put(struct uprobe *uprobe);

/* ---- Returns: uprobe_return.c ---- */

/* Have the trampoline called at the return of the function that begins here. */
void uprobe_return_hook(struct uprobe *uprobe, struct uprobe_thread *data,
			const struct ftrace_regs *regs);
/* Let go of the frames from number `from` on. */
void uprobe_return_drop(struct uprobe_thread *data, uint32_t from);

#endif
