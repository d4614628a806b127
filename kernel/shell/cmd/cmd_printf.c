/*
 * printf and seq.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "cmd_escape.h"
#include "command_tables.h"

#define SPEC_BYTES 24

struct printer {
	struct command_env *env;
	char **args; /* the arguments that are not used yet */
	int nr_args;
	int status;
	bool is_done; /* \c was seen */
};

static const char *printf_next_arg(struct printer *p)
{
	if (!p->nr_args)
		return NULL;
	p->nr_args--;
	return *p->args++;
}

static long printf_number_of(struct printer *p, const char *arg)
{
	long value = 0;

	if (!arg || !*arg)
		return 0;
	if (arg[0] == '\'' || arg[0] == '"')
		return (unsigned char)arg[1];
	if (str_to_i64(arg, 0, &value)) {
		command_error(p->env, "%s: invalid number", arg);
		p->status = 1;
	}
	return value;
}

static void printf_print_escaped(struct printer *p, const char *text)
{
	while (*text && !p->is_done) {
		char c = *text++;

		if (c == '\\' && *text == 'c')
			p->is_done = true;
		else if (c == '\\')
			text = escape_char(text, ESCAPE_ARGUMENT, &c);
		if (!p->is_done)
			command_putc(p->env, c);
	}
}

/* Print one argument as `spec` says: %-20s, %5ld and the like. Allocates room for long texts. */
static void printf_print_arg(struct printer *p, const char *spec, ...)
{
	char short_text[128], *text = short_text;
	va_list args;
	int len;

	va_start(args, spec);
	len = trace_vsnprintf(short_text, sizeof(short_text), spec, args);
	va_end(args);
	if (len >= (int)sizeof(short_text)) {
		text = kmalloc((size_t)len + 1);
		if (!text) {
			command_error(p->env, "%s", command_strerror(ENOMEM));
			p->status = 1;
			return;
		}
		va_start(args, spec);
		trace_vsnprintf(text, (size_t)len + 1, spec, args);
		va_end(args);
	}
	command_write(p->env, text, (size_t)len);
	if (text != short_text)
		kfree(text);
}

static void printf_print_string(struct printer *p, const char *spec, const char *arg)
{
	if (strcmp(spec, "%s") == 0)
		command_puts(p->env, arg ? arg : "");
	else
		printf_print_arg(p, spec, arg ? arg : "");
}

static void printf_print_number(struct printer *p, char *spec, size_t len, const char *arg)
{
	char conversion = spec[len - 1];
	long value = printf_number_of(p, arg);

	strlcpy(spec + len - 1, "l", 2);
	spec[len] = conversion;
	spec[len + 1] = '\0';
	printf_print_arg(p, spec, value);
}

/* Print the conversion at `pos` (behind the %). Returns where the format goes on. */
static const char *printf_print_spec(struct printer *p, const char *pos)
{
	char spec[SPEC_BYTES + 3] = "%";
	size_t len = 1;

	while (*pos && strchr("-+ #0123456789.", *pos) && len < SPEC_BYTES)
		spec[len++] = *pos++;
	if (!*pos || !strchr("sbcdiuxXo", *pos)) {
		command_error(p->env, "%%%.8s: invalid format", pos);
		p->status = 1;
		p->is_done = true;
		return pos;
	}
	spec[len++] = *pos;
	if (*pos == 'b') {
		const char *arg = printf_next_arg(p);

		printf_print_escaped(p, arg ? arg : "");
	} else if (*pos == 'c') {
		const char *arg = printf_next_arg(p);

		command_write(p->env, arg ? arg : "", arg && *arg);
	} else if (*pos == 's') {
		printf_print_string(p, spec, printf_next_arg(p));
	} else {
		printf_print_number(p, spec, len, printf_next_arg(p));
	}
	return pos + 1;
}

static void printf_print_format(struct printer *p, const char *format)
{
	while (*format && !p->is_done) {
		char c = *format++;

		if (c == '%' && *format != '%') {
			format = printf_print_spec(p, format);
			continue;
		}
		if (c == '%')
			format++;
		else if (c == '\\' && *format == 'c')
			return;
		else if (c == '\\')
			format = escape_char(format, ESCAPE_FORMAT, &c);
		command_putc(p->env, c);
	}
}

static int cmd_printf(struct command_env *env, int argc, char **argv)
{
	struct printer p = { .env = env, .args = argv + 2, .nr_args = argc - 2 };
	int before;

	if (argc < 2)
		return COMMAND_USAGE;
	do {
		before = p.nr_args;
		printf_print_format(&p, argv[1]);
	} while (p.nr_args && p.nr_args < before && !p.is_done && !command_stopped(env));
	return p.status;
}

static int cmd_seq(struct command_env *env, int argc, char **argv)
{
	long first = 1, last, step = 1;
	bool bad = argc < 2 || argc > 4 || str_to_i64(argv[argc - 1], 10, &last);

	if (!bad && argc > 2)
		bad = str_to_i64(argv[1], 10, &first);
	if (!bad && argc > 3)
		bad = str_to_i64(argv[2], 10, &step);
	if (bad || !step)
		return COMMAND_USAGE;
	while ((step > 0 ? first <= last : first >= last) && !command_stopped(env)) {
		command_printf(env, "%ld\n", first);
		if (__builtin_add_overflow(first, step, &first))
			break;
	}
	return 0;
}

const struct command print_commands[] = {
	{ "printf", "FORMAT [ARG]...", "print arguments as a format says", cmd_printf,
	  COMMAND_BUILTIN },
	{ "seq", "[FIRST [STEP]] LAST", "print numbers", cmd_seq, 0 },
	{ 0 },
};
