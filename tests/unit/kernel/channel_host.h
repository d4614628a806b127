/*
 * The surroundings of a channel of 9P: work and threads run at once, and a server that takes the channel
 * and is over. To be included by one test file.
 */
#ifndef CHANNEL_HOST_H
#define CHANNEL_HOST_H

#include <kernel/base.h>
#include <kernel/ninep.h>
#include <kernel/thread.h>
#include <kernel/work.h>
#include "ninep/ninep_session.h"

static const struct ninep_channel *channel; /* the last one served */
static uint32_t nr_threads, nr_warnings;
static bool has_threads = true;

void work_init(struct work *work, void (*fn)(struct work *work))
{
	work->fn = fn;
}

bool queue_work(struct work *work)
{
	work->fn(work);
	return true;
}

int ninep_serve(const struct ninep_channel *its)
{
	channel = its;
	return -ENOMEM;
}

struct thread *thread_create(const char *name, int (*fn)(void *arg), void *arg, uint32_t flags)
{
	static struct thread one;

	(void)name;
	(void)flags;
	nr_threads++;
	if (!has_threads)
		return NULL;
	fn(arg);
	return &one;
}

void printk(enum log_level level, const char *fmt, ...)
{
	(void)level;
	(void)fmt;
	nr_warnings++;
}

#endif
