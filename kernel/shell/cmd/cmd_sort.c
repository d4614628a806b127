/*
 * sort and uniq.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "cmd_reader.h"
#include "command_tables.h"

struct sort_line {
	struct sort_line *next;
	size_t len;
	char text[]; /* without newline, with a NUL */
};

struct sort_order {
	bool is_numeric;
	bool is_reverse;
	bool is_unique;
	uint64_t key;	/* lines are compared from this field on; counted from 1 */
	char separator; /* '\0': fields are separated by runs of blanks */
};

static const char *sort_skip_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

static const char *sort_find_key(const struct sort_order *order, const char *text)
{
	for (uint64_t i = 1; i < order->key && *text; i++) {
		if (order->separator) {
			while (*text && *text != order->separator)
				text++;
			text += *text != '\0';
			continue;
		}
		text = sort_skip_blanks(text);
		while (*text && *text != ' ' && *text != '\t')
			text++;
	}
	return order->separator ? text : sort_skip_blanks(text);
}

/* Parse the number at the start: the whole part, and nine digits behind the point. */
static void sort_parse_number(const char *text, int64_t *out_whole, int64_t *out_fraction)
{
	bool is_negative;
	int64_t whole = 0, fraction = 0;
	int digits = 0;

	text = sort_skip_blanks(text);
	is_negative = *text == '-';
	text += is_negative;
	for (; *text >= '0' && *text <= '9' && whole < INT64_MAX / 100; text++)
		whole = whole * 10 + (*text - '0');
	if (*text == '.') {
		for (text++; *text >= '0' && *text <= '9' && digits < 9; text++, digits++)
			fraction = fraction * 10 + (*text - '0');
		for (; digits < 9; digits++)
			fraction *= 10;
	}
	*out_whole = is_negative ? -whole : whole;
	*out_fraction = is_negative ? -fraction : fraction;
}

static int sort_compare_numbers(const char *a, const char *b)
{
	int64_t whole_a, whole_b, fraction_a, fraction_b;

	sort_parse_number(a, &whole_a, &fraction_a);
	sort_parse_number(b, &whole_b, &fraction_b);
	if (whole_a != whole_b)
		return whole_a < whole_b ? -1 : 1;
	if (fraction_a != fraction_b)
		return fraction_a < fraction_b ? -1 : 1;
	return 0;
}

static int sort_compare_keys(const struct sort_order *order, const char *a, const char *b)
{
	if (order->key) {
		a = sort_find_key(order, a);
		b = sort_find_key(order, b);
	}
	return order->is_numeric ? sort_compare_numbers(a, b) : strcmp(a, b);
}

/* Lines with equal keys are compared as a whole, as GNU's sort does without -s. */
static int sort_compare(const struct sort_order *order, const struct sort_line *a,
			const struct sort_line *b)
{
	int result = sort_compare_keys(order, a->text, b->text);

	if (!result && !order->is_unique)
		result = strcmp(a->text, b->text);
	return order->is_reverse ? -result : result;
}

static struct sort_line *sort_merge(const struct sort_order *order, struct sort_line *a,
				    struct sort_line *b)
{
	struct sort_line *first = NULL;
	struct sort_line **tail = &first;

	while (a && b) {
		struct sort_line **smaller = sort_compare(order, b, a) < 0 ? &b : &a;

		*tail = *smaller;
		tail = &(*smaller)->next;
		*smaller = (*smaller)->next;
	}
	*tail = a ? a : b;
	return first;
}

#define MERGE_LEVELS 32

/* Bottom-up merge sort: level n holds a sorted list of 2^n lines, or none. */
static struct sort_line *sort_list(const struct sort_order *order, struct sort_line *list)
{
	struct sort_line *levels[MERGE_LEVELS] = { 0 };
	struct sort_line *sorted = NULL;

	while (list) {
		struct sort_line *run = list;
		uint32_t level = 0;

		list = list->next;
		run->next = NULL;
		for (; level < MERGE_LEVELS - 1 && levels[level]; level++) {
			run = sort_merge(order, levels[level], run);
			levels[level] = NULL;
		}
		levels[level] = run;
	}
	for (uint32_t level = 0; level < MERGE_LEVELS; level++)
		sorted = sort_merge(order, levels[level], sorted);
	return sorted;
}

/*
 * Read all lines of all files, in their order. When memory runs out *out_ok is false, after a
 * message, and the lines so far are returned, to be freed.
 */
static struct sort_line *sort_read_lines(struct reader *reader, bool *out_ok)
{
	struct sort_line *first = NULL;
	struct sort_line **tail = &first;
	char *text;
	size_t len;

	*out_ok = true;
	while ((len = reader_any_line(reader, &text)) != 0) {
		struct sort_line *line = kmalloc(sizeof(*line) + len + 1);

		if (!line) {
			command_error(reader->env, "%s", command_strerror(ENOMEM));
			*out_ok = false;
			break;
		}
		len -= text[len - 1] == '\n';
		memcpy(line->text, text, len);
		line->text[len] = '\0';
		line->len = len;
		line->next = NULL;
		*tail = line;
		tail = &line->next;
	}
	return first;
}

static void sort_print_sorted(struct command_env *env, const struct sort_order *order,
			      const struct sort_line *list)
{
	const struct sort_line *last = NULL;

	for (; list && !command_stopped(env); list = list->next) {
		if (order->is_unique && last && !sort_compare_keys(order, last->text, list->text))
			continue;
		command_write(env, list->text, list->len);
		command_putc(env, '\n');
		last = list;
	}
}

/* Parse the value of -k, such as `2` or `2,2n`, or of -t, a character. False for a mistake. */
static bool sort_parse_value(struct sort_order *order, char option, const char *value)
{
	if (option == 't') {
		order->separator = value[0];
		return value[0] && !value[1];
	}
	order->key = 0;
	for (; *value >= '0' && *value <= '9' && order->key < 1000; value++)
		order->key = order->key * 10 + (uint64_t)(*value - '0');
	for (; *value; value++) {
		order->is_numeric |= *value == 'n';
		order->is_reverse |= *value == 'r';
		if (!strchr("nr,.0123456789", *value))
			return false;
	}
	return order->key != 0;
}

static int sort_parse(struct sort_order *order, int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		const char *c = argv[i] + 1;

		for (; *c && strchr("nru", *c); c++) {
			order->is_numeric |= *c == 'n';
			order->is_reverse |= *c == 'r';
			order->is_unique |= *c == 'u';
		}
		if (!*c)
			continue;
		if ((*c != 'k' && *c != 't') || (!c[1] && i + 1 == argc))
			return -1;
		if (!sort_parse_value(order, *c, c[1] ? c + 1 : argv[++i]))
			return -1;
	}
	return i;
}

static int cmd_sort(struct command_env *env, int argc, char **argv)
{
	struct sort_order order = { 0 };
	int first = sort_parse(&order, argc, argv);
	struct sort_line *list;
	struct reader reader;
	bool ok;

	if (first < 0)
		return COMMAND_USAGE;
	if (!reader_open(&reader, env, argc - first, argv + first))
		return 1;
	list = sort_read_lines(&reader, &ok);
	reader_close(&reader);
	if (ok) {
		list = sort_list(&order, list);
		sort_print_sorted(env, &order, list);
	}
	while (list) {
		struct sort_line *next = list->next;

		kfree(list);
		list = next;
	}
	return !ok || reader.nr_failed;
}

struct uniq {
	bool counts;
	bool only_repeated;
	bool only_single;
	char *last;  /* the line of the present group; NULL: none yet */
	uint64_t nr; /* lines in the group */
};

static void sort_print_group(struct command_env *env, const struct uniq *uniq)
{
	if (!uniq->last || (uniq->only_repeated && uniq->nr < 2) ||
	    (uniq->only_single && uniq->nr > 1))
		return;
	if (uniq->counts)
		command_printf(env, "%7lu ", uniq->nr);
	command_puts(env, uniq->last);
	command_putc(env, '\n');
}

static bool sort_count_lines(struct reader *reader, struct uniq *uniq)
{
	char *line;
	size_t len;

	while ((len = reader_any_line(reader, &line)) != 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (uniq->last && strcmp(uniq->last, line) == 0) {
			uniq->nr++;
			continue;
		}
		sort_print_group(reader->env, uniq);
		kfree(uniq->last);
		uniq->last = kstrdup(line);
		uniq->nr = 1;
		if (!uniq->last)
			return false;
	}
	sort_print_group(reader->env, uniq);
	return true;
}

static int cmd_uniq(struct command_env *env, int argc, char **argv)
{
	struct uniq uniq = { 0 };
	struct reader reader;
	int first = 1;
	bool ok;

	for (; first < argc && argv[first][0] == '-' && argv[first][1]; first++) {
		for (const char *c = argv[first] + 1; *c; c++) {
			uniq.counts |= *c == 'c';
			uniq.only_repeated |= *c == 'd';
			uniq.only_single |= *c == 'u';
			if (!strchr("cdu", *c))
				return COMMAND_USAGE;
		}
	}
	if (argc - first > 1)
		return COMMAND_USAGE;
	if (!reader_open(&reader, env, argc - first, argv + first))
		return 1;
	ok = sort_count_lines(&reader, &uniq);
	kfree(uniq.last);
	reader_close(&reader);
	return !ok || reader.nr_failed;
}

const struct command sort_commands[] = {
	{ "sort", "[-nru] [-k FIELD] [-t CHAR] [FILE]...", "sort lines", cmd_sort, 0 },
	{ "uniq", "[-cdu] [FILE]", "leave out repeated lines", cmd_uniq, 0 },
	{ 0 },
};
