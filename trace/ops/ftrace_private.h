/*
 * What the files of function tracing share: records of call sites, hashes of functions, the update
 * engine, patterns.
 *
 *   ftrace_record.c  one 8-byte record per site, found by address or number
 *   ftrace_hash.c    sets of sites
 *   ftrace_update.c  from "these sites now want something else" to one batch of pokes
 *   ftrace_ops.c     the list of ops, dispatch, register and unregister
 *   ftrace_set.c     sets of ops that share sites, each with a trampoline
 *   ftrace_tramp.c   trampolines, until nobody is inside any more: ftrace_grace.c
 *   ftrace_direct.c  sites that hold something else than a call of a trampoline; the master switch
 *   ftrace_match.c   patterns
 *   ftrace_filter.c  patterns into sets, sets into ops; ftrace_edit.c the same for files
 *   ftrace_iter.c    lists for files
 *
 * Locking:   ftrace_lock guards records, the ops list, the hashes of every ops. Probes read the list
 *            and the hashes without it, preemption off; what they may hold is freed only after
 *            trace_plat_synchronize_preempt().
 */
#ifndef FTRACE_PRIVATE_H
#define FTRACE_PRIVATE_H

#include <stdatomic.h>
#include <trace/asm_entries.h>
#include <trace/ftrace.h>

extern struct trace_plat_lock ftrace_lock;

/*
 * `fn` is called at the end of ftrace_kill(), in its context: any. One floor above asks for it,
 * once; NULL: nobody.
 */
void ftrace_when_killed(void (*fn)(void));

/* ---- Records ---- */

/* A call site. The low bits of `flags` count the ops that want it. */
struct dyn_ftrace {
	uint32_t ip; /* trace_plat_ip_pack() */
	uint32_t flags;
};

enum ftrace_record_flags {
	FTRACE_FL_ENABLED = 1u << 31,  /* the site calls something */
	FTRACE_FL_REGS = 1u << 30,     /* wanted: with registers */
	FTRACE_FL_REGS_EN = 1u << 29,  /* done */
	FTRACE_FL_TRAMP = 1u << 28,    /* wanted: the trampoline of its only ops */
	FTRACE_FL_TRAMP_EN = 1u << 27, /* done */
	FTRACE_FL_IPMODIFY = 1u << 26, /* an ops may let calls go elsewhere */
	FTRACE_FL_DIRECT = 1u << 24,
	FTRACE_FL_DIRECT_EN = 1u << 23,
	FTRACE_REF_MAX = (1u << 15) - 1,
};

/* In between: the number of the site's set of ops, 0 for none; see ftrace_set.h. */
#define FTRACE_SET_SHIFT 15
#define FTRACE_SET_MASK	 (0xffu << FTRACE_SET_SHIFT)

#define FTRACE_PAGE_BYTES	4096u
#define FTRACE_RECORDS_PER_PAGE (FTRACE_PAGE_BYTES / (uint32_t)sizeof(struct dyn_ftrace))

/* Pages of records that lie in a row; groups ascend too. */
struct ftrace_page_group {
	struct dyn_ftrace *records;
	uint32_t pages;
	uint32_t nr;	/* records in use */
	uint32_t first; /* number of the first among all */
};

#define FTRACE_MAX_GROUPS 32
extern struct ftrace_page_group ftrace_groups[FTRACE_MAX_GROUPS];
extern uint32_t ftrace_nr_groups;

/* A walk over all records: zero it, then ftrace_next_record() until NULL. */
struct ftrace_cursor {
	struct dyn_ftrace *record;
	struct dyn_ftrace *end;
	uint32_t group;
};

static inline struct dyn_ftrace *ftrace_next_record(struct ftrace_cursor *cursor)
{
	while (cursor->record == cursor->end) {
		if (cursor->group == ftrace_nr_groups)
			return NULL;
		cursor->record = ftrace_groups[cursor->group].records;
		cursor->end = cursor->record + ftrace_groups[cursor->group].nr;
		cursor->group++;
	}
	return cursor->record++;
}

static inline uint32_t ftrace_record_count(const struct dyn_ftrace *record)
{
	return record->flags & FTRACE_REF_MAX;
}

static inline uint32_t ftrace_record_set(uint32_t flags)
{
	return (flags & FTRACE_SET_MASK) >> FTRACE_SET_SHIFT;
}

uint32_t ftrace_nr_records(void);
uint32_t ftrace_nr_pages(void);
/* Record of the site at `ip`, or NULL. Any context. */
struct dyn_ftrace *ftrace_record_find(uintptr_t ip);
/* Record `number`, counted from 0; NULL when there are fewer. */
struct dyn_ftrace *ftrace_record_at(size_t number);

/* ---- Hashes: sets of packed addresses, open addressing, at most half full ---- */

struct ftrace_hash {
	uint32_t nr;
	uint32_t mask;	/* slots - 1 */
	uint32_t shift; /* 32 - log2(slots) */
	uint32_t unused;
	uint32_t slot[]; /* 0: free; no site has the packed address 0 */
};

/* Empty, with room for some; NULL when out of memory. */
struct ftrace_hash *ftrace_hash_create(void);
/* NULL is the empty set. */
struct ftrace_hash *ftrace_hash_copy(const struct ftrace_hash *hash);
void ftrace_hash_free(struct ftrace_hash *hash);
/* Add or remove; both are fine when there is nothing to do. -ENOMEM leaves *hash as it was. */
int ftrace_hash_add(struct ftrace_hash **hash, uint32_t ip);
void ftrace_hash_remove(struct ftrace_hash *hash, uint32_t ip);

static inline bool ftrace_hash_empty(const struct ftrace_hash *hash)
{
	return !hash || !hash->nr;
}

static TRACE_ALWAYS_INLINE uint32_t ftrace_hash_slot(const struct ftrace_hash *hash, uint32_t ip)
{
	return (ip * 0x9e3779b1u) >> hash->shift;
}

/* Probe context. */
static TRACE_ALWAYS_INLINE bool ftrace_hash_has(const struct ftrace_hash *hash, uint32_t ip)
{
	uint32_t found, at = ftrace_hash_slot(hash, ip);

	while ((found = hash->slot[at]) != ip) {
		if (!found)
			return false;
		at = (at + 1) & hash->mask;
	}
	return true;
}

/* Whether an ops with these hashes wants the site. `want` NULL: every site. Probe context. */
static TRACE_ALWAYS_INLINE bool ftrace_hashes_want(const struct ftrace_ops_hash *want, uint32_t ip)
{
	if (!want)
		return true;
	if (want->filter_hash && !ftrace_hash_has(want->filter_hash, ip))
		return false;
	return !want->notrace_hash || !ftrace_hash_has(want->notrace_hash, ip);
}

/* ---- Ops ---- */

extern struct ftrace_ops *_Atomic ftrace_ops_list;

/* Called by trampolines of ops with FTRACE_OPS_FL_RECURSION. */
void ftrace_ops_assist_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs);
/* The func of an ops with a direct call: has the trampoline leave through it. */
void call_direct_funcs(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);
/*
 * Let an ops have another func, registered or not: each call sees the old one or the new one. None
 * can run the old one when the wait is done that this begins (ftrace_grace_wait()). 0, or -ENODEV,
 * -ENOMEM: it has the old one.
 */
int ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func);

/*
 * Make `hash` (ours from now on; an empty one becomes none) the filter of `ops`, or with `notrace`
 * its exceptions. A live ops switches before this returns. ftrace_lock held.
 * -EBUSY, -EINVAL: see ftrace_set_filter(); nothing has changed, `hash` is freed.
 */
int ftrace_ops_replace_hash(struct ftrace_ops *ops, bool notrace, struct ftrace_hash *hash);
/* register_ftrace_function() with ftrace_lock held. */
int ftrace_register_locked(struct ftrace_ops *ops);
/*
 * unregister_ftrace_function() without its wait, for callers that hold locks: a thread that was
 * preempted on its way may run func once more, until the wait is done that this begins. What func
 * uses goes by ftrace_call_after(). The second: with ftrace_lock held, without a look.
 */
int ftrace_unregister(struct ftrace_ops *ops);
int ftrace_unregister_locked(struct ftrace_ops *ops);

/* Forget both hashes of an ops that is not registered. ftrace_lock held. */
void ftrace_free_filter_locked(struct ftrace_ops *ops);
/*
 * Give `follower`, which is not registered, the filters of `leader`, now and whenever they change;
 * a leader has one follower. 0 or -ENOMEM. Takes ftrace_lock.
 */
int ftrace_ops_follow(struct ftrace_ops *leader, struct ftrace_ops *follower);
/* No more; it has no filters then. Not registered either. Takes ftrace_lock. */
void ftrace_ops_unfollow(struct ftrace_ops *leader);
/* What a trampoline calls for the ops: its func, or what guards it. ftrace_lock held. */
uintptr_t ftrace_ops_entry(const struct ftrace_ops *ops);
/* The current one; NULL for none. ftrace_lock held. */
struct ftrace_hash *ftrace_ops_hash_of(struct ftrace_ops *ops, bool notrace);

/* ---- Update ---- */

/* What a site does: calls `addr`, or jumps there; 0: nothing. */
struct ftrace_target {
	uintptr_t addr;
	bool is_jump;
};

/* What the site holds when `ops` is its only user; 0: whatever is shared. ftrace_lock held. */
struct ftrace_target ftrace_ops_target(const struct ftrace_ops *ops);

/*
 * What one ops wanted before and wants afterwards; a `wanted` that is false: nothing at all.
 * `moved`: NULL, or what ftrace_ops_target() said before, if it says something else now.
 */
struct ftrace_change {
	struct ftrace_ops *ops;
	bool wanted_before;
	bool wanted_after;
	const struct ftrace_ops_hash *before;
	const struct ftrace_ops_hash *after;
	const struct ftrace_target *moved;
};

/*
 * Whether the change is allowed to an IPMODIFY or direct ops: -EINVAL (wants every function),
 * -EBUSY (a site has such an ops). Others: 0. ftrace_lock held.
 */
int ftrace_check_change(const struct ftrace_change *change);
/*
 * Bring records and text to what the change says. On a mismatch in text: reports it, stops tracing
 * for good and returns -ENODEV. ftrace_lock held.
 */
int ftrace_update(const struct ftrace_change *change);
/* Turn all sites off, or on again. As above. */
int ftrace_update_master(bool on);
bool ftrace_master_on(void); /* ftrace_lock held */
/* The next ops of the list that wants `ip`; start with NULL. ftrace_lock held. */
struct ftrace_ops *ftrace_next_user(uint32_t ip, const struct ftrace_ops *ops);
/* An ops other than `except` that wants `ip`. ftrace_lock held. */
struct ftrace_ops *ftrace_user_of(uint32_t ip, const struct ftrace_ops *except);
/* The ops with a direct call at `ip`, or NULL. ftrace_lock held. */
struct ftrace_ops *ftrace_direct_of(uint32_t ip);
uint64_t ftrace_nr_enabled(void);
uint64_t ftrace_nr_updates(void);
/* Report damaged text and stop tracing for good. */
void ftrace_bug(const struct trace_poke_error *error);

/* ---- Patterns ---- */

enum ftrace_match_type {
	FTRACE_MATCH_FULL,   /* name */
	FTRACE_MATCH_FRONT,  /* name* */
	FTRACE_MATCH_MIDDLE, /* *name* */
	FTRACE_MATCH_END,    /* *name */
	FTRACE_MATCH_GLOB,   /* * inside, ? [ \ */
	FTRACE_MATCH_INDEX,  /* a number: the n-th of available_filter_functions, from 1 */
};

struct ftrace_pattern {
	const char *search; /* points into the text that was parsed */
	size_t len;
	enum ftrace_match_type type;
	bool invert;	     /* started with ! */
	size_t rare;	     /* where its rarest letter is */
	uint64_t rare_bytes; /* that letter, eight times */
};

/* `text` is changed (blanked out stars) and must stay. */
void ftrace_pattern_parse(struct ftrace_pattern *pattern, char *text);
/* `name` lies in a buffer of at least `len` + 8 bytes. An index matches no name. */
bool ftrace_pattern_match(const struct ftrace_pattern *pattern, const char *name, size_t len);

/*
 * Add (or, with !, remove) what the word `text` matches. 1: something matched, 0: nothing did,
 * -ENOMEM, -ENODEV. `module` as in name:mod:module, or NULL; both texts are changed.
 * Takes ftrace_lock.
 */
int ftrace_match_records(struct ftrace_hash **hash, char *text, char *module);
/* The same with ftrace_lock held. */
int ftrace_match_locked(struct ftrace_hash **hash, char *text, char *module);

#endif
