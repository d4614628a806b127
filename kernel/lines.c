/* See <kernel/lines.h>; the layout of the table is in <kernel/lines_format.h>. */
#include <kernel/lines.h>

#include <kernel/lines_format.h>
#include <kernel/string.h>

/* A walk through the rows. */
struct lines_walk {
	const uint8_t *pos, *end;
	uintptr_t addr; /* of the row */
	uint32_t file, line;
	bool is_known; /* false: no code is known from here on */
};

static const void *lines_at(uint32_t pos)
{
	return (const uint8_t *)&lines_blob + pos;
}

static const char *lines_path(uint32_t file)
{
	const uint32_t *places = lines_at(lines_blob.file_pos);

	return lines_at(places[file]);
}

static uint64_t lines_number(struct lines_walk *walk)
{
	uint64_t value = 0;
	uint32_t shift = 0;
	uint8_t byte;

	do {
		byte = *walk->pos++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static void lines_begin(struct lines_walk *walk)
{
	*walk = (struct lines_walk){ .pos = lines_at(lines_blob.row_pos), .addr = lines_blob.base };
	walk->end = walk->pos + lines_blob.row_bytes;
}

/* Read one code of the table. True: it is a row. False: it stands in front of one. */
static bool lines_step(struct lines_walk *walk)
{
	uint8_t byte = *walk->pos++;
	uint64_t zigzag;

	if (byte == LINES_FILE) {
		walk->file = (uint32_t)lines_number(walk);
		return false;
	}
	if (byte == LINES_FAR) {
		walk->addr += lines_number(walk);
		zigzag = lines_number(walk);
		walk->line += (uint32_t)(zigzag >> 1 ^ -(zigzag & 1));
	} else {
		walk->addr += byte & (LINES_NEAR_ADDR - 1);
		walk->line += (byte >> 4) - (uint32_t)LINES_NEAR_LINE;
	}
	walk->is_known = walk->pos == walk->end || *walk->pos != LINES_END;
	if (!walk->is_known)
		walk->pos++;
	return true;
}

/* Go to the next row; false: that was the last. */
static bool lines_next(struct lines_walk *walk)
{
	while (walk->pos < walk->end) {
		if (lines_step(walk))
			return true;
	}
	return false;
}

/* The number of the file whose path ends in `file`, or -errno. A whole path comes first. */
static int lines_find_file(const char *file, size_t len)
{
	int found = -ENOENT;

	for (uint32_t i = 0; i < lines_blob.nr_files; i++) {
		const char *path = lines_path(i);
		size_t path_len = strlen(path);
		const char *tail = path + path_len - len;

		if (!len || path_len < len || memcmp(tail, file, len) != 0)
			continue;
		if (tail == path)
			return (int)i;
		if (tail[-1] == '/')
			found = found == -ENOENT ? (int)i : -EEXIST;
	}
	return found;
}

int lines_find(const char *file, size_t len, uint32_t line, struct line_place *out)
{
	struct lines_walk walk;
	int number;

	if (!lines_blob.nr_files)
		return -EOPNOTSUPP;
	number = lines_find_file(file, len);
	if (number < 0)
		return number;
	*out = (struct line_place){ .file = lines_path((uint32_t)number), .line = UINT32_MAX };
	lines_begin(&walk);
	while (lines_next(&walk)) {
		if (!walk.is_known || walk.file != (uint32_t)number || walk.line < line ||
		    walk.line > out->line)
			continue;
		if (walk.line < out->line) {
			out->addr = walk.addr;
			out->line = walk.line;
			out->nr = 0;
		}
		out->nr++;
	}
	return out->nr ? 0 : -ENODATA;
}

int lines_of(uintptr_t addr, struct line_place *out)
{
	struct lines_walk walk, last = { .is_known = false };

	if (!lines_blob.nr_files)
		return -EOPNOTSUPP;
	lines_begin(&walk);
	while (lines_next(&walk) && walk.addr <= addr)
		last = walk;
	if (!last.is_known)
		return -ENOENT;
	*out = (struct line_place){ .file = lines_path(last.file), .line = last.line };
	return 0;
}
