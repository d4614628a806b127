/* Limits of programs: see <kernel/rlimit.h> and process.h. */
#include <kernel/rlimit.h>
#include <kernel/string.h>
#include "process.h"

/* As Linux has them, as far as there are so many descriptors. */
void rlimits_init(struct process *process)
{
	struct rlimit *limits = process->limits;

	for (size_t i = 0; i < NR_RLIMITS; i++)
		limits[i] = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	limits[RLIMIT_STACK].cur = STACK_BYTES_MAX;
	limits[RLIMIT_CORE].cur = 0;
	limits[RLIMIT_NOFILE] = (struct rlimit){ FILES_MAX, FILES_MAX };
}

uint64_t rlimit(unsigned int resource)
{
	const struct task *task = current_thread()->task;

	return task ? task->process->limits[resource].cur : RLIM_INFINITY;
}

size_t rlimit_file_room(uint64_t pos, size_t len)
{
	uint64_t most = rlimit(RLIMIT_FSIZE), room = pos < most ? most - pos : 0;

	if (len && !room)
		kill_self(SIGXFSZ);
	return len < room ? len : room;
}

static bool rlimit_is_data(const struct vma *vma)
{
	return (vma->flags & (VM_WRITE | VM_SHARED | VM_STACK)) == VM_WRITE;
}

/* The bytes of a range of which `over` takes nothing. */
static uint64_t rlimit_bytes_left(const struct vma *vma, const struct vma *over)
{
	uintptr_t start = vma->start > over->start ? vma->start : over->start;
	uintptr_t end = vma->end < over->end ? vma->end : over->end;

	return vma->end - vma->start - (start < end ? end - start : 0);
}

bool may_expand_vm(struct mm *mm, const struct vma *range)
{
	uint64_t all = rlimit(RLIMIT_AS), data = rlimit(RLIMIT_DATA);
	uint64_t bytes = range->end - range->start;
	struct list *pos;

	if (!rlimit_is_data(range))
		data = RLIM_INFINITY;
	if (all == RLIM_INFINITY && data == RLIM_INFINITY)
		return true;
	list_for_each(pos, &mm->vmas) {
		const struct vma *vma = list_entry(pos, struct vma, link);
		uint64_t has = rlimit_bytes_left(vma, range);

		all -= all < has ? all : has;
		if (rlimit_is_data(vma) && data != RLIM_INFINITY)
			data -= data < has ? data : has;
	}
	return bytes <= all && bytes <= data;
}

struct rlimit_count {
	uint32_t uid;
	uint64_t nr;
};

static void rlimit_count_user(struct process *process, void *arg)
{
	struct rlimit_count *count = arg;

	if (process->cred.user.real == count->uid)
		count->nr += process->signals.nr_tasks;
}

bool may_add_task(void)
{
	struct rlimit_count count = { .uid = current_cred()->user.real };
	uint64_t most = rlimit(RLIMIT_NPROC);

	if (most == RLIM_INFINITY || !count.uid || capable(CAP_SYS_RESOURCE))
		return true;
	process_each(rlimit_count_user, &count);
	return count.nr < most;
}
