/*
 * Probes of functions: a handler at the entry of many functions, and one at their return, with data
 * that lasts from one to the other.
 *
 *   call site --> entry_handler    0: call exit_handler at the return
 *                    |             the call's entry_data lies on the thread's shadow stack, see
 *                    v             <trace/fgraph.h>, or in memory that register has made
 *   return ----> exit_handler --> the caller
 *
 * A user fills a struct fprobe and registers it for all functions that match a pattern, or for
 * those of a list. With no exit_handler nothing is done at the return.
 *
 * A handler is never left out silently: `nmissed` counts the calls for which none was called. These
 * are calls in the middle of another callback of tracing in the same context, and, if there is an
 * exit_handler, calls of threads without a shadow stack or with a full one, and calls for which no
 * memory for data is left. For a call that has been entered exit_handler is called exactly once,
 * unless the thread ends in it, or the probe is disabled or unregistered before.
 *
 * Context:   handlers - probe, preemption off; in whatever the probed function is called, NMIs
 *            included. Everything else - thread, interrupts on, may block.
 * Locking:   one sleeping lock inside; a handler may not call anything of this header.
 * Ownership: a probe belongs to its user, who may not change or free it between register and
 *            unregister. When disable or unregister has returned no handler of it runs any more.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_FPROBE_H
#define TRACE_FPROBE_H

#include <stddef.h>
#include <trace/atomic.h>
#include <trace/ftrace.h>

TRACE_BEGIN_DECLS

struct fprobe;
struct return_pool;

/* The core's data of a probe that is called at returns. Zero before first use. */
struct return_probe {
	TRACE_ATOMIC uint64_t handle; /* key of its calls; 0 for none */
	struct return_pool *pool;     /* of the data of its calls, or NULL */
};

/*
 * The function at `entry_ip`, the address of its call site, is called and will return to `ret_ip`.
 * `regs` has its arguments; all registers only with FPROBE_FL_REGS. `entry_data` has
 * entry_data_size bytes, which are not initialised; NULL: there is no exit_handler. Not 0: call no
 * exit_handler for this call.
 */
typedef int (*fprobe_entry_handler_t)(struct fprobe *fp, uintptr_t entry_ip, uintptr_t ret_ip,
				      struct ftrace_regs *regs, void *entry_data);
/*
 * It returns. Of `regs` there are the returned value, which may be changed, the stack pointer
 * behind the return and the frame pointer: see trace_plat_return_regs().
 */
typedef void (*fprobe_exit_handler_t)(struct fprobe *fp, uintptr_t entry_ip, uintptr_t ret_ip,
				      struct ftrace_regs *regs, void *entry_data);

enum fprobe_flags {
	FPROBE_FL_DISABLED = 1u << 0, /* may be set before register */
	FPROBE_FL_REGS = 1u << 1,     /* by the user: entry_handler wants all registers */
};

#define FPROBE_MAX_DATA_SIZE 4096u

struct fprobe {
	/* Set by the user; at least one of the handlers. */
	fprobe_entry_handler_t entry_handler;
	fprobe_exit_handler_t exit_handler;
	size_t entry_data_size;
	/*
	 * The number of calls with data longer than RETURN_FRAME_BYTES that may be open at once; 0:
	 * twice as many as there are CPUs, and at least 10. Without long data there is no such
	 * limit.
	 */
	uint32_t nr_maxactive;
	uint32_t flags; /* enum fprobe_flags */
	TRACE_ATOMIC uint64_t nmissed;

	/* For the core only. Zero before first use. */
	struct ftrace_ops ops;
	struct return_probe ret;
	bool is_registered;
};

#define RETURN_FRAME_BYTES 24u /* of data that a frame of the shadow stack has room for */

/*
 * Have the handlers called for all functions whose names match `filter`, and not `notfilter` (NULL:
 * none of them); the patterns are those of ftrace_set_filter(). Unless FPROBE_FL_DISABLED is set
 * they are called from when this returns. 0, or with nothing changed:
 *   -EINVAL  no handler; nothing matches; more data than FPROBE_MAX_DATA_SIZE
 *   -EBUSY   it is registered; with an exit_handler: FGRAPH_MAX_USERS use the shadow stacks
 *   -ENOMEM
 *   -ENODEV  tracing is dead, see ftrace_is_dead()
 */
int register_fprobe(struct fprobe *fp, const char *filter, const char *notfilter);
/* The same for functions by their addresses. -EINVAL also for one that has no call site. */
int register_fprobe_ips(struct fprobe *fp, const uintptr_t *addrs, size_t nr);
/* The same by their exact names. -ENOENT: there is none of a name. */
int register_fprobe_syms(struct fprobe *fp, const char *const *syms, size_t nr);
/* 0; -EINVAL: it is not registered; -ENODEV: tracing is dead, and `fp` may never be freed. */
int unregister_fprobe(struct fprobe *fp);
/*
 * End calling the handlers, and begin again; the sites of a disabled probe cost nothing. Calls that
 * are open when it is disabled have no exit_handler. 0, also when nothing was to be done; -EINVAL:
 * it is not registered; and the errors of register.
 */
int disable_fprobe(struct fprobe *fp);
int enable_fprobe(struct fprobe *fp);

TRACE_END_DECLS

#endif
