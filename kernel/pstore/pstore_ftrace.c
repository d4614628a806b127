/*
 * ftrace-ramoops-0: the functions that were called last. No call sites, because these are probes.
 *
 * Each CPU has a zone. A call that comes while that CPU writes one, in an interrupt, is left out.
 */
#include <stdatomic.h>
#include <arch/percpu.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include <trace/ftrace.h>
#include <trace/platform.h>
#include "../fs/vfs_mount.h"
#include "pstore.h"

#define PSTORE_CALL_LINE 192u /* bytes of its text */

/* ZONE_TEXT_BYTES is a multiple of its size, so a block has whole ones. */
struct pstore_call {
	uint64_t time_ns;
	uint32_t ip, parent_ip; /* packed */
	uint32_t cpu;
	uint32_t build; /* a hash */
};

_Static_assert(ZONE_TEXT_BYTES % sizeof(struct pstore_call) == 0, "calls have to fill blocks");

static struct zone *pstore_calls;	/* one a CPU */
static _Atomic bool *pstore_is_writing; /* the same */
static uint32_t pstore_build;
static struct mutex pstore_ftrace_lock; /* guards is_on */
static bool pstore_ftrace_is_on;

static void pstore_ftrace_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	uint32_t cpu = cpu_local_read(id);
	const struct pstore_call call = { .time_ns = trace_plat_clock_ns(),
					  .ip = trace_plat_ip_pack(ip),
					  .parent_ip = trace_plat_ip_pack(parent_ip),
					  .cpu = cpu,
					  .build = pstore_build };

	(void)ops;
	(void)fregs;
	if (atomic_exchange_explicit(&pstore_is_writing[cpu], true, memory_order_relaxed))
		return;
	zone_append(&pstore_calls[cpu], &call, sizeof(call));
	atomic_store_explicit(&pstore_is_writing[cpu], false, memory_order_relaxed);
}

static struct ftrace_ops pstore_ftrace_ops = { .func = pstore_ftrace_call,
					       .flags = FTRACE_OPS_FL_RECURSION };

/* ---- The switch ---- */

static ssize_t pstore_switch_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	(void)file;
	return vfs_switch_read(pstore_ftrace_is_on, buf, len, pos);
}

static int pstore_switch(bool on)
{
	int err = 0;

	mutex_lock(&pstore_ftrace_lock);
	if (on && !pstore_ftrace_is_on)
		err = register_ftrace_function(&pstore_ftrace_ops);
	else if (!on && pstore_ftrace_is_on)
		err = unregister_ftrace_function(&pstore_ftrace_ops);
	if (!err)
		pstore_ftrace_is_on = on;
	mutex_unlock(&pstore_ftrace_lock);
	return err;
}

static ssize_t pstore_switch_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	bool on = false;
	int err = vfs_switch_parse(buf, len, &on);

	(void)file;
	if (!err)
		err = pstore_switch(on);
	if (err)
		return err;
	*pos += len;
	return (ssize_t)len;
}

static const struct file_ops pstore_switch_ops = { .read = pstore_switch_read,
						   .write = pstore_switch_write,
						   .has_position = true };

static const struct vfs_special pstore_switch_special = {
	"/sys/kernel/debug/pstore", "record_ftrace", 0644, 0, &pstore_switch_ops, NULL, NULL
};

/* ---- The calls of the last kernel ---- */

/* The calls of a CPU that are not in the text yet. */
struct pstore_stream {
	const struct pstore_call *next, *end;
};

/* The stream whose next call is the earliest; NULL: all are at their end. */
static struct pstore_stream *pstore_earliest(struct pstore_stream *streams, uint32_t nr)
{
	struct pstore_stream *found = NULL;

	for (uint32_t i = 0; i < nr; i++) {
		if (streams[i].next < streams[i].end &&
		    (!found || streams[i].next->time_ns < found->next->time_ns))
			found = &streams[i];
	}
	return found;
}

/* A line as in Linux. Only those of this build have names. */
static size_t pstore_call_line(char *out, const struct pstore_call *call)
{
	uintptr_t ip = trace_plat_ip_unpack(call->ip);
	uintptr_t parent = trace_plat_ip_unpack(call->parent_ip);
	size_t len = trace_scnprintf(out, PSTORE_CALL_LINE, "CPU:%u ts:%lu %016lx  %016lx",
				     call->cpu, call->time_ns, ip, parent);

	if (call->build == pstore_build)
		len += trace_scnprintf(out + len, PSTORE_CALL_LINE - len - 1, "  %ps <- %pB",
				       (void *)ip, (void *)parent);
	out[len] = '\n';
	return len + 1;
}

static size_t pstore_merge(char *out, struct pstore_stream *streams, uint32_t nr)
{
	struct pstore_stream *stream;
	size_t len = 0;

	while ((stream = pstore_earliest(streams, nr)))
		len += pstore_call_line(out + len, stream->next++);
	return len;
}

/* Copy the calls of all zones to `room`, one behind the other. Their number. */
static size_t pstore_collect(struct zone *zones, uint32_t nr, char *room,
			     struct pstore_stream *out_streams)
{
	const char *begin = room;

	for (uint32_t i = 0; i < nr; i++) {
		out_streams[i].next = (const struct pstore_call *)(const void *)room;
		room += zone_text(&zones[i], room, "");
		out_streams[i].end = (const struct pstore_call *)(const void *)room;
	}
	return (size_t)(room - begin) / sizeof(struct pstore_call);
}

static int pstore_add_calls(struct zone *zones, uint32_t nr)
{
	struct pstore_stream *streams = kmalloc(nr * sizeof(*streams));
	char *room = vmalloc(nr * zone_text_max(&zones[0])), *text = NULL;
	int err = streams && room ? 0 : -ENOMEM;
	size_t nr_calls = 0;

	if (!err)
		nr_calls = pstore_collect(zones, nr, room, streams);
	if (nr_calls) {
		text = vmalloc(nr_calls * PSTORE_CALL_LINE);
		err = text ? pstore_add_text("ftrace-ramoops-0", text,
					     pstore_merge(text, streams, nr), zones, nr)
			   : -ENOMEM;
	}
	kfree(streams);
	vfree(room);
	return err;
}

int pstore_add_ftrace(struct zone *zones, uint32_t nr_cpus)
{
	unsigned long build = 0, generation = 0;
	int err;

	str_to_u64(trace_plat_build_id(), 16, &build);
	pstore_build = (uint32_t)build;
	pstore_calls = zones;
	pstore_is_writing = kzalloc(nr_cpus * sizeof(*pstore_is_writing));
	if (!pstore_is_writing)
		return -ENOMEM;
	err = pstore_add_calls(zones, nr_cpus);
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		generation = zones[cpu].old > generation ? zones[cpu].old : generation;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		zone_begin(&zones[cpu], generation + 1, true);
	if (!err)
		err = vfs_ram_add_dir("/sys/kernel/debug/pstore");
	return err ? err : vfs_ram_add(&pstore_switch_special, 1);
}
