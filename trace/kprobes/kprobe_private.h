/*
 * Shared declarations of the files of probes at instructions. Contracts of users are in
 * <trace/kprobe.h>, those of the machine half in <trace/platform_probes.h> and
 * <trace/kprobe_hit.h>.
 *
 *   struct kprobe --place--> struct kprobe_place     one for each address
 *        '--next--> ..         |-- chain of a hash table, by address
 *             ^----------first-|
 *                              '-- machine half's: copy of the instruction; not at a call site
 *
 * Life of a place: made and put into the table with the first probe, armed while one of its probes
 * is enabled, taken out of the table with the last one. Memory that CPUs may still be reading is
 * freed after trace_plat_synchronize_preempt(), the copy of the instruction when no thread is
 * inside.
 *
 * Locking:   kprobe_lock guards it all. Hits read the table, places and lists of probes without it,
 *            with preemption or interrupts off. It is taken before ftrace's lock and the host's
 *            text lock; the callback of a wait for threads (ftrace_grace.h) does not take it.
 */
#ifndef KPROBE_PRIVATE_H
#define KPROBE_PRIVATE_H

#include <stdatomic.h>
#include <trace/kprobe.h>
#include <trace/kprobe_hit.h>
#include "ops/ftrace_grace.h"
#include "ops/ftrace_private.h"

extern struct trace_plat_lock kprobe_lock;

struct kprobe_place {
	uintptr_t addr;
	union {
		struct {
			struct kprobe_place *_Atomic link[2]; /* in the chain of either table */
			/* Of its probes, in the order of registration. */
			struct kprobe *_Atomic first;
		};
		struct ftrace_after after; /* frees it, when no CPU reads it any more */
	};
	/* the only enabled one, with nothing to call but its pre handler */
	struct kprobe *_Atomic only;
	struct ftrace_ops *_Atomic ops; /* whose callback calls handlers; NULL: not armed */
	struct ftrace_ops *left_ops;	/* during a change: the earlier `ops` */
	/* the next in the list of kprobe_gone.c, later in that of places freed together */
	struct kprobe_place *next_gone;
	uint32_t nr; /* probes that are registered here */
	uint32_t nr_enabled;
	uint32_t nr_all_regs;	 /* enabled ones that want more than arguments */
	bool is_site;		 /* at a call site; there is no memory for `code` and on then */
	bool is_armed;		 /* or would be, at a call site, with ftrace_enabled */
	bool has_post;		 /* `code` was created with post handlers */
	_Atomic bool wants_post; /* a post handler is here, perhaps disabled */
	uint8_t wanted;		 /* during a change: enum trace_probe_state */
	bool is_planned;	 /* it is part of the change that is being made */
	bool is_gone;		 /* its code is: it is in the list of kprobe_gone.c */
	/* A jump in place of the breakpoint: kprobe_jump.c. */
	_Atomic uint8_t jump; /* enum kprobe_jump */
	uint8_t jump_bytes;   /* that its detour has copies of; 0: it has none */
	bool never_jumps;     /* was looked at: it cannot */
	bool has_detour;
	bool has_begun; /* to wait, in this run of the worker */

	/* Only at a breakpoint. */
	struct trace_plat_probe code;
	struct ftrace_wait jump_wait;
	struct ftrace_wait wait;
};

/* On the way from a breakpoint to a jump. */
enum kprobe_jump {
	KPROBE_JUMP_NO,
	KPROBE_JUMP_WAITS, /* until no thread is where the rest of the jump will be */
	KPROBE_JUMP_READY,
	KPROBE_JUMP_DONE, /* the jump is there */
};

/* ---- The table: kprobe_table.c ---- */

struct kprobe_table {
	uint32_t which; /* of `link` */
	uint32_t mask;	/* number of chains - 1 */
	struct kprobe_place *_Atomic chain[];
};
extern struct kprobe_table *_Atomic kprobe_table;

/* Functions begin at multiples of 16. */
static TRACE_ALWAYS_INLINE size_t kprobe_chain_of(const struct kprobe_table *table, uintptr_t addr)
{
	return (addr >> 4 ^ addr) & table->mask;
}

/* The acquires pair with the releases that put a place or a table there. */
static TRACE_ALWAYS_INLINE struct kprobe_place *kprobe_place_find(uintptr_t addr)
{
	struct kprobe_table *table = atomic_load_explicit(&kprobe_table, memory_order_acquire);
	struct kprobe_place *place = atomic_load_explicit(
		&table->chain[kprobe_chain_of(table, addr)], memory_order_acquire);

	while (place && place->addr != addr)
		place = atomic_load_explicit(&place->link[table->which], memory_order_acquire);
	return place;
}

/* Make room for `nr` more; 0 or -ENOMEM. kprobe_lock held, as for the next ones. */
int kprobe_table_reserve(size_t nr);
void kprobe_table_insert(struct kprobe_place *place);
/* A walk that stands on the place goes on. */
void kprobe_table_remove(struct kprobe_place *place);
size_t kprobe_table_nr(void);
/* Call fn for each; it may not change the table. */
void kprobe_table_each(void (*fn)(struct kprobe_place *place, void *arg), void *arg);

/* ---- Places: kprobe_place.c ---- */

/*
 * The place of `addr`, which is made if there is none; its `nr` counts one probe more. The machine
 * half is prepared for post handlers if `with_post`. 0, or an error of register_kprobe().
 */
int kprobe_place_get(uintptr_t addr, bool with_post, struct kprobe_place **out_place);
/*
 * One probe less. The last one takes it out of the table and adds it to *gone, for
 * kprobe_places_free(). It is not armed then, or tracing is dead and it stays.
 */
void kprobe_place_put(struct kprobe_place *place, struct kprobe_place **gone);
/*
 * Free them when no CPU and no thread can be inside. The caller calls ftrace_grace_look() when it
 * has released kprobe_lock.
 */
void kprobe_places_free(struct kprobe_place *gone);
/* May a thread still be in code of places that are to be freed? */
bool kprobe_places_leave(void);

/* After its probes have changed: is one of them the only one to call? */
void kprobe_place_refresh(struct kprobe_place *place);
/* None is, for as long as the place changes. */
void kprobe_place_hold(struct kprobe_place *place);

/*
 * The only probe of a call site, by the address of the site, for places that are not in each
 * other's way: found by a hit with one look. Where there is none, a probe whose address is 0.
 */
#define KPROBE_ALONE_MAX 1024u
extern struct kprobe *_Atomic kprobe_alone[KPROBE_ALONE_MAX];

/*
 * The bits of an address that say how many bytes behind the first one are also right for its place.
 */
static TRACE_ALWAYS_INLINE struct kprobe *_Atomic *kprobe_alone_at(uintptr_t addr)
{
	uintptr_t bytes = addr & ((KPROBE_ALONE_MAX - 1) * sizeof(kprobe_alone[0]));

	return (struct kprobe * _Atomic *)((char *)kprobe_alone + bytes);
}

/* ---- Places whose code is gone: kprobe_gone.c ---- */

void kprobe_gone_remove(struct kprobe_place *place);
/* Probe number `nth` of all of them, from 1; NULL behind the last. */
struct kprobe *kprobe_gone_nth(uint64_t nth);

/* ---- Checks of places: kprobe_check.c ---- */

/* Find out the address of a probe, and check it. 0, or an error of register_kprobe(). */
int kprobe_resolve(const struct kprobe *p, uintptr_t *out_addr);

/* ---- Arming: kprobe_arm.c ---- */

/*
 * Arm or disarm the places of these probes as they and the switch say. 0, or an error of
 * enable_kprobe(): some may then not be as they should.
 */
int kprobe_arm_update(struct kprobe *const *ps, size_t nr);
/* The same for all places. */
int kprobe_arm_update_all(void);
/* Make jumps of breakpoints where that is ready, or with `on` false, breakpoints of all jumps. */
int kprobe_arm_jumps(bool on);
/* The same for one that has a jump. */
int kprobe_arm_no_jump(struct kprobe_place *place);
bool kprobe_arm_is_on(void);
void kprobe_arm_set_on(bool on);
extern _Atomic bool kprobe_arm_is_off; /* the switch; changes with kprobe_lock held */

/* Is the place to be armed, by its probes and the switch? */
static inline bool kprobe_arm_wants(const struct kprobe_place *place)
{
	return place->nr_enabled && !kprobe_arm_is_off;
}

/* ---- Jumps: kprobe_jump.c ---- */

/* Places have come or gone, or breakpoints were armed: look for jumps, somewhat later. */
void kprobe_jump_later(void);
/* It is to have a breakpoint, and go on behind its own instruction: for a while, or for good. */
void kprobe_jump_undo(struct kprobe_place *place);
/* Undo those that have copies of the instruction at `addr`, which is to be a place. */
void kprobe_jump_make_room(uintptr_t addr);
/* No thread can be where the rest of the jump is to be. */
bool kprobe_jump_is_ready(const struct kprobe_place *place);
/* Enter a state, and set the flags of its probes. */
void kprobe_jump_set(struct kprobe_place *place, enum kprobe_jump jump);

/* ---- Hits: kprobe_hit.c ---- */

/* The callbacks of call sites: with arguments only, with all registers. */
extern struct ftrace_ops kprobe_ops_plain, kprobe_ops_regs;
/* In `ops` of a place that moves from one to the other: each of them calls handlers. */
extern struct ftrace_ops kprobe_ops_either;

#endif
