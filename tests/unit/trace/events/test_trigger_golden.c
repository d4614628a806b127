/*
 * Lines for the file `trigger` that were typed to Linux 6.1 (tests/golden, trigger-*), typed here:
 * errors and listings are the same. Its error_log is empty, ours has words; histograms are left
 * out.
 */
#include "unit.h"
#include "golden.h"
#include "host/gold.h"

#define AVAILABLE                                                                                  \
	"# Available triggers:\n# traceon traceoff snapshot stacktrace enable_event "              \
	"disable_event enable_hist disable_hist hist\n"

#define TRIGGER "events/gold/gold_int/trigger"

static void clear(void)
{
	static const char *const removals[] = { "!traceoff",
						"!snapshot",
						"!stacktrace",
						"!enable_event:gold:gold_types",
						"!enable_event:gold:gold_enum",
						"!enable_event:gold:gold_int" };

	for (size_t i = 0; i < sizeof(removals) / sizeof(removals[0]); i++)
		assert_int_equal(echo_append(removals[i], TRIGGER), 0);
}

/* The lines of an answer that a kernel without histograms has. */
static void without_hist(char *answer)
{
	char *line = answer;

	while (*line) {
		char *end = strchr(line, '\n') + 1;
		char first[16];

		snprintf(first, sizeof(first), "%.12s", line);
		if (strstr(first, "hist"))
			memmove(line, end, strlen(end) + 1);
		else
			line = end;
	}
}

/* Left out: histograms, of which others tell; what is written by printf, twice in one go. */
static bool is_other(const char *command)
{
	return strstr(command, "hist") || strstr(command, "error_log") ||
	       strstr(command, "events/ftrace") || strstr(command, "gold_first");
}

/* All of a sample; with `is_fresh` each listing was followed by the removal of what it shows. */
static void replay(const char *name, bool is_fresh)
{
	static struct golden golden;
	struct golden_write typed;
	unsigned int nr = 0;

	golden_load(&golden, name, NULL);
	while (golden_next(&golden)) {
		if (is_other(golden.command))
			continue;
		if (golden_take(golden.command, &typed)) {
			golden_type(&golden, &typed);
			nr++;
		} else if (strncmp(golden.command, "cat ", 4) == 0 &&
			   !strchr(golden.command + 4, ' ')) {
			without_hist(golden.answer);
			assert_string_equal(cat(golden.command + 4),
					    *golden.answer ? golden.answer : AVAILABLE);
			if (is_fresh)
				clear();
			nr++;
		}
	}
	assert_true(nr > 15);
	clear();
}

static void lists(void **state)
{
	(void)state;
	replay("trigger-list", false);
}

static void conditions(void **state)
{
	(void)state;
	replay("trigger-if", false);
}

static void errors(void **state)
{
	(void)state;
	replay("trigger-errors", true);
}

static void twice(void **state)
{
	(void)state;
	replay("trigger-twice", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(conditions),
		cmocka_unit_test(errors),
		cmocka_unit_test(twice),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
