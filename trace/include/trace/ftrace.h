/*
 * Function tracing: who is called when a traced function is entered.
 *
 *   record (call site) -- wants --> nobody: NOP
 *                                   one ops: its own trampoline, a direct call to its function;
 *                                     or what it wants there instead: a direct call, a jump
 *                                   several: a trampoline of just these ops, which calls one
 *                                     after the other; without memory for it a shared one,
 *                                     which asks each ops' hashes
 *
 * A user fills a struct ftrace_ops, may give it filters, and registers it. An ops without a filter
 * sees every function but those of its notrace filter.
 *
 * Trampolines save the registers that can hold arguments; for FTRACE_OPS_FL_SAVE_REGS all, and what
 * the callback leaves in them is what the traced function, or with FTRACE_OPS_FL_IPMODIFY the
 * function that the call is sent to, begins with.
 *
 * Guarantees: callbacks have begun for every site before register_ftrace_function() returns; none
 * can still run when unregister_ftrace_function() has returned: it waits for threads that were
 * preempted on their way, so call it without locks that others need. A filter that is changed while
 * the ops is registered never passes through "all functions".
 *
 * Context:   callbacks - probe. Everything else - thread, interrupts on, may block.
 * Locking:   one sleeping lock inside; a callback may not call anything of this header.
 * Ownership: an ops belongs to its user; between register and unregister it may not be freed, and
 *            `func`, `flags` and `private` may not change. ftrace_free_filter() before the ops goes.
 */
#ifndef TRACE_FTRACE_H
#define TRACE_FTRACE_H

#include <trace/atomic.h>
#include <trace/platform.h>

TRACE_BEGIN_DECLS

struct ftrace_hash;
struct ftrace_tramp;

/*
 * `ip` is the address of the call site, `parent_ip` the return address into the caller. `fregs` is
 * never NULL: arguments and return address by ftrace_regs_get_argument() and its like, everything
 * with FTRACE_OPS_FL_SAVE_REGS: ftrace_get_regs().
 */
typedef void (*ftrace_func_t)(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs);

enum ftrace_ops_flags {
	FTRACE_OPS_FL_ENABLED = 1u << 0,		/* ftrace's: registered */
	FTRACE_OPS_FL_DYNAMIC = 1u << 1,		/* memory of the ops will be freed */
	FTRACE_OPS_FL_SAVE_REGS = 1u << 2,		/* all registers, to be read and written */
	FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED = 1u << 3, /* here: the same */
	FTRACE_OPS_FL_RECURSION = 1u << 4,		/* ftrace guards func against recursion */
	FTRACE_OPS_FL_STUB = 1u << 5,			/* func does nothing: never called */
	FTRACE_OPS_FL_INITIALIZED = 1u << 6,		/* ftrace's: hashes are set up */
	FTRACE_OPS_FL_DELETED = 1u << 7,	 /* goes away: refuses filters and registration */
	FTRACE_OPS_FL_IPMODIFY = 1u << 8,	 /* changes where calls go: one such ops per site */
	FTRACE_OPS_FL_RCU = 1u << 9,		 /* only where a grace period sees the caller */
	FTRACE_OPS_FL_DIRECT = 1u << 10,	 /* ftrace's: register_ftrace_direct() */
	FTRACE_OPS_FL_PERMANENT = 1u << 11,	 /* ftrace_enabled cannot turn it off */
	FTRACE_OPS_FL_RECURSION_SAFE = 1u << 12, /* func guards itself: the default, for readers */
};

/*
 * What an ops wants, one immutable set of it; NULL hashes: every function, no exception. `only`:
 * the one site that it wants, when it is just one; else 0.
 */
struct ftrace_ops_hash {
	struct ftrace_hash *filter_hash;
	struct ftrace_hash *notrace_hash;
	uintptr_t only;
};

struct ftrace_ops {
	ftrace_func_t func;
	struct ftrace_ops *TRACE_ATOMIC next; /* ftrace's lock; probes follow it */
	uint32_t flags;			      /* enum ftrace_ops_flags */
	void *TRACE_PRIVATE;
	uint64_t ignore_mask; /* free for func, as private is: bits of trace_thread.ignored_by */

	/* The rest is ftrace's, under its lock. Zero before first use. */
	struct ftrace_ops_hash *TRACE_ATOMIC func_hash; /* the current one of `hashes`, or NULL */
	struct ftrace_ops_hash hashes[2];
	struct ftrace_ops *follower;	    /* gets the same filters, or NULL */
	struct trace_trampoline trampoline; /* addr 0: has none */
	struct ftrace_tramp *tramp;	    /* what keeps it, as long as it has one */
	ftrace_func_t list_func;	    /* func, for callers without all registers */
	TRACE_ATOMIC uintptr_t direct_call; /* FTRACE_OPS_FL_DIRECT: who is called instead */
	uintptr_t site_jump;		    /* ftrace_set_site_jump() */
	uint8_t known_as;		    /* number in sets of several ops; 0: has none */
};

/* The ops of the global trace instance (the set_ftrace_filter at the root of tracefs). */
extern struct ftrace_ops ftrace_global_ops;

/*
 * Make records of all call sites and turn the sites into NOPs. Once, on the only running CPU, when
 * trace_plat_alloc() works. On failure tracing stays off for good.
 */
void ftrace_init(void);

/*
 * 0; -EINVAL (no func; DELETED; IPMODIFY without SAVE_REGS or without a filter), -EBUSY (already
 * registered; IPMODIFY where another has it, or a direct call; PERMANENT while ftrace_enabled is
 * 0), -ENOSPC (32,767 are registered), -ENODEV (killed). On failure nothing has changed, but that
 * the text may just now have been found damaged (ftrace_is_dead()): then some sites may call, and
 * the memory of `ops` has to stay.
 */
int register_ftrace_function(struct ftrace_ops *ops);
/*
 * 0, -EBUSY (not registered), -EINVAL (a direct call), -ENODEV: as above, its memory has to stay.
 */
int unregister_ftrace_function(struct ftrace_ops *ops);

/*
 * Let the functions of the filter of `ops` call `addr` before they do anything, as their sites
 * would: `addr` finds the return address into the function on top of the stack, above it the one
 * into the caller, and keeps all registers. Alone the site calls it without a detour; beside other
 * ops the trampoline leaves through it, when they have been called. `ops` has no func.
 *
 * 0; -EINVAL (no filter; func is set; registered; for the others: not registered so), -EBUSY (a
 * site has a direct call or an IPMODIFY ops), -ENODEV. When modify and unregister return, no thread
 * is on its way to the old address, or in the function there (4096 bytes of what has no name).
 */
int register_ftrace_direct(struct ftrace_ops *ops, uintptr_t addr);
int modify_ftrace_direct(struct ftrace_ops *ops, uintptr_t addr);
int unregister_ftrace_direct(struct ftrace_ops *ops, uintptr_t addr, bool free_filters);

/*
 * An IPMODIFY ops that sends all calls of the one function of its filter to `target`: while nobody
 * else wants the site, the site itself holds a jump there and func is not called. 0 takes it back.
 * 0; -EINVAL (no IPMODIFY, not one function), -ENODEV. The filter cannot change while it is set:
 * -EBUSY.
 */
int ftrace_set_site_jump(struct ftrace_ops *ops, uintptr_t target);

/*
 * The switch of /proc/sys/kernel/ftrace_enabled: off, no site calls anything; registrations and
 * filters stay. 0, -EBUSY (a PERMANENT ops is registered), -ENODEV.
 */
int ftrace_set_enabled(bool on);
bool ftrace_is_enabled(void);

/* All registers at the site; NULL when `ops` did not ask for them. Probe context. */
static TRACE_ALWAYS_INLINE struct ftrace_regs *ftrace_get_regs(struct ftrace_regs *fregs,
							       const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_SAVE_REGS ? fregs : NULL;
}

/*
 * Add the functions that match `buf` (a name or glob as in set_ftrace_filter, `!` removes) to the
 * filter or the exceptions of `ops`; `reset` starts from an empty set. Live ops switch at once.
 * -EINVAL: nothing matches. -ENODEV: tracing is dead, or `ops` is DELETED. `buf` NULL with `reset`:
 * clear. Of two calls at once, the second finds what the first has left. A registered IPMODIFY or
 * direct ops gets -EBUSY for a function that another such ops has, -EINVAL for an empty filter;
 * then nothing has changed.
 */
int ftrace_set_filter(struct ftrace_ops *ops, const char *buf, size_t len, bool reset);
int ftrace_set_notrace(struct ftrace_ops *ops, const char *buf, size_t len, bool reset);
/* The same by address of the function or of its site; -ENOENT: to be removed but not there. */
int ftrace_set_filter_ip(struct ftrace_ops *ops, uintptr_t ip, bool remove, bool reset);
int ftrace_set_filter_ips(struct ftrace_ops *ops, const uintptr_t *ips, size_t nr, bool remove,
			  bool reset);
/* Forget both sets and their memory. The ops is not registered. */
void ftrace_free_filter(struct ftrace_ops *ops);
int ftrace_set_global_filter(const char *buf, size_t len, bool reset);
int ftrace_set_global_notrace(const char *buf, size_t len, bool reset);

/*
 * Address of the site at `ip`, or of the function that begins there; 0: none. Inside a function
 * there is none, as on Linux.
 */
uintptr_t ftrace_location(uintptr_t ip);

/* Stop function tracing for good: text or records are damaged. Any context. */
void ftrace_kill(void);
bool ftrace_is_dead(void);

struct ftrace_totals {
	uint64_t sites;
	uint64_t pages;
	uint64_t groups;
	uint64_t enabled; /* sites that call something now */
	uint64_t updates; /* batches asked for */
};
void ftrace_totals(struct ftrace_totals *out_totals);

TRACE_END_DECLS

#endif
