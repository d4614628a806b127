/*
 * Instances besides the global one: made and removed by mkdir and rmdir in instances/, and by the
 * host's code (<trace/trace.h>).
 *
 *   create --> in the list, has files --> get ... put --> remove: -EBUSY while it has
 *                                                         references
 *
 * An instance has its own buffers, tracer, ops with filters, options, thread filters, clock, CPU
 * mask and error log. It begins with the options of the global one, except for those about threads,
 * markers and prints.
 *
 * Context:   thread, no lock held.
 * Locking:   these functions take the config lock, then the arrays lock.
 * Ownership: the list owns instances. The holder of a reference may use the instance until it is
 *            put; an open file has one.
 */
#ifndef TRACE_INSTANCE_H
#define TRACE_INSTANCE_H

#include "array.h"

/*
 * 0; -EEXIST, -ENOMEM, -EINVAL (the name is empty or has a slash), -ENAMETOOLONG (it has
 * TRACE_INSTANCE_NAME characters or more), -ENODEV (before trace_init()), or an error of a feature.
 */
int trace_instance_create(const char *name);
/*
 * The same, with the config lock held. With `kept` it is one of kept.h, which has it from the start;
 * `buffer` has rings for all CPUs and is the instance's if that succeeds, NULL: one of the usual size.
 */
int trace_instance_make(const char *name, struct trace_kept *kept, struct ring_buffer *buffer,
			struct trace_array **out_tr);
/*
 * End an instance's tracer and remove it. Returns 0; -ENOENT; -EBUSY while it has references, and
 * for those of kept.h. Its
 * memory is freed later, when no thread is in its callbacks; never, when tracing is dead.
 */
int trace_instance_remove(const char *name);

#endif
