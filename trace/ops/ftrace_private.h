/*
 * Shared declarations of the files of function tracing: records of call sites, hashes of functions,
 * the update engine, patterns. The table in trace/README.md lists the files.
 *
 * Locking:   ftrace_lock guards records, the ops list, the hashes of every ops. Callbacks read the
 *            list and the hashes without it, with preemption off; memory that they may be reading
 *            is freed only after trace_plat_synchronize_preempt().
 */
#ifndef FTRACE_PRIVATE_H
#define FTRACE_PRIVATE_H

#include <stdatomic.h>
#include <trace/asm_entries.h>
#include <trace/ftrace.h>

extern struct trace_plat_lock ftrace_lock;

/*
 * Have `fn` called at the end of ftrace_kill(), in whatever context that is called. There is one
 * such function; a later call replaces it, NULL takes it away. For a folder above this one, which
 * ops/ may not call by name.
 */
void ftrace_when_killed(void (*fn)(void));
/* ftrace_kill(), for a reason, a text that lasts. Any context. */
void ftrace_kill_because(const char *why);
/* The first such reason; NULL while tracing is not dead. Any context. */
const char *ftrace_dead_why(void);

/* ---- Records ---- */

/* A call site. The low bits of `flags` count the ops that want it. */
struct dyn_ftrace {
	uint32_t ip; /* trace_plat_ip_pack() */
	uint32_t flags;
};

enum ftrace_record_flags {
	FTRACE_FL_ENABLED = 1u << 31,	 /* the site calls something */
	FTRACE_FL_REGS = 1u << 30,	 /* an ops wants all registers */
	FTRACE_FL_REGS_EN = 1u << 29,	 /* the site's trampoline saves them */
	FTRACE_FL_TRAMP = 1u << 28,	 /* the site should call what its only ops wants there */
	FTRACE_FL_TRAMP_EN = 1u << 27,	 /* it does */
	FTRACE_FL_IPMODIFY = 1u << 26,	 /* an ops may send calls elsewhere */
	FTRACE_FL_TOUCHED = 1u << 25,	 /* the site has called something since boot */
	FTRACE_FL_DIRECT = 1u << 24,	 /* an ops has a direct call here */
	FTRACE_FL_DIRECT_EN = 1u << 23,	 /* the site holds that call itself */
	FTRACE_FL_MODIFIED = 1u << 14,	 /* it has had IPMODIFY or DIRECT since boot */
	FTRACE_REF_MAX = (1u << 14) - 1, /* mask of the count of ops that want the site */
};

/* These two stay for good. */
#define FTRACE_PAST (FTRACE_FL_TOUCHED | FTRACE_FL_MODIFIED)

/* Bits 15 to 22: the number of the site's set of ops, 0 for none; see ftrace_set.h. */
#define FTRACE_SET_SHIFT 15
#define FTRACE_SET_MASK	 (0xffu << FTRACE_SET_SHIFT)

#define FTRACE_PAGE_BYTES	4096u
#define FTRACE_RECORDS_PER_PAGE (FTRACE_PAGE_BYTES / (uint32_t)sizeof(struct dyn_ftrace))

/* Adjacent pages of records. The addresses ascend within a group and from group to group. */
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

/* An empty set. NULL when out of memory. */
struct ftrace_hash *ftrace_hash_create(void);
/* A copy of `hash`; NULL stands for the empty set. Returns NULL when out of memory. */
struct ftrace_hash *ftrace_hash_copy(const struct ftrace_hash *hash);
/* `hash` may be NULL. */
void ftrace_hash_free(struct ftrace_hash *hash);
/*
 * Add a site, or remove one. Adding one that is in the set and removing one that is not do nothing.
 * add may replace *hash by a larger one; 0, or -ENOMEM with *hash as it was.
 */
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

/* Is the packed address in the set? Probe context. */
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

/* Does an ops with these hashes want the site? `want` NULL: it wants every site. Probe context. */
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

/*
 * Give an ops, registered or not, another func. While this runs, each call goes to the old one or
 * to the new one. This begins a wait; when ftrace_grace_wait() says that it is done, no thread is
 * in the old one any more. 0; -ENODEV, -ENOMEM: the ops keeps the old one. Takes ftrace_lock.
 */
int ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func);

/*
 * Make `hash` the filter of `ops`, or with `notrace` its exceptions. The sites of a registered ops
 * have switched when this returns. `hash` is owned by this function from the call on, also when it
 * fails; an empty one counts as no filter. ftrace_lock held.
 * 0; -EBUSY, -EINVAL as ftrace_set_filter() says: nothing has changed. -ENOMEM: only with a
 * follower.
 */
int ftrace_ops_replace_hash(struct ftrace_ops *ops, bool notrace, struct ftrace_hash *hash);
/*
 * The same for a batch (ftrace_batch.h): *hash becomes what was there before, or stays if that is
 * refused. It is not freed before trace_plat_synchronize_preempt(). No follower.
 */
int ftrace_ops_exchange_hash(struct ftrace_ops *ops, bool notrace, struct ftrace_hash **hash);
/* register_ftrace_function() with ftrace_lock held. */
int ftrace_register_locked(struct ftrace_ops *ops);
/*
 * unregister_ftrace_function() without its wait, for callers that hold locks. A thread that was
 * preempted on its way to func may still run it once, so what func uses has to be freed by
 * ftrace_call_after(). The second one is for callers that hold ftrace_lock; they have to call
 * ftrace_grace_look() when they have released it.
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
/* End that. The follower, which is not registered, has no filters afterwards. Takes ftrace_lock. */
void ftrace_ops_unfollow(struct ftrace_ops *leader);
/* The function a trampoline calls: the ops' func, or ftrace_ops_assist_func(). ftrace_lock held. */
uintptr_t ftrace_ops_entry(const struct ftrace_ops *ops);
/* The current filter, or with `notrace` the exceptions; NULL for none. ftrace_lock held. */
struct ftrace_hash *ftrace_ops_hash_of(struct ftrace_ops *ops, bool notrace);

/* ---- Update ---- */

/* The action of a site: a call of `addr` or a jump there; a NOP when `addr` is 0. */
struct ftrace_target {
	uintptr_t addr;
	bool is_jump;
};

/*
 * The action of a site wanted by `ops` alone. With an `addr` of 0 the ops has no trampoline of its
 * own, and its sites call a shared one. ftrace_lock held.
 */
struct ftrace_target ftrace_ops_target(const struct ftrace_ops *ops);

/* A change of one ops' wishes. */
struct ftrace_change {
	struct ftrace_ops *ops;
	bool wanted_before; /* false: it was not registered, `before` is not used */
	bool wanted_after;  /* false: it is being unregistered */
	const struct ftrace_ops_hash *before; /* NULL: every site */
	const struct ftrace_ops_hash *after;  /* NULL: every site */
	/* The earlier result of ftrace_ops_target(), if it has changed; or NULL. */
	const struct ftrace_target *moved;
};

/*
 * May the ops want this? Only an IPMODIFY or direct ops can be refused: -EINVAL (it would want
 * every function), -EBUSY (a site already has such an ops). Otherwise 0. ftrace_lock held.
 */
int ftrace_check_change(const struct ftrace_change *change);
/*
 * Change records and text as the change says. 0. When the text at a site differs from the text
 * written there, this reports it, stops tracing for good and returns -ENODEV. ftrace_lock held.
 */
int ftrace_update(const struct ftrace_change *change);
/* Make all sites NOPs, or as they were before again. Result and lock as for ftrace_update(). */
int ftrace_update_master(bool on);
bool ftrace_master_on(void); /* any context; it changes with ftrace_lock held */
/* The next ops of the list that wants `ip`; start with NULL. ftrace_lock held. */
struct ftrace_ops *ftrace_next_user(uint32_t ip, const struct ftrace_ops *ops);
/* An ops other than `except` that wants `ip`. ftrace_lock held. */
struct ftrace_ops *ftrace_user_of(uint32_t ip, const struct ftrace_ops *except);
/* The ops with a direct call at `ip`, or NULL. ftrace_lock held. */
struct ftrace_ops *ftrace_direct_of(uint32_t ip);
/* The number of sites that call now. ftrace_lock held. */
uint64_t ftrace_nr_enabled(void);
/*
 * Report in the log why a site could not be written, and stop tracing for good. `err` is the result
 * of trace_plat_poke_batch() or trace_plat_nop_sites().
 */
void ftrace_bug(int err, const struct trace_poke_error *error);

/* ---- Patterns ---- */

enum ftrace_match_type {
	FTRACE_MATCH_FULL,   /* name */
	FTRACE_MATCH_FRONT,  /* name* */
	FTRACE_MATCH_MIDDLE, /* *name* */
	FTRACE_MATCH_END,    /* *name */
	FTRACE_MATCH_GLOB,   /* a star in other places, or one of ? [ \ */
	FTRACE_MATCH_INDEX,  /* a number: the n-th of available_filter_functions, from 1 */
};

struct ftrace_pattern {
	const char *search; /* points into the text that was parsed */
	size_t len;
	enum ftrace_match_type type;
	bool invert;	     /* started with ! */
	size_t rare;	     /* index of its rarest letter in `search` */
	uint64_t rare_bytes; /* that letter in each of eight bytes */
};

/* `text` is changed (stars become NULs), and the pattern points into it. */
void ftrace_pattern_parse(struct ftrace_pattern *pattern, char *text);
/* `name` lies in a buffer of at least `len` + 8 bytes. An index matches no name. */
bool ftrace_pattern_match(const struct ftrace_pattern *pattern, const char *name, size_t len);

/*
 * Add the sites whose functions match the word `text` to *hash; or remove them, if it begins with
 * !. 1: something matched; 0: nothing did; -ENOMEM; -ENODEV: tracing is dead. `module` is the text
 * behind `:mod:`, or NULL. Both texts are changed. Takes ftrace_lock.
 */
int ftrace_match_records(struct ftrace_hash **hash, char *text, char *module);

#endif
