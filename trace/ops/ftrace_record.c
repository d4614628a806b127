/*
 * Records of call sites, made once at boot: see ftrace_private.h. Eight bytes per site, in pages of
 * 512, in as few groups of adjacent pages as the host has room for.
 */
#include "ftrace_private.h"

struct ftrace_page_group ftrace_groups[FTRACE_MAX_GROUPS];
uint32_t ftrace_nr_groups;

static uint32_t nr_records; /* set once, before other CPUs run */
static uint32_t nr_pages;

uint32_t ftrace_nr_records(void)
{
	return nr_records;
}

uint32_t ftrace_nr_pages(void)
{
	return nr_pages;
}

struct dyn_ftrace *ftrace_record_at(size_t number)
{
	for (uint32_t i = 0; i < ftrace_nr_groups; i++) {
		struct ftrace_page_group *group = &ftrace_groups[i];

		if (number - group->first < group->nr)
			return &group->records[number - group->first];
	}
	return NULL;
}

/* The first record whose address is `ip` or higher; NULL for none. */
static struct dyn_ftrace *lower_bound(uint32_t ip)
{
	size_t low = 0, high = nr_records;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ftrace_record_at(middle)->ip < ip)
			low = middle + 1;
		else
			high = middle;
	}
	return ftrace_record_at(low);
}

struct dyn_ftrace *ftrace_record_find(uintptr_t ip)
{
	uint32_t packed = trace_plat_ip_pack(ip);
	struct dyn_ftrace *record;

	if (trace_plat_ip_unpack(packed) != ip)
		return NULL;
	record = lower_bound(packed);
	return record && record->ip == packed ? record : NULL;
}

uintptr_t ftrace_location(uintptr_t ip)
{
	struct dyn_ftrace *record = ftrace_record_find(ip);
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t size;

	if (record)
		return ip;
	if (!trace_plat_symbol(ip, name, &start, &size) || ip != start)
		return 0;
	record = lower_bound(trace_plat_ip_pack(start));
	if (!record || trace_plat_ip_unpack(record->ip) - start >= size)
		return 0;
	return trace_plat_ip_unpack(record->ip);
}

/*
 * Make a group for `nr` more records, or for fewer when there is no piece of memory of that size.
 * Returns how many records have room in it; 0 when there is no memory or no group left.
 */
static uint32_t add_group(uint32_t nr)
{
	uint32_t pages = (nr + FTRACE_RECORDS_PER_PAGE - 1) / FTRACE_RECORDS_PER_PAGE;
	struct ftrace_page_group *group = &ftrace_groups[ftrace_nr_groups];

	if (ftrace_nr_groups == FTRACE_MAX_GROUPS)
		return 0;
	for (; pages; pages /= 2) {
		group->records = trace_plat_alloc((size_t)pages * FTRACE_PAGE_BYTES);
		if (group->records)
			break;
	}
	if (!pages)
		return 0;
	group->pages = pages;
	group->nr = 0;
	ftrace_nr_groups++;
	nr_pages += pages;
	return pages * FTRACE_RECORDS_PER_PAGE;
}

static void free_groups(void)
{
	for (uint32_t i = 0; i < ftrace_nr_groups; i++)
		trace_plat_free(ftrace_groups[i].records,
				(size_t)ftrace_groups[i].pages * FTRACE_PAGE_BYTES);
	ftrace_nr_groups = 0;
	nr_records = 0;
	nr_pages = 0;
}

static void make_records(struct ftrace_page_group *group, const uintptr_t *sites, uint32_t nr)
{
	group->first = nr_records;
	group->nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		group->records[i].ip = trace_plat_ip_pack(sites[i]);
	nr_records += nr;
}

/* False when there is no memory for all of them. */
static bool add_records(const uintptr_t *sites, size_t nr)
{
	while (nr_records < nr) {
		uint32_t left = (uint32_t)nr - nr_records;
		uint32_t room = add_group(left);

		if (!room)
			return false;
		make_records(&ftrace_groups[ftrace_nr_groups - 1], sites + nr_records,
			     room < left ? room : left);
	}
	return true;
}

static bool is_sorted(const uintptr_t *sites, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (sites[i - 1] > sites[i])
			return false;
	}
	return true;
}

/* A step of heap sort: let record `at` sink to its place in the heap of the first `nr` records. */
static void ftrace_record_sift_down(size_t at, size_t nr)
{
	for (size_t child; (child = 2 * at + 1) < nr; at = child) {
		struct dyn_ftrace *parent = ftrace_record_at(at), *larger, swap;

		if (child + 1 < nr && ftrace_record_at(child)->ip < ftrace_record_at(child + 1)->ip)
			child++;
		larger = ftrace_record_at(child);
		if (parent->ip >= larger->ip)
			return;
		swap = *parent;
		*parent = *larger;
		*larger = swap;
	}
}

/* Heap sort, for a table that the build did not sort: it works in place. */
static void sort_records(void)
{
	for (size_t i = nr_records / 2; i > 0; i--)
		ftrace_record_sift_down(i - 1, nr_records);
	for (size_t nr = nr_records; nr > 1; nr--) {
		struct dyn_ftrace *first = ftrace_record_at(0), *last = ftrace_record_at(nr - 1);
		struct dyn_ftrace swap = *first;

		*first = *last;
		*last = swap;
		ftrace_record_sift_down(0, nr - 1);
	}
}

static bool nop_all(const uintptr_t *sites, size_t nr)
{
	struct trace_poke_error error;
	int err = trace_plat_nop_sites(sites, nr, &error);

	if (err)
		ftrace_bug(err, &error);
	return !err;
}

void ftrace_init(void)
{
	size_t nr;
	const uintptr_t *sites = trace_plat_sites(&nr);

	trace_plat_log("ftrace: allocating %zu entries in %zu pages", nr,
		       (nr + FTRACE_RECORDS_PER_PAGE - 1) / FTRACE_RECORDS_PER_PAGE);
	if (!add_records(sites, nr) || !nop_all(sites, nr)) {
		trace_plat_log("ftrace: function tracing is off");
		free_groups();
		ftrace_kill();
		return;
	}
	if (!is_sorted(sites, nr))
		sort_records();
	trace_plat_log("ftrace: allocated %u pages with %u groups", nr_pages, ftrace_nr_groups);
}
