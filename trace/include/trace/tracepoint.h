/*
 * Tracepoints: places where code of any module announces events to registered probes. Without
 * probes, such a place is a branch of <trace/static_key.h> that is not taken: one NOP.
 *
 *   in a header:     DECLARE_TRACE(shelf_full, TP_PROTO(int shelf, int nr), TP_ARGS(shelf, nr));
 *   in one .c file:  DEFINE_TRACE(shelf_full, TP_PROTO(int shelf, int nr), TP_ARGS(shelf, nr));
 *   in the code:     trace_shelf_full(shelf, nr);
 *
 *   trace_NAME() --key is on--> trace_NAME_call() --> the only probe of `funcs`, or
 *                                                     trace_NAME_iterate() --> each of several
 *
 * A probe is a function void probe(void *data, ...), with the arguments of TP_PROTO behind `data`,
 * at least one. A tracepoint can have any number of probes. Those of a higher priority are called
 * first, those of the same priority in the order in which they were registered.
 *
 * `funcs` is an array that never grows and whose order never changes. Registering a probe makes a
 * new array, and the old one is freed after a grace period. Unregistering leaves an empty place in
 * the array. So registering needs memory, and unregistering does not. An array with one probe,
 * which nearly all are, has its place in the tracepoint itself.
 *
 * Context:   trace_NAME(), trace_NAME_enabled() - stated with its declaration; probes run in it,
 *            with preemption off. All else here - thread, interrupts on; not from a probe.
 * Locking:   one lock for all tracepoints, tracepoint.c.
 * Ownership: tracepoints are static. The memory behind `data` may be freed after unregister and
 *            tracepoint_synchronize_unregister().
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_TRACEPOINT_H
#define TRACE_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/atomic.h>
#include <trace/compiler.h>
#include <trace/static_key.h>

TRACE_BEGIN_DECLS

#define TRACEPOINT_DEFAULT_PRIO 10

/* A probe of any type. It is converted back to its own type, trace_NAME_fn, to be called. */
typedef void (*tracepoint_probe_fn)(void);

struct tracepoint_func {
	TRACE_ATOMIC tracepoint_probe_fn func; /* NULL: it was unregistered */
	void *data;
	int prio;
};

struct tracepoint_funcs {
	/*
	 * The function that a call calls, with `data` before the arguments: the only probe; or the
	 * tracepoint's `iterate`, with this array as its data, when there are several or none.
	 */
	tracepoint_probe_fn func;
	void *data;
	size_t nr;
	struct tracepoint_func *at;
};

struct tracepoint {
	struct trace_static_key key; /* on: there are probes */
	const char *name;
	uint16_t own_depth; /* levels of preemption that the tracepoint itself switches off */
	tracepoint_probe_fn iterate; /* calls each probe of the array that is its data */
	struct tracepoint_funcs *TRACE_ATOMIC funcs; /* never NULL */
	struct tracepoint_funcs none;		     /* `funcs` while there are no probes */
	/* Memory of an array with one probe, and a mark that it may still be read. */
	struct tracepoint_funcs one;
	struct tracepoint_func one_func;
	TRACE_ATOMIC bool one_is_used;
};

/*
 * Have `func(data, ...)` called from now on. 0, or with nothing changed: -EEXIST: this function is
 * registered with this data; -EINVAL: `func` is NULL; -EBUSY: called in a context that may not
 * sleep, such as in a probe; -ENOMEM; an error of trace_static_key_set(). register_trace_NAME() is
 * the same with a check of the type of `func`.
 */
int tracepoint_probe_register(struct tracepoint *tp, tracepoint_probe_fn func, void *data,
			      int prio);
/*
 * When this returns no call of the probe begins any more; one that runs may go on. 0; -ENOENT: it
 * was not registered; -EBUSY: called in a context that may not sleep.
 */
int tracepoint_probe_unregister(struct tracepoint *tp, tracepoint_probe_fn func, void *data);
/*
 * Register and unregister any number of probes at once: code is patched in one go, and there is at
 * most one grace period. Each change has its result, as above, in `err`, and those without an error
 * are made. Returns the first error, or 0; -EBUSY: called in a context that may not sleep, and no
 * change was made.
 */
struct tracepoint_change {
	struct tracepoint *tp;
	tracepoint_probe_fn func;
	void *data;
	int prio;		      /* of one that is registered */
	bool is_add;		      /* register it; else unregister it */
	int err;		      /* set by the call */
	struct tracepoint_funcs *old; /* for tracepoint.c */
};
int tracepoint_change_probes(struct tracepoint_change *changes, size_t nr);
/* Return when no CPU is inside a probe that was unregistered before this call. */
void tracepoint_synchronize_unregister(void);
/* Call fn for each tracepoint of the program, in any order; tp->name says which one it is. */
void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tp, void *arg), void *arg);

/* Each makes one macro argument of a list with commas, for DECLARE_TRACE() and DEFINE_TRACE(). */
#define TP_PROTO(...)	  __VA_ARGS__
#define TP_ARGS(...)	  __VA_ARGS__
#define TP_CONDITION(...) __VA_ARGS__
/* Hands such an argument on to another macro. */
#ifndef PARAMS
#define PARAMS(...) __VA_ARGS__
#endif

/*
 * For a header: declares the tracepoint `name`. It offers:
 *
 *   trace_NAME(...)                               call its probes, if it has any
 *   trace_NAME_enabled()                          has it any? to skip computing arguments
 *   trace_NAME_call(...)                          call its probes, after trace_NAME_enabled()
 *   trace_NAME_fn                                 the type of a probe
 *   register_trace_NAME(probe, data)              tracepoint_probe_register(), default priority
 *   register_trace_prio_NAME(probe, data, prio)   tracepoint_probe_register()
 *   unregister_trace_NAME(probe, data)            tracepoint_probe_unregister()
 */
#define DECLARE_TRACE(name, proto, args)                                                           \
	DECLARE_TRACE_CONDITION(name, PARAMS(proto), PARAMS(args), true)
/* The same; trace_NAME() calls the probes only when TP_CONDITION() is true of the arguments. */
#define DECLARE_TRACE_CONDITION(name, proto, args, cond)                                           \
	TRACEPOINT_DECLARE(name, PARAMS(proto));                                                   \
	static TRACE_ALWAYS_INLINE TRACE_UNUSED void trace_##name(proto)                           \
	{                                                                                          \
		if (trace_##name##_enabled() && (cond))                                            \
			trace_##name##_call(args);                                                 \
	}                                                                                          \
	struct tracepoint

/* All but trace_NAME(). */
#define TRACEPOINT_DECLARE(name, proto)                                                            \
	TRACE_EXTERN_C struct tracepoint trace_##name##_tracepoint;                                \
	typedef void (*trace_##name##_fn)(void *data, proto);                                      \
	TRACE_EXTERN_C void trace_##name##_call(proto);                                            \
                                                                                                   \
	static TRACE_ALWAYS_INLINE TRACE_UNUSED bool trace_##name##_enabled(void)                  \
	{                                                                                          \
		return trace_static_key_enabled(&trace_##name##_tracepoint.key);                   \
	}                                                                                          \
	static inline TRACE_UNUSED int register_trace_prio_##name(trace_##name##_fn probe,         \
								  void *data, int prio)            \
	{                                                                                          \
		return tracepoint_probe_register(&trace_##name##_tracepoint,                       \
						 (tracepoint_probe_fn)probe, data, prio);          \
	}                                                                                          \
	static inline TRACE_UNUSED int register_trace_##name(trace_##name##_fn probe, void *data)  \
	{                                                                                          \
		return register_trace_prio_##name(probe, data, TRACEPOINT_DEFAULT_PRIO);           \
	}                                                                                          \
	static inline TRACE_UNUSED int unregister_trace_##name(trace_##name##_fn probe,            \
							       void *data)                         \
	{                                                                                          \
		return tracepoint_probe_unregister(&trace_##name##_tracepoint,                     \
						   (tracepoint_probe_fn)probe, data);              \
	}                                                                                          \
	struct tracepoint

/*
 * For one .c file, which also includes <trace/platform.h>: defines the tracepoint. The function
 * that calls the probes is never traced itself, and not inlined where probes may never be
 * registered.
 */
#define DEFINE_TRACE(name, proto, args)                                                            \
	TRACEPOINT_OBJECT(name, PARAMS(proto), PARAMS(args), 1);                                   \
	TRACE_NOTRACE TRACE_NOINLINE void trace_##name##_call(proto)                               \
	{                                                                                          \
		trace_plat_preempt_disable();                                                      \
		TRACEPOINT_CALL_PROBES(name, args);                                                \
		trace_plat_preempt_enable();                                                       \
	}                                                                                          \
	struct tracepoint

/*
 * The same for a tracepoint whose every trace_NAME() stands where preemption or interrupts are off:
 * it does not change the preempt count, so probes see the count of the place itself.
 */
#define DEFINE_TRACE_ATOMIC(name, proto, args)                                                     \
	TRACEPOINT_OBJECT(name, PARAMS(proto), PARAMS(args), 0);                                   \
	TRACE_NOTRACE TRACE_NOINLINE void trace_##name##_call(proto)                               \
	{                                                                                          \
		TRACEPOINT_CALL_PROBES(name, args);                                                \
	}                                                                                          \
	struct tracepoint

/* The tracepoint, and its place in the list that for_each_kernel_tracepoint() goes through. */
#define TRACEPOINT_OBJECT(tp_name, proto, args, depth)                                             \
	static TRACE_NOTRACE void trace_##tp_name##_iterate(void *funcs_, proto)                   \
	{                                                                                          \
		struct tracepoint_funcs *funcs = (struct tracepoint_funcs *)funcs_;                \
                                                                                                   \
		for (size_t i = 0; i < funcs->nr; i++) {                                           \
			trace_##tp_name##_fn probe =                                               \
				(trace_##tp_name##_fn)trace_atomic_load_relaxed(                   \
					&funcs->at[i].func);                                       \
                                                                                                   \
			if (probe)                                                                 \
				probe(funcs->at[i].data, args);                                    \
		}                                                                                  \
	}                                                                                          \
	struct tracepoint trace_##tp_name##_tracepoint = {                                         \
		.key = { false },                                                                  \
		.name = #tp_name,                                                                  \
		.own_depth = (depth),                                                              \
		.iterate = (tracepoint_probe_fn)trace_##tp_name##_iterate,                         \
		.funcs = &trace_##tp_name##_tracepoint.none,                                       \
		.none = { .func = (tracepoint_probe_fn)trace_##tp_name##_iterate,                  \
			  .data = &trace_##tp_name##_tracepoint.none,                              \
			  .nr = 0,                                                                 \
			  .at = NULL },                                                            \
		.one = { .func = NULL, .data = NULL, .nr = 0, .at = NULL },                        \
		.one_func = { .func = (tracepoint_probe_fn)0, .data = NULL, .prio = 0 },           \
		.one_is_used = false,                                                              \
	};                                                                                         \
	static struct tracepoint *const trace_##tp_name##_listed                                   \
		__attribute__((section("trace_tracepoints"), used)) =                              \
			&trace_##tp_name##_tracepoint

/*
 * Preemption is off. The acquire pairs with the release of set_funcs() in tracepoint.c. A probe
 * that was unregistered just now may still be called.
 */
#define TRACEPOINT_CALL_PROBES(name, ...)                                                          \
	do {                                                                                       \
		struct tracepoint_funcs *funcs_ =                                                  \
			trace_atomic_load_acquire(&trace_##name##_tracepoint.funcs);               \
                                                                                                   \
		((trace_##name##_fn)funcs_->func)(funcs_->data, __VA_ARGS__);                      \
	} while (0)

TRACE_END_DECLS

#endif
