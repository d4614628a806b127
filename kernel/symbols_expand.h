/*
 * Expansion of names that tools/common/names.c has compressed: the innermost loop of every search
 * by name. Shared by symbols.c and whynot.c, whose tables have tokens of their own.
 *
 * Context: any, never traced: always inlined.
 */
#ifndef SYMBOLS_EXPAND_H
#define SYMBOLS_EXPAND_H

#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <kernel/symbols_format.h>

/*
 * Write the name behind `tokens` (their number, then the tokens); returns its length. Whole token
 * slots are stored, so up to 7 bytes behind the NUL are overwritten: KSYM_NAME_LEN allows for them.
 */
static TRACE_ALWAYS_INLINE size_t symbols_expand(const uint8_t *tokens, const uint64_t *token_text,
						 const uint8_t *token_len, char *out_name)
{
	const uint8_t *end = tokens + *tokens;
	char *pos = out_name;

	while (tokens < end) {
		uint8_t token = *++tokens;

		__builtin_memcpy(pos, &token_text[token], SYMBOLS_TOKEN_SIZE);
		pos += token_len[token];
	}
	*pos = '\0';
	return (size_t)(pos - out_name);
}

/* The name after this one. */
static TRACE_ALWAYS_INLINE const uint8_t *symbols_skip(const uint8_t *tokens)
{
	return tokens + 1 + *tokens;
}

#endif
