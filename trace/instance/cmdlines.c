/*
 * See cmdlines.h.
 */
#include <trace/trace.h>
#include "array.h"
#include "cmdlines.h"
#include "irq_lock.h"
#include "snapshot.h"
#include "text/str.h"

#define LIVING_FIRST_ROOM 200u /* fits in a page */

static struct {
	_Atomic bool is_locked;
	struct trace_cmdline *ring;
	size_t size;
	size_t next; /* place of the next name */
	size_t nr;
} saved;

int trace_cmdlines_init(void)
{
	return trace_cmdlines_resize(TRACE_CMDLINES_DEFAULT);
}

int trace_cmdlines_resize(size_t nr)
{
	struct trace_cmdline *ring, *old;
	size_t old_size;
	uint64_t flags;

	if (!nr || nr > TRACE_CMDLINES_MAX)
		return -EINVAL;
	ring = trace_plat_alloc(nr * sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	flags = trace_irq_lock(&saved.is_locked);
	old = saved.ring;
	old_size = saved.size;
	saved.ring = ring;
	saved.size = nr;
	saved.next = 0;
	saved.nr = 0;
	trace_irq_unlock(&saved.is_locked, flags);
	if (old)
		trace_plat_free(old, old_size * sizeof(*old));
	return 0;
}

size_t trace_cmdlines_size(void)
{
	uint64_t flags;
	size_t size;

	flags = trace_irq_lock(&saved.is_locked);
	size = saved.size;
	trace_irq_unlock(&saved.is_locked, flags);
	return size;
}

static struct trace_cmdline *find_locked(int32_t pid)
{
	for (size_t i = 0; i < saved.nr; i++) {
		if (saved.ring[i].pid == pid)
			return &saved.ring[i];
	}
	return NULL;
}

/* Save a thread; the oldest one makes room for it. */
static void save_line(const struct trace_cmdline *saved_line)
{
	struct trace_cmdline *line;
	uint64_t flags;

	flags = trace_irq_lock(&saved.is_locked);
	line = find_locked(saved_line->pid);
	if (!line) {
		line = &saved.ring[saved.next];
		saved.next = (saved.next + 1) % saved.size;
		saved.nr += saved.nr < saved.size;
	}
	*line = *saved_line;
	trace_irq_unlock(&saved.is_locked, flags);
}

static bool cmdlines_is_recording(void)
{
	const struct trace_array *tr = trace_global_array();

	return tr && (tr->options & TRACE_OPT_BIT(TRACE_OPT_RECORD_CMD));
}

/* Copy what was saved of a thread. */
static bool find_saved(int32_t pid, bool may_wait, struct trace_cmdline *out_line)
{
	const struct trace_cmdline *line;
	uint64_t flags;

	if (may_wait)
		flags = trace_irq_lock(&saved.is_locked);
	else if (!trace_irq_trylock(&saved.is_locked, &flags))
		return false;
	line = find_locked(pid);
	if (line)
		*out_line = *line;
	trace_irq_unlock(&saved.is_locked, flags);
	return line;
}

void trace_cmdlines_find(int32_t pid, bool may_wait, char *out_comm)
{
	struct trace_cmdline line;

	trace_strcpy(out_comm, pid ? "<...>" : "<idle>", TRACE_COMM_LEN);
	if (!pid || (cmdlines_is_recording() && trace_plat_thread_comm(pid, may_wait, out_comm)))
		return;
	if (find_saved(pid, may_wait, &line) && line.comm[0])
		trace_strcpy(out_comm, line.comm, TRACE_COMM_LEN);
}

int32_t trace_cmdlines_tgid(int32_t pid, bool may_wait)
{
	int32_t tgid = pid ? trace_plat_thread_tgid(pid, may_wait) : 0;
	struct trace_cmdline line;

	if (pid && !tgid && find_saved(pid, may_wait, &line))
		tgid = line.tgid;
	return tgid;
}

static bool has_events(struct trace_array *tr)
{
	struct ring_buffer *buffers[TRACE_MAX_BUFFERS];

	trace_snapshot_buffers(tr, buffers);
	return !ring_buffer_empty(buffers[0]) || (buffers[1] && !ring_buffer_empty(buffers[1]));
}

/* Reasons to save a thread that ends. */
struct cmdlines_wants {
	bool is_traced; /* there is any event, a line of which could need it */
	bool tgids;	/* an instance has record-tgid */
};

static struct cmdlines_wants cmdlines_wants(void)
{
	struct cmdlines_wants wants = { false, false };
	struct trace_array *tr = NULL;

	trace_plat_lock(&trace_arrays_lock);
	while ((tr = trace_array_next(tr))) {
		wants.is_traced = wants.is_traced || has_events(tr);
		wants.tgids |= !!(tr->options & TRACE_OPT_BIT(TRACE_OPT_RECORD_TGID));
	}
	trace_plat_unlock(&trace_arrays_lock);
	return wants;
}

/* Only collects ids: the host may hold a lock here that asking for a name needs, too. */
static void collect_pid(int32_t pid, struct trace_thread *thread, void *arg)
{
	struct trace_cmdline_list *list = arg;

	(void)thread;
	if (!pid)
		return;
	if (list->nr < list->room)
		list->lines[list->nr].pid = pid;
	list->nr++;
}

static size_t bytes_for(size_t room)
{
	return sizeof(struct trace_cmdline_list) + room * sizeof(struct trace_cmdline);
}

/* The ids of all threads, or NULL. A list that proves too short is made again. */
static struct trace_cmdline_list *list_pids(bool tgids)
{
	bool is_wanted = tgids ? cmdlines_wants().tgids : cmdlines_is_recording();
	struct trace_cmdline_list *list;
	size_t room = LIVING_FIRST_ROOM;

	for (;;) {
		list = trace_plat_alloc(bytes_for(room));
		if (!list)
			return NULL;
		list->room = room;
		if (is_wanted)
			trace_plat_each_thread(collect_pid, list);
		if (list->nr <= room)
			return list;
		room = 2 * list->nr;
		trace_cmdlines_put_list(list);
	}
}

struct trace_cmdline_list *trace_cmdlines_living(bool tgids)
{
	struct trace_cmdline_list *list = list_pids(tgids);
	size_t nr_named = 0;

	if (!list)
		return NULL;
	for (size_t i = 0; i < list->nr; i++) {
		struct trace_cmdline line = { .pid = list->lines[i].pid };

		line.tgid = tgids ? trace_plat_thread_tgid(line.pid, true) : 0;
		if (trace_plat_thread_comm(line.pid, true, line.comm)) /* it lives still */
			list->lines[nr_named++] = line;
	}
	list->nr = nr_named;
	return list;
}

void trace_cmdlines_put_list(struct trace_cmdline_list *list)
{
	if (list)
		trace_plat_free(list, bytes_for(list->room));
}

bool trace_cmdlines_get(size_t index, struct trace_cmdline *out_cmdline)
{
	uint64_t flags;
	bool found;

	flags = trace_irq_lock(&saved.is_locked);
	found = index < saved.nr;
	if (found)
		*out_cmdline = saved.ring[index];
	trace_irq_unlock(&saved.is_locked, flags);
	return found;
}

void trace_cmdlines_note_exit(int32_t pid, const char *comm)
{
	struct trace_cmdline line = { .pid = pid };
	struct cmdlines_wants wants;

	if (!trace_global_array())
		return;
	wants = cmdlines_wants();
	if (!wants.is_traced || (!wants.tgids && !cmdlines_is_recording()))
		return;
	if (cmdlines_is_recording())
		trace_strcpy(line.comm, comm, sizeof(line.comm));
	if (wants.tgids)
		line.tgid = trace_plat_thread_tgid(pid, true);
	save_line(&line);
}
