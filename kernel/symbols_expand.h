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

/* Write one token of a name at `pos`; returns the place of the next token. */
static TRACE_ALWAYS_INLINE char *symbols_put(char *pos, uint8_t token, const uint64_t *token_text,
					     const uint8_t *token_len)
{
	__builtin_memcpy(pos, &token_text[token], SYMBOLS_TOKEN_SIZE);
	return pos + token_len[token];
}

/*
 * Write the name behind `tokens` (their number, then the tokens); returns its length. Whole token
 * slots are stored, so up to 7 bytes behind the NUL are overwritten: KSYM_NAME_LEN allows for them.
 * The last eight tokens are written without a loop: that is nearly always all of them.
 */
static TRACE_ALWAYS_INLINE size_t symbols_expand(const uint8_t *tokens, const uint64_t *token_text,
						 const uint8_t *token_len, char *out_name)
{
	uint32_t nr = *tokens++;
	char *pos = out_name;

	for (; nr > 8; nr--)
		pos = symbols_put(pos, *tokens++, token_text, token_len);
	tokens += nr;
	switch (nr) {
	case 8:
		pos = symbols_put(pos, tokens[-8], token_text, token_len);
		__attribute__((fallthrough));
	case 7:
		pos = symbols_put(pos, tokens[-7], token_text, token_len);
		__attribute__((fallthrough));
	case 6:
		pos = symbols_put(pos, tokens[-6], token_text, token_len);
		__attribute__((fallthrough));
	case 5:
		pos = symbols_put(pos, tokens[-5], token_text, token_len);
		__attribute__((fallthrough));
	case 4:
		pos = symbols_put(pos, tokens[-4], token_text, token_len);
		__attribute__((fallthrough));
	case 3:
		pos = symbols_put(pos, tokens[-3], token_text, token_len);
		__attribute__((fallthrough));
	case 2:
		pos = symbols_put(pos, tokens[-2], token_text, token_len);
		__attribute__((fallthrough));
	case 1:
		pos = symbols_put(pos, tokens[-1], token_text, token_len);
		break;
	default:
		break;
	}
	*pos = '\0';
	return (size_t)(pos - out_name);
}

/* The tokens of the next name. */
static TRACE_ALWAYS_INLINE const uint8_t *symbols_skip(const uint8_t *tokens)
{
	return tokens + 1 + *tokens;
}

#endif
