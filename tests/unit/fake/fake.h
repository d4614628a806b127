/*
 * The fake machine: what a test sees of the host side of <trace/platform.h>.
 *
 *   CPUs    threads of the test, bound by fake_bind(); one thread may also play all CPUs in turn
 *   clock   counts up by a step with each reading; can run an interrupt whenever it is read
 *   memory  the host's, with a budget of allocations until one fails, and a count of what is out
 *   text    functions of 16 bytes at kernel-like addresses that nothing can dereference: their
 *           bytes live in an array; fake_call() does what the instruction at the site says
 *   log     kept as text
 *
 * Context: a test. fake_reset() in each setup.
 */
#ifndef FAKE_H
#define FAKE_H

#include <trace/host_tracepoints.h>
#include <trace/platform.h>

#define FAKE_MAX_CPUS	 64
#define FAKE_TEXT	 0xffffffff81000000ul
#define FAKE_FUNC_BYTES	 16ul
#define FAKE_FENTRY	 (FAKE_TEXT - 0x1000)
#define FAKE_SHARED	 (FAKE_TEXT - 0x800)
#define FAKE_SHARED_REGS (FAKE_TEXT - 0x7f0)
#define FAKE_TRAMPOLINES 0xffffffffa0000000ul

/* Back to one CPU, no functions, time 1 s, no failures, empty log. Memory out must be freed. */
void fake_reset(void);

/* ---- CPUs ---- */
extern struct fake_cpu fake_cpus[FAKE_MAX_CPUS];
void fake_set_nr_cpus(uint32_t nr);
/* This thread is CPU `cpu` from now on. */
void fake_bind(uint32_t cpu);
/* Calls of trace_plat_synchronize_preempt(); what runs inside it. */
extern _Atomic uint64_t fake_nr_sync_preempt;
extern void (*fake_on_sync)(void);
extern void (*fake_on_preempt)(void); /* called whenever preemption has been disabled */

/* ---- Clock ---- */
extern _Atomic uint64_t fake_clock;  /* now */
extern uint64_t fake_clock_step;     /* added by each reading; 0: set by hand */
extern void (*fake_clock_irq)(void); /* called before each reading, not within itself */
extern uint64_t fake_ticks;

/* ---- Memory ---- */
extern long fake_alloc_budget;	    /* allocations until one fails; negative: none fails */
extern bool fake_alloc_fails_once;  /* those after that one do not fail */
extern size_t fake_alloc_max_bytes; /* larger ones fail; 0: no limit */
extern _Atomic long fake_alloc_out; /* allocated and not freed */
extern _Atomic uint64_t fake_alloc_calls;
extern void (*fake_on_alloc)(void); /* called before each allocation, not within itself */
/*
 * Calls of the host that may fail, other than allocations, until one does, and only that one; negative:
 * none. They are trampolines, code of probes, watchpoints, work for another CPU, and what a host's
 * event does when it is first wanted.
 */
extern long fake_host_budget;
extern uint64_t fake_nr_refused; /* allocations and calls that failed by a budget */
/* Does this call fail? */
bool fake_host_fails(void);
#define FAKE_PAGE_BYTES 4096u
extern const void *fake_btf; /* types, for trace_init(); NULL: none */
extern size_t fake_btf_bytes;
extern const uint32_t fake_comm_at; /* of the name, in the struct that a thread is */
extern const void *fake_bad_page;   /* trace_plat_read() fails in these FAKE_PAGE_BYTES */
/* it is given any address: the build host is asked what is there */
extern bool fake_reads_anywhere;
extern const struct trace_plat_user *fake_user; /* the program that runs; NULL: none */
extern bool fake_reads_user; /* the test's memory but for its first page is a program's, too */
extern const void *fake_user_page; /* a page that is a program's alone; NULL: none is */

/* ---- Text ---- */
/* Functions named `names`, in this order, each with a call to __fentry__ at its start. */
void fake_text_build(const char *const *names, size_t nr);
/* `nr` functions named prefix0, prefix1, ... */
void fake_text_build_many(const char *prefix, size_t nr);
uintptr_t fake_func(size_t index);
/* The bytes at a text address; NULL when it is none. */
uint8_t *fake_text_at(uintptr_t addr);
/* Another name for the reports of trace_plat_symbol(): any address range. */
void fake_symbol_add(uintptr_t addr, size_t size, const char *name);
void fake_symbols_forget(void); /* those that were added */
/* The function of this address is without a name for trace_plat_symbol(); 0: none is. */
extern uintptr_t fake_nameless;
/* As trace_plat_symbol_find_all(). */
size_t fake_symbol_all(const char *name, uintptr_t *out_addrs, size_t max);
/* Function `index` is what interrupts call first, one more of so many. */
extern size_t fake_nr_irq_entries;
void fake_irq_entry_add(size_t index);
void fake_why_not_add(const char *name, const char *text);
/* Execute the site of function `index` as called from `parent`, and return. */
void fake_call(size_t index, uintptr_t parent);
/*
 * The two halves: the return address is put on the stack of this CPU, and the site is executed;
 * the innermost call returns `retval`, through whatever its return address has become. The latter
 * returns where execution goes on.
 */
extern const uint64_t *fake_args; /* FAKE_NR_ARGS, of the calls to come; NULL: 0 */
uintptr_t *fake_enter(size_t index, uintptr_t parent);
uintptr_t fake_leave(uint64_t retval);
/* The innermost call jumps to function `index`. */
void fake_tail(size_t index);
/*
 * The same with registers, which callbacks may read and change. Returns where execution goes on:
 * behind the site, where `rip` was sent to, at a jump's target, or at a direct call's; `via` tells.
 */
enum fake_via {
	FAKE_VIA_NOTHING,
	FAKE_VIA_TRAMPOLINE,
	FAKE_VIA_DIRECT,
	FAKE_VIA_JUMP
};
uintptr_t fake_call_regs(size_t index, struct ftrace_regs *fregs, enum fake_via *out_via);
extern uint64_t fake_nr_batches, fake_nr_pokes, fake_nr_early;
extern long fake_trampoline_budget; /* until one fails; negative: none */
extern size_t fake_nr_trampolines;  /* alive */
extern bool fake_has_site_funcs;    /* trampolines call the site_func of a single ops */
/* Called after a batch was checked, before it is written (nr > 0). */
extern void (*fake_on_batch)(const struct trace_poke *pokes, size_t nr);
extern uintptr_t fake_breakpoint; /* what differs at this site is a debugger's breakpoint */

/* ---- Probes ---- */

/*
 * Behind the site of a function each byte is an instruction. Execute that at `addr`: if a
 * breakpoint is there, its probes are called. The registers are those of fake_call_regs(). Returns
 * where execution goes on.
 */
uintptr_t fake_step(uintptr_t addr, struct ftrace_regs *fregs);
/* Memory that may be watched is written, or read. What trace_plat_watch_set() returns; 0 at first. */
void fake_write(void *to, const void *from, size_t len);
void fake_read(const void *from, size_t len);
extern int fake_watch_error;
extern long fake_probe_budget;	/* until no memory for code is left; negative: never */
extern size_t fake_nr_probes;	/* created and not destroyed */
extern uintptr_t fake_bad_insn; /* cannot be probed */
extern uintptr_t fake_refused;	/* the host says no */
extern size_t fake_jump_bytes;	/* a jump takes the place of so many; 0: there are none */
/* Where the copies of the first probe are; FAKE_POST_AT behind, that for post handlers. */
#define FAKE_SLOTS   0xffffffffb0000000ul
#define FAKE_POST_AT 16ul

/* ---- Places by name. NULL at first: none; the last has no name. ---- */

struct fake_variable {
	const char *name;
	void *at;
	size_t bytes;
};
extern const struct fake_variable *fake_variables;
/* An array of FAKE_MAX_CPUS elements of so many bytes: the only per-CPU variable. 0: there is none. */
extern void *fake_per_cpu;
extern size_t fake_per_cpu_bytes;
/* The answer of trace_plat_file_names_get(). */
extern const struct trace_plat_file_names *fake_file_names;
/* System calls, set before trace_init(); NULL: none. */
extern const struct trace_syscall_host *fake_syscalls;
/* Programs with probes, as of programs.h; NULL: none. */
extern const struct trace_uprobe_host *fake_uprobes;
extern const struct trace_user_events_host *fake_user_events;
extern void *fake_kept; /* memory that survives, with the name `kept`; NULL: there is none */
extern size_t fake_kept_bytes;
extern const char *fake_build_id;
struct fake_line {
	const char *file;
	uint32_t line;
	uintptr_t addr;
};
extern const struct fake_line *fake_lines;

/* The result of trace_plat_backtrace() for every caller; packed. */
extern uint32_t fake_stack[256];
extern size_t fake_stack_nr;

/* ---- Threads ---- */
/* Does this thread hold it? */
bool fake_lock_held(const struct trace_plat_lock *lock);
/* Run the work that trace_plat_defer() was given. */
void fake_run_deferred(void);
extern bool fake_interrupted;	   /* trace_plat_wait() returns -EINTR */
extern void (*fake_on_wait)(void); /* called each time before the condition is asked */
extern void (*fake_on_lock)(void); /* called before each lock is taken, not within itself */
/* Called after each lock was let go, not within itself. */
extern void (*fake_on_unlock)(const struct trace_plat_lock *lock);
extern void (*fake_on_each_thread)(void); /* called before and after all threads are visited */
extern void (*fake_on_each_stack)(void);  /* the same when their stacks are */
/* A new thread, or a new name. */
void fake_thread_add(int32_t pid, const char *comm);
/* Make it one of process `tgid`; at first each is of its own. */
void fake_thread_of_process(int32_t pid, int32_t tgid);
/* The lock of the names of threads is held for ever: a wait for it is a failure. */
extern bool fake_names_held;
/* This CPU runs thread `pid`, or one without a pid (-1). */
void fake_run(int32_t pid);
/* Priority, policy and state of the running thread, for trace_plat_current_sched(). */
extern struct trace_sched_thread fake_sched;
extern char fake_sched_comm[TRACE_COMM_LEN];
/* The record of trace/ for that thread; NULL for none. */
struct trace_thread *fake_thread_of(int32_t pid);

/* Stacks, asked in this order: an address from lo to base is on one. kind 0 and base 0: unused. */
#define FAKE_MAX_STACKS 4
extern struct trace_stack fake_stacks[FAKE_MAX_STACKS];
/* Words that trace_plat_each_stack() finds on the stack of that thread; at most 8. */
void fake_thread_stack(int32_t pid, const uintptr_t *words, size_t nr);
/* The thread is just being switched: looks miss it. */
void fake_thread_missed(int32_t pid, bool missed);
void fake_thread_exit(int32_t pid);
extern _Atomic uint64_t fake_nr_looks; /* calls of trace_plat_each_stack() */
/*
 * Called by trace_plat_pause() before it returns; without, a pause without end is a failure. And
 * how many there were.
 */
extern void (*fake_on_pause)(void);
extern _Atomic uint64_t fake_nr_pauses;
/* Run the oldest call that trace_plat_call_later() was given; false when none waits. */
bool fake_run_later(void);

/* ---- Log ---- */
const char *fake_log(void);
extern uint64_t fake_nr_bugs, fake_nr_panics;
/* Called when an event is about to be logged, or NULL. */
extern void (*fake_on_log_event)(void);
extern bool fake_log_echo; /* also to stderr */

#endif
