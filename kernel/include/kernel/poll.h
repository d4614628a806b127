/*
 * Waiting for any of several files: poll(), select(), epoll.
 *
 *   poll_until() --> look(table) --> vfs_poll(file, table) --> file_ops.poll --> poll_wait(table, &queue)
 *
 * A look asks each file which events it has, and each file names the queues that are woken when that
 * changes. If no file has any, the thread sleeps until one of the queues is woken, and looks again.
 *
 * Context: thread. Errors: a negative errno.
 */
#ifndef KERNEL_POLL_H
#define KERNEL_POLL_H

#include <kernel/base.h>
#include <kernel/lock.h>

struct file;
struct poll_table; /* the queues that one look has named */

/* Events, as poll(2) numbers them. The last three are told even if they are not asked for. */
#define POLLIN	    0x01u /* a read would not wait */
#define POLLPRI	    0x02u /* something has happened since this was last said */
#define POLLOUT	    0x04u /* a write would not wait */
#define POLLERR	    0x08u /* a write is of no use: all who could read have gone */
#define POLLHUP	    0x10u /* all who could write have gone */
#define POLLNVAL    0x20u /* there is no such file */
#define POLL_ALWAYS (POLLERR | POLLHUP | POLLNVAL)

/*
 * The events of `file`, at least those of `wanted` that it has. `table`: NULL, or the table in which the queues
 * are named that tell of changes; it holds a reference to the file then.
 */
uint32_t vfs_poll(struct file *file, uint32_t wanted, struct poll_table *table);

/*
 * For file_ops.poll, before it looks: `queue` is woken, by waitq_wake_all(), when the events change. The file
 * keeps it. NULL as table: no effect.
 */
void poll_wait(struct poll_table *table, struct waitq *queue);
/* The same for a change at a known time, as ktime_get_ns() counts, that wakes no queue. */
void poll_wait_until(struct poll_table *table, uint64_t ns);

/* Woken when a descriptor of a file that is in a set of epoll is closed: waiters let go of the file. */
extern struct waitq poll_closed;

/*
 * Call look() until it returns something other than 0, which is returned, or until the deadline, as ktime_get_ns()
 * counts (UINT64_MAX: never): 0. -EINTR: the thread was interrupted. With NULL as table look() names no queues.
 */
long poll_until(uint64_t deadline_ns, long (*look)(struct poll_table *table, void *arg), void *arg);

#endif
