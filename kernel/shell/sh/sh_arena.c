/*
 * Memory for the shell's trees and words, freed as a whole, and lists of words in it. See sh_tree.h
 * and sh.h.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "sh.h"

#define ARENA_ALIGN 16ul

struct sh_chunk {
	struct sh_chunk *next;
	size_t used;
	size_t size;
	char data[] __attribute__((aligned(16)));
};

static struct sh_chunk *arena_add_chunk(struct sh_arena *arena, size_t bytes)
{
	size_t size = bytes > SH_CHUNK_BYTES ? bytes : SH_CHUNK_BYTES;
	struct sh_chunk *chunk = kmalloc(sizeof(*chunk) + size);

	if (!chunk)
		return NULL;
	chunk->used = 0;
	chunk->size = size;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk;
}

void *sh_alloc(struct sh_arena *arena, size_t bytes)
{
	struct sh_chunk *chunk = arena->chunks;
	void *memory;

	bytes = ALIGN_UP(bytes, ARENA_ALIGN);
	if (!chunk || chunk->size - chunk->used < bytes)
		chunk = arena_add_chunk(arena, bytes);
	if (!chunk)
		return NULL;
	memory = chunk->data + chunk->used;
	chunk->used += bytes;
	memset(memory, 0, bytes);
	return memory;
}

char *sh_copy(struct sh_arena *arena, const char *text, size_t len)
{
	char *copy = sh_alloc(arena, len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

void sh_arena_free(struct sh_arena *arena)
{
	while (arena->chunks) {
		struct sh_chunk *next = arena->chunks->next;

		kfree(arena->chunks);
		arena->chunks = next;
	}
}

void sh_fields_init(struct sh_fields *fields)
{
	fields->first = NULL;
	fields->tail = &fields->first;
	fields->nr = 0;
}

int sh_fields_add(struct sh_fields *fields, struct sh_arena *arena, const char *text, size_t len)
{
	struct sh_word *word = sh_alloc(arena, sizeof(*word));

	if (!word)
		return -ENOMEM;
	word->text = sh_copy(arena, text, len);
	if (!word->text)
		return -ENOMEM;
	*fields->tail = word;
	fields->tail = &word->next;
	fields->nr++;
	return 0;
}
