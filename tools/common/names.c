/* See names.h. */
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_PAIRS 65536u /* NAMES_NR_TOKENS squared */
#define END	 0xffff /* between two names in the stream */
#define NO_TOKEN (-1)

/* All names as one row of token numbers, each name closed by END. */
struct stream {
	uint16_t *tokens;
	size_t nr;
};

void *xcalloc(size_t nr, size_t size)
{
	void *memory = calloc(nr ? nr : 1, size ? size : 1);

	if (!memory) {
		fprintf(stderr, "out of memory\n");
		exit(EXIT_FAILURE);
	}
	return memory;
}

void *xrealloc(void *old, size_t size)
{
	void *memory = realloc(old, size ? size : 1);

	if (!memory) {
		fprintf(stderr, "out of memory\n");
		exit(EXIT_FAILURE);
	}
	return memory;
}

void *xgrow(void *old, size_t nr, size_t size)
{
	/* Doubled whenever it is full, which it is at each power of two. */
	return nr & (nr - 1) ? old : xrealloc(old, (nr ? 2 * nr : 1) * size);
}

static uint8_t add_token(struct names *names, uint64_t text, uint8_t len)
{
	names->token_text[names->nr_tokens] = text;
	names->token_len[names->nr_tokens] = len;
	return (uint8_t)names->nr_tokens++;
}

/* One token for each character that occurs, in the order of the characters. */
static void add_characters(struct names *names, const char *const *texts, size_t nr,
			   uint8_t *out_token_of)
{
	uint8_t is_used[256] = { 0 };

	for (size_t i = 0; i < nr; i++)
		for (const char *c = texts[i]; *c; c++)
			is_used[(uint8_t)*c] = 1;
	for (unsigned int c = 1; c < 256; c++)
		if (is_used[c])
			out_token_of[c] = add_token(names, c, 1);
}

static struct stream make_stream(const char *const *texts, size_t nr, const uint8_t *token_of)
{
	struct stream stream = { 0 };
	size_t size = nr;

	for (size_t i = 0; i < nr; i++)
		size += strlen(texts[i]);
	stream.tokens = xcalloc(size, sizeof(*stream.tokens));
	for (size_t i = 0; i < nr; i++) {
		for (const char *c = texts[i]; *c; c++)
			stream.tokens[stream.nr++] = token_of[(uint8_t)*c];
		stream.tokens[stream.nr++] = END;
	}
	return stream;
}

static void count_pairs(const struct stream *stream, uint32_t *count)
{
	memset(count, 0, NR_PAIRS * sizeof(*count));
	for (size_t i = 0; i + 1 < stream->nr; i++)
		if (stream->tokens[i] != END && stream->tokens[i + 1] != END)
			count[stream->tokens[i] * NAMES_NR_TOKENS + stream->tokens[i + 1]]++;
}

/* The most frequent pair whose text fits into a token; NR_PAIRS when none occurs twice. */
static uint32_t best_pair(const struct names *names, const uint32_t *count)
{
	uint32_t best = NR_PAIRS;

	for (uint32_t pair = 0; pair < NR_PAIRS; pair++) {
		if (count[pair] < 2 || (best != NR_PAIRS && count[pair] <= count[best]))
			continue;
		if (names->token_len[pair / NAMES_NR_TOKENS] +
			    names->token_len[pair % NAMES_NR_TOKENS] <=
		    NAMES_TOKEN_SIZE)
			best = pair;
	}
	return best;
}

static void join_pair(struct names *names, struct stream *stream, uint32_t pair)
{
	uint16_t first = (uint16_t)(pair / NAMES_NR_TOKENS);
	uint16_t second = (uint16_t)(pair % NAMES_NR_TOKENS);
	uint8_t len = names->token_len[first];
	uint8_t token =
		add_token(names, names->token_text[first] | names->token_text[second] << (8 * len),
			  (uint8_t)(len + names->token_len[second]));
	size_t to = 0;

	for (size_t from = 0; from < stream->nr; from++) {
		if (stream->tokens[from] == first && from + 1 < stream->nr &&
		    stream->tokens[from + 1] == second) {
			stream->tokens[to++] = token;
			from++;
		} else {
			stream->tokens[to++] = stream->tokens[from];
		}
	}
	stream->nr = to;
}

static void choose_tokens(struct names *names, const char *const *texts, size_t nr)
{
	uint8_t token_of[256] = { 0 };
	uint32_t *count = xcalloc(NR_PAIRS, sizeof(*count));
	struct stream stream;

	add_characters(names, texts, nr, token_of);
	stream = make_stream(texts, nr, token_of);
	while (names->nr_tokens < NAMES_NR_TOKENS) {
		uint32_t pair;

		count_pairs(&stream, count);
		pair = best_pair(names, count);
		if (pair == NR_PAIRS)
			break;
		join_pair(names, &stream, pair);
	}
	free(stream.tokens);
	free(count);
}

/* Tokens by their first character, so that a search looks at a few only. */
struct index {
	uint8_t by_first[256][NAMES_NR_TOKENS];
	uint16_t nr[256];
};

static void make_index(const struct names *names, struct index *index)
{
	memset(index->nr, 0, sizeof(index->nr));
	for (uint32_t token = 0; token < names->nr_tokens; token++) {
		uint8_t first = (uint8_t)names->token_text[token];

		index->by_first[first][index->nr[first]++] = (uint8_t)token;
	}
}

/*
 * A name being written: what the rest of it costs from each place on, and the token to take there.
 */
struct plan {
	char text[NAMES_MAX_LEN + NAMES_TOKEN_SIZE + 1]; /* zeros behind the name */
	uint32_t cost[NAMES_MAX_LEN + 1];		 /* in tokens */
	uint8_t token[NAMES_MAX_LEN + 1];
};

/*
 * Choose the token at one place; those at later places are known. Of equally cheap tokens the one
 * with the lowest number is taken.
 */
static void plan_place(struct plan *plan, const struct names *names, const struct index *index,
		       size_t place)
{
	uint8_t first = (uint8_t)plan->text[place];

	plan->cost[place] = UINT32_MAX;
	for (uint16_t k = 0; k < index->nr[first]; k++) {
		uint8_t token = index->by_first[first][k];
		uint8_t len = names->token_len[token];

		if (memcmp(plan->text + place, &names->token_text[token], len) == 0 &&
		    plan->cost[place + len] + 1 < plan->cost[place]) {
			plan->cost[place] = plan->cost[place + len] + 1;
			plan->token[place] = token;
		}
	}
}

/* Append `text` with as few tokens as possible. */
static void encode_name(struct names *names, const struct index *index, const char *text)
{
	struct plan plan = { 0 };
	size_t len = strlen(text);
	uint8_t *nr_used = &names->codes[names->codes_size++];

	memcpy(plan.text, text, len);
	for (size_t i = len; i-- > 0;)
		plan_place(&plan, names, index, i);
	*nr_used = (uint8_t)plan.cost[0];
	for (size_t i = 0; i < len; i += names->token_len[plan.token[i]])
		names->codes[names->codes_size++] = plan.token[i];
}

void names_encode(struct names *names, const char *const *texts, size_t nr)
{
	struct index *index = xcalloc(1, sizeof(*index));
	size_t size = nr;

	memset(names, 0, sizeof(*names));
	choose_tokens(names, texts, nr);
	make_index(names, index);
	for (size_t i = 0; i < nr; i++)
		size += strlen(texts[i]);
	names->codes = xcalloc(size, 1);
	names->pos = xcalloc(nr, sizeof(*names->pos));
	for (size_t i = 0; i < nr; i++) {
		names->pos[i] = (uint32_t)names->codes_size;
		encode_name(names, index, texts[i]);
	}
	free(index);
}

void names_free(struct names *names)
{
	free(names->codes);
	free(names->pos);
	memset(names, 0, sizeof(*names));
}
