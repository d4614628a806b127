/*
 * Any bytes as keys of the line editor, answers of a terminal among them; then as a text of less
 * and as a format of date.
 * links: kernel/shell/line/line_read.c kernel/shell/line/line_edit.c kernel/shell/line/line_keys.c
 * links: kernel/shell/line/line_history.c kernel/shell/line/line_tab.c kernel/shell/line/terminal.c
 * links: kernel/shell/sh/sh_arena.c kernel/shell/less/less_text.c kernel/shell/cmd/date.c
 * links: tests/unit/kernel/host.c
 */
#include <stdlib.h>
#include <string.h>
#include <kernel/console.h>
#include <kernel/mm.h>
#include <kernel/time.h>
#include "kernel/host.h"
#include "shell/cmd/date.h"
#include "shell/less/less_text.h"
#include "shell/line/line.h"
#include "shell/line/terminal.h"

static const uint8_t *keys;
static size_t nr_keys;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int console_write_raw(const char *buf, size_t len)
{
	(void)buf;
	(void)len;
	return 0;
}

int console_getc_timeout(uint64_t timeout_ns)
{
	(void)timeout_ns;
	if (!nr_keys)
		return -EINTR;
	nr_keys--;
	return *keys++;
}

bool console_take_lost(void)
{
	return false;
}

uint64_t ktime_get_ns(void)
{
	return 0;
}

void *vmalloc(size_t bytes)
{
	return kmalloc(bytes);
}

void vfree(void *memory)
{
	kfree(memory);
}

static void offer(void *arg, const char *text, size_t len, struct line_matches *out)
{
	(void)arg;
	(void)text;
	out->word_start = len;
	sh_fields_add(&out->found, &out->arena, "one", 3);
	sh_fields_add(&out->found, &out->arena, "other", 5);
}

static void edit_lines(void)
{
	const struct line_options options = { .prompt = "> ",
					      .has_history = true,
					      .complete = offer };

	terminal_ask_again();
	while (nr_keys) {
		char *line = NULL;
		int got = line_read(&options, &line);

		if (got >= 0 && strlen(line) > (size_t)got)
			abort();
		if (line)
			history_add(line);
		kfree(line);
	}
	history_clear();
	terminal_drop_keys();
}

static void page(const char *bytes, size_t len, size_t columns)
{
	static struct less_text text;
	struct less_place place = { 0, 0 };
	size_t row_len;

	memset(&text, 0, sizeof(text));
	text.max_bytes = 1 << 20;
	less_text_add(&text, bytes, len);
	less_text_end(&text);
	while (text.nr_lines) {
		less_row(&text, place, columns, &row_len);
		if (!less_forward(&text, columns, &place))
			break;
	}
	while (less_back(&text, columns, &place))
		;
	if (place.line || place.row)
		abort();
	less_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char format[512], text[64];

	keys = data;
	nr_keys = len;
	edit_lines();
	page((const char *)data, len, len % 50 + 1);
	if (len < sizeof(format)) {
		memcpy(format, data, len);
		format[len] = '\0';
		date_format(text, sizeof(text), format, 1700000000123456789u);
	}
	if (host_live != 0)
		abort();
	return 0;
}
