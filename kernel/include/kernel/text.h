/*
 * The lock of all changes of the kernel's code: text_poke_batch(), trace_text_write(), and the
 * functions built on them.
 *
 * Context:   thread.
 * Locking:   taken inside ftrace's lock; nothing but the hot-plug lock is taken inside it.
 */
#ifndef KERNEL_TEXT_H
#define KERNEL_TEXT_H

#include <kernel/lock.h>

extern struct mutex text_mutex;

#endif
