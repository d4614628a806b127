/*
 * Changes of text, one after the other: the lock that <trace/arch_text.h> wants held. Threads
 * change call sites under a lock of the library, and probes under another one.
 */
#include <pthread.h>
#include <trace/arch_probe.h>
#include <trace/arch_text.h>
#include <trace/arch_trampoline.h>
#include "process.h"

static pthread_mutex_t text_lock = PTHREAD_MUTEX_INITIALIZER;

bool text_has_room = true;

static int unlock_and_return(int err)
{
	pthread_mutex_unlock(&text_lock);
	return err;
}

int trace_plat_poke_batch(const struct trace_poke *pokes, size_t nr,
			  struct trace_poke_error *out_error)
{
	pthread_mutex_lock(&text_lock);
	return unlock_and_return(text_poke_batch(pokes, nr, out_error));
}

/*
 * Without site_func: its trampoline changes rax, which in a program tells a function with a variable
 * number of arguments how many of them are in vector registers.
 */
int trace_plat_trampoline_create(const struct trace_trampoline_call *calls, size_t nr,
				 bool with_regs, struct trace_trampoline *out_trampoline)
{
	struct trace_trampoline_call first = *calls;

	if (!text_has_room)
		return -ENOMEM;
	first.site_func = 0;
	pthread_mutex_lock(&text_lock);
	return unlock_and_return(
		trampoline_create(nr == 1 ? &first : calls, nr, with_regs, out_trampoline));
}

int trace_plat_trampoline_retarget(struct trace_trampoline *tramp, uint32_t index, uintptr_t func)
{
	pthread_mutex_lock(&text_lock);
	return unlock_and_return(trampoline_retarget(tramp, index, func));
}

void trace_plat_trampoline_destroy(struct trace_trampoline *tramp)
{
	pthread_mutex_lock(&text_lock);
	trampoline_destroy(tramp);
	pthread_mutex_unlock(&text_lock);
}

int trace_plat_probe_create(struct trace_plat_probe *probe, uintptr_t addr, bool with_post)
{
	pthread_mutex_lock(&text_lock);
	return unlock_and_return(trace_probe_create(probe, addr, with_post));
}

int trace_plat_probe_jump_create(struct trace_plat_probe *probe, size_t bytes)
{
	pthread_mutex_lock(&text_lock);
	return unlock_and_return(trace_probe_jump_create(probe, bytes));
}

void trace_plat_probe_destroy(struct trace_plat_probe *probe)
{
	pthread_mutex_lock(&text_lock);
	trace_probe_destroy(probe);
	pthread_mutex_unlock(&text_lock);
}
