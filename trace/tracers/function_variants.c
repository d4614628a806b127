/*
 * The function tracer with its options func_stack_trace and func-no-repeats, also together with
 * func-args; see function_tracer.h.
 *
 * func-no-repeats: each CPU remembers its last call and how often that was repeated; when another
 * call comes, an event with the count is written first. The pair {caller and function, count and
 * time} is changed by one compare-exchange, so each repeat is counted exactly once, even if an
 * interrupt or NMI calls in between.
 */
#include <trace/recursion.h>
#include <trace/thread.h>
#include "function_entry.h"
#include "function_tracer.h"
#include "instance/stacktrace.h"
#include "ring/ring_fast.h"
#include "text/str.h"

#define COUNT_ONE (1ull << TRACE_REPEATS_SHIFT)

struct trace_repeats {
	struct trace_pair last; /* lo: ip and parent_ip << 32, hi: count and time */
} __attribute__((aligned(64)));

static size_t repeats_bytes(void)
{
	return trace_plat_nr_cpus() * sizeof(struct trace_repeats);
}

int trace_repeats_create(struct trace_array *tr)
{
	if (!trace_function_of(tr)->repeats)
		trace_function_of(tr)->repeats = trace_plat_alloc(repeats_bytes());
	if (!trace_function_of(tr)->repeats)
		return -ENOMEM;
	memset(trace_function_of(tr)->repeats, 0, repeats_bytes());
	return 0;
}

void trace_repeats_free(struct trace_array *tr)
{
	if (trace_function_of(tr)->repeats)
		trace_plat_free(trace_function_of(tr)->repeats, repeats_bytes());
	trace_function_of(tr)->repeats = NULL;
}

static void write_repeats(struct ring_buffer *buffer, uint64_t call, uint64_t count_and_last)
{
	struct trace_func_repeats_entry *entry;

	entry = ring_buffer_lock_reserve(buffer, sizeof(*entry));
	if (!entry)
		return;
	trace_entry_init(&entry->ent, TRACE_TYPE_FUNC_REPEATS, 2);
	entry->ip = (uint32_t)call;
	entry->parent_ip = (uint32_t)(call >> 32);
	entry->count_and_last = count_and_last;
	ring_buffer_unlock_commit(buffer, entry);
}

/*
 * True: the call repeats the last one and was counted. False: it is a new one, which the caller has
 * to write; the count of the last one was written, if it had repeats.
 */
static bool is_repeat(const struct trace_array *tr, struct ring_buffer *buffer, uintptr_t ip,
		      uintptr_t parent_ip)
{
	struct trace_pair *last = &trace_function_of(tr)->repeats[trace_plat_cpu_id()].last;
	uint64_t call = trace_plat_ip_pack(ip) | (uint64_t)trace_plat_ip_pack(parent_ip) << 32;
	uint64_t now = ring_buffer_time_stamp(buffer) & TRACE_REPEATS_TIME;
	uint64_t old_call, old_count, count;
	bool repeated;

	do {
		/* If an interrupt changes the pair between the two loads, the exchange fails. */
		old_call = trace_ring_load(&last->lo);
		old_count = trace_ring_load(&last->hi);
		count = old_count & ~TRACE_REPEATS_TIME;
		repeated = old_call == call && count != ~TRACE_REPEATS_TIME;
		count = repeated ? count + COUNT_ONE : 0;
	} while (!trace_plat_pair_cmpxchg(last, &old_call, old_count, call, count | now));
	if (!repeated && old_count >> TRACE_REPEATS_SHIFT)
		write_repeats(buffer, old_call, old_count);
	return repeated;
}

static void function_variants_write_call(struct ring_buffer *buffer, uintptr_t ip,
					 uintptr_t parent_ip)
{
	struct trace_func_entry *entry = ring_buffer_lock_reserve(buffer, sizeof(*entry));

	if (!entry)
		return;
	trace_entry_init(&entry->ent, TRACE_TYPE_FN, 2);
	entry->ip = trace_plat_ip_pack(ip);
	entry->parent_ip = trace_plat_ip_pack(parent_ip);
	ring_buffer_unlock_commit(buffer, entry);
}

void trace_function_options_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	const struct trace_array *tr = ops->private;
	struct trace_ring_cpu *rc;
	struct ring_buffer *buffer;
	int bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);

	if (bit < 0)
		return;
	if (TRACE_UNLIKELY(parent_ip == trace_plat_return_hook()))
		parent_ip = trace_function_true_parent(parent_ip, fregs);
	buffer = tr->buffer;
	rc = buffer->cpu[trace_plat_cpu_id()];
	if (trace_ring_is_off(rc))
		goto out; /* a call that is not recorded does not count as a repeat */
	if (trace_function_of(tr)->options & TRACE_FUNC_NO_REPEATS &&
	    is_repeat(tr, buffer, ip, parent_ip))
		goto out;
	if (trace_function_of(tr)->options & TRACE_FUNC_ARGS)
		trace_function_write_args(rc, ip, parent_ip, fregs);
	else
		function_variants_write_call(buffer, ip, parent_ip);
	if (trace_function_of(tr)->options & TRACE_FUNC_STACK)
		trace_stacktrace_callback(buffer, (uintptr_t)__builtin_frame_address(0));
out:
	trace_recursion_exit(bit);
}
