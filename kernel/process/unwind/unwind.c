/* Walks over the stack of a program: see unwind.h. Without call sites: probes run it. */
#include <arch/cpu.h>
#include <arch/user.h>
#include <kernel/preempt.h>
#include <kernel/string.h>
#include <trace/platform.h>
#include <trace/thread.h>
#include <trace/uprobe.h>
#include "../mm.h"
#include "unwind_priv.h"

#define UNWIND_SEQ_SHIFT 48 /* addresses of programs are below */

bool cfi_read(void *to, uint64_t from, size_t bytes)
{
	return arch_read_user_nofault(to, (const void *)(uintptr_t)from, bytes);
}

/* The file with the code at `ip`; *out is without a table when none has it. False: the map is being changed. */
static bool unwind_find_file(const struct unwind_map *map, uint64_t ip, uint32_t seq,
			     struct cfi_table *out)
{
	*out = (struct cfi_table){ 0 };
	if (seq & 1)
		return false;
	for (uint32_t i = 0; i < map->nr && i < UNWIND_FILES; i++) {
		if (ip >= map->files[i].start && ip < map->files[i].end) {
			*out = map->files[i].table;
			break;
		}
	}
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&map->seq, memory_order_relaxed) == seq;
}

static struct unwind_known *unwind_slot(struct unwind_map *map, uint64_t ip)
{
	return &map->rules[(ip ^ ip >> 9) % UNWIND_RULES];
}

/* The rule of the instruction at `ip`. False: something is not there yet. */
static bool unwind_rule(struct unwind_map *map, uint64_t ip, struct cfi_rule *out)
{
	uint32_t seq = atomic_load_explicit(&map->seq, memory_order_acquire);
	uint64_t key = ip ^ (uint64_t)seq << UNWIND_SEQ_SHIFT, rule;
	struct unwind_known *known = unwind_slot(map, ip);
	struct cfi_table table;

	rule = atomic_load_explicit(&known->rule, memory_order_relaxed);
	if ((atomic_load_explicit(&known->key, memory_order_relaxed) ^ rule) == key) {
		memcpy(out, &rule, sizeof(rule));
		return !(seq & 1);
	}
	if (!unwind_find_file(map, ip, seq, &table) || !cfi_find(&table, ip, out))
		return false;
	memcpy(&rule, out, sizeof(rule));
	atomic_store_explicit(&known->rule, rule, memory_order_relaxed);
	atomic_store_explicit(&known->key, key ^ rule, memory_order_relaxed);
	return true;
}

static uint32_t unwind_walk(struct unwind_map *map, struct cfi_frame frame, uint64_t *out_callers,
			    uint32_t max, bool *out_is_cut)
{
	const struct trace_thread *thread = trace_plat_current();
	struct cfi_rule rule = { .kind = CFI_NONE };
	uint32_t nr = 0;
	uint64_t slot;

	while (nr < max) {
		if (map && !unwind_rule(map, frame.is_exact ? frame.ip : frame.ip - 1, &rule)) {
			*out_is_cut = true;
			break;
		}
		if (!cfi_step(&frame, &rule, &slot))
			break;
		if (thread->uprobe)
			frame.ip = uprobe_return_address(thread, frame.ip, slot);
		out_callers[nr++] = frame.ip;
	}
	return nr;
}

static bool unwind_may_sleep(void)
{
	return !preempt_count() && !arch_irqs_disabled();
}

static bool unwind_is_known(const struct unwind_mm *unwind)
{
	return atomic_load(&unwind->known) == atomic_load(&unwind->changes);
}

uint32_t unwind_user(struct mm *mm, const struct cfi_frame *start, uint64_t *out_callers,
		     uint32_t max, bool *out_is_cut)
{
	bool is_known = unwind_is_known(&mm->unwind), may_sleep = unwind_may_sleep();
	struct unwind_map *map = NULL;
	uint32_t nr;

	if (!is_known && may_sleep) {
		unwind_look(mm);
		is_known = true;
	}
	if (is_known && atomic_load(&mm->unwind.has_tables))
		map = atomic_load_explicit(&mm->unwind.map, memory_order_acquire);
	*out_is_cut = !is_known;
	nr = unwind_walk(map, *start, out_callers, max, out_is_cut);
	*out_is_cut &= !may_sleep;
	return nr;
}
