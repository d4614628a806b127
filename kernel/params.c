/* Boot parameters, see <kernel/params.h>. */
#include <arch/boot_info.h>
#include <kernel/base.h>
#include <kernel/params.h>
#include <kernel/string.h>
#include <trace/trace.h>

#define PARAMS_MAX_BYTES BOOT_CMDLINE_MAX
#define PARAMS_MAX	 4096

struct param {
	const char *name;
	const char *value;
};

static struct param params[PARAMS_MAX];
static size_t nr_params;
static char words[PARAMS_MAX_BYTES]; /* the command line, cut into names and values */
static const char *command_line = "";
static bool has_dropped; /* the command line had more words or bytes than are kept */

/* The parameters that kernel/ asks for. All others are given to the tracer, which knows its own. */
static const char *const known[] = {
	"maxcpus",
	"run",
	"exit",
	"panic",
	"nox2apic",
	"loglevel",
	"init",
	"norandmaps",
	"reserve_mem",
	"ramoops.mem_name",
	"ramoops.record_size",
	"ramoops.console_size",
	"ramoops.pmsg_size",
	"ramoops.ftrace_size",
};

/*
 * Cut one word off `*next`, in place: quotes are dropped, spaces inside them stay. A backslash is
 * dropped and the character behind it stays, because GRUB puts one before each quote. NULL at the
 * end.
 */
static char *params_next_word(char **next)
{
	char *from = *next, *to, *word;
	bool quoted = false;

	while (*from == ' ' || *from == '\t')
		from++;
	if (!*from)
		return NULL;
	word = to = from;
	for (; *from && (quoted || (*from != ' ' && *from != '\t')); from++) {
		if (*from == '\\' && from[1])
			*to++ = *++from;
		else if (*from == '"')
			quoted = !quoted;
		else
			*to++ = *from;
	}
	*next = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

/*
 * Of a line that is too long, the last word may be cut in its middle and is not used: half of the
 * value of `run` might be another command than the one that was meant.
 */
void params_init(const char *line)
{
	bool is_cut = strlen(line) >= PARAMS_MAX_BYTES - 1;
	char *next = words, *word;

	nr_params = 0;
	has_dropped = is_cut;
	command_line = line;
	strlcpy(words, line, sizeof(words));
	while ((word = params_next_word(&next))) {
		char *equals = strchr(word, '=');

		if (nr_params == PARAMS_MAX || (is_cut && !*next)) {
			has_dropped = true;
			break;
		}
		if (equals)
			*equals = '\0';
		params[nr_params].name = word;
		params[nr_params].value = equals ? equals + 1 : "";
		nr_params++;
	}
}

const char *boot_param_get(const char *name)
{
	for (size_t i = nr_params; i-- > 0;) {
		if (strcmp(params[i].name, name) == 0)
			return params[i].value;
	}
	return NULL;
}

const char *boot_param_next(const char *name, size_t *index)
{
	while (*index < nr_params) {
		const struct param *param = &params[(*index)++];

		if (strcmp(param->name, name) == 0)
			return param->value;
	}
	return NULL;
}

bool boot_param_is_set(const char *name)
{
	return boot_param_get(name) != NULL;
}

long boot_param_number(const char *name, long min, long max, long otherwise)
{
	const char *text = boot_param_get(name);
	long value;
	int err;

	if (!text)
		return otherwise;
	err = str_to_i64(text, 0, &value);
	if (!err && value >= min && value <= max)
		return value;
	pr_warn("Boot parameter %s=%s: %s, ignored\n", name, text,
		err == -EINVAL ? "not a number" : "out of range");
	return otherwise;
}

const char *boot_command_line(void)
{
	return command_line;
}

static bool params_is_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(known[i], name) == 0)
			return true;
	}
	return false;
}

void params_give_to_trace(void)
{
	if (has_dropped)
		pr_warn("Command line: only the first %u bytes and %u words count\n",
			PARAMS_MAX_BYTES - 1, PARAMS_MAX);
	for (size_t i = 0; i < nr_params; i++) {
		if (!params_is_known(params[i].name) &&
		    !trace_boot_param(params[i].name, params[i].value))
			pr_warn("Unknown boot parameter: %s\n", params[i].name);
	}
}
