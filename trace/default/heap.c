/*
 * Default: memory from the regions that were handed over by trace_heap_give(). See <trace/heap.h>.
 */
#include <trace/heap.h>
#include <trace/platform.h>
#include "text/str.h"

#define UNIT_BYTES 64u /* all sizes and addresses are multiples */
#define PAGE_BYTES 4096u

struct hole {
	size_t bytes;
	struct hole *next;
};

static struct trace_plat_lock lock; /* guards the holes */
static struct hole *holes;	    /* ascending addresses */
static bool was_given;

static uintptr_t round_up(uintptr_t value, uintptr_t to)
{
	return (value + to - 1) / to * to;
}

static uintptr_t end_of(const struct hole *hole)
{
	return (uintptr_t)hole + hole->bytes;
}

/* Take `bytes` at `addr` out of the hole that *link leads to. */
static void cut(struct hole **link, uintptr_t addr, size_t bytes)
{
	struct hole *hole = *link, *behind = hole->next;
	size_t left = end_of(hole) - addr - bytes;

	if (left) {
		struct hole *rest = (struct hole *)(addr + bytes);

		*rest = (struct hole){ left, behind };
		behind = rest;
	}
	if ((uintptr_t)hole == addr) {
		*link = behind;
	} else {
		hole->bytes = addr - (uintptr_t)hole;
		hole->next = behind;
	}
}

void *trace_heap_alloc(size_t bytes)
{
	uintptr_t align = bytes >= PAGE_BYTES ? PAGE_BYTES : UNIT_BYTES, addr = 0;
	size_t size = round_up(bytes + !bytes, UNIT_BYTES);
	bool is_new = false;

	if (size < bytes)
		return NULL;
	trace_plat_lock(&lock);
	for (struct hole **link = &holes; *link && !addr; link = &(*link)->next) {
		uintptr_t from = round_up((uintptr_t)*link, align);

		if (from >= end_of(*link) || end_of(*link) - from < size)
			continue;
		addr = from;
		cut(link, from, size);
		break;
	}
	if (!addr && !was_given)
		is_new = was_given = true;
	trace_plat_unlock(&lock);
	if (is_new)
		trace_plat_log("trace: there is no memory: trace_heap_give(), or write "
			       "trace_plat_alloc()");
	return addr ? memset((void *)addr, 0, size) : NULL;
}

/* Make a hole; the lock is held. */
static void put(uintptr_t addr, size_t bytes)
{
	struct hole **link = &holes, *before = NULL, *hole = (struct hole *)addr;

	for (; *link && (uintptr_t)*link < addr; link = &(*link)->next)
		before = *link;
	*hole = (struct hole){ bytes, *link };
	*link = hole;
	if (hole->next && end_of(hole) == (uintptr_t)hole->next) {
		hole->bytes += hole->next->bytes;
		hole->next = hole->next->next;
	}
	if (before && end_of(before) == addr) {
		before->bytes += hole->bytes;
		before->next = hole->next;
	}
}

void trace_heap_free(void *memory, size_t bytes)
{
	if (!memory)
		return;
	trace_plat_lock(&lock);
	put((uintptr_t)memory, round_up(bytes + !bytes, UNIT_BYTES));
	trace_plat_unlock(&lock);
}

void trace_heap_give(void *memory, size_t bytes)
{
	uintptr_t from = round_up((uintptr_t)memory, UNIT_BYTES);
	uintptr_t end = ((uintptr_t)memory + bytes) / UNIT_BYTES * UNIT_BYTES;

	if (end <= from)
		return;
	trace_plat_lock(&lock);
	was_given = true;
	put(from, end - from);
	trace_plat_unlock(&lock);
}

size_t trace_heap_left(void)
{
	size_t bytes = 0;

	trace_plat_lock(&lock);
	for (const struct hole *hole = holes; hole; hole = hole->next)
		bytes += hole->bytes;
	trace_plat_unlock(&lock);
	return bytes;
}

TRACE_DEFAULT void *trace_plat_alloc(size_t bytes)
{
	return trace_heap_alloc(bytes);
}

TRACE_DEFAULT void trace_plat_free(void *memory, size_t bytes)
{
	trace_heap_free(memory, bytes);
}
