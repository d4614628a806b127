/* Futexes: see futex.h. Names are those of Linux where the job is the same. */
#include <stdatomic.h>
#include <kernel/thread.h>
#include "futex.h"
#include "mm.h"

#define FUTEX_BUCKETS 64u

struct futex_key {
	const struct mm *mm; /* NULL: the next is the word's own address */
	uintptr_t addr;
};

struct futex_bucket {
	struct spinlock lock;
	struct futex_waiter *first; /* oldest */
} __attribute__((aligned(64)));

struct futex_waiter { /* guarded by the lock of its bucket */
	struct futex_waiter *next;
	struct futex_bucket *_Atomic bucket; /* changed with the locks of both held */
	struct futex_key key;
	struct thread *thread;
	uint32_t bitset;
	_Atomic bool is_queued; /* false: woken, if it ever was queued */
};

static struct futex_bucket futex_buckets[FUTEX_BUCKETS];

static struct futex_bucket *futex_bucket_of(const struct futex_key *key)
{
	uint64_t hash = ((uintptr_t)key->mm ^ key->addr >> 2) * 0x9e3779b97f4a7c15ull;

	return &futex_buckets[hash >> 32 & (FUTEX_BUCKETS - 1)];
}

static bool futex_is_key(const struct futex_waiter *waiter, const struct futex_key *key)
{
	return waiter->key.addr == key->addr && waiter->key.mm == key->mm;
}

/* ---- Words and keys ---- */

/* The word, once it can be read or written (`access`), and its key. mm->lock is held. NULL: -EFAULT. */
static _Atomic uint32_t *futex_word(const struct futex_at *at, uint32_t access,
				    struct futex_key *out_key)
{
	enum fault_result result;
	void *word = mm_page_locked(at->mm, at->addr, access, &result);

	if (!word)
		return NULL;
	*out_key = (struct futex_key){ .mm = at->mm, .addr = at->addr };
	if (!at->is_private && find_vma(at->mm, at->addr)->flags & VM_SHARED)
		*out_key = (struct futex_key){ .addr = (uintptr_t)word };
	return word;
}

static int futex_get_key(const struct futex_at *at, struct futex_key *out_key)
{
	bool is_there;

	*out_key = (struct futex_key){ .mm = at->mm, .addr = at->addr };
	if (at->is_private)
		return access_ok(at->addr, sizeof(uint32_t)) ? 0 : -EFAULT;
	mutex_lock(&at->mm->lock);
	is_there = futex_word(at, VM_READ, out_key);
	mutex_unlock(&at->mm->lock);
	return is_there ? 0 : -EFAULT;
}

int futex_exchange(const struct futex_at *at, uint32_t *expected, uint32_t value)
{
	_Atomic uint32_t *word;
	struct futex_key key;

	mutex_lock(&at->mm->lock);
	word = futex_word(at, VM_WRITE, &key);
	if (word)
		atomic_compare_exchange_strong(word, expected, value);
	mutex_unlock(&at->mm->lock);
	return word ? 0 : -EFAULT;
}

/* ---- Queues; the bucket's lock is held ---- */

static void futex_append(struct futex_bucket *bucket, struct futex_waiter *waiter)
{
	struct futex_waiter **at = &bucket->first;

	while (*at)
		at = &(*at)->next;
	waiter->next = NULL;
	*at = waiter;
	atomic_store(&waiter->bucket, bucket);
}

static void futex_remove(struct futex_bucket *bucket, const struct futex_waiter *waiter)
{
	struct futex_waiter **at = &bucket->first;

	while (*at != waiter)
		at = &(*at)->next;
	*at = waiter->next;
}

/* It may return, and its memory be gone, as soon as the lock is released. */
static void futex_wake_waiter(struct futex_waiter *waiter)
{
	atomic_store(&waiter->is_queued, false);
	wake_up_process(waiter->thread);
}

static int futex_wake_locked(struct futex_bucket *bucket, const struct futex_key *key, uint32_t nr,
			     uint32_t bitset)
{
	struct futex_waiter **at = &bucket->first;
	uint32_t woken = 0;

	while (*at) {
		struct futex_waiter *waiter = *at;

		if (!futex_is_key(waiter, key) || !(waiter->bitset & bitset)) {
			at = &waiter->next;
			continue;
		}
		*at = waiter->next;
		futex_wake_waiter(waiter);
		if (++woken >= nr)
			break;
	}
	return (int)woken;
}

static uint64_t futex_lock_two(struct futex_bucket *a, struct futex_bucket *b)
{
	uint64_t flags = spin_lock_irqsave(a < b ? &a->lock : &b->lock);

	if (a != b)
		spin_lock(a < b ? &b->lock : &a->lock);
	return flags;
}

static void futex_unlock_two(struct futex_bucket *a, struct futex_bucket *b, uint64_t flags)
{
	if (a != b)
		spin_unlock(a < b ? &b->lock : &a->lock);
	spin_unlock_irqrestore(a < b ? &a->lock : &b->lock, flags);
}

/* ---- Waiting ---- */

static int futex_queue(const struct futex_at *at, uint32_t value, struct futex_waiter *waiter)
{
	_Atomic uint32_t *word;
	int err = -EFAULT;

	mutex_lock(&at->mm->lock);
	word = futex_word(at, VM_READ, &waiter->key);
	if (word) {
		struct futex_bucket *bucket = futex_bucket_of(&waiter->key);
		uint64_t flags = spin_lock_irqsave(&bucket->lock);

		err = atomic_load(word) == value ? 0 : -EAGAIN;
		atomic_store(&waiter->is_queued, !err);
		if (!err)
			futex_append(bucket, waiter);
		spin_unlock_irqrestore(&bucket->lock, flags);
	}
	mutex_unlock(&at->mm->lock);
	return err;
}

/* True: it was still in a queue, and is in none now. */
static bool futex_unqueue(struct futex_waiter *waiter)
{
	struct futex_bucket *bucket;
	bool was_queued;
	uint64_t flags;

	for (;;) {
		bucket = atomic_load(&waiter->bucket);
		flags = spin_lock_irqsave(&bucket->lock);
		if (bucket == atomic_load(&waiter->bucket))
			break;
		spin_unlock_irqrestore(&bucket->lock, flags); /* it was moved meanwhile */
	}
	was_queued = atomic_load(&waiter->is_queued);
	if (was_queued)
		futex_remove(bucket, waiter);
	spin_unlock_irqrestore(&bucket->lock, flags);
	return was_queued;
}

static int futex_sleep(struct futex_waiter *waiter, uint64_t deadline_ns)
{
	int err = 0;

	while (!err) {
		set_current_state(THREAD_INTERRUPTIBLE);
		if (!atomic_load(&waiter->is_queued))
			break;
		if (thread_interrupted())
			err = -EINTR;
		else if (schedule_until(deadline_ns))
			err = -ETIMEDOUT;
	}
	set_current_state(THREAD_RUNNING);
	return err;
}

int futex_wait(const struct futex_at *at, uint32_t value, uint32_t bitset, uint64_t deadline_ns)
{
	struct futex_waiter waiter = { .thread = current_thread(), .bitset = bitset };
	int err = futex_queue(at, value, &waiter);

	if (err)
		return err;
	err = futex_sleep(&waiter, deadline_ns);
	return futex_unqueue(&waiter) ? err : 0;
}

int futex_wake(const struct futex_at *at, uint32_t nr, uint32_t bitset)
{
	struct futex_bucket *bucket;
	struct futex_key key;
	uint64_t flags;
	int result = futex_get_key(at, &key);

	if (result)
		return result;
	bucket = futex_bucket_of(&key);
	flags = spin_lock_irqsave(&bucket->lock);
	result = futex_wake_locked(bucket, &key, nr, bitset);
	spin_unlock_irqrestore(&bucket->lock, flags);
	return result;
}

/* ---- Two words ---- */

struct futex_pair {
	struct futex_key from, to;
	struct futex_bucket *from_bucket, *to_bucket;
};

static void futex_set_buckets(struct futex_pair *pair)
{
	pair->from_bucket = futex_bucket_of(&pair->from);
	pair->to_bucket = futex_bucket_of(&pair->to);
}

/* Both locks are held. How many were woken or moved. */
static int futex_requeue_locked(const struct futex_pair *pair, const uint32_t numbers[2])
{
	struct futex_waiter **at = &pair->from_bucket->first;
	uint32_t done = 0;

	while (*at && done < numbers[0] + (uint64_t)numbers[1]) {
		struct futex_waiter *waiter = *at;

		if (!futex_is_key(waiter, &pair->from)) {
			at = &waiter->next;
		} else if (done++ < numbers[0]) {
			*at = waiter->next;
			futex_wake_waiter(waiter);
		} else {
			waiter->key = pair->to;
			at = &waiter->next;
			if (pair->from_bucket == pair->to_bucket)
				continue;
			at = &pair->from_bucket->first;
			futex_remove(pair->from_bucket, waiter);
			futex_append(pair->to_bucket, waiter);
		}
	}
	return (int)done;
}

int futex_requeue(const struct futex_at *at, const struct futex_at *to, const uint32_t numbers[2],
		  const uint32_t *expected)
{
	_Atomic uint32_t *word;
	struct futex_pair pair;
	int result = -EFAULT;

	mutex_lock(&at->mm->lock);
	word = futex_word(at, VM_READ, &pair.from);
	if (word && futex_word(to, VM_READ, &pair.to)) {
		uint64_t flags;

		futex_set_buckets(&pair);
		flags = futex_lock_two(pair.from_bucket, pair.to_bucket);
		if (expected && atomic_load(word) != *expected)
			result = -EAGAIN;
		else
			result = futex_requeue_locked(&pair, numbers);
		futex_unlock_two(pair.from_bucket, pair.to_bucket, flags);
	}
	mutex_unlock(&at->mm->lock);
	return result;
}

enum {
	FUTEX_OP_SET,
	FUTEX_OP_ADD,
	FUTEX_OP_OR,
	FUTEX_OP_ANDN,
	FUTEX_OP_XOR
};
#define FUTEX_OP_SHIFT 8u /* the argument is the number of a bit */

/* The parts of a number as FUTEX_OP() of Linux makes it: 4 bits, 4 bits, 12 bits, 12 bits. */
static uint32_t futex_op_result(uint32_t op, uint32_t old)
{
	uint32_t arg = (uint32_t)((int32_t)(op << 8) >> 20);

	if (op >> 28 & FUTEX_OP_SHIFT)
		arg = 1u << (arg & 31);
	switch (op >> 28 & 7) {
	case FUTEX_OP_SET:
		return arg;
	case FUTEX_OP_ADD:
		return old + arg;
	case FUTEX_OP_OR:
		return old | arg;
	case FUTEX_OP_ANDN:
		return old & ~arg;
	default:
		return old ^ arg;
	}
}

static bool futex_op_compares(uint32_t op, uint32_t old)
{
	int32_t value = (int32_t)old, arg = (int32_t)(op << 20) >> 20;
	const bool results[] = { value == arg, value != arg, value<arg, value <= arg, value> arg,
				 value >= arg };

	return results[op >> 24 & 15];
}

static uint32_t futex_change_word(_Atomic uint32_t *word, uint32_t op)
{
	uint32_t old = atomic_load(word);

	while (!atomic_compare_exchange_weak(word, &old, futex_op_result(op, old)))
		;
	return old;
}

int futex_wake_op(const struct futex_at *at, const struct futex_at *to, const uint32_t numbers[2],
		  uint32_t op)
{
	_Atomic uint32_t *word;
	struct futex_pair pair;
	int result = -EFAULT;

	if ((op >> 28 & 7) > FUTEX_OP_XOR || (op >> 24 & 15) > 5)
		return -ENOSYS;
	mutex_lock(&at->mm->lock);
	word = futex_word(to, VM_WRITE,
			  &pair.to); /* first, because it may change the page of both */
	if (word && futex_word(at, VM_READ, &pair.from)) {
		uint64_t flags;
		uint32_t old;

		futex_set_buckets(&pair);
		flags = futex_lock_two(pair.from_bucket, pair.to_bucket);
		old = futex_change_word(word, op);
		result = futex_wake_locked(pair.from_bucket, &pair.from, numbers[0], FUTEX_ANY_BIT);
		if (futex_op_compares(op, old))
			result += futex_wake_locked(pair.to_bucket, &pair.to, numbers[1],
						    FUTEX_ANY_BIT);
		futex_unlock_two(pair.from_bucket, pair.to_bucket, flags);
	}
	mutex_unlock(&at->mm->lock);
	return result;
}
