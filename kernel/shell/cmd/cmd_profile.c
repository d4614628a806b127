/*
 * The command profile: which functions, or stacks, take the time, live. It counts by a histogram of samples
 * in an instance of its own; see docs/profiling.md.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "cmd_reader.h"
#include "command_tables.h"
#include "shell/line/terminal.h"

#define PROFILE_DIR   "/sys/kernel/tracing/instances/profile"
#define PROFILE_EVENT PROFILE_DIR "/events/profile/sample/"
#define PROFILE_KEYS  "hist:keys=context,ip.sym,common_pid.execname:size=8192"
#define PROFILE_STACK "hist:keys=stacktrace:size=8192"
#define PROFILE_ROWS  1024u
#define PROFILE_NAME  112u
#define PROFILE_USER  1 /* values of the event's field context */
#define PROFILE_IDLE  2

struct profile_row {
	uint64_t nr;
	char name[PROFILE_NAME];
};

struct profile {
	struct command_env *env;
	const char *hist; /* the trigger */
	bool has_stacks;
	uint64_t seconds_ns, nr_rounds, hz;
	const char *clock;
	uint64_t total;
	uint32_t nr_rows; /* those that there is no room for count for `total` alone */
	struct profile_row rows[PROFILE_ROWS];
};

/* ---- Files ---- */

static int profile_write(struct profile *profile, const char *path, uint32_t flags,
			 const char *format, const char *text)
{
	char line[PROFILE_NAME];
	struct file *file;
	ssize_t got;
	int err = vfs_open("/", path, VFS_WRITE | flags, &file);

	if (!err) {
		trace_snprintf(line, sizeof(line), format, text);
		got = file_write(file, line, strlen(line));
		err = got < 0 ? (int)got : 0;
		fput(file);
	}
	if (err)
		command_perror(profile->env, path, err);
	return err;
}

static int profile_begin(struct profile *profile)
{
	char hz[24];
	int err = vfs_mkdir("/", PROFILE_DIR);

	trace_snprintf(hz, sizeof(hz), "%lu", (unsigned long)profile->hz);
	if (err) {
		command_perror(profile->env, PROFILE_DIR, err);
		return err;
	}
	err = profile_write(profile, PROFILE_DIR "/profile/frequency", 0, "%s\n", hz);
	if (!err)
		err = profile_write(profile, PROFILE_DIR "/profile/clock", 0, "%s\n",
				    profile->clock);
	if (!err)
		err = profile_write(profile, PROFILE_EVENT "trigger", VFS_APPEND, "%s\n",
				    profile->hist);
	if (err)
		vfs_rmdir("/", PROFILE_DIR);
	return err;
}

static void profile_end(struct profile *profile)
{
	profile_write(profile, PROFILE_EVENT "trigger", VFS_APPEND, "!%s\n", profile->hist);
	vfs_rmdir("/", PROFILE_DIR);
}

/* ---- Rows ---- */

static void profile_add(struct profile *profile, const char *name, uint64_t nr)
{
	uint32_t i = 0;

	profile->total += nr;
	while (i < profile->nr_rows && strcmp(profile->rows[i].name, name) != 0)
		i++;
	if (i == PROFILE_ROWS)
		return;
	if (i == profile->nr_rows) {
		profile->nr_rows++;
		profile->rows[i].nr = 0;
		strlcpy(profile->rows[i].name, name, PROFILE_NAME);
	}
	profile->rows[i].nr += nr;
}

/* Cut the word behind `label` out of a line, and move *at behind it. NULL: the label is not there. */
static char *profile_word(char **at, const char *label)
{
	char *word = strstr(*at, label), *end;

	if (!word)
		return NULL;
	word += strlen(label);
	while (*word == ' ')
		word++;
	for (end = word; *end && *end != ' ' && *end != ',' && *end != '\n';)
		end++;
	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

/* The number that `text` begins with. */
static uint64_t profile_number(const char *text)
{
	uint64_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (uint64_t)(*text - '0');
	return number;
}

/* { context: 0, ip: [ffffffff80001000] do_work , common_pid: sh [ 7] } hitcount: 3 */
static void profile_take_function(struct profile *profile, char *line)
{
	char *context = profile_word(&line, "{ context: "), *name, *thread, *hits,
	     row[PROFILE_NAME];
	uint64_t kind;

	if (!context || !profile_word(&line, "ip: ["))
		return;
	name = profile_word(&line, "");
	thread = profile_word(&line, "common_pid: ");
	hits = thread ? profile_word(&line, "hitcount: ") : NULL;
	if (!hits)
		return;
	kind = profile_number(context);
	if (kind == PROFILE_IDLE)
		strlcpy(row, "[idle]", sizeof(row));
	else
		trace_snprintf(row, sizeof(row), "%-16s %s", thread,
			       kind == PROFILE_USER ? "[program]" : name);
	profile_add(profile, row, profile_number(hits));
}

/* outer;inner;innermost 3: the innermost functions are shown first. */
static void profile_take_stack(struct profile *profile, char *line)
{
	char *blank = strrchr(line, ' '), row[PROFILE_NAME] = "";
	size_t len = 0;
	uint64_t nr;

	if (*line == '#' || !blank)
		return;
	*blank = '\0';
	nr = profile_number(blank + 1);
	for (char *from = line + strlen(line); from > line && len + 1 < sizeof(row);) {
		while (from > line && from[-1] != ';')
			from--;
		len += (size_t)trace_snprintf(row + len, sizeof(row) - len, "%s%s",
					      len ? " < " : "", from);
		if (from > line)
			*--from = '\0';
	}
	profile_add(profile, row[0] ? row : "[program]", nr);
}

static void profile_read(struct profile *profile)
{
	char path[] = PROFILE_EVENT "hist", folded[] = PROFILE_EVENT "hist_folded";
	char *paths[1] = { profile->has_stacks ? folded : path }, *line;
	struct reader reader;

	profile->total = 0;
	profile->nr_rows = 0;
	if (!reader_open(&reader, profile->env, 1, paths))
		return;
	while (reader_any_line(&reader, &line)) {
		if (profile->has_stacks)
			profile_take_stack(profile, line);
		else
			profile_take_function(profile, line);
	}
	reader_close(&reader);
}

static struct profile_row *profile_largest(struct profile *profile)
{
	struct profile_row *largest = &profile->rows[0];

	for (uint32_t i = 1; i < profile->nr_rows; i++) {
		if (profile->rows[i].nr > largest->nr)
			largest = &profile->rows[i];
	}
	return largest;
}

static void profile_print(struct profile *profile)
{
	uint32_t rows = terminal_rows() > 6 ? terminal_rows() - 3 : 20;
	int width = (int)terminal_columns() - 18;

	command_printf(profile->env, "%lu samples\n      %%  samples  %s\n",
		       (unsigned long)profile->total,
		       profile->has_stacks ? "stack" : "thread           function");
	for (; rows && profile->nr_rows && !command_stopped(profile->env); rows--) {
		struct profile_row *row = profile_largest(profile);
		uint64_t tenths = row->nr * 1000 / profile->total;

		if (!row->nr)
			return;
		command_printf(profile->env, "%5lu.%lu %8lu  %.*s\n", (unsigned long)(tenths / 10),
			       (unsigned long)(tenths % 10), (unsigned long)row->nr, width,
			       row->name);
		row->nr = 0;
	}
}

/* ---- The command ---- */

static int profile_run(struct profile *profile)
{
	bool is_interrupted = false;

	if (profile_begin(profile))
		return 1;
	for (uint64_t round = 0; round < profile->nr_rounds && !is_interrupted; round++) {
		is_interrupted =
			thread_sleep_ns(profile->seconds_ns) || command_stopped(profile->env);
		if (is_interrupted)
			break;
		profile_read(profile);
		profile_write(profile, PROFILE_EVENT "trigger", VFS_APPEND, "%s:clear\n",
			      profile->hist);
		if (round)
			command_puts(profile->env, "\n");
		profile_print(profile);
		command_flush(profile->env);
	}
	profile_end(profile);
	return is_interrupted ? COMMAND_SIGINT : 0;
}

/* Take the option and its value. False: it is none. */
static bool profile_option(struct profile *profile, const char *option, const char *value)
{
	if (strcmp(option, "-d") == 0)
		return str_to_duration(value, &profile->seconds_ns) == 0;
	if (strcmp(option, "-n") == 0)
		return command_parse_u64(value, &profile->nr_rounds) && profile->nr_rounds;
	if (strcmp(option, "-f") == 0)
		return command_parse_u64(value, &profile->hz);
	if (strcmp(option, "-c") == 0)
		profile->clock = value;
	return strcmp(option, "-c") == 0;
}

static bool profile_options(struct profile *profile, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-s") == 0) {
			profile->has_stacks = true;
			profile->hist = PROFILE_STACK;
			continue;
		}
		if (i + 1 == argc || !profile_option(profile, argv[i], argv[i + 1]))
			return false;
		i++;
	}
	return true;
}

static int cmd_profile(struct command_env *env, int argc, char **argv)
{
	struct profile *profile = kmalloc(sizeof(*profile));
	int status;

	if (!profile) {
		command_perror(env, "profile", ENOMEM);
		return 1;
	}
	*profile = (struct profile){
		.env = env,
		.hist = PROFILE_KEYS,
		.seconds_ns = NSEC_PER_SEC,
		.nr_rounds = UINT64_MAX,
		.hz = 997,
		.clock = "timer",
	};
	status = profile_options(profile, argc, argv) ? profile_run(profile) : COMMAND_USAGE;
	kfree(profile);
	return status;
}

const struct command profile_commands[] = {
	{ "profile", "[-s] [-d SECONDS] [-n TIMES] [-f HZ] [-c timer|nmi]",
	  "show which functions, or (-s) stacks, take the time, each second until Ctrl-C",
	  cmd_profile, 0 },
	{ 0 },
};
