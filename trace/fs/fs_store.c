/*
 * Writes of whole commands: the text for `store`, and its mistakes in error_log. See fs_file.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "instance/error_log.h"
#include "text/str.h"

#define NS_PER_US 1000u

#define STORE_MAX   4000u
#define LINE_MAX    4094u /* of a text of several lines, as on Linux */
#define COMMAND_MAX 256u

void trace_handle_blame(struct trace_handle *handle, const char *at, const char *why)
{
	handle->why = why;
	handle->why_pos = (size_t)(at - handle->store_text);
}

void trace_handle_blame_in(struct trace_handle *handle, const char *where, const char *at,
			   const char *why)
{
	trace_handle_blame(handle, at, why);
	trace_strcpy(handle->why_where, where, sizeof(handle->why_where));
}

char *trace_handle_word(char **rest)
{
	char *word = *rest, *end;

	while (trace_is_space(*word))
		word++;
	for (end = word; *end && !trace_is_space(*end); end++)
		continue;
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return *word ? word : NULL;
}

int trace_handle_number(struct trace_handle *handle, const char *text, uint64_t *out_value)
{
	int err = trace_parse_u64(text, 10, out_value);
	const char *at = text;

	if (err == -ERANGE)
		trace_handle_blame(handle, text, "the number is too large");
	if (err != -EINVAL)
		return err;
	at += *at == '+';
	while (*at >= '0' && *at <= '9')
		at++;
	trace_handle_blame(handle, at, "not a number");
	return err;
}

int trace_handle_switch(struct trace_handle *handle, const char *text, bool *out_on)
{
	uint64_t value;
	int err = trace_handle_number(handle, text, &value);

	if (!err && value > 1) {
		trace_handle_blame(handle, text, "neither 0 nor 1");
		err = -EINVAL;
	}
	*out_on = !err && value;
	return err;
}

int trace_handle_lines(struct trace_handle *handle, char *text,
		       int (*fn)(struct trace_handle *handle, char *line))
{
	int err = 0;

	handle->has_lines = true;
	while (!err && *text) {
		char *line = text;

		while (*text && *text != '\n' && *text != '#')
			text++;
		while (*text && *text != '\n')
			*text++ = '\0';
		if (*text)
			*text++ = '\0';
		if (trace_strlen(line) <= LINE_MAX) {
			err = fn(handle, line);
			continue;
		}
		trace_handle_blame(handle, line, "the line is too long");
		err = -EINVAL;
	}
	return err;
}

/*
 * The words for error_log; NULL: not to be logged. Mistakes of the user are always logged; other
 * errors, such as -ENOMEM, only if trace_handle_blame() was called.
 */
static const char *why_of(const struct trace_handle *handle, int err)
{
	if (handle->why)
		return handle->why;
	if (err == -EINVAL)
		return "this is not accepted here";
	return err == -ERANGE || err == -EOVERFLOW ? "out of range" : NULL;
}

/* Cut `text` down to the line that *pos is in. */
static void choose_line(const char **text, size_t *len, size_t *pos)
{
	size_t first = *pos < *len ? *pos : *len, end = first;

	while (first && (*text)[first - 1] != '\n')
		first--;
	while (end < *len && (*text)[end] != '\n')
		end++;
	*text += first;
	*len = end - first;
	*pos -= first;
}

/* Report a mistake. `text` is the written text; `store` may have changed its copy. */
static void fs_store_report(struct trace_handle *handle, const char *text, size_t len, int err)
{
	const char *why = why_of(handle, err), *name = handle->node->file->log_name;
	char command[COMMAND_MAX];
	size_t pos = handle->why_pos;

	if (!why)
		return;
	if (handle->has_lines)
		choose_line(&text, &len, &pos);
	if (len > sizeof(command) - 1)
		len = sizeof(command) - 1;
	memcpy(command, text, len);
	command[len] = '\0';
	while (!handle->why && pos < len && trace_is_space(command[pos]))
		pos++;
	if (handle->why_where[0])
		name = handle->why_where;
	trace_error_log(handle->tr, name ? name : handle->node->name, why, command, pos);
}

/* Give `store` a text of its own, ended by NUL. */
static int store_copy(struct trace_handle *handle, const char *buf, size_t len)
{
	char *text = trace_plat_alloc(len + 1);
	int err;

	if (!text)
		return -ENOMEM;
	memcpy(text, buf, len);
	handle->store_text = text;
	err = handle->node->file->store(handle, text);
	handle->store_text = NULL;
	trace_plat_free(text, len + 1);
	return err;
}

int64_t trace_handle_store(struct trace_handle *handle, const char *buf, size_t len)
{
	const struct trace_file *file = handle->node->file;
	size_t max = file->store_max ? file->store_max : STORE_MAX;
	int err = -EINVAL;

	handle->why_where[0] = '\0';
	handle->has_lines = false;
	handle->why = len > max ? "the text is too long" : NULL;
	handle->why_pos = len > max ? max : 0;
	if (len <= max)
		err = store_copy(handle, buf, len);
	if (!err)
		return (int64_t)len;
	fs_store_report(handle, buf, len, err);
	return err;
}

int trace_handle_us(struct trace_handle *handle, char *text, _Atomic uint64_t *out_ns)
{
	uint64_t value;
	int err = trace_handle_number(handle, text, &value);

	if (err)
		return err;
	if (value > UINT64_MAX / NS_PER_US) {
		trace_handle_blame(handle, text, "more microseconds than fit");
		return -ERANGE;
	}
	*out_ns = value * NS_PER_US;
	return 0;
}

int trace_show_us(struct trace_seq *seq, uint64_t ns)
{
	trace_seq_printf(seq, "%llu\n", (unsigned long long)(ns / NS_PER_US));
	return 0;
}
