/*
 * The list of text changes: see ftrace_pokes.h. Its entries ascend; a run is merged in from behind,
 * with earlier entries moved to the end of the memory meanwhile.
 *
 * An update cannot fail for want of memory: if a list of the right size cannot be allocated, a
 * small static one is filled and written again and again. That takes more core syncs and nothing
 * else.
 */
#include "ftrace_pokes.h"

#define NR_RESERVE 64u

static struct trace_poke ftrace_pokes_reserve[NR_RESERVE];

static struct {
	struct trace_poke *all; /* `reserve`, or allocated */
	size_t nr;
	size_t room;
	bool is_open;
} ftrace_pokes = { .all = ftrace_pokes_reserve, .room = NR_RESERVE };

/* ---- Memory ---- */

static int ftrace_pokes_get_room(size_t room)
{
	struct trace_poke *all;

	if (room <= NR_RESERVE)
		return 0;
	all = trace_plat_alloc(room * sizeof(*all));
	if (!all)
		return -ENOMEM;
	ftrace_pokes.all = all;
	ftrace_pokes.room = room;
	return 0;
}

static void ftrace_pokes_put_room(void)
{
	if (ftrace_pokes.all != ftrace_pokes_reserve)
		trace_plat_free(ftrace_pokes.all, ftrace_pokes.room * sizeof(*ftrace_pokes.all));
	ftrace_pokes.all = ftrace_pokes_reserve;
	ftrace_pokes.room = NR_RESERVE;
}

/* ---- Merging ---- */

/* One change for the two of a site. Returns false if it would change nothing. */
static bool ftrace_pokes_join(const struct trace_poke *first, const struct trace_poke *second,
			      struct trace_poke *out)
{
	struct trace_poke both = *first;

	__builtin_memcpy(both.new_insn, second->new_insn, TRACE_INSN_SIZE);
	*out = both;
	return __builtin_memcmp(both.old_insn, both.new_insn, TRACE_INSN_SIZE) != 0;
}

/* Take `nr` changes behind the list into it. */
static void merge(size_t nr)
{
	struct trace_poke *out = ftrace_pokes.all, *run = ftrace_pokes.all + ftrace_pokes.nr,
			  *run_end = run + nr;
	struct trace_poke *end = ftrace_pokes.all + ftrace_pokes.room, *old = end - ftrace_pokes.nr;

	if (!ftrace_pokes.nr) {
		ftrace_pokes.nr = nr;
		return;
	}
	__builtin_memcpy(old, ftrace_pokes.all, ftrace_pokes.nr * sizeof(*old));
	while (old < end && run < run_end) {
		if (old->site < run->site)
			*out++ = *old++;
		else if (old->site > run->site)
			*out++ = *run++;
		else
			out += ftrace_pokes_join(old++, run++, out);
	}
	while (old < end)
		*out++ = *old++;
	while (run < run_end)
		*out++ = *run++;
	ftrace_pokes.nr = (size_t)(out - ftrace_pokes.all);
}

/* ---- Writing ---- */

/* Of ftrace_pokes_add(), not of an update. */
static bool is_added(uintptr_t site)
{
	return !ftrace_record_find(site);
}

static void drop_added(void)
{
	struct trace_poke *out = ftrace_pokes.all;

	for (size_t i = 0; i < ftrace_pokes.nr; i++) {
		if (!is_added(trace_plat_ip_unpack(ftrace_pokes.all[i].site)))
			*out++ = ftrace_pokes.all[i];
	}
	ftrace_pokes.nr = (size_t)(out - ftrace_pokes.all);
}

static int write_list(void)
{
	struct trace_poke_error error;
	int err = ftrace_is_dead() ? -ENODEV : 0;

	if (err || !ftrace_pokes.nr) {
		ftrace_pokes.nr = 0;
		return err;
	}
	err = trace_plat_poke_batch(ftrace_pokes.all, ftrace_pokes.nr, &error);
	if (err == -EBUSY && is_added(error.site)) {
		drop_added();
		return -EBUSY;
	}
	ftrace_pokes.nr = 0;
	if (!err)
		return 0;
	ftrace_bug(err, &error);
	return -ENODEV;
}

/* ---- An update ---- */

struct trace_poke *ftrace_pokes_begin(size_t bound, size_t *out_room)
{
	if (!ftrace_pokes.is_open)
		(void)ftrace_pokes_get_room(bound);
	*out_room = ftrace_pokes.room - 2 * ftrace_pokes.nr;
	return ftrace_pokes.all + ftrace_pokes.nr;
}

int ftrace_pokes_flush(size_t nr)
{
	merge(nr);
	return write_list();
}

int ftrace_pokes_end(size_t nr)
{
	int err;

	if (ftrace_pokes.is_open) {
		merge(nr);
		return 0;
	}
	err = ftrace_pokes_flush(nr);
	ftrace_pokes_put_room();
	return err;
}

/* ---- An open list ---- */

/*
 * No more than `bound` are ever in it, so each run has room behind these, and there is room to move
 * them aside.
 */
int ftrace_pokes_open(size_t bound)
{
	int err = ftrace_pokes_get_room(3 * bound);

	ftrace_pokes.is_open = !err;
	return err;
}

bool ftrace_pokes_are_open(void)
{
	return ftrace_pokes.is_open;
}

void ftrace_pokes_add(const struct trace_poke *pokes, size_t nr)
{
	__builtin_memcpy(ftrace_pokes.all + ftrace_pokes.nr, pokes, nr * sizeof(*pokes));
	merge(nr);
}

int ftrace_pokes_write(void)
{
	return write_list();
}

/* After -EBUSY nothing is left to be written, but a change that could not be taken back. */
void ftrace_pokes_close(void)
{
	(void)write_list();
	ftrace_pokes.is_open = false;
	ftrace_pokes_put_room();
}
