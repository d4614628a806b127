/*
 * Locks of files: see file_lock.h. All stand in one list; few programs have any. A thread that waits asks again whenever
 * one was given up, wherever that was.
 */
#include <kernel/file_lock.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/mm.h>

struct lock_node {
	struct list link;
	struct file_lock lock;
};

/* A thread that waits, on its stack. */
struct lock_wait {
	struct list link; /* in lock_waits */
	const struct file_lock *wanted;
	const void *blocker; /* the owner that it waits for */
	struct lock_node *room[2];
	int result;
};

static struct mutex file_lock_mutex; /* guards both lists */
static struct list lock_nodes = LIST_INIT(lock_nodes);
static struct list lock_waits = LIST_INIT(lock_waits);
static struct waitq lock_dropped;

int file_lock_id(struct file *file, uint64_t *out_id)
{
	struct vfs_stat stat = { 0 };
	int err = file_stat(file, &stat);

	if (err == -EOPNOTSUPP && file->path)
		err = vfs_lstat(VFS_REAL, file->path, &stat);
	*out_id = stat.id;
	return err || !stat.id ? -EINVAL : 0;
}

static bool lock_is_of_file(const struct file_lock *a, const struct file_lock *b)
{
	return a->file == b->file && a->is_whole == b->is_whole;
}

static bool lock_conflicts(const struct file_lock *held, const struct file_lock *wanted)
{
	return lock_is_of_file(held, wanted) && held->owner != wanted->owner &&
	       held->first <= wanted->last && wanted->first <= held->last &&
	       (held->type == FILE_LOCK_EXCLUSIVE || wanted->type == FILE_LOCK_EXCLUSIVE);
}

/* The lowest in the file. The mutex is held. */
static const struct file_lock *lock_find_conflict(const struct file_lock *wanted)
{
	const struct file_lock *lowest = NULL;
	struct list *pos;

	list_for_each(pos, &lock_nodes) {
		const struct lock_node *node = list_entry(pos, struct lock_node, link);

		if (wanted->type != FILE_UNLOCK && lock_conflicts(&node->lock, wanted) &&
		    (!lowest || node->lock.first < lowest->first))
			lowest = &node->lock;
	}
	return lowest;
}

static void lock_remove(struct lock_node *node)
{
	list_remove(&node->link);
	kfree(node);
}

/*
 * Take `lock` out of a node of the same owner: what is left of it stays. A lock of the same type that overlaps or touches is
 * joined to it instead. `room` has a node for the second half, which is taken then.
 */
static void lock_cut(struct lock_node *node, struct file_lock *lock, struct lock_node **room)
{
	struct file_lock *held = &node->lock;
	bool touches = held->first <= lock->last + (lock->last < UINT64_MAX) &&
		       lock->first <= held->last + (held->last < UINT64_MAX);

	if (held->type == lock->type && touches) {
		lock->first = held->first < lock->first ? held->first : lock->first;
		lock->last = held->last > lock->last ? held->last : lock->last;
		lock_remove(node);
		return;
	}
	if (held->first > lock->last || lock->first > held->last)
		return;
	if (held->first < lock->first && held->last > lock->last) {
		(*room)->lock = *held;
		(*room)->lock.first = lock->last + 1;
		list_add_tail(&lock_nodes, &(*room)->link);
		*room = NULL;
	}
	if (held->first < lock->first)
		held->last = lock->first - 1;
	else if (held->last > lock->last)
		held->first = lock->last + 1;
	else
		lock_remove(node);
}

/* The mutex is held, nothing conflicts. Nodes of `room` that are used are NULL afterwards. */
static void lock_apply(const struct file_lock *wanted, struct lock_node **room)
{
	struct file_lock lock = *wanted;
	struct list *pos, *next;

	list_for_each_safe(pos, next, &lock_nodes) {
		struct lock_node *node = list_entry(pos, struct lock_node, link);

		if (lock_is_of_file(&node->lock, &lock) && node->lock.owner == lock.owner)
			lock_cut(node, &lock, &room[1]);
	}
	if (lock.type == FILE_UNLOCK)
		return;
	room[0]->lock = lock;
	list_add_tail(&lock_nodes, &room[0]->link);
	room[0] = NULL;
}

/* The owner for which a thread of that owner waits; NULL: none of them waits. The mutex is held. */
static const void *lock_blocker_of(const void *owner)
{
	struct list *pos;

	list_for_each(pos, &lock_waits) {
		const struct lock_wait *wait = list_entry(pos, struct lock_wait, link);

		if (wait->wanted->owner == owner)
			return wait->blocker;
	}
	return NULL;
}

/* Does the owner of `held` wait, over others perhaps, for the one that wants? Locks of open files are left out, as on Linux. */
static bool lock_is_deadlock(const struct file_lock *held, const struct file_lock *wanted)
{
	const void *owner = held->owner;

	for (int steps = 0; owner && steps < 10 && wanted->pid > 0 && !wanted->is_whole; steps++) {
		if (owner == wanted->owner)
			return true;
		owner = lock_blocker_of(owner);
	}
	return false;
}

/* One try: true with the result, false when another has to give up its lock first. */
static bool lock_try(void *arg)
{
	struct lock_wait *wait = arg;
	const struct file_lock *held;

	mutex_lock(&file_lock_mutex);
	held = lock_find_conflict(wait->wanted);
	wait->result = 0;
	wait->blocker = held ? held->owner : NULL;
	if (!held)
		lock_apply(wait->wanted, wait->room);
	else
		wait->result = lock_is_deadlock(held, wait->wanted) ? -EDEADLK : -EAGAIN;
	mutex_unlock(&file_lock_mutex);
	return wait->result != -EAGAIN;
}

static int lock_wait_for(struct lock_wait *wait)
{
	int err;

	mutex_lock(&file_lock_mutex);
	list_add_tail(&lock_waits, &wait->link);
	mutex_unlock(&file_lock_mutex);
	err = waitq_wait(&lock_dropped, lock_try, wait, true, WAIT_FOREVER);
	mutex_lock(&file_lock_mutex);
	list_remove(&wait->link);
	mutex_unlock(&file_lock_mutex);
	return err ? err : wait->result;
}

int file_lock_set(const struct file_lock *wanted, bool waits)
{
	struct lock_wait wait = { .wanted = wanted };
	int err = -ENOMEM;

	wait.room[0] = kmalloc(sizeof(*wait.room[0]));
	wait.room[1] = kmalloc(sizeof(*wait.room[1]));
	if (wait.room[0] && wait.room[1]) {
		lock_try(&wait);
		err = wait.result == -EAGAIN && waits ? lock_wait_for(&wait) : wait.result;
	}
	kfree(wait.room[0]);
	kfree(wait.room[1]);
	/* Less may be locked than before, by an exclusive lock that became a shared one, too. */
	waitq_wake_all(&lock_dropped);
	return err;
}

bool file_lock_get(const struct file_lock *wanted, struct file_lock *out)
{
	const struct file_lock *held;

	mutex_lock(&file_lock_mutex);
	held = lock_find_conflict(wanted);
	if (held)
		*out = *held;
	mutex_unlock(&file_lock_mutex);
	return held;
}

void file_locks_drop(const void *owner, struct file *file)
{
	struct list *pos, *next;
	uint64_t id = 0;

	if (file && file_lock_id(file, &id))
		return;
	mutex_lock(&file_lock_mutex);
	list_for_each_safe(pos, next, &lock_nodes) {
		struct lock_node *node = list_entry(pos, struct lock_node, link);

		if (node->lock.owner == owner && (!file || node->lock.file == id))
			lock_remove(node);
	}
	mutex_unlock(&file_lock_mutex);
	waitq_wake_all(&lock_dropped);
}
