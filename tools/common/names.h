/*
 * Compression of names for tables that the kernel expands quickly: each name is a row of one-byte
 * tokens, each token stands for up to 8 characters, so expanding a token is one 8-byte store.
 *
 * The 256 tokens are chosen by joining, again and again, the pair of neighbours that is most
 * frequent in all names; each name is then written with the fewest tokens possible. Equal counts
 * are decided by token number: the same names always give the same table.
 *
 * Context:   host program, one thread. Out of memory ends the program.
 * Ownership: names_free().
 */
#ifndef TOOLS_NAMES_H
#define TOOLS_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NAMES_NR_TOKENS	 256
#define NAMES_TOKEN_SIZE 8
#define NAMES_MAX_LEN	 255 /* characters in a name */

struct names {
	uint64_t token_text[NAMES_NR_TOKENS];
	uint8_t token_len[NAMES_NR_TOKENS];
	uint32_t nr_tokens;
	uint8_t *codes; /* per name: number of tokens, tokens */
	size_t codes_size;
	uint32_t *pos; /* of each name in codes[] */
};

/* Choose the tokens and write all names with them; none may be longer than NAMES_MAX_LEN. */
void names_encode(struct names *names, const char *const *texts, size_t nr);
void names_free(struct names *names);

/* malloc, calloc and realloc that end the program with a message instead of failing. */
void *xcalloc(size_t nr, size_t size);
void *xrealloc(void *old, size_t size);
/* Room for one more behind the `nr` elements of `size` bytes that xgrow() has made room for so far. */
void *xgrow(void *old, size_t nr, size_t size);

#endif
