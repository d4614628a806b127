/* Watchpoints: their registry, and hits. See <trace/wprobe.h>. */
#include <stdatomic.h>
#include <trace/fmt.h>
#include <trace/recursion.h>
#include <trace/wprobe.h>

static struct trace_plat_lock wprobe_lock;
/* By number of the debug register; NULL: free. Changed under the lock, read by hits. */
static struct wprobe *_Atomic wprobes[WPROBE_MAX];

/* ---- A hit ---- */

static uint64_t wprobe_read(const struct wprobe *wp, uint64_t otherwise)
{
	uint64_t value = 0;

	/* It may have been unmapped since. */
	return trace_plat_read(&value, (const void *)wp->addr, wp->len) ? value : otherwise;
}

void wprobe_hit(uint32_t which, struct ftrace_regs *regs)
{
	/* Pairs with the store in register_wprobe(). */
	struct wprobe *wp = atomic_load_explicit(&wprobes[which], memory_order_acquire);
	uint32_t bit = TRACE_RECURSION_WATCH + trace_recursion_context(trace_plat_preempt_count());
	uint64_t value, old;

	if (!wp)
		return;
	if (!trace_plat_recursion_set(bit)) {
		atomic_fetch_add_explicit(&wp->nmissed, 1, memory_order_relaxed);
		return;
	}
	value = wprobe_read(wp, atomic_load_explicit(&wp->value, memory_order_relaxed));
	old = atomic_exchange(&wp->value, value);
	wp->handler(wp, regs, old, value);
	trace_plat_recursion_clear(bit);
}

/* ---- Registration ---- */

static int wprobe_refuse(const char **out_why, int err, const char *why)
{
	*out_why = why;
	return err;
}

/* Is it part of a watchpoint, this one or another? Hits are counted in there. */
static bool is_own(const struct wprobe *wp)
{
	for (uint32_t i = 0; i <= WPROBE_MAX; i++) {
		const struct wprobe *other = i < WPROBE_MAX ? wprobes[i] : wp;

		if (other && wp->addr + wp->len > (uintptr_t)other &&
		    wp->addr < (uintptr_t)other + sizeof(*other))
			return true;
	}
	return false;
}

/* Does it watch reads of data that wprobe_hit() reads first? */
static bool is_read_by_hit(const struct wprobe *wp)
{
	return wp->type == WPROBE_RW && wp->addr - (uintptr_t)wprobes < sizeof(wprobes);
}

static int check_place(const struct wprobe *wp, const char **out_why)
{
	uint64_t value;
	const char *why;

	if (wp->len != 1 && wp->len != 2 && wp->len != 4 && wp->len != 8)
		return wprobe_refuse(out_why, -EINVAL, "a watchpoint has 1, 2, 4 or 8 bytes");
	if (wp->addr % wp->len)
		return wprobe_refuse(out_why, -EINVAL, "the address is no multiple of the length");
	if (wp->type != WPROBE_W && wp->type != WPROBE_RW)
		return wprobe_refuse(out_why, -EINVAL,
				     "only writes, or reads and writes, can be watched");
	if (!trace_plat_read(&value, (const void *)wp->addr, wp->len))
		return wprobe_refuse(out_why, -EFAULT, "there is no memory at the address");
	if (is_own(wp))
		return wprobe_refuse(out_why, -EINVAL,
				     "a hit writes there itself: it would never end");
	if (is_read_by_hit(wp))
		return wprobe_refuse(out_why, -EINVAL, "a hit reads it itself: it would never end");
	why = trace_plat_watch_refusal(wp->addr, wp->len);
	return why ? wprobe_refuse(out_why, -EINVAL, why) : 0;
}

static uint32_t free_place(void)
{
	uint32_t i = 0;

	while (i < WPROBE_MAX && wprobes[i])
		i++;
	return i;
}

static int wprobe_check(const struct wprobe *wp, const char **out_why)
{
	int err;

	if (!wp->handler)
		return wprobe_refuse(out_why, -EINVAL, "there is no handler");
	if (wp->is_registered)
		return wprobe_refuse(out_why, -EBUSY, "it is registered");
	err = check_place(wp, out_why);
	if (err)
		return err;
	if (free_place() == WPROBE_MAX)
		return wprobe_refuse(out_why, -EBUSY, "all debug registers of the CPUs are in use");
	return 0;
}

/* Make all CPUs watch the registered watchpoints. */
static int set_all(void)
{
	struct trace_plat_watch watches[WPROBE_MAX];

	for (uint32_t i = 0; i < WPROBE_MAX; i++) {
		const struct wprobe *wp = wprobes[i];

		watches[i] = (struct trace_plat_watch){ 0 };
		if (wp && wp->is_registered)
			watches[i] = (struct trace_plat_watch){ .addr = wp->addr,
								.len = wp->len,
								.on_reads = wp->type == WPROBE_RW };
	}
	return trace_plat_watch_set(watches);
}

static int wprobe_register_locked(struct wprobe *wp)
{
	const char *why;
	int err = wprobe_check(wp, &why);
	uint32_t place;

	if (err)
		return err;
	place = free_place();
	atomic_store(&wp->value, wprobe_read(wp, 0));
	wp->is_registered = true;
	atomic_store_explicit(&wprobes[place], wp, memory_order_release);
	err = set_all();
	if (err) {
		wp->is_registered = false;
		atomic_store(&wprobes[place], NULL);
	}
	return err;
}

int register_wprobe(struct wprobe *wp)
{
	int err;

	trace_plat_lock(&wprobe_lock);
	err = wprobe_register_locked(wp);
	trace_plat_unlock(&wprobe_lock);
	return err;
}

void unregister_wprobe(struct wprobe *wp)
{
	trace_plat_lock(&wprobe_lock);
	if (wp->is_registered) {
		wp->is_registered = false;
		set_all(); /* this has worked before; no hit is under way when it returns */
		for (uint32_t i = 0; i < WPROBE_MAX; i++) {
			if (wprobes[i] == wp)
				atomic_store(&wprobes[i], NULL);
		}
	}
	trace_plat_unlock(&wprobe_lock);
}

int wprobe_refusal(const struct wprobe *wp, char *out_text, size_t len)
{
	const char *why;
	int err;

	trace_plat_lock(&wprobe_lock);
	err = wprobe_check(wp, &why);
	trace_plat_unlock(&wprobe_lock);
	if (err)
		trace_snprintf(out_text, len, "%s", why);
	return err;
}
