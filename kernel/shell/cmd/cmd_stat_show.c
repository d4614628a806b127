/*
 * The text of the command perf stat, as Linux's has it: see cmd_stat.h.
 */
#include <arch/smp.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "cmd_stat.h"

#define STAT_LINE    256u
#define STAT_WIDTH   18		/* of a number */
#define STAT_PPM_MAX 100000000u /* of a mean: its square has to fit, STAT_RUNS_MAX times */

static TRACE_PRINTF(2, 3) void stat_print(const struct stat *stat, const char *format, ...)
{
	char line[STAT_LINE];
	va_list args;

	va_start(args, format);
	trace_vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	(void)file_write(stat->env->err, line, strlen(line));
}

/* With a comma at each three digits. */
static void stat_group(char *out, size_t size, uint64_t value)
{
	char digits[24];
	int len = trace_snprintf(digits, sizeof(digits), "%lu", (unsigned long)value);
	size_t at = 0;

	for (int i = 0; i < len && at + 2 < size; i++) {
		out[at++] = digits[i];
		if ((len - i) % 3 == 1 && i + 1 < len)
			out[at++] = ',';
	}
	out[at] = '\0';
}

static void stat_print_value(const struct stat *stat, const struct stat_row *row, uint64_t value)
{
	char text[40] = "<not supported>";

	if (row->is_time) {
		stat_group(text, sizeof(text) - 4, value / NSEC_PER_MSEC);
		trace_snprintf(text + strlen(text), 4, ".%02lu",
			       (unsigned long)(value % NSEC_PER_MSEC / 10000));
	} else if (!row->is_lacking) {
		stat_group(text, sizeof(text), value);
	}
	stat_print(stat, "%*s %-4s %-25s", STAT_WIDTH, text, row->is_time ? "msec" : "", row->name);
}

/* There is a run. */
static uint64_t stat_mean(const struct stat *stat, const struct stat_row *row)
{
	uint64_t sum = 0;
	uint32_t run = 0;

	do
		sum += row->runs[run++];
	while (run < stat->nr_runs);
	return (sum + run / 2) / run;
}

static uint64_t stat_root(uint64_t square)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 31; bit; bit >>= 1) {
		if ((root + bit) * (root + bit) <= square)
			root += bit;
	}
	return root;
}

/* The standard error of the mean, in millionths of it. */
static uint64_t stat_error_ppm(const struct stat *stat, const struct stat_row *row, uint64_t mean)
{
	uint64_t squares = 0;
	uint32_t nr = stat->nr_runs;

	if (nr < 2 || !mean)
		return 0;
	for (uint32_t run = 0; run < nr; run++) {
		uint64_t value = row->runs[run], ppm;

		ppm = (value > mean ? value - mean : mean - value) * 1000000 / mean;
		ppm = ppm < STAT_PPM_MAX ? ppm : STAT_PPM_MAX;
		squares += ppm * ppm;
	}
	return stat_root(squares / (nr - 1) / nr);
}

static void stat_print_error(const struct stat *stat, const struct stat_row *row, uint64_t mean)
{
	uint64_t ppm;

	if (stat->nr_runs < 2 || row->is_lacking)
		return;
	ppm = stat_error_ppm(stat, row, mean);
	stat_print(stat, "  ( +- %3lu.%02lu%% )", (unsigned long)(ppm / 10000),
		   (unsigned long)(ppm / 100 % 100));
}

/* CPUs that were in use, or events in a second of CPU time, which is the first row. */
static void stat_print_rate(const struct stat *stat, const struct stat_row *row, uint64_t mean)
{
	uint64_t ns = stat_mean(stat, row->is_time ? &stat->elapsed : &stat->rows[0]), milli;
	const char *unit = row->is_time ? "CPUs utilized" : "/sec";

	if (!stat->rows[0].is_time || row->is_lacking || ns < NSEC_PER_USEC)
		return;
	milli = row->is_time ? mean * 1000 / ns : mean * NSEC_PER_SEC / (ns / NSEC_PER_USEC);
	if (!row->is_time && milli >= 1000000) {
		milli /= 1000;
		unit = "K/sec";
	}
	stat_print(stat, " # %4lu.%03lu %-13s", (unsigned long)(milli / 1000),
		   (unsigned long)(milli % 1000), unit);
}

static void stat_print_row(const struct stat *stat, const struct stat_row *row)
{
	uint64_t mean = stat_mean(stat, row);

	stat_print_value(stat, row, mean);
	stat_print_rate(stat, row, mean);
	stat_print_error(stat, row, mean);
	stat_print(stat, "\n");
}

/* A line for each CPU, or for each thread that has counted anything; of all runs together. */
static void stat_print_lines(const struct stat *stat, uint32_t column)
{
	for (uint32_t i = 0; i < COUNT_ROWS && !command_stopped(stat->env); i++) {
		uint64_t value = count_value(stat->counts, column, i);
		char name[THREAD_NAME_LEN] = "";

		if (!(stat->flags & COUNT_BY_THREAD)) {
			if (i >= smp_nr_cpus() || !smp_cpu_online(i))
				continue;
			stat_print(stat, "CPU%-7u", i);
		} else {
			int32_t pid = count_thread(i, name);

			if (!pid || !value)
				continue;
			stat_print(stat, "%16s-%-8d", name, pid);
		}
		stat_print_value(stat, &stat->rows[column], value);
		stat_print(stat, "\n");
	}
}

static void stat_print_elapsed(const struct stat *stat)
{
	uint64_t mean = stat_mean(stat, &stat->elapsed);

	stat_print(stat, "\n%7lu.%09lu", (unsigned long)(mean / NSEC_PER_SEC),
		   (unsigned long)(mean % NSEC_PER_SEC));
	stat_print(stat, " seconds time elapsed");
	stat_print_error(stat, &stat->elapsed, mean);
	stat_print(stat, "\n\n");
}

void stat_show(const struct stat *stat)
{
	stat_print(stat, "\n Performance counter stats for '");
	if (stat->flags & COUNT_ALL)
		stat_print(stat, "system wide");
	for (int i = 0; i < stat->nr_words && !(stat->flags & COUNT_ALL); i++)
		stat_print(stat, i ? " %s" : "%s", stat->words[i]);
	stat_print(stat, stat->nr_runs > 1 ? "' (%u runs):\n\n" : "':\n\n", stat->nr_runs);
	for (uint32_t i = 0; i < stat->nr_rows; i++) {
		if (stat->has_lines)
			stat_print_lines(stat, i);
		else
			stat_print_row(stat, &stat->rows[i]);
	}
	stat_print_elapsed(stat);
}
