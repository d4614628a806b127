/* Queues of pending signals: see signal.h. */
#include <stdatomic.h>
#include <kernel/mm.h>
#include "signal.h"

struct sigqueue {
	struct list link;
	struct user_siginfo info;
};

static _Atomic uint32_t nr_sigqueues; /* in the whole system */

void sigpending_init(struct sigpending *pending)
{
	list_init(&pending->queue);
	pending->signals = 0;
	pending->spare = NULL;
}

static struct sigqueue *signal_alloc(struct sigpending *pending, const struct user_siginfo *info)
{
	struct sigqueue *entry = NULL;

	if (atomic_fetch_add(&nr_sigqueues, 1) < SIGQUEUE_MAX)
		entry = pending->spare ? pending->spare : kmalloc(sizeof(*entry));
	if (entry == pending->spare)
		pending->spare = NULL;
	if (entry)
		entry->info = *info;
	else
		atomic_fetch_sub(&nr_sigqueues, 1);
	return entry;
}

/* The first that a queue gives up is kept for its next signal. */
static void signal_free(struct sigpending *pending, struct sigqueue *entry)
{
	list_remove(&entry->link);
	if (pending->spare)
		kfree(entry);
	else
		pending->spare = entry;
	atomic_fetch_sub(&nr_sigqueues, 1);
}

void sigpending_free(struct sigpending *pending)
{
	flush_sigqueue_mask(pending, UINT64_MAX);
	kfree(pending->spare);
}

enum signal_result sigpending_add(struct sigpending *pending, int sig,
				  const struct user_siginfo *info)
{
	struct sigqueue *entry;

	if (sig < SIGRTMIN && pending->signals & sigmask(sig))
		return TRACE_SIGNAL_ALREADY_PENDING;
	entry = info ? signal_alloc(pending, info) : NULL;
	if (info && !entry && sig >= SIGRTMIN && info->code != SI_USER)
		return TRACE_SIGNAL_OVERFLOW_FAIL;
	if (entry)
		list_add_tail(&pending->queue, &entry->link);
	pending->signals |= sigmask(sig);
	return info && !entry ? TRACE_SIGNAL_LOSE_INFO : TRACE_SIGNAL_DELIVERED;
}

void flush_sigqueue_mask(struct sigpending *pending, uint64_t mask)
{
	struct list *pos, *next;

	list_for_each_safe(pos, next, &pending->queue) {
		struct sigqueue *entry = list_entry(pos, struct sigqueue, link);

		if (mask & sigmask(entry->info.signo))
			signal_free(pending, entry);
	}
	pending->signals &= ~mask;
}

/* A fault comes before anything else, because its frame has to have the registers of the instruction. */
static int signal_choose(uint64_t signals)
{
	if (signals & SIGMASK_SYNCHRONOUS)
		signals &= SIGMASK_SYNCHRONOUS;
	return signals ? __builtin_ctzll(signals) + 1 : 0;
}

/* Its information, and whether there are more of this signal behind it. */
static bool signal_collect(struct sigpending *pending, int sig, struct user_siginfo *out_info)
{
	struct sigqueue *found = NULL;
	struct list *pos;

	list_for_each(pos, &pending->queue) {
		struct sigqueue *entry = list_entry(pos, struct sigqueue, link);

		if (entry->info.signo == sig && found) {
			*out_info = found->info;
			signal_free(pending, found);
			return true;
		}
		if (entry->info.signo == sig)
			found = entry;
	}
	if (found) {
		*out_info = found->info;
		signal_free(pending, found);
	} else {
		*out_info = (struct user_siginfo){ .signo = sig };
	}
	return false;
}

int sigpending_take(struct sigpending *pending, uint64_t mask, struct user_siginfo *out_info)
{
	int sig = signal_choose(pending->signals & mask);

	if (sig && !signal_collect(pending, sig, out_info))
		pending->signals &= ~sigmask(sig);
	return sig;
}
