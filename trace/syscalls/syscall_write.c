/*
 * Writing the events of system calls. See syscall_event.h.
 *
 * Context: thread, in its system call, preemption on.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include "syscall_event.h"
#include "events/event_claim.h"
#include "text/str.h"

/* Fill in what stands behind the head, up to the arguments' end. */
static TRACE_ALWAYS_INLINE void syscall_put_args(const struct syscall_event *event, char *entry,
						 const uint64_t *args)
{
	uint64_t nr = event->nr;

	__builtin_memcpy(entry + SYSCALL_NR_AT, &nr, sizeof(nr));
	for (uint32_t i = 0; i < event->nr_args; i++)
		__builtin_memcpy(entry + SYSCALL_ARGS_AT + i * sizeof(*args), &args[i],
				 sizeof(*args));
}

/* ---- Memory of the caller ---- */

#define EACH_BYTE(value) ((value)*0x0101010101010101ull)
#define HIGH_BITS	 EACH_BYTE(0x80ull)

/* Are all bytes of a word printable? No step carries from one byte into the next. */
static TRACE_ALWAYS_INLINE bool syscall_word_is_printable(uint64_t word)
{
	uint64_t from_blank = (word | HIGH_BITS) - EACH_BYTE(' ');
	uint64_t is_del = (word & ~HIGH_BITS) + EACH_BYTE(1);

	return !((word | ~from_blank | is_del) & HIGH_BITS);
}

static TRACE_NOINLINE void syscall_put_points(char *text, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '.';
	}
}

/*
 * Linux's rule for texts: each byte that is not printable becomes a point. Eight bytes are looked at
 * together, with blanks behind the end; there is room for as many.
 */
static void syscall_make_printable(char *text, uint32_t len)
{
	uint64_t word, behind = len % 8 ? ~0ull << len % 8 * 8 : 0;
	bool is_printable = true;
	uint32_t i = 0;

	for (; i + 8 <= len; i += 8) {
		__builtin_memcpy(&word, text + i, sizeof(word));
		is_printable &= syscall_word_is_printable(word);
	}
	if (behind) {
		__builtin_memcpy(&word, text + i, sizeof(word));
		is_printable &=
			syscall_word_is_printable((word & ~behind) | (EACH_BYTE(' ') & behind));
	}
	if (TRACE_UNLIKELY(!is_printable))
		syscall_put_points(text, len);
}

/* Copy a text with its NUL. Returns its bytes, 0 when it cannot be read. */
static uint32_t syscall_read_text(char *to, uint64_t from, uint32_t max)
{
	long len = trace_plat_syscalls()->strncpy_from_user(to, (const char *)from, max + 1);

	if (len >= 0) {
		syscall_make_printable(to, (uint32_t)len);
		return (uint32_t)len + 1;
	}
	if (len != -ENAMETOOLONG)
		return 0;
	syscall_make_printable(to, max);
	memcpy(to + max, SYSCALL_CUT, sizeof(SYSCALL_CUT));
	return max + (uint32_t)sizeof(SYSCALL_CUT);
}

/* Copy the first bytes of a buffer. Returns how many, 0 when they cannot be read. */
static uint32_t syscall_read_bytes(char *to, uint64_t from, uint64_t count, uint32_t max)
{
	uint32_t bytes = count < max ? (uint32_t)count : max;

	return trace_plat_syscalls()->copy_from_user(to, (const void *)from, bytes) ? 0 : bytes;
}

static uint32_t syscall_read_val(const struct syscall_event *event, uint32_t i, char *to,
				 const uint64_t *args)
{
	uint32_t arg = event->vals[i].arg, max = trace_syscall_user_bytes;

	if (!max)
		return 0;
	return event->vals[i].is_text ? syscall_read_text(to, args[arg], max)
				      : syscall_read_bytes(to, args[arg], args[arg + 1], max);
}

/* Fill in all that the arguments point to. Returns the bytes of the event. */
static uint32_t syscall_put_vals(const struct syscall_event *event, char *entry,
				 const uint64_t *args)
{
	uint32_t at = event->fixed_bytes, zero = 0;

	for (uint32_t i = 0; i < event->nr_vals; i++) {
		uint32_t bytes = syscall_read_val(event, i, entry + at, args);
		uint32_t place = at | bytes << 16;

		__builtin_memcpy(entry + event->user_at + i * sizeof(place), &place, sizeof(place));
		at += bytes;
		__builtin_memcpy(entry + at, &zero, sizeof(zero));
		at = (at + 3) & ~3u;
	}
	return at;
}

/* Is the event wanted for this thread? Asked before memory is read, which may fault. */
static bool syscall_is_wanted(const struct trace_event_call *call)
{
	const struct trace_event_front *front;
	bool is_wanted;

	trace_plat_preempt_disable();
	front = trace_event_front_of(call);
	is_wanted = trace_event_may_be_wanted(front, trace_event_flags(front), NULL);
	trace_plat_preempt_enable();
	return is_wanted;
}

static TRACE_NOINLINE void syscall_write_long(struct syscall_event *event, const uint64_t *args)
{
	char entry[SYSCALL_ENTER_BYTES] __attribute__((aligned(8)));
	uint32_t bytes;

	if (!syscall_is_wanted(&event->enter))
		return;
	syscall_put_args(event, entry, args);
	bytes = syscall_put_vals(event, entry, args);
	trace_plat_preempt_disable();
	trace_event_write(&event->enter, entry, bytes, NULL);
	trace_plat_preempt_enable();
}

/* ---- Both events ---- */

/* Room in the ring for the commonest event; NULL when only trace_event_write_special() can write it. */
static TRACE_ALWAYS_INLINE char *syscall_claim(const struct trace_event_call *call, uint32_t bytes,
					       struct trace_event_claim *claim)
{
	const struct trace_event_front *front = trace_event_front_of(call);

	if (TRACE_UNLIKELY(trace_event_flags(front) != TRACE_EVENT_RECORDS))
		return NULL;
	return trace_event_claim(front, TRACE_EVENT_STEP(bytes), claim);
}

static TRACE_NOINLINE void syscall_write_enter(const struct syscall_event *event,
					       const uint64_t *args)
{
	char entry[SYSCALL_FIXED_BYTES] __attribute__((aligned(8)));

	syscall_put_args(event, entry, args);
	trace_event_write_special(trace_event_front_of(&event->enter), entry,
				  TRACE_EVENT_STEP(event->fixed_bytes), &trace_event_any, NULL);
}

void trace_syscall_enter(uint32_t nr, const uint64_t args[TRACE_SYSCALL_ARGS])
{
	struct syscall_event *event = trace_syscall_events[nr];
	struct trace_event_claim claim;
	char *entry;

	if (event->nr_vals) {
		syscall_write_long(event, args);
		return;
	}
	trace_plat_preempt_disable();
	entry = syscall_claim(&event->enter, event->fixed_bytes, &claim);
	if (TRACE_LIKELY(entry)) {
		syscall_put_args(event, entry, args);
		trace_event_publish(&claim);
	} else {
		syscall_write_enter(event, args);
	}
	trace_plat_preempt_enable();
}

static TRACE_ALWAYS_INLINE void syscall_put_ret(char *entry, uint64_t nr, int64_t ret)
{
	__builtin_memcpy(entry + SYSCALL_NR_AT, &nr, sizeof(nr));
	__builtin_memcpy(entry + SYSCALL_ARGS_AT, &ret, sizeof(ret));
}

static TRACE_NOINLINE void syscall_write_exit(const struct syscall_event *event, int64_t ret)
{
	char entry[SYSCALL_EXIT_BYTES] __attribute__((aligned(8)));

	syscall_put_ret(entry, event->nr, ret);
	trace_event_write_special(trace_event_front_of(&event->exit), entry,
				  TRACE_EVENT_STEP(sizeof(entry)), &trace_event_any, NULL);
}

void trace_syscall_exit(uint32_t nr, int64_t ret)
{
	struct syscall_event *event = trace_syscall_events[nr];
	struct trace_event_claim claim;
	char *entry;

	trace_plat_preempt_disable();
	entry = syscall_claim(&event->exit, SYSCALL_EXIT_BYTES, &claim);
	if (TRACE_LIKELY(entry)) {
		syscall_put_ret(entry, nr, ret);
		trace_event_publish(&claim);
	} else {
		syscall_write_exit(event, ret);
	}
	trace_plat_preempt_enable();
}

void trace_syscall_latency(uint32_t nr, uint64_t begin_ns, int64_t ret)
{
	char entry[SYSCALL_LATENCY_BYTES] __attribute__((aligned(8)));
	uint64_t word = nr, lat;

	__builtin_memcpy(entry + SYSCALL_NR_AT, &word, sizeof(word));
	__builtin_memcpy(entry + SYSCALL_LAT_RET_AT, &ret, sizeof(ret));
	__builtin_memcpy(entry + SYSCALL_LAT_NAME_AT, trace_syscall_events[nr]->name,
			 SYSCALL_NAME_BYTES);
	trace_plat_preempt_disable();
	lat = trace_plat_clock_mono_ns() - begin_ns;
	__builtin_memcpy(entry + SYSCALL_LAT_AT, &lat, sizeof(lat));
	trace_event_write(&trace_syscall_latency_call, entry, sizeof(entry), NULL);
	trace_plat_preempt_enable();
}
