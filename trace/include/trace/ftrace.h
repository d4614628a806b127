/*
 * Function tracing: who is called when a traced function is entered.
 *
 *   record (call site) -- wants --> nobody: NOP
 *                                   one ops: its own trampoline, a direct call to its function
 *                                   several: the shared trampoline, which asks each ops' hashes
 *
 * A user fills a struct ftrace_ops, may give it filters, and registers it. An ops without a filter
 * sees every function but those of its notrace filter.
 *
 * Guarantees: callbacks have begun for every site before register_ftrace_function() returns; none
 * can still run when unregister_ftrace_function() has returned; a filter that is changed while the
 * ops is registered never passes through "all functions".
 *
 * Context:   callbacks - probe. Everything else - thread, interrupts on, may block.
 * Locking:   one sleeping lock inside; a callback may not call anything of this header.
 * Ownership: an ops belongs to its user; between register and unregister it may not be freed, and
 *            `func`, `flags` and `private` may not change. ftrace_free_filter() before the ops
 * goes.
 */
#ifndef TRACE_FTRACE_H
#define TRACE_FTRACE_H

#include <trace/platform.h>

struct ftrace_hash;

/*
 * `ip` is the address of the call site, `parent_ip` the return address into the caller. `fregs` is
 * NULL: no ops can ask for registers yet.
 */
typedef void (*ftrace_func_t)(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs);

enum ftrace_ops_flags {
	FTRACE_OPS_FL_ENABLED = 1u << 0,		/* ftrace's: registered */
	FTRACE_OPS_FL_DYNAMIC = 1u << 1,		/* memory of the ops will be freed */
	FTRACE_OPS_FL_SAVE_REGS = 1u << 2,		/* refused with -EOPNOTSUPP for now */
	FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED = 1u << 3, /* accepted, gets none for now */
	FTRACE_OPS_FL_RECURSION = 1u << 4,		/* ftrace guards func against recursion */
	FTRACE_OPS_FL_STUB = 1u << 5,			/* func does nothing: never called */
	FTRACE_OPS_FL_INITIALIZED = 1u << 6,		/* ftrace's: hashes are set up */
	FTRACE_OPS_FL_DELETED = 1u << 7,	 /* its instance goes away: refuses new filters */
	FTRACE_OPS_FL_IPMODIFY = 1u << 8,	 /* refused for now */
	FTRACE_OPS_FL_RCU = 1u << 9,		 /* only where a grace period sees the caller */
	FTRACE_OPS_FL_DIRECT = 1u << 10,	 /* refused for now */
	FTRACE_OPS_FL_PERMANENT = 1u << 11,	 /* no switch turns it off */
	FTRACE_OPS_FL_RECURSION_SAFE = 1u << 12, /* func guards itself: the default, for readers */
};

/*
 * What an ops wants, one immutable set of it; NULL hashes: every function, no exception. `only`:
 * the one site (packed) that it wants, when it is just one; else 0.
 */
struct ftrace_ops_hash {
	struct ftrace_hash *filter_hash;
	struct ftrace_hash *notrace_hash;
	uint32_t only;
};

struct ftrace_ops {
	ftrace_func_t func;
	struct ftrace_ops *_Atomic next; /* ftrace's lock; probes follow it */
	uint32_t flags;			 /* enum ftrace_ops_flags */
	void *private;

	/* The rest is ftrace's, under its lock. Zero before first use. */
	struct ftrace_ops_hash *_Atomic func_hash; /* the current one of `hashes`, or NULL */
	struct ftrace_ops_hash hashes[2];
	struct trace_trampoline trampoline; /* addr 0: has none */
};

/* The ops of the global trace instance (the set_ftrace_filter at the root of tracefs). */
extern struct ftrace_ops ftrace_global_ops;

/*
 * Make records of all call sites and turn the sites into NOPs. Once, on the only running CPU, when
 * trace_plat_alloc() works. On failure tracing stays off for good.
 */
void ftrace_init(void);

/* 0, -EINVAL (no func), -EBUSY (already registered), -EOPNOTSUPP (flags), -ENODEV (killed). */
int register_ftrace_function(struct ftrace_ops *ops);
/* 0, -EINVAL (not registered). */
int unregister_ftrace_function(struct ftrace_ops *ops);

/*
 * Add the functions that match `buf` (a name or glob as in set_ftrace_filter, `!` removes) to the
 * filter or the exceptions of `ops`; `reset` starts from an empty set. Live ops switch at once.
 * -EINVAL: nothing matches. -ENODEV: tracing is dead. `buf` NULL with `reset`: clear.
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

/* Address of the site at or in the function at `ip`; 0 when it has none. */
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

#endif
