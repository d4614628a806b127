/*
 * Messages that survive a reset; see <kernel/pstore.h>.
 *
 *   memory:  console | pmsg | ftrace, a part for each CPU | record | record | ...
 *
 * A panic takes the record whose panic is the oldest, or an empty one.
 */
#include <stdatomic.h>
#include <arch/smp.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/params.h>
#include <kernel/preempt.h>
#include <kernel/printk.h>
#include <kernel/pstore.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "../dmesg.h"
#include "pstore.h"

#define PSTORE_MAX_RECORDS   64u
#define PSTORE_RECORD_BYTES  32768
#define PSTORE_CONSOLE_BYTES 32768
#define PSTORE_PMSG_BYTES    16384
#define PSTORE_LINE_MAX	     (PRINTK_LINE_MAX + 24)

/* A reader of the message ring that writes to a zone. */
struct pstore_log {
	struct zone *zone;
	uint64_t next; /* message */
	struct dmesg_line line;
	char text[PSTORE_LINE_MAX];
};

static struct zone *records; /* written once, at boot */
static uint32_t nr_records;
static struct pstore_log panic_log; /* of the CPU that panics */
static struct pstore_log console;
static struct spinlock console_lock; /* with interrupts off */
static _Atomic bool console_is_on;

/* ---- Messages ---- */

/* Format the next message, with its newline. Its length; 0: there is none. */
static size_t pstore_next_line(struct pstore_log *log)
{
	size_t len;

	if (!dmesg_read(&log->next, &log->line))
		return 0;
	len = dmesg_format(&log->line, log->text, sizeof(log->text) - 1);
	log->text[len] = '\n';
	return len + 1;
}

static void pstore_copy_lines(struct pstore_log *log)
{
	size_t len;

	while ((len = pstore_next_line(log)))
		zone_append(log->zone, log->text, len);
}

/* A message that comes while another CPU or context copies is copied by that one. */
void pstore_console(void)
{
	uint64_t flags;

	while (atomic_load_explicit(&console_is_on, memory_order_relaxed) && !in_nmi() &&
	       spin_trylock_irqsave(&console_lock, &flags)) {
		uint64_t end = dmesg_end();

		pstore_copy_lines(&console);
		spin_unlock_irqrestore(&console_lock, flags);
		if (dmesg_end() == end)
			break;
	}
}

/* ---- The panic ---- */

static struct zone *pstore_oldest(uint64_t *out_newest)
{
	struct zone *oldest = &records[0];

	*out_newest = 0;
	for (uint32_t i = 0; i < nr_records; i++) {
		if (records[i].old < oldest->old)
			oldest = &records[i];
		if (records[i].old > *out_newest)
			*out_newest = records[i].old;
	}
	return oldest;
}

/* The message from which on all that there are take `room` bytes at most. */
static uint64_t pstore_tail(struct pstore_log *log, size_t room)
{
	size_t bytes = 0, len;
	uint64_t from;

	log->next = 0;
	while ((len = pstore_next_line(log)))
		bytes += len;
	log->next = 0;
	do {
		from = log->next;
		len = bytes > room ? pstore_next_line(log) : 0;
		bytes -= len;
	} while (len);
	return from;
}

void pstore_panic_begin(void)
{
	uint64_t newest;
	struct zone *zone;
	size_t len;

	if (!nr_records)
		return;
	zone = pstore_oldest(&newest);
	zone_begin(zone, newest + 1, false);
	len = trace_scnprintf(panic_log.text, PSTORE_LINE_MAX, "Panic#%lu Part1\n", newest + 1);
	zone_append(zone, panic_log.text, len);
	panic_log.next = pstore_tail(&panic_log, zone_text_max(zone) / 4);
	panic_log.zone = zone;
	pstore_panic_messages();
}

void pstore_panic_messages(void)
{
	if (panic_log.zone)
		pstore_copy_lines(&panic_log);
}

/* ---- The start ---- */

/* The memory that is not given out yet. */
struct pstore_room {
	uint8_t *memory;
	size_t left, used; /* bytes */
};

static void pstore_take(struct pstore_room *room, struct zone *zone, size_t bytes)
{
	bytes -= bytes % ZONE_BLOCK_BYTES;
	zone_init(zone, room->memory + room->used, bytes, room->used);
	room->used += bytes;
	room->left -= bytes;
}

static size_t pstore_size(const char *name, long otherwise)
{
	return (size_t)boot_param_number(name, 0, INT32_MAX, otherwise);
}

static int pstore_start_console(struct pstore_room *room, struct zone *zone, size_t bytes)
{
	int err;

	pstore_take(room, zone, bytes);
	if (!zone->nr_blocks)
		return 0;
	err = pstore_add_file("console-ramoops-0", zone);
	zone_begin(zone, zone->old + 1, true);
	console.zone = zone;
	atomic_store(&console_is_on, true);
	pstore_console();
	return err;
}

static int pstore_start_pmsg(struct pstore_room *room, struct zone *zone, size_t bytes)
{
	int err;

	pstore_take(room, zone, bytes);
	if (!zone->nr_blocks)
		return 0;
	err = pstore_add_file("pmsg-ramoops-0", zone);
	zone_begin(zone, zone->old + 1, true);
	return err ? err : pstore_add_pmsg(zone);
}

static int pstore_start_ftrace(struct pstore_room *room, struct zone *zones, size_t bytes)
{
	uint32_t nr_cpus = smp_nr_cpus();

	if (bytes / nr_cpus < ZONE_BLOCK_BYTES)
		return 0;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		pstore_take(room, &zones[cpu], bytes / nr_cpus);
	return pstore_add_ftrace(zones, nr_cpus);
}

static int pstore_start_records(struct pstore_room *room, struct zone *zones, size_t bytes)
{
	char name[32];
	int err = 0;

	records = zones;
	for (uint32_t i = 0; i < PSTORE_MAX_RECORDS && bytes && room->left >= bytes && !err; i++) {
		pstore_take(room, &zones[i], bytes);
		trace_snprintf(name, sizeof(name), "dmesg-ramoops-%u", i);
		err = pstore_add_file(name, &zones[i]);
		nr_records = i + 1;
	}
	return err;
}

static void pstore_start(struct pstore_room *room)
{
	size_t record_bytes = pstore_size("ramoops.record_size", PSTORE_RECORD_BYTES);
	size_t console_bytes = pstore_size("ramoops.console_size", PSTORE_CONSOLE_BYTES);
	size_t pmsg_bytes = pstore_size("ramoops.pmsg_size", PSTORE_PMSG_BYTES);
	size_t ftrace_bytes = pstore_size("ramoops.ftrace_size", 0);
	struct zone *zones;
	int err;

	record_bytes -= record_bytes % ZONE_BLOCK_BYTES;
	if (console_bytes + pmsg_bytes + ftrace_bytes + record_bytes > room->left) {
		pr_warn("ramoops: the sizes are larger than the memory, %zu bytes\n", room->left);
		return;
	}
	zones = kzalloc((2 + smp_nr_cpus() + PSTORE_MAX_RECORDS) * sizeof(*zones));
	err = zones ? pstore_start_console(room, &zones[0], console_bytes) : -ENOMEM;
	if (!err)
		err = pstore_start_pmsg(room, &zones[1], pmsg_bytes);
	if (!err)
		err = pstore_start_ftrace(room, &zones[2], ftrace_bytes);
	if (!err)
		err = pstore_start_records(room, &zones[2 + smp_nr_cpus()], record_bytes);
	if (err)
		pr_warn("ramoops: error %d, some files are missing\n", err);
	else
		pr_info("ramoops: room for %u panics\n", nr_records);
}

void pstore_init(void)
{
	const char *name = boot_param_get("ramoops.mem_name");
	struct pstore_room room = { 0 };

	if (!name)
		return;
	room.memory = mm_reserved(name, &room.left);
	if (room.memory)
		pstore_start(&room);
	else
		pr_warn("ramoops: no memory of reserve_mem= has the name %s\n", name);
}
