/*
 * Waiting for any of several files. See <kernel/poll.h>.
 *
 * The waiters of one table lie in the queues of its files and share one word that says whether any of them was
 * woken. Each look makes the table anew: files may be opened, closed and replaced between two looks.
 */
#include <kernel/mm.h>
#include <kernel/poll.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <kernel/vfs.h>

#define POLL_OWN     6		   /* entries that need no memory of their own */
#define POLL_STEP_NS NSEC_PER_MSEC /* between two looks at a file that names no queue */

struct poll_entry {
	struct waiter waiter;
	struct waitq *queue;
	struct file
		*file; /* has the queue; the entry has a reference; NULL: the caller sees to that */
	struct poll_entry *next;
};

struct poll_table {
	struct waiter all;	    /* in no queue: is woken with any of the entries */
	struct poll_entry *entries; /* the newest first */
	struct poll_entry own[POLL_OWN];
	uint32_t nr_own;
	struct file *file; /* the one that is asked */
	uint64_t look_ns;  /* then something may change without a wake-up */
};

struct waitq poll_closed;

/* NULL: out of memory. */
static struct poll_entry *poll_entry_new(struct poll_table *table)
{
	return table->nr_own < POLL_OWN ? &table->own[table->nr_own++]
					: kzalloc(sizeof(struct poll_entry));
}

void poll_wait_until(struct poll_table *table, uint64_t ns)
{
	if (table && ns < table->look_ns)
		table->look_ns = ns;
}

void poll_wait(struct poll_table *table, struct waitq *queue)
{
	struct poll_entry *entry = table ? poll_entry_new(table) : NULL;

	if (!entry) {
		poll_wait_until(table, ktime_after(POLL_STEP_NS));
		return;
	}
	entry->queue = queue;
	entry->file = table->file ? get_file(table->file) : NULL;
	entry->waiter.group = &table->all;
	entry->next = table->entries;
	table->entries = entry;
	waitq_add(queue, &entry->waiter);
}

static void poll_table_init(struct poll_table *table)
{
	table->all = (struct waiter){ 0 };
	table->entries = NULL;
	table->nr_own = 0;
	table->file = NULL;
	table->look_ns = WAIT_FOREVER;
	for (uint32_t i = 0; i < POLL_OWN; i++)
		table->own[i] = (struct poll_entry){ 0 };
}

static bool poll_entry_is_own(const struct poll_table *table, const struct poll_entry *entry)
{
	return entry >= table->own && entry < table->own + POLL_OWN;
}

static void poll_table_end(struct poll_table *table)
{
	struct poll_entry *entry, *next;

	for (entry = table->entries; entry; entry = next) {
		next = entry->next;
		waitq_remove(entry->queue, &entry->waiter);
		fput(entry->file);
		if (!poll_entry_is_own(table, entry))
			kfree(entry);
	}
}

/* The events of a file that has no operation for them. */
static uint32_t poll_plain(struct file *file, uint32_t wanted, struct poll_table *table)
{
	if (file_may_wait(file))
		poll_wait_until(table, ktime_after(POLL_STEP_NS));
	return file_events(file, wanted & (POLLIN | POLLPRI)) |
	       (file->flags & VFS_WRITE ? POLLOUT : 0);
}

uint32_t vfs_poll(struct file *file, uint32_t wanted, struct poll_table *table)
{
	if (table)
		table->file = file;
	return file->ops->poll ? file->ops->poll(file, table) : poll_plain(file, wanted, table);
}

long poll_until(uint64_t deadline_ns, long (*look)(struct poll_table *table, void *arg), void *arg)
{
	struct poll_table table;
	long found = look(NULL, arg);
	int err = 0;

	while (!found && ktime_get_ns() < deadline_ns) {
		poll_table_init(&table);
		poll_wait_until(&table, deadline_ns);
		found = look(&table, arg);
		if (!found)
			err = waitq_sleep(&table.all, true, table.look_ns);
		poll_table_end(&table);
		if (!found && err == -EINTR)
			return err;
		if (!found && ktime_get_ns() >= deadline_ns)
			found = look(NULL, arg);
	}
	return found;
}
