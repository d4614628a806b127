/*
 * membarrier(): all other threads, of the process or of all, execute a full memory barrier between call and return. The CPUs that run them are
 * interrupted, and their way back is a barrier, also for what they have fetched of changed code; a CPU that
 * takes up such a thread meanwhile does so by a load of its page tables, which is one, too.
 */
#include <arch/smp.h>
#include "syscall.h"

enum {
	MEMBARRIER_GLOBAL = 1,
	MEMBARRIER_GLOBAL_EXPEDITED = 2,
	MEMBARRIER_REGISTER_GLOBAL_EXPEDITED = 4,
	MEMBARRIER_PRIVATE_EXPEDITED = 8,
	MEMBARRIER_REGISTER_PRIVATE_EXPEDITED = 16,
	MEMBARRIER_PRIVATE_EXPEDITED_SYNC_CORE = 32,
	MEMBARRIER_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE = 64,
	MEMBARRIER_ALL = 127
};

static void membarrier_on_cpu(void *arg)
{
	(void)arg;
	atomic_thread_fence(memory_order_seq_cst);
}

static long membarrier_on(uint64_t cpus)
{
	atomic_thread_fence(memory_order_seq_cst);
	smp_call_function_many(cpus, membarrier_on_cpu, NULL, true);
	atomic_thread_fence(memory_order_seq_cst);
	return 0;
}

/* Of the own process, which has said before that it will ask for it. */
static long membarrier_private(struct mm *mm, uint32_t registration)
{
	if (!(atomic_load(&mm->membarriers) & registration))
		return -EPERM;
	atomic_thread_fence(memory_order_seq_cst);
	return membarrier_on(mm_is_shared(mm) ? atomic_load(&mm->cpus) : 0);
}

static long membarrier_register(struct mm *mm, uint32_t registration)
{
	atomic_fetch_or(&mm->membarriers, registration);
	return 0;
}

long sys_membarrier(int cmd, unsigned int flags, int cpu_id)
{
	struct mm *mm = current_task()->mm;

	(void)cpu_id;
	if (flags)
		return -EINVAL;
	switch (cmd) {
	case 0:
		return MEMBARRIER_ALL;
	case MEMBARRIER_GLOBAL:
	case MEMBARRIER_GLOBAL_EXPEDITED:
		return membarrier_on(UINT64_MAX);
	case MEMBARRIER_PRIVATE_EXPEDITED:
		return membarrier_private(mm, MEMBARRIER_REGISTER_PRIVATE_EXPEDITED);
	case MEMBARRIER_PRIVATE_EXPEDITED_SYNC_CORE:
		return membarrier_private(mm, MEMBARRIER_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
	case MEMBARRIER_REGISTER_GLOBAL_EXPEDITED:
	case MEMBARRIER_REGISTER_PRIVATE_EXPEDITED:
	case MEMBARRIER_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE:
		return membarrier_register(mm, (uint32_t)cmd);
	default:
		return -EINVAL;
	}
}
