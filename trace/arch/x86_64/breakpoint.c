/*
 * The chain of breakpoint consumers, see <trace/arch_breakpoint.h>, and what they make of code that
 * is read, see <trace/arch_text.h>.
 */
#include <stdatomic.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_text.h>

#include "check.h"
#include "text_private.h"

static struct {
	struct trace_breakpoint_consumer *_Atomic first; /* text lock to write */
	_Atomic uint64_t nr_forgotten;
} breakpoints;

/* Pairs with the stores that link a consumer: it is seen whole. */
static struct trace_breakpoint_consumer *
next_of(struct trace_breakpoint_consumer *_Atomic const *link)
{
	return atomic_load_explicit(link, memory_order_acquire);
}

bool trace_breakpoint_dispatch(uintptr_t *rip, uintptr_t *rsp, void *frame)
{
	const struct trace_breakpoint_hit hit = {
		.site = *rip - 1, .rip = rip, .rsp = rsp, .frame = frame
	};
	struct trace_breakpoint_consumer *consumer = next_of(&breakpoints.first);

	while (consumer && !consumer->answer(consumer, &hit))
		consumer = next_of(&consumer->next);
	return consumer;
}

void trace_breakpoint_register(struct trace_breakpoint_consumer *consumer)
{
	struct trace_breakpoint_consumer *_Atomic *link = &breakpoints.first, *next;

	trace_text_take();
	while ((next = next_of(link)) && next->priority >= consumer->priority)
		link = &next->next;
	atomic_store_explicit(&consumer->next, next, memory_order_relaxed);
	atomic_store_explicit(link, consumer, memory_order_release);
	trace_text_drop();
}

void trace_breakpoint_unregister(struct trace_breakpoint_consumer *consumer)
{
	struct trace_breakpoint_consumer *_Atomic *link = &breakpoints.first, *next;

	trace_text_take();
	while ((next = next_of(link)) != consumer) {
		CHECK(next);
		link = &next->next;
	}
	trace_breakpoint_forget();
	/* Its own link stays: a walk that stands on it goes on from there. */
	atomic_store_explicit(link, next_of(&consumer->next), memory_order_release);
	trace_text_drop();
}

void trace_breakpoint_forget(void)
{
	atomic_fetch_add(&breakpoints.nr_forgotten, 1);
}

/* ---- Reading code ---- */

static bool breakpoint_is_code(uintptr_t addr, size_t len)
{
	uintptr_t last = addr + len - 1;

	return len && last >= addr &&
	       ((trace_arch_is_text(addr) && trace_arch_is_text(last)) ||
		(trace_exec_contains(addr) && trace_exec_contains(last)));
}

static void copy_code(uintptr_t addr, uint8_t *to, size_t len)
{
	const volatile uint8_t *from = (const volatile uint8_t *)addr;

	for (size_t i = 0; i < len; i++)
		to[i] = from[i];
	atomic_thread_fence(memory_order_acquire);
}

/*
 * An int3 that was copied is one that its consumer knows of, for that came first; unless it was
 * taken away and forgotten meanwhile, which the count tells.
 */
bool trace_text_meant(uintptr_t addr, void *out_bytes, size_t len)
{
	uint64_t nr_forgotten;

	if (!breakpoint_is_code(addr, len))
		return false;
	do {
		struct trace_breakpoint_consumer *consumer;

		nr_forgotten = atomic_load(&breakpoints.nr_forgotten);
		copy_code(addr, out_bytes, len);
		for (consumer = next_of(&breakpoints.first); consumer;
		     consumer = next_of(&consumer->next)) {
			if (consumer->restore)
				consumer->restore(consumer, addr, out_bytes, len);
		}
	} while (atomic_load(&breakpoints.nr_forgotten) != nr_forgotten);
	return true;
}
