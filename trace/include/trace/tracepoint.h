/*
 * Tracepoints: places where the host's code tells whoever wants to know, of any module. While
 * nobody does, such a place is a branch of <trace/static_key.h> that is not taken: one NOP.
 *
 *   in a header:     DECLARE_TRACE(shelf_full, TP_PROTO(int shelf, int nr), TP_ARGS(shelf, nr));
 *   in one .c file:  DEFINE_TRACE(shelf_full, TP_PROTO(int shelf, int nr), TP_ARGS(shelf, nr));
 *   where it is so:  trace_shelf_full(shelf, nr);
 *
 *   trace_NAME() --key is on--> trace_NAME_call() --> each struct tracepoint_func of `funcs`
 *
 * What is called is a probe, void probe(void *data, ...) with the arguments of TP_PROTO, which are
 * one or more. A tracepoint has any number of them: those of a higher priority first, of one
 * priority in the order they came.
 *
 * `funcs` is an array that never grows and whose order never changes. A probe that comes gets a new
 * array, and the old one is freed after a grace period; one that goes leaves an empty place. So to
 * come needs memory, and to go does not.
 *
 * Context:   trace_NAME(), trace_NAME_enabled() - whatever the one who declares it says; probes run
 *            in it, with preemption off. All else here - thread, interrupts on; not from a probe.
 * Locking:   one lock for all tracepoints, tracepoint.c.
 * Ownership: tracepoints are static. What `data` points to is its owner's again after unregister
 *            and tracepoint_synchronize_unregister().
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

/* A probe of any type: never called by this one. */
typedef void (*tracepoint_probe_fn)(void);

struct tracepoint_func {
	TRACE_ATOMIC tracepoint_probe_fn func; /* NULL: it has gone */
	void *data;
	int prio;
};

struct tracepoint_funcs {
	size_t nr;
	struct tracepoint_func at[];
};

struct tracepoint {
	struct trace_static_key key; /* on: there are probes */
	const char *name;
	struct tracepoint_funcs *TRACE_ATOMIC funcs; /* NULL: none */
};

/*
 * Let `func(data, ...)` be called from now on. -EEXIST: it is already, with this data; -EINVAL: no
 * function; -EBUSY: called where nobody may sleep, such as in a probe; -ENOMEM; what static keys
 * say. Nothing has changed then. The typed form is register_trace_NAME().
 */
int tracepoint_probe_register(struct tracepoint *tp, tracepoint_probe_fn func, void *data,
			      int prio);
/* No call begins any more; one that runs goes on. -ENOENT: it was not registered; -EBUSY. */
int tracepoint_probe_unregister(struct tracepoint *tp, tracepoint_probe_fn func, void *data);
/* Return when nobody is inside of a probe that was unregistered before. */
void tracepoint_synchronize_unregister(void);
/* Call fn for each tracepoint that was linked: tp->name says which. */
void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tp, void *arg), void *arg);

/* Each keeps the commas of a list together, as one argument of the two below. */
#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...)  __VA_ARGS__

/*
 * What a header says of tracepoint `name`. These are then there:
 *
 *   trace_NAME(...)                               tell its probes, if there are any
 *   trace_NAME_enabled()                          are there? for arguments that cost something
 *   trace_NAME_call(...)                          tell them, without asking
 *   trace_NAME_fn                                 the type of a probe
 *   register_trace_NAME(probe, data)              as tracepoint_probe_register()
 *   register_trace_prio_NAME(probe, data, prio)   the same
 *   unregister_trace_NAME(probe, data)            as tracepoint_probe_unregister()
 */
#define DECLARE_TRACE(name, proto, args)                                                           \
	TRACE_EXTERN_C struct tracepoint trace_##name##_tracepoint;                                \
	typedef void (*trace_##name##_fn)(void *data, proto);                                      \
	TRACE_EXTERN_C void trace_##name##_call(proto);                                            \
                                                                                                   \
	static TRACE_ALWAYS_INLINE TRACE_UNUSED bool trace_##name##_enabled(void)                  \
	{                                                                                          \
		return trace_static_key_enabled(&trace_##name##_tracepoint.key);                   \
	}                                                                                          \
	static TRACE_ALWAYS_INLINE TRACE_UNUSED void trace_##name(proto)                           \
	{                                                                                          \
		if (trace_##name##_enabled())                                                      \
			trace_##name##_call(args);                                                 \
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
 * What one .c file says of it, which includes <trace/platform.h> too. The call has no call site
 * itself, wherever it stands, and is not made part of code that may never need it.
 */
#define DEFINE_TRACE(name, proto, args)                                                            \
	TRACEPOINT_OBJECT(name);                                                                   \
	TRACE_NOTRACE TRACE_NOINLINE void trace_##name##_call(proto)                               \
	{                                                                                          \
		trace_plat_preempt_disable();                                                      \
		TRACEPOINT_CALL_EACH(name, args);                                                  \
		trace_plat_preempt_enable();                                                       \
	}                                                                                          \
	struct tracepoint

/* The same where preemption or interrupts are off at each trace_NAME(): what is counted stays. */
#define DEFINE_TRACE_ATOMIC(name, proto, args)                                                     \
	TRACEPOINT_OBJECT(name);                                                                   \
	TRACE_NOTRACE TRACE_NOINLINE void trace_##name##_call(proto)                               \
	{                                                                                          \
		TRACEPOINT_CALL_EACH(name, args);                                                  \
	}                                                                                          \
	struct tracepoint

/* The tracepoint, and its place in the list that for_each_kernel_tracepoint() goes through. */
#define TRACEPOINT_OBJECT(tp_name)                                                                 \
	struct tracepoint trace_##tp_name##_tracepoint = { .key = { false },                       \
							   .name = #tp_name,                       \
							   .funcs = NULL };                        \
	static struct tracepoint *const trace_##tp_name##_listed                                   \
		__attribute__((section("trace_tracepoints"), used)) =                              \
			&trace_##tp_name##_tracepoint

/* Acquire: with the release in tracepoint_probe_register(). */
#define TRACEPOINT_CALL_EACH(name, ...)                                                            \
	struct tracepoint_funcs *funcs =                                                           \
		trace_atomic_load_acquire(&trace_##name##_tracepoint.funcs);                       \
                                                                                                   \
	for (size_t i = 0; funcs && i < funcs->nr; i++) {                                          \
		trace_##name##_fn probe =                                                          \
			(trace_##name##_fn)trace_atomic_load_relaxed(&funcs->at[i].func);          \
                                                                                                   \
		if (probe)                                                                         \
			probe(funcs->at[i].data, __VA_ARGS__);                                     \
	}

TRACE_END_DECLS

#endif
