/*
 * Registering probes in programs, and back: see <trace/uprobe.h> and uprobe_private.h.
 */
#include <trace/errno.h>
#include "uprobe_private.h"

static struct trace_plat_lock uprobe_lock;

/* ---- Files ---- */

int uprobe_file_get(const char *path, struct uprobe_file **out_file)
{
	const struct trace_uprobe_host *host = trace_plat_uprobes();

	return host ? host->file_get(path, out_file) : -ENODEV;
}

int uprobe_file_path(const char *path, char *out_path, size_t bytes)
{
	const struct trace_uprobe_host *host = trace_plat_uprobes();

	return host ? host->file_path(path, out_path, bytes) : -ENODEV;
}

void uprobe_file_put(struct uprobe_file *file)
{
	trace_plat_uprobes()->file_put(file);
}

uint64_t uprobe_file_id(const struct uprobe_file *file)
{
	return trace_plat_uprobes()->file_id(file);
}

uint64_t uprobe_file_bytes(struct uprobe_file *file)
{
	return trace_plat_uprobes()->file_bytes(file);
}

size_t uprobe_file_read(struct uprobe_file *file, uint64_t offset, void *to, size_t bytes)
{
	return trace_plat_uprobes()->file_read(file, offset, to, bytes);
}

/* ---- Places ---- */

void uprobe_put(struct uprobe *uprobe)
{
	if (atomic_fetch_sub(&uprobe->refs, 1) > 1)
		return;
	trace_plat_uprobes()->file_put(uprobe->file);
	trace_plat_free(uprobe, sizeof(*uprobe));
}

static struct uprobe *uprobe_create(const struct uprobe_consumer *consumer, int *out_err)
{
	const struct trace_uprobe_host *host = trace_plat_uprobes();
	struct uprobe *uprobe = trace_plat_alloc(sizeof(*uprobe));
	struct uprobe_refusal refusal;

	*out_err = -ENOMEM;
	if (!uprobe)
		return NULL;
	*out_err = uprobe_check(consumer->file, consumer->offset, &uprobe->insn, &refusal);
	if (!*out_err && consumer->ref_ctr_offset)
		*out_err = uprobe_check_counter(consumer->file, consumer->ref_ctr_offset, &refusal);
	if (*out_err) {
		trace_plat_free(uprobe, sizeof(*uprobe));
		return NULL;
	}
	uprobe->file = host->file_hold(consumer->file);
	uprobe->refs = 1;
	uprobe->code.file = uprobe->count.file = host->file_id(consumer->file);
	uprobe->code.since = uprobe->count.since = UINT64_MAX;
	uprobe->code.edit = (struct trace_uprobe_edit){ .offset = consumer->offset,
							.from = uprobe->insn.bytes[0],
							.to = host->breakpoint };
	uprobe->count.edit =
		(struct trace_uprobe_edit){ .offset = consumer->ref_ctr_offset,
					    .delta = consumer->ref_ctr_offset ? 1 : 0 };
	return uprobe;
}

static void uprobe_join(struct uprobe *uprobe, struct uprobe_consumer *consumer)
{
	struct uprobe_consumer *TRACE_ATOMIC *link = &uprobe->first;

	while (*link)
		link = &(*link)->next;
	consumer->next = NULL;
	consumer->uprobe = uprobe;
	if (consumer->ret_handler)
		atomic_fetch_add(&uprobe->nr_returns, 1);
	atomic_store_explicit(link, consumer, memory_order_release);
}

/* True: it was the last one. */
static bool uprobe_leave(struct uprobe_consumer *consumer)
{
	struct uprobe *uprobe = consumer->uprobe;
	struct uprobe_consumer *TRACE_ATOMIC *link = &uprobe->first;

	while (*link != consumer)
		link = &(*link)->next;
	atomic_store_explicit(link, atomic_load(&consumer->next), memory_order_release);
	if (consumer->ret_handler)
		atomic_fetch_sub(&uprobe->nr_returns, 1);
	return !uprobe->first;
}

/* Join the place, which is made if it is the first one there, and then is part of the change. */
static int uprobe_add_consumer(struct uprobe_change *change, struct uprobe_consumer *consumer)
{
	struct uprobe *uprobe;
	int err;

	if (consumer->uprobe)
		return -EINVAL;
	uprobe = uprobe_table_find(trace_plat_uprobes()->file_id(consumer->file), consumer->offset);
	if (!uprobe) {
		uprobe = uprobe_create(consumer, &err);
		if (!uprobe)
			return err;
		uprobe_table_add(&uprobe->code);
		if (uprobe->count.edit.delta)
			uprobe_table_add(&uprobe->count);
		uprobe_change_add(change, uprobe);
	} else if (uprobe->count.edit.offset != consumer->ref_ctr_offset) {
		return -EINVAL;
	}
	uprobe_join(uprobe, consumer);
	return 0;
}

/* The places are part of the change. No program reaches them any more. */
static void uprobe_end_places(struct uprobe_change *change)
{
	struct uprobe *uprobe = change->first, *next;

	for (; uprobe; uprobe = uprobe->next_in_change) {
		uprobe_table_remove(&uprobe->code);
		if (uprobe->count.edit.delta)
			uprobe_table_remove(&uprobe->count);
	}
	atomic_fetch_add(&uprobe_epoch, 1); /* not uprobe_maps_changed(): the table may be empty */
	uprobe_phase_wait();
	for (uprobe = change->first; uprobe; uprobe = next) {
		next = uprobe->next_in_change;
		uprobe_put(uprobe);
	}
}

static void uprobe_remove_consumers(struct uprobe_consumer *const *consumers, size_t nr)
{
	struct uprobe_change change = { 0 };

	for (size_t i = 0; i < nr; i++) {
		if (consumers[i]->uprobe && uprobe_leave(consumers[i]))
			uprobe_change_add(&change, consumers[i]->uprobe);
	}
	uprobe_change_undo(&change);
	uprobe_end_places(&change);
	for (size_t i = 0; i < nr; i++)
		consumers[i]->uprobe = NULL;
	uprobe_change_release();
}

/* ---- Consumers ---- */

static int uprobe_register_locked(struct uprobe_consumer *const *consumers, size_t nr)
{
	struct uprobe_change change = { 0 };
	int err = uprobe_change_reserve(nr);
	size_t nr_done = 0;

	while (!err && nr_done < nr) {
		err = uprobe_add_consumer(&change, consumers[nr_done]);
		nr_done += !err;
	}
	if (!err)
		err = uprobe_change_make(&change);
	if (err)
		uprobe_remove_consumers(consumers, nr_done);
	return err;
}

int register_uprobes(struct uprobe_consumer *const *consumers, size_t nr)
{
	int err;

	if (!trace_plat_uprobes())
		return -ENODEV;
	trace_plat_lock(&uprobe_lock);
	err = uprobe_register_locked(consumers, nr);
	trace_plat_unlock(&uprobe_lock);
	return err;
}

int register_uprobe(struct uprobe_consumer *consumer)
{
	return register_uprobes(&consumer, 1);
}

void unregister_uprobes(struct uprobe_consumer *const *consumers, size_t nr)
{
	trace_plat_lock(&uprobe_lock);
	for (size_t i = 0; i < nr; i++) {
		if (consumers[i]->uprobe) {
			uprobe_remove_consumers(consumers, nr);
			break;
		}
	}
	trace_plat_unlock(&uprobe_lock);
}

void unregister_uprobe(struct uprobe_consumer *consumer)
{
	unregister_uprobes(&consumer, 1);
}

/* ---- In handlers ---- */

bool uprobe_read_user(void *to, uintptr_t from, size_t bytes)
{
	return trace_plat_uprobes()->read(to, from, bytes);
}

uintptr_t uprobe_file_address(struct uprobe_file *file, uint64_t offset, uintptr_t addr)
{
	const struct trace_uprobe_host *host = trace_plat_uprobes();

	return host->address(host->file_id(file), offset, addr);
}
