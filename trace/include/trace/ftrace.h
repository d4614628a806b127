/*
 * Function tracing: callbacks at the entry of traced functions.
 *
 *   ops that want a site   contents of the site
 *   none                   a NOP
 *   one                    a call of the ops' own trampoline, which calls its function; or the
 *                          ops' direct call, or its jump
 *   several                a call of a trampoline that was made for just these ops and calls them
 *                          one after the other; if that cannot be made, of a shared trampoline,
 *                          which looks into the hashes of every ops at each call
 *
 * A user fills a struct ftrace_ops, may give it filters, and registers it. An ops without a filter
 * sees every function except those of its notrace filter.
 *
 * Trampolines save the registers that can hold arguments; with FTRACE_OPS_FL_SAVE_REGS they save
 * all of them. The traced function begins with the values that the callback leaves in the saved
 * registers; with FTRACE_OPS_FL_IPMODIFY the function that the call is sent to does.
 *
 * Guarantees: when register_ftrace_function() returns, every wanted site calls. No callback runs
 * any more when unregister_ftrace_function() has returned: it waits for threads that were preempted
 * on their way, so call it without locks that others need. While the filter of a registered ops is
 * being changed, each site calls by the old filter or by the new one, never by "all functions".
 *
 * Context:   callbacks - probe. Everything else - thread, interrupts on, may block.
 * Locking:   one sleeping lock inside; a callback may not call anything of this header.
 * Ownership: an ops belongs to its user. Between register and unregister it may not be freed, and
 *            `func`, `flags` and `private` may not change. Call ftrace_free_filter() before its
 *            memory is freed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_FTRACE_H
#define TRACE_FTRACE_H

#include <trace/atomic.h>
#include <trace/platform.h>

TRACE_BEGIN_DECLS

struct ftrace_hash;
struct ftrace_tramp;

/*
 * A callback. `ip` is the address of the call site, `parent_ip` the return address into the caller.
 * `fregs` is never NULL; ftrace_regs_get_argument() and the like (platform_ops.h) read it. All
 * registers are in it only with FTRACE_OPS_FL_SAVE_REGS: see ftrace_get_regs().
 */
typedef void (*ftrace_func_t)(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs);

/*
 * A callback for sites that no other ops wants, with less around it. In fregs, which is filled as
 * without FTRACE_OPS_FL_SAVE_REGS, the instruction pointer is `ip`, the call site. 0: the function
 * goes on behind the site; otherwise where the instruction pointer says.
 */
typedef int (*ftrace_site_func_t)(uintptr_t ip, struct ftrace_regs *fregs);

enum ftrace_ops_flags {
	FTRACE_OPS_FL_ENABLED = 1u << 0,		/* set by ftrace: it is registered */
	FTRACE_OPS_FL_DYNAMIC = 1u << 1,		/* its memory will be freed: no effect */
	FTRACE_OPS_FL_SAVE_REGS = 1u << 2,		/* all registers, to be read and written */
	FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED = 1u << 3, /* the same: it is always supported */
	FTRACE_OPS_FL_RECURSION = 1u << 4,		/* ftrace guards func against recursion */
	FTRACE_OPS_FL_STUB = 1u << 5,			/* func does nothing and is never called */
	FTRACE_OPS_FL_INITIALIZED = 1u << 6,		/* set by ftrace: hashes are set up */
	FTRACE_OPS_FL_DELETED = 1u << 7,	 /* is being removed: no filters, no registration */
	FTRACE_OPS_FL_IPMODIFY = 1u << 8,	 /* sends calls elsewhere; one such ops per site */
	FTRACE_OPS_FL_RCU = 1u << 9,		 /* preemption off around func: as _RECURSION */
	FTRACE_OPS_FL_DIRECT = 1u << 10,	 /* set by ftrace: register_ftrace_direct() */
	FTRACE_OPS_FL_PERMANENT = 1u << 11,	 /* ftrace_enabled cannot turn it off */
	FTRACE_OPS_FL_RECURSION_SAFE = 1u << 12, /* func guards itself: the default, no effect */
};

/*
 * The sites that an ops wants. filter_hash NULL: all; notrace_hash NULL: no exceptions. Once
 * published it is not changed, but replaced. `only` is the address of the site when it wants
 * exactly one, otherwise 0.
 */
struct ftrace_ops_hash {
	struct ftrace_hash *filter_hash;
	struct ftrace_hash *notrace_hash;
	uintptr_t only;
};

struct ftrace_ops {
	ftrace_func_t func;
	struct ftrace_ops *TRACE_ATOMIC next; /* changed under ftrace's lock; callbacks follow it */
	uint32_t flags;			      /* enum ftrace_ops_flags */
	void *TRACE_PRIVATE;		      /* for func; ftrace does not look at it */
	uint64_t ignore_mask;		      /* for func, too: bits of trace_thread.ignored_by */
	/*
	 * NULL, or a function called in place of func where possible. Such an ops keeps its func.
	 */
	ftrace_site_func_t site_func;

	/* For ftrace only, guarded by its lock. Zero before first use. */
	struct ftrace_ops_hash *TRACE_ATOMIC func_hash; /* the current one of `hashes`, or NULL */
	struct ftrace_ops_hash hashes[2];
	struct ftrace_ops *follower;	    /* another ops that gets the same filters, or NULL */
	struct trace_trampoline trampoline; /* its own; addr 0: it has none */
	struct ftrace_tramp *tramp;	    /* owner of that trampoline, or NULL */
	ftrace_func_t list_func;	    /* called instead of func without all registers */
	TRACE_ATOMIC uintptr_t direct_call; /* FTRACE_OPS_FL_DIRECT: the function that sites call */
	uintptr_t site_jump;		    /* target of ftrace_set_site_jump(), or 0 */
	uint8_t known_as;		    /* its number in ops/ftrace_set.h; 0: it has none */
};

/* The ops of the global trace instance (the set_ftrace_filter at the root of tracefs). */
extern struct ftrace_ops ftrace_global_ops;

/*
 * Make records of all call sites and turn the sites into NOPs. To be called once, before other CPUs
 * run, when trace_plat_alloc() works. On failure function tracing stays off for good.
 */
void ftrace_init(void);

/*
 * Have ops->func called at every site that `ops` wants. 0, or with nothing changed:
 *   -EINVAL  no func; DELETED or DIRECT; IPMODIFY without SAVE_REGS or without a filter
 *   -EBUSY   it is registered; it is IPMODIFY and a site has another such ops or a direct call; it
 *            is PERMANENT while ftrace_enabled is 0
 *   -ENOSPC  16,383 ops are registered
 *   -ENODEV  tracing is dead (ftrace_is_dead()). If it died in this call, because text was found
 *            damaged, sites may call func, and the memory of `ops` may never be freed.
 */
int register_ftrace_function(struct ftrace_ops *ops);
/*
 * End that. Returns when no thread is in func or on its way there any more. 0; -EBUSY (it is not
 * registered), -EINVAL (it has a direct call); -ENODEV: tracing is dead, sites may go on calling
 * func, and the memory of `ops` may never be freed.
 */
int unregister_ftrace_function(struct ftrace_ops *ops);

/*
 * Direct calls: have each function of the filter of `ops` call `addr` before it does anything, as
 * if that call stood in its code. The code at `addr` finds the return address into the function on
 * top of the stack, above that the one into the caller, and has to keep all registers. When no
 * other ops wants a site, the site calls `addr` itself. Otherwise the trampoline calls the other
 * ops and then leaves to `addr`. The ops has no func of its own.
 *
 * 0; -EINVAL (no filter, func is set, or it is registered; modify and unregister: it has no direct
 * call, or another one than `addr`), -EBUSY (a site has a direct call or an IPMODIFY ops), -ENODEV
 * (tracing is dead). When modify and unregister return, no thread is on its way to the old address,
 * nor in the function there; code without a symbol is taken to be 4096 bytes long.
 */
int register_ftrace_direct(struct ftrace_ops *ops, uintptr_t addr);
int modify_ftrace_direct(struct ftrace_ops *ops, uintptr_t addr);
int unregister_ftrace_direct(struct ftrace_ops *ops, uintptr_t addr, bool free_filters);

/*
 * For an IPMODIFY ops whose func sends all calls of one function to `target`: while no other ops
 * wants the site, put a jump to `target` there, and do not call func. `target` 0 takes that back.
 * 0; -EINVAL (not IPMODIFY, or the filter is not exactly one function), -ENODEV (tracing is dead).
 * While a jump is set the filter cannot be changed: that returns -EBUSY.
 */
int ftrace_set_site_jump(struct ftrace_ops *ops, uintptr_t target);

/*
 * The switch of /proc/sys/kernel/ftrace_enabled. While it is off no site calls anything;
 * registrations and filters stay and can be changed. 0, -EBUSY (cannot be turned off while a
 * PERMANENT ops is registered), -ENODEV (tracing is dead).
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
 * Add the functions that match the `len` bytes at `buf`, a name or glob as in set_ftrace_filter, to
 * the filter of `ops`, or with set_notrace to its exceptions; with a `!` in front, remove them.
 * `reset` starts from an empty set; `buf` NULL with `reset` only clears it. If the ops is
 * registered its sites have switched when this returns. Two calls at the same time do not undo each
 * other. 0, or with nothing changed:
 *   -EINVAL  nothing matches, or `len` is 256 or more; or the filter of a registered IPMODIFY or
 *            direct ops would be empty
 *   -EBUSY   such an ops would get a function that another such ops has; or it has a site jump
 *   -ENOMEM
 *   -ENODEV  tracing is dead, or `ops` is DELETED
 */
int ftrace_set_filter(struct ftrace_ops *ops, const char *buf, size_t len, bool reset);
int ftrace_set_notrace(struct ftrace_ops *ops, const char *buf, size_t len, bool reset);
/*
 * Change a filter by addresses, of functions or of their sites; `remove` stands for the `!` above.
 * -EINVAL also for an address without a site; -ENOENT: one that is to be removed is not in the
 * filter.
 */
int ftrace_set_filter_ip(struct ftrace_ops *ops, uintptr_t ip, bool remove, bool reset);
int ftrace_set_filter_ips(struct ftrace_ops *ops, const uintptr_t *ips, size_t nr, bool remove,
			  bool reset);
/* Free both sets. Does nothing when the ops is registered. */
void ftrace_free_filter(struct ftrace_ops *ops);
/* ftrace_set_filter() and ftrace_set_notrace() of ftrace_global_ops. */
int ftrace_set_global_filter(const char *buf, size_t len, bool reset);
int ftrace_set_global_notrace(const char *buf, size_t len, bool reset);

/*
 * The address of the site that is at `ip`, or that belongs to the function that begins at `ip`. 0
 * when there is none; also, as on Linux, for another address inside a function. Any context.
 */
uintptr_t ftrace_location(uintptr_t ip);

/* Stop function tracing for good, because text or records are damaged. No text is written. */
void ftrace_kill(void); /* any context */
bool ftrace_is_dead(void);

/* Figures of function tracing. Thread context. */
struct ftrace_totals {
	uint64_t sites;	  /* all call sites */
	uint64_t pages;	  /* of records, 4096 bytes each */
	uint64_t groups;  /* of adjacent pages */
	uint64_t enabled; /* sites that call something now */
	uint64_t updates; /* number of times that an ops came, went or got another filter */
};
void ftrace_totals(struct ftrace_totals *out_totals);

TRACE_END_DECLS

#endif
