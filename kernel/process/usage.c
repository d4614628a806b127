/* Time, faults and switches of programs: see usage.h. */
#include <kernel/string.h>
#include <kernel/time.h>
#include "process.h"
#include "usage.h"

static void usage_add(struct usage *to, const struct usage *from)
{
	to->user_ns += from->user_ns;
	to->kernel_ns += from->kernel_ns;
	to->nr_faults += from->nr_faults;
	to->nr_voluntary += from->nr_voluntary;
	to->nr_involuntary += from->nr_involuntary;
	if (to->max_pages < from->max_pages)
		to->max_pages = from->max_pages;
}

void usage_add_mm(struct usage *usage, const struct mm *mm)
{
	uint64_t nr = mm_max_pages(mm);

	if (usage->max_pages < nr)
		usage->max_pages = nr;
}

/* No other thread writes it, and a reader gets the old number or the new one. */
void usage_keep_mm(struct process *process, const struct mm *mm)
{
	usage_add_mm(&process->ended_usage, mm);
}

void usage_of_thread(const struct thread *thread, struct usage *out)
{
	uint64_t user = thread->nr_ticks[THREAD_TICK_USER];
	uint64_t kernel = thread->nr_ticks[THREAD_TICK_KERNEL];

	*out = (struct usage){ .nr_faults = thread->nr_faults,
			       .nr_voluntary = thread->nr_voluntary,
			       .nr_involuntary = thread->nr_involuntary };
	out->kernel_ns = time_part(thread->runtime_ns, kernel, user + kernel);
	out->user_ns = thread->runtime_ns - out->kernel_ns;
}

void usage_keep(struct process *process, const struct thread *thread)
{
	struct usage usage;

	usage_of_thread(thread, &usage);
	usage_add(&process->ended_usage, &usage);
}

/* Neither of the two times has ever been more: ticks that come later change how the sum is divided. */
static void usage_never_less(struct process *process, struct usage *usage)
{
	uint64_t sum_ns = usage->user_ns + usage->kernel_ns;

	if (usage->kernel_ns < process->told_kernel_ns)
		usage->kernel_ns = process->told_kernel_ns;
	if (sum_ns < usage->kernel_ns + process->told_user_ns)
		usage->kernel_ns = sum_ns - process->told_user_ns;
	usage->user_ns = sum_ns - usage->kernel_ns;
	process->told_kernel_ns = usage->kernel_ns;
	process->told_user_ns = usage->user_ns;
}

void usage_of_process_locked(struct process *process, struct usage *out)
{
	struct usage usage;
	struct list *pos;

	*out = process->ended_usage;
	list_for_each(pos, &process->signals.tasks) {
		usage_of_thread(list_entry(pos, struct task, link)->thread, &usage);
		usage_add(out, &usage);
	}
	usage_never_less(process, out);
}

void usage_of_process(struct process *process, struct usage *out)
{
	uint64_t flags = spin_lock_irqsave(&process->signals.lock);

	usage_of_process_locked(process, out);
	spin_unlock_irqrestore(&process->signals.lock, flags);
}

void usage_of_children(const struct process *process, struct usage *out)
{
	mutex_lock(&process_lock);
	*out = process->children_usage;
	mutex_unlock(&process_lock);
}

void usage_of_child(struct process *parent, struct process *child, struct usage *out)
{
	usage_of_process(child, out);
	usage_add(out, &child->children_usage);
	usage_add(&parent->children_usage, out);
}

/* The members that are not there are 0. */
struct user_rusage {
	struct user_timeval user, system;
	int64_t maxrss, unused[3];
	int64_t minflt, majflt;
	int64_t unused_too[6];
	int64_t nvcsw, nivcsw;
};

static struct user_timeval usage_timeval(uint64_t ns)
{
	return (struct user_timeval){ .sec = (int64_t)(ns / NSEC_PER_SEC),
				      .usec = (int64_t)(ns % NSEC_PER_SEC / NSEC_PER_USEC) };
}

int usage_give(const struct usage *usage, void *to)
{
	const struct user_rusage out = {
		.user = usage_timeval(usage->user_ns),
		.system = usage_timeval(usage->kernel_ns),
		.maxrss = (int64_t)(usage->max_pages * (PAGE_SIZE / 1024)),
		.minflt = (int64_t)usage->nr_faults,
		.nvcsw = (int64_t)usage->nr_voluntary,
		.nivcsw = (int64_t)usage->nr_involuntary,
	};

	return copy_to_user(to, &out, sizeof(out)) ? -EFAULT : 0;
}
