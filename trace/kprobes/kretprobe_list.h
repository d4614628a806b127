/*
 * The list of registered kretprobes, armed or not, for /sys/kernel/debug/kprobes/list.
 *
 * Context:   thread.
 * Locking:   the lock of kretprobe.c, held by the caller.
 * Ownership: a probe belongs to its owner, who does not free it while it is in the list.
 */
#ifndef KRETPROBE_LIST_H
#define KRETPROBE_LIST_H

#include <trace/kretprobe.h>

/* Its address is known, and stays as it is until it is removed. */
void kretprobe_list_add(struct kretprobe *rp);
void kretprobe_list_remove(struct kretprobe *rp);
/* As kretprobes_list_next(). */
size_t kretprobe_list_line(uint64_t *cursor, char *buf, size_t size);

#endif
