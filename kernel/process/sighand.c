/* Actions of signals, which processes may have in common: see struct sighand in signal.h. */
#include <stdatomic.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include "signal.h"

struct sighand *sighand_create(void)
{
	struct sighand *sighand = kzalloc(sizeof(*sighand));

	if (sighand)
		atomic_store_explicit(&sighand->uses, 1, memory_order_relaxed);
	return sighand;
}

struct sighand *sighand_copy(struct sighand *from)
{
	struct sighand *to = sighand_create();
	uint64_t flags;

	if (!to)
		return NULL;
	flags = spin_lock_irqsave(&from->lock);
	memcpy(to->actions, from->actions, sizeof(to->actions));
	spin_unlock_irqrestore(&from->lock, flags);
	return to;
}

struct sighand *sighand_share(struct sighand *sighand)
{
	atomic_fetch_add(&sighand->uses, 1);
	return sighand;
}

bool sighand_is_shared(const struct sighand *sighand)
{
	return atomic_load(&sighand->uses) > 1;
}

void sighand_put(struct sighand *sighand)
{
	if (sighand && atomic_fetch_sub(&sighand->uses, 1) == 1)
		kfree(sighand);
}

void sighand_reset(struct sighand *sighand)
{
	for (size_t i = 0; i < NSIG; i++) {
		struct user_sigaction *action = &sighand->actions[i];

		*action = (struct user_sigaction){ .handler = action->handler == SIG_IGN };
	}
}
