/*
 * Probes of the return of a function, with its entry if wanted. Any number of them share one table
 * and one pool: thousands are armed by one batch.
 *
 *   call site --> entry_handler    0: call handler at the return
 *   return ----> handler --> the caller
 *
 * Beside a struct fprobe of <trace/fprobe.h>, which is for many functions and one pair of handlers,
 * this is for one function each. Missed calls, the data of a call and its limits are as there.
 * Several may be at one function; they are called in the order in which they were registered, at
 * the return the other way round.
 *
 * Context, locking, ownership: as <trace/fprobe.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_KRETPROBE_H
#define TRACE_KRETPROBE_H

#include <trace/fprobe.h>

TRACE_BEGIN_DECLS

struct kretprobe;

/* One call of the function. It is gone when the handler returns; its data lasts. */
struct kretprobe_instance {
	struct kretprobe *rp;
	uintptr_t ret_addr; /* address to which the function returns */
	void *data;	    /* rp->data_size bytes, not initialised; NULL: none */
};

/*
 * At the entry: not 0: call no handler for this call. `regs` has the function's arguments. At the
 * return: the result is ignored; `regs` is as for fprobe_exit_handler_t.
 */
typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri, struct ftrace_regs *regs);

enum kretprobe_flags {
	KRETPROBE_FLAG_DISABLED = 1u << 1, /* in kp.flags; may be set before register */
};

struct kretprobe {
	/* Set by the user: either the address or the name of a function; `offset` is 0. */
	struct {
		const char *symbol_name;
		uint64_t offset;
		uintptr_t addr; /* register sets it to that of the call site */
		uint32_t flags; /* enum kretprobe_flags */
	} kp;
	kretprobe_handler_t handler;
	kretprobe_handler_t entry_handler; /* NULL: every call is wanted */
	uint32_t maxactive;		   /* as nr_maxactive of struct fprobe */
	size_t data_size;
	TRACE_ATOMIC uint64_t nmissed;

	/* For the core only. Zero before first use. */
	struct return_probe ret;
	struct kretprobe *TRACE_ATOMIC next; /* of the same function */
	struct kretprobe *next_listed;	     /* of all that are registered */
	struct kretprobe **listed_at;
	bool is_registered;
	bool is_changing; /* is being armed or disarmed */
};

/*
 * Register probes, all or none; those without KRETPROBE_FLAG_DISABLED are called from when this
 * returns. 0, or with nothing changed:
 *   -EINVAL  both or neither of name and address are given, or an offset; the address is not that
 *            of a function with a call site; no handler; more data than FPROBE_MAX_DATA_SIZE
 *   -ENOENT  no function of that name
 *   -EBUSY   it is registered; FGRAPH_MAX_USERS use the shadow stacks
 *   -ENOMEM
 *   -ENODEV  tracing is dead, see ftrace_is_dead()
 */
int register_kretprobe(struct kretprobe *rp);
int register_kretprobes(struct kretprobe **rps, size_t nr);
/* Does nothing with probes that are not registered. If tracing is dead they may never be freed. */
void unregister_kretprobe(struct kretprobe *rp);
void unregister_kretprobes(struct kretprobe **rps, size_t nr);
/*
 * As enable_fprobe() and disable_fprobe(), several by one batch. 0; -EINVAL: one is not registered;
 * and the errors of register.
 */
int enable_kretprobe(struct kretprobe *rp);
int disable_kretprobe(struct kretprobe *rp);
int enable_kretprobes(struct kretprobe **rps, size_t nr);
int disable_kretprobes(struct kretprobe **rps, size_t nr);

/* As kprobes_list_next() of <trace/kprobe.h>, with a cursor of its own. */
size_t kretprobes_list_next(uint64_t *cursor, char *buf, size_t size);

TRACE_END_DECLS

#endif
