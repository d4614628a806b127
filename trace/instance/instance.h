/*
 * Instances besides the global one: mkdir and rmdir in instances/, and users inside the kernel.
 *
 *   create --> in the list, files there --> get ... put --> remove: -EBUSY while somebody holds it
 *
 * An instance has its own buffers, tracer, ops with filters, options, thread filters, clock, CPU
 * mask, error log. It begins with the options of the global one, but does not follow forks.
 *
 * Context:   thread, no lock held.
 * Locking:   the config lock, then the arrays lock.
 * Ownership: the list; whoever got a reference may use it until put. Open files have one.
 */
#ifndef TRACE_INSTANCE_H
#define TRACE_INSTANCE_H

#include "array.h"

/*
 * -EEXIST, -ENOMEM (nothing is left), -EINVAL for an empty name and one with a slash,
 * -ENAMETOOLONG.
 */
int trace_instance_create(const char *name);
/*
 * -ENOENT, -EBUSY while it is held. Its tracer ends. When tracing is dead its memory is not given
 * back.
 */
int trace_instance_remove(const char *name);

#endif
