/*
 * One comparison of a filter, `field op value`: see filter_private.h. The order of checks, and the
 * places of errors, are Linux's.
 */
#include "filter_private.h"
#include "func_name.h"
#include "text/str.h"

#define MAX_NUMBER_CHARS 23u /* digits of a number, with 0x and the sign */
#define MAX_TEXT_CHARS	 255u

struct pred {
	struct filter_compiler *compiler;
	const char *at; /* rest of the text */
	struct filter_value value;
	bool is_user;	  /* the name of the field ends in .ustring */
	bool is_function; /* or in .function */
	enum filter_cmp cmp;
};

static int refuse_at(const struct pred *pred, const char *why, const char *at)
{
	return trace_filter_refuse(pred->compiler, -EINVAL, why,
				   (size_t)(at - pred->compiler->text) + 1);
}

static int filter_pred_refuse(const struct pred *pred, const char *why)
{
	return refuse_at(pred, why, pred->at);
}

static bool filter_pred_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return filter_pred_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static void filter_pred_skip_spaces(struct pred *pred)
{
	while (trace_is_space(*pred->at))
		pred->at++;
}

static bool filter_pred_take(struct pred *pred, const char *word)
{
	if (!trace_str_starts(pred->at, word))
		return false;
	pred->at += trace_strlen(word);
	return true;
}

/* ---- Field and operator ---- */

static int filter_pred_take_field(struct pred *pred)
{
	const char *name = pred->at;

	while (is_alnum(*pred->at) || *pred->at == '_')
		pred->at++;
	if (pred->at == name)
		return -EPERM;
	if (!trace_filter_value_find(pred->compiler->event, name, (size_t)(pred->at - name),
				     &pred->value))
		return filter_pred_refuse(pred, "Field not found");
	pred->is_user = filter_pred_take(pred, ".ustring");
	pred->is_function = filter_pred_take(pred, ".function");
	return 0;
}

static int take_operator(struct pred *pred)
{
	/* <= comes before <, which it begins with. */
	static const char *const words[FILTER_NR_CMPS] = {
		[FILTER_CMP_GLOB] = "~", [FILTER_CMP_NE] = "!=", [FILTER_CMP_EQ] = "==",
		[FILTER_CMP_LE] = "<=",	 [FILTER_CMP_LT] = "<",	 [FILTER_CMP_GE] = ">=",
		[FILTER_CMP_GT] = ">",	 [FILTER_CMP_AND] = "&",
	};

	filter_pred_skip_spaces(pred);
	for (pred->cmp = 0; pred->cmp < FILTER_NR_CMPS; pred->cmp++) {
		if (filter_pred_take(pred, words[pred->cmp])) {
			filter_pred_skip_spaces(pred);
			return 0;
		}
	}
	return filter_pred_refuse(pred, FILTER_INVALID_OP);
}

static bool is_equality(const struct pred *pred)
{
	return pred->cmp == FILTER_CMP_EQ || pred->cmp == FILTER_CMP_NE;
}

/* ---- Numbers ---- */

/* Parse the `len` characters at `text`, as trace_parse_u64(), with a sign if `is_signed`. */
static int filter_pred_parse_number(const char *text, size_t len, bool is_signed,
				    uint64_t *out_number)
{
	bool is_negative = is_signed && *text == '-';
	char digits[MAX_NUMBER_CHARS + 1];
	int err;

	memcpy(digits, text, len);
	digits[len] = '\0';
	err = trace_parse_u64(digits + is_negative, 0, out_number);
	if (err)
		return err;
	if (is_signed && *out_number > (uint64_t)INT64_MAX + is_negative)
		return -ERANGE;
	if (is_negative)
		*out_number = -*out_number;
	return 0;
}

/* Find the end of a number, and its length in characters. Returns -EINVAL for too many. */
static int take_digits(struct pred *pred, size_t *out_len)
{
	const char *start = pred->at;

	if (*pred->at == '-')
		pred->at++;
	while (is_alnum(*pred->at))
		pred->at++;
	*out_len = (size_t)(pred->at - start);
	return *out_len > MAX_NUMBER_CHARS ? filter_pred_refuse(pred, FILTER_TOO_LONG) : 0;
}

static int compile_number(struct pred *pred)
{
	enum filter_class class = pred->value.class;
	const char *start = pred->at;
	uint64_t number;
	size_t len;
	int err;

	if (class == FILTER_CLASS_TEXT)
		return filter_pred_refuse(pred, "Expecting string field");
	if (pred->cmp == FILTER_CMP_GLOB || class == FILTER_CLASS_MASK ||
	    class == FILTER_CLASS_STACK)
		return filter_pred_refuse(pred, FILTER_ILLEGAL_OP);
	err = take_digits(pred, &len);
	if (err)
		return err;
	if (filter_pred_parse_number(start, len, pred->value.is_signed, &number))
		return refuse_at(pred, "Illegal integer value", start);
	if (class == FILTER_CLASS_OTHER)
		trace_filter_add_constant(pred->compiler, false);
	else
		trace_filter_add_number(pred->compiler, &pred->value, pred->cmp, number);
	return 0;
}

/* ---- Functions ---- */

/* Find the end of NAME or NAME@FILE. */
static void filter_pred_take_name(struct pred *pred)
{
	bool has_file = false;

	while (is_alnum(*pred->at) || *pred->at == '_' || *pred->at == '.' || *pred->at == '@' ||
	       (has_file && (*pred->at == '/' || *pred->at == '-')))
		has_file |= *pred->at++ == '@';
}

/*
 * Parse an address, written as a number or as the name of a function. *out_addr is left alone when
 * there is no such function.
 */
static int take_address(struct pred *pred, uintptr_t *out_addr)
{
	const char *start = pred->at, *why;
	uint64_t number;
	size_t len;
	int err;

	if (filter_pred_is_digit(*start)) {
		err = take_digits(pred, &len);
		if (err)
			return err;
		if (filter_pred_parse_number(start, len, false, &number))
			return filter_pred_refuse(pred, FILTER_INVALID_VALUE);
		*out_addr = (uintptr_t)number;
		return 0;
	}
	filter_pred_take_name(pred);
	err = trace_func_name_find(start, (size_t)(pred->at - start), out_addr, &why);
	return err && why ? filter_pred_refuse(pred, why) : 0;
}

static int compile_function(struct pred *pred)
{
	char name[TRACE_SYM_LEN];
	uintptr_t addr = 0, start;
	size_t size;
	int err;

	if (pred->value.class != FILTER_CLASS_ADDRESS &&
	    (pred->value.class != FILTER_CLASS_NUMBER || pred->value.size != sizeof(uintptr_t)))
		return filter_pred_refuse(pred, FILTER_ILLEGAL_OP);
	if (!is_equality(pred))
		return filter_pred_refuse(pred, FILTER_INVALID_OP);
	err = take_address(pred, &addr);
	if (err)
		return err;
	if (!addr || !trace_plat_symbol(addr, name, &start, &size) || !size)
		return filter_pred_refuse(pred, "Function not found");
	trace_filter_add_range(pred->compiler, &pred->value, start, start + size - 1,
			       pred->cmp == FILTER_CMP_EQ);
	return 0;
}

/* ---- Texts ---- */

static int compile_text(struct pred *pred)
{
	const char *start = pred->at + 1;
	char quote = *pred->at;
	size_t len;

	if (!is_equality(pred) && pred->cmp != FILTER_CMP_GLOB)
		return filter_pred_refuse(pred, FILTER_ILLEGAL_OP);
	if (pred->value.class != FILTER_CLASS_TEXT)
		return filter_pred_refuse(pred, "Expecting numeric field");
	for (pred->at++; *pred->at && *pred->at != quote; pred->at++)
		;
	if (!*pred->at)
		return filter_pred_refuse(pred, FILTER_NO_QUOTE);
	len = (size_t)(pred->at - start);
	if (len > MAX_TEXT_CHARS)
		return filter_pred_refuse(pred, FILTER_TOO_LONG);
	if (pred->is_user && pred->value.place == FILTER_PLACE_POINTER)
		trace_filter_add_constant(pred->compiler,
					  false); /* a kernel has no text of users */
	else
		trace_filter_add_text(pred->compiler, &pred->value, pred->cmp, start, len);
	pred->at++;
	return 0;
}

/* ---- CPUS{0-3,5} ---- */

static int take_cpus(struct pred *pred, struct filter_cpus *out_cpus)
{
	uint32_t nr = trace_plat_nr_cpus();
	const char *start;

	filter_pred_take(pred, "CPUS");
	if (*pred->at++ != '{')
		return filter_pred_refuse(pred, "Missing '{'");
	start = pred->at;
	while (*pred->at && *pred->at != '}')
		pred->at++;
	if (!*pred->at)
		return filter_pred_refuse(pred, "Missing '}'");
	*out_cpus = (struct filter_cpus){
		.mask = trace_filter_add_data(pred->compiler, (nr + 63) / 64 * sizeof(uint64_t)),
		.nr = nr,
	};
	if (!trace_filter_cpus_parse(start, (size_t)(pred->at - start), out_cpus))
		return filter_pred_refuse(pred, "Invalid cpulist");
	pred->at++;
	return 0;
}

static int compile_cpus(struct pred *pred)
{
	enum filter_class class = pred->value.class;
	struct filter_cpus cpus = { 0 };
	int err;

	if (class != FILTER_CLASS_MASK && class != FILTER_CLASS_CPU && class != FILTER_CLASS_NUMBER)
		return filter_pred_refuse(pred, FILTER_ILLEGAL_OP);
	if (!is_equality(pred) && pred->cmp != FILTER_CMP_AND)
		return filter_pred_refuse(pred, FILTER_ILLEGAL_OP);
	err = take_cpus(pred, &cpus);
	if (err)
		return err;
	trace_filter_add_cpus(pred->compiler, &pred->value, pred->cmp, &cpus);
	return 0;
}

/* ---- All of it ---- */

static int compile_value(struct pred *pred)
{
	if (pred->is_function)
		return compile_function(pred);
	if (trace_str_starts(pred->at, "CPUS"))
		return compile_cpus(pred);
	if (*pred->at == '\'' || *pred->at == '"')
		return compile_text(pred);
	if (filter_pred_is_digit(*pred->at) || *pred->at == '-')
		return compile_number(pred);
	return filter_pred_refuse(pred, FILTER_INVALID_VALUE);
}

int trace_filter_pred_compile(struct filter_compiler *compiler, size_t start, size_t *out_end)
{
	struct pred pred = { .compiler = compiler, .at = compiler->text + start };
	int err = filter_pred_take_field(&pred);

	if (!err)
		err = take_operator(&pred);
	if (!err)
		err = compile_value(&pred);
	if (!err)
		*out_end = (size_t)(pred.at - compiler->text);
	return err;
}
