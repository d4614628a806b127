/*
 * Contents of files in memory: pages, found through a list of index blocks. See vfs_ram.h.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "vfs_ram.h"

#define BLOCK_SLOTS (PAGE_SIZE / sizeof(void *) - 1)

struct ram_block { /* one page */
	struct ram_block *next;
	void *pages[BLOCK_SLOTS];
};

/* The slot of page `index`; it may be empty. NULL: no such slot, or no memory to make it. */
static void **ram_find_slot(struct ram_node *node, uint64_t index, bool creates)
{
	struct ram_block **link = &node->data;

	for (;;) {
		if (!*link && creates && !page_is_memory_short())
			*link = page_alloc_zeroed(0);
		if (!*link)
			return NULL;
		if (index < BLOCK_SLOTS)
			return &(*link)->pages[index];
		index -= BLOCK_SLOTS;
		link = &(*link)->next;
	}
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
		if (!*slot && !page_is_memory_short())
			*slot = alloc_shared_page_zeroed();
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
	if (slot && !*slot && !page_is_memory_short())
		*slot = alloc_shared_page_zeroed();
	return slot && *slot ? get_page(*slot) : NULL;
}

void ram_data_resize(struct ram_node *node, uint64_t size)
{
	uint64_t index = ALIGN_UP(size, PAGE_SIZE) / PAGE_SIZE;
	uint64_t end = ALIGN_UP(node->size, PAGE_SIZE) / PAGE_SIZE;
	void **slot;

	for (; index < end; index++) {
		slot = ram_find_slot(node, index, false);
		if (!slot)
			break;
		put_page(*slot);
		*slot = NULL;
	}
	slot = size < node->size && size % PAGE_SIZE ? ram_find_slot(node, size / PAGE_SIZE, false)
						     : NULL;
	if (slot && *slot)
		memset((char *)*slot + size % PAGE_SIZE, 0, PAGE_SIZE - size % PAGE_SIZE);
	node->size = size;
}

void ram_data_free(struct ram_node *node)
{
	while (node->data) {
		struct ram_block *block = node->data;

		for (size_t i = 0; i < BLOCK_SLOTS; i++) {
			if (block->pages[i])
				put_page(block->pages[i]);
		}
		node->data = block->next;
		free_pages(block, 0);
	}
	node->size = 0;
}
