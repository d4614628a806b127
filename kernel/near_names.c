/* See near_names.h. */
#include "near_names.h"

#include <stdbool.h>
#include <kernel/string.h>

#define MAX_LIMIT 5

void near_init(struct near_names *near, const char *wanted)
{
	near->wanted = wanted;
	near->wanted_len = strlen(wanted);
	near->limit = (uint32_t)(1 + near->wanted_len / 4);
	if (near->limit > MAX_LIMIT)
		near->limit = MAX_LIMIT;
	near->nr = 0;
}

static uint32_t near_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Distance of two names of at most SYMBOLS_NAME_MAX characters; limit + 1 when it is beyond. */
static uint32_t near_distance(const char *a, size_t a_len, const char *b, size_t b_len,
			      uint32_t limit)
{
	uint8_t rows[3][SYMBOLS_NAME_MAX + 1]; /* of the table of distances: current and last two */
	size_t gap = a_len > b_len ? a_len - b_len : b_len - a_len;

	if (gap > limit)
		return limit + 1;
	for (size_t k = 0; k <= b_len; k++)
		rows[0][k] = (uint8_t)k;
	for (size_t i = 1; i <= a_len; i++) {
		uint8_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *top = rows[(i + 1) % 3];
		uint32_t best = row[0] = (uint8_t)i;

		for (size_t k = 1; k <= b_len; k++) {
			bool same = a[i - 1] == b[k - 1];
			uint32_t cost =
				near_min(above[k - 1] + !same, near_min(above[k], row[k - 1]) + 1u);

			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				cost = near_min(cost, top[k - 2] + 1u);
			row[k] = (uint8_t)cost;
			best = near_min(best, cost);
		}
		if (best > limit)
			return limit + 1;
	}
	return near_min(rows[a_len % 3][b_len], limit + 1);
}

static uint32_t near_score_of(const struct near_names *near, const char *name, size_t len)
{
	uint32_t distance = near_distance(near->wanted, near->wanted_len, name, len, near->limit);

	if (distance <= near->limit)
		return distance;
	if (near->wanted_len >= 3 && strstr(name, near->wanted))
		return near->limit + 1 + (uint32_t)(len - near->wanted_len);
	return NEAR_NO_SCORE;
}

void near_offer(struct near_names *near, const char *name, size_t len)
{
	uint32_t score, pos;

	if (near->wanted_len > SYMBOLS_NAME_MAX || len > SYMBOLS_NAME_MAX)
		return;
	score = near_score_of(near, name, len);
	for (pos = 0; pos < near->nr && near->score[pos] <= score; pos++)
		if (strcmp(near->name[pos], name) == 0)
			return;
	if (score == NEAR_NO_SCORE || pos == NEAR_MAX)
		return;
	if (near->nr < NEAR_MAX)
		near->nr++;
	for (uint32_t i = near->nr - 1; i > pos; i--) {
		near->score[i] = near->score[i - 1];
		memcpy(near->name[i], near->name[i - 1], NEAR_NAME_BYTES);
	}
	near->score[pos] = score;
	memcpy(near->name[pos], name, len + 1);
}
