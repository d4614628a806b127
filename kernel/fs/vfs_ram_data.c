/*
 * Contents of files in memory: pages, found through a tree of tables as the processor has for addresses, so that
 * bytes far behind all others take a few tables more. See vfs_ram.h.
 */
#include <arch/memory.h>
#include <kernel/mm.h>
#include <kernel/ram_files.h>
#include <kernel/string.h>
#include "vfs_ram.h"

#define TABLE_BITS  9
#define TABLE_SLOTS (1u << TABLE_BITS) /* a table is one page of pointers */

static _Atomic uint64_t nr_ram_pages; /* of contents and tables of all files */

/* Half of memory, as Linux' tmpfs has it. */
static uint64_t ram_pages_most(void)
{
	return memory_total_bytes() / PAGE_SIZE / 2;
}

void ram_files_room(uint64_t *out_pages, uint64_t *out_free)
{
	uint64_t most = ram_pages_most(), used = atomic_load(&nr_ram_pages);

	*out_pages = most;
	*out_free = used < most ? most - used : 0;
}

/* A page for contents, which has users, or for a table; NULL: no memory, or files have their share of it. */
static void *ram_page_alloc(bool is_shared)
{
	void *page = NULL;

	if (!page_is_memory_short() && atomic_load(&nr_ram_pages) < ram_pages_most())
		page = is_shared ? alloc_shared_page_zeroed() : page_alloc_zeroed(0);
	if (page)
		atomic_fetch_add(&nr_ram_pages, 1);
	return page;
}

static void ram_page_free(void *page, bool is_shared)
{
	atomic_fetch_sub(&nr_ram_pages, 1);
	if (is_shared)
		put_page(page);
	else
		free_pages(page, 0);
}

/* The pages that a tree of `levels` tables above each other has room for. */
static uint64_t ram_tree_room(unsigned int levels)
{
	return levels ? 1ul << (levels * TABLE_BITS) : 0;
}

/* One table more on top of the others. */
static bool ram_tree_grow(struct ram_node *node)
{
	void **top = ram_page_alloc(false);

	if (!top)
		return false;
	top[0] = node->data;
	node->data = top;
	node->levels++;
	return true;
}

/* The slot of page `index`; it may be empty. NULL: no such slot, or no memory to make it. */
static void **ram_find_slot(struct ram_node *node, uint64_t index, bool creates)
{
	void **slot = (void **)&node->data;

	while (index >= ram_tree_room(node->levels)) {
		if (!creates || !ram_tree_grow(node))
			return NULL;
	}
	for (unsigned int level = node->levels; level; level--) {
		if (!*slot && creates)
			*slot = ram_page_alloc(false);
		if (!*slot)
			return NULL;
		slot = (void **)*slot + (index >> (level - 1) * TABLE_BITS) % TABLE_SLOTS;
	}
	return slot;
}

/* Free what a table of that level has of its pages from `first` up to `end`. */
static void ram_table_cut(void **table, unsigned int level, uint64_t first, uint64_t end)
{
	uint64_t room = 1ul << (level - 1) * TABLE_BITS; /* of a slot */

	for (uint64_t i = first / room; i < TABLE_SLOTS && i * room < end; i++) {
		uint64_t from = i == first / room ? first % room : 0;
		uint64_t to = end - i * room < room ? end - i * room : room;

		if (!table[i])
			continue;
		if (level > 1)
			ram_table_cut(table[i], level - 1, from, to);
		if (!from && to == room) {
			ram_page_free(table[i], level == 1);
			table[i] = NULL;
		}
	}
}

/* Free the pages from `first` up to `end`. */
static void ram_data_cut(struct ram_node *node, uint64_t first, uint64_t end)
{
	if (node->data && first < end && first < ram_tree_room(node->levels))
		ram_table_cut(node->data, node->levels, first, end);
}

/* Zeros within one page, if it is there. */
static void ram_data_clear(struct ram_node *node, uint64_t begin, uint64_t end)
{
	void **slot = begin < end ? ram_find_slot(node, begin / PAGE_SIZE, false) : NULL;

	if (slot && *slot)
		memset((char *)*slot + begin % PAGE_SIZE, 0, end - begin);
}

static size_t ram_part_len(uint64_t pos, size_t len)
{
	size_t room = PAGE_SIZE - pos % PAGE_SIZE;

	return len < room ? len : room;
}

size_t ram_data_read(struct ram_node *node, uint64_t pos, void *buf, size_t len)
{
	size_t done = 0;

	if (pos >= node->size)
		return 0;
	if (len > node->size - pos)
		len = node->size - pos;
	while (done < len) {
		size_t part = ram_part_len(pos, len - done);
		void **slot = ram_find_slot(node, pos / PAGE_SIZE, false);

		if (slot && *slot)
			memcpy((char *)buf + done, (char *)*slot + pos % PAGE_SIZE, part);
		else
			memset((char *)buf + done, 0, part);
		pos += part;
		done += part;
	}
	return done;
}

void *ram_data_peek(struct ram_node *node, uint64_t pos, size_t *len)
{
	size_t part = ram_part_len(pos, *len);
	void **slot = NULL;

	if (pos >= node->size)
		part = 0;
	else if (part > node->size - pos)
		part = node->size - pos;
	if (part)
		slot = ram_find_slot(node, pos / PAGE_SIZE, false);
	*len = part;
	return slot && *slot ? get_page(*slot) : NULL;
}

size_t ram_data_write(struct ram_node *node, uint64_t pos, const void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t part = ram_part_len(pos, len - done);
		void **slot = ram_find_slot(node, pos / PAGE_SIZE, true);

		if (!slot)
			break;
		if (!*slot)
			*slot = ram_page_alloc(true);
		if (!*slot)
			break;
		memcpy((char *)*slot + pos % PAGE_SIZE, (const char *)buf + done, part);
		pos += part;
		done += part;
	}
	if (pos > node->size)
		node->size = pos;
	return done;
}

void *ram_data_page(struct ram_node *node, uint64_t index)
{
	void **slot;

	if (index >= ALIGN_UP(node->size, PAGE_SIZE) / PAGE_SIZE)
		return NULL;
	slot = ram_find_slot(node, index, true);
	if (slot && !*slot)
		*slot = ram_page_alloc(true);
	return slot && *slot ? get_page(*slot) : NULL;
}

void ram_data_resize(struct ram_node *node, uint64_t size)
{
	uint64_t first = size / PAGE_SIZE + (size % PAGE_SIZE != 0);

	ram_data_cut(node, first, UINT64_MAX);
	if (size < node->size)
		ram_data_clear(node, size, first * PAGE_SIZE);
	node->size = size;
}

void ram_data_punch(struct ram_node *node, uint64_t begin, uint64_t end)
{
	uint64_t first, behind;

	if (end > node->size)
		end = ALIGN_UP(node->size, PAGE_SIZE);
	if (begin >= end)
		return;
	first = ALIGN_UP(begin, PAGE_SIZE);
	behind = ALIGN_DOWN(end, PAGE_SIZE);
	ram_data_clear(node, begin, first < end ? first : end);
	if (behind >= first)
		ram_data_clear(node, behind, end);
	ram_data_cut(node, first / PAGE_SIZE, behind / PAGE_SIZE);
}

void ram_data_free(struct ram_node *node)
{
	ram_data_resize(node, 0);
	if (node->data)
		ram_page_free(node->data, false);
	node->data = NULL;
	node->levels = 0;
}
