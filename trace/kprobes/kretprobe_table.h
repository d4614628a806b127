/*
 * The table of armed kretprobes by site, which entries search without a lock.
 *
 *   slot:  | ip, is simple | first --> kretprobe --> kretprobe     in order of registration
 *
 * Probes come and go in place; the table is replaced when it gets too small, and goes when it is
 * empty. A slot whose probes have gone keeps its ip until then. A site is simple while it has one
 * probe, without a handler of entries and without a pool: most have, and entries need one
 * comparison for them.
 *
 * Context:   kretprobe_first(), kretprobe_simple() - probe, preemption off. Everything else -
 *            thread.
 * Locking:   changed with the lock of kretprobe.c held.
 */
#ifndef KRETPROBE_TABLE_H
#define KRETPROBE_TABLE_H

#include <stdatomic.h>
#include <trace/kretprobe.h>
#include "ops/ftrace_private.h"
#include "return_probe.h"

#define KRETPROBE_SIMPLE (1ull << 32)

/* Of a site. */
struct kretprobe_slot {
	_Atomic uint64_t key;		 /* packed ip, and KRETPROBE_SIMPLE or not; 0: free */
	struct kretprobe *_Atomic first; /* NULL: they have gone */
};

/* Open addressing, at most a quarter full: an ip is nearly always in the first slot for it. */
struct kretprobe_table {
	uint32_t mask; /* of distances in bytes */
	uint32_t nr;   /* slots in use, also those without probes */
	struct kretprobe_slot slot[];
};

extern struct kretprobe_table *_Atomic kretprobe_table; /* never NULL */

/* Make room for `more` sites. 0 or -ENOMEM. */
int kretprobe_table_room(uint32_t more);
/* Add it behind those that are at its site. There is room. */
void kretprobe_table_insert(struct kretprobe *rp);
void kretprobe_table_remove(struct kretprobe *rp);
/* Put a removed probe back into its place. Of several, the last one removed comes back first. */
void kretprobe_table_put_back(struct kretprobe *rp);
/* The sites that have probes, as a filter; NULL: none has. 0 or -ENOMEM. */
int kretprobe_table_filter(struct ftrace_hash **out_filter);
/* Nothing is in it. */
void kretprobe_table_free(void);

/* The first probe at `ip`, or NULL. */
struct kretprobe *kretprobe_first(uintptr_t ip);

/* kretprobe_hit.c: the ops of all sites of armed probes, which change with the table. */
extern struct ftrace_ops kretprobe_ops;
extern struct return_probes kretprobe_calls;

static TRACE_ALWAYS_INLINE uint32_t kretprobe_hash(uint32_t ip)
{
	return ip * 0x9e3779b1u >> 8;
}

/* The slot at a distance in bytes. */
static TRACE_ALWAYS_INLINE struct kretprobe_slot *kretprobe_slot_at(struct kretprobe_table *in,
								    uint32_t at)
{
	return (struct kretprobe_slot *)(void *)((char *)in->slot + (at & in->mask));
}

/* The only probe at `ip`, if the site is simple; or NULL, also when it is not in its first slot. */
static TRACE_ALWAYS_INLINE struct kretprobe *kretprobe_simple(uintptr_t ip)
{
	/* The acquires pair with the releases of the functions that put it there. */
	struct kretprobe_table *in = atomic_load_explicit(&kretprobe_table, memory_order_acquire);
	struct kretprobe_slot *slot = kretprobe_slot_at(in, kretprobe_hash(trace_plat_ip_pack(ip)));

	if (TRACE_UNLIKELY(atomic_load_explicit(&slot->key, memory_order_acquire) !=
			   (trace_plat_ip_pack(ip) | KRETPROBE_SIMPLE)))
		return NULL;
	return atomic_load_explicit(&slot->first, memory_order_acquire);
}

#endif
