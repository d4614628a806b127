/*
 * The two events of a system call: shared declarations of the files of syscalls/. See
 * <trace/syscalls.h>.
 *
 * An event of entry, `at` being offsets from its start:
 *
 *   head | __syscall_nr | ARGUMENT, 8 bytes each | __ARGUMENT_val, 4 bytes each | texts and bytes
 *        8              16                       `user_at`                      `fixed_bytes`
 *
 * Locking:   the config lock, where nothing else is said.
 * Ownership: made at the start, there for good.
 */
#ifndef TRACE_SYSCALL_EVENT_H
#define TRACE_SYSCALL_EVENT_H

#include <stdatomic.h>
#include <trace/syscalls.h>
#include <trace/trace_events.h>
#include <trace/trace_seq.h>
#include "instance/why.h"

#define SYSCALL_NR_AT	8u
#define SYSCALL_ARGS_AT 16u
#define SYSCALL_VALS	3u /* most arguments whose memory is read */

/* Linux's limits of bytes that are read from each argument's memory. */
#define SYSCALL_USER_MAX     165u
#define SYSCALL_USER_DEFAULT 63u
#define SYSCALL_CUT	     "..." /* behind a text that is longer, NUL included */
/* Room for one argument's memory in an event, a multiple of 4. */
#define SYSCALL_VAL_BYTES 172u

#define SYSCALL_FIXED_BYTES                                                                        \
	(SYSCALL_ARGS_AT + TRACE_SYSCALL_ARGS * sizeof(uint64_t) + SYSCALL_VALS * sizeof(uint32_t))
#define SYSCALL_ENTER_BYTES                                                                        \
	(SYSCALL_FIXED_BYTES + (size_t)SYSCALL_VALS * SYSCALL_VAL_BYTES + sizeof(uint64_t))
#define SYSCALL_EXIT_BYTES (SYSCALL_ARGS_AT + sizeof(int64_t))

/* The event syscall_latency: head | __syscall_nr | lat | ret | name */
#define SYSCALL_LAT_AT	      16u
#define SYSCALL_LAT_RET_AT    24u
#define SYSCALL_LAT_NAME_AT   32u
#define SYSCALL_NAME_BYTES    24u
#define SYSCALL_LATENCY_BYTES (SYSCALL_LAT_NAME_AT + SYSCALL_NAME_BYTES)

/* An argument that points to memory that the event holds. */
struct syscall_val {
	uint8_t arg;
	bool is_text; /* otherwise bytes: argument `arg + 1` says how many */
};

struct syscall_event {
	const struct trace_syscall *call;
	uint32_t nr;
	uint8_t nr_args;
	uint8_t nr_vals;
	uint16_t user_at;
	uint16_t fixed_bytes;
	struct syscall_val vals[SYSCALL_VALS];
	char name[SYSCALL_NAME_BYTES]; /* of the call, cut if need be, with NULs up to the end */
	struct trace_event_call enter;
	struct trace_event_call exit;
	struct trace_event_field *fields; /* of enter */
	size_t bytes;			  /* of this, with fields and names */
};

/* ---- syscall_events.c ---- */

extern const struct trace_event_class trace_syscall_enter_class;
extern struct trace_event_call trace_syscall_latency_call;

/* The bytes to be read of each argument's memory, up to SYSCALL_USER_MAX. Any context. */
extern _Atomic uint32_t trace_syscall_user_bytes;

/* The events by number; NULL where there is no such call. Any context. */
extern struct syscall_event **trace_syscall_events;

/* Those that an event of entry, or of exit, is one of. Any context. */
static inline const struct syscall_event *trace_syscall_of_enter(const struct trace_event *event)
{
	return (const struct syscall_event *)((const char *)event->call -
					      offsetof(struct syscall_event, enter));
}
static inline const struct syscall_event *trace_syscall_of_exit(const struct trace_event *event)
{
	return (const struct syscall_event *)((const char *)event->call -
					      offsetof(struct syscall_event, exit));
}

/* ---- syscall_text.c ---- */

extern const struct trace_event_functions trace_syscall_enter_funcs, trace_syscall_exit_funcs;
extern const struct trace_event_functions trace_syscall_latency_funcs;

/* ---- syscall_errno.c ---- */

/* Linux's name of the error that a call has returned; NULL: it is none. Any context. */
const char *trace_errname(int64_t ret);

/* ---- syscall_why.c ---- */

extern const struct trace_why_check trace_syscall_whys[];

#endif
