/* Numbers from text, see <kernel/string.h>. */
#include <kernel/base.h>
#include <kernel/string.h>
#include <kernel/time.h>

static unsigned int number_digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'z')
		return (unsigned int)(c - 'a' + 10);
	if (c >= 'A' && c <= 'Z')
		return (unsigned int)(c - 'A' + 10);
	return 99;
}

/* Skip the prefix that names the base; `base` 0 means that the prefix decides. */
static unsigned int number_base(const char **s, unsigned int base)
{
	bool hex = (*s)[0] == '0' && ((*s)[1] == 'x' || (*s)[1] == 'X') &&
		   number_digit_value((*s)[2]) < 16;

	if (hex && (base == 0 || base == 16)) {
		*s += 2;
		return 16;
	}
	if (base)
		return base;
	return (*s)[0] == '0' ? 8 : 10;
}

int str_to_u64(const char *s, unsigned int base, unsigned long *out)
{
	unsigned long value = 0;

	base = number_base(&s, base);
	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		unsigned int digit = number_digit_value(*s);

		if (digit >= base)
			return -EINVAL;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return -ERANGE;
	}
	*out = value;
	return 0;
}

int str_to_i64(const char *s, unsigned int base, long *out)
{
	bool negative = *s == '-';
	unsigned long value;
	int err;

	if (*s == '-' || *s == '+')
		s++;
	err = str_to_u64(s, base, &value);
	if (err)
		return err;
	if (value > (unsigned long)INT64_MAX + negative)
		return -ERANGE;
	*out = negative ? (long)-value : (long)value;
	return 0;
}

/* number * unit, or UINT64_MAX when that does not fit. */
static uint64_t number_multiply_saturated(uint64_t number, uint64_t unit)
{
	uint64_t product;

	return __builtin_mul_overflow(number, unit, &product) ? UINT64_MAX : product;
}

static uint64_t number_add_saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static bool number_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Seconds in the unit that `c` stands for; 0 when it is none. The end of the text means seconds. */
static uint64_t number_seconds_of_unit(char c)
{
	switch (c) {
	case '\0':
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	default:
		return 0;
	}
}

int str_to_duration(const char *s, uint64_t *out_ns)
{
	uint64_t seconds = 0, rest_ns = 0, digit_ns = NSEC_PER_SEC, unit;
	bool has_digits = false;

	for (; number_is_digit(*s); s++) {
		seconds = number_add_saturated(number_multiply_saturated(seconds, 10),
					       (uint64_t)(*s - '0'));
		has_digits = true;
	}
	for (s += *s == '.'; number_is_digit(*s); s++) {
		digit_ns /= 10;
		rest_ns += (uint64_t)(*s - '0') * digit_ns;
		has_digits = true;
	}
	unit = number_seconds_of_unit(*s);
	if (!has_digits || !unit || (*s && s[1]))
		return -EINVAL;
	*out_ns = number_multiply_saturated(
		number_add_saturated(number_multiply_saturated(seconds, NSEC_PER_SEC), rest_ns),
		unit);
	return 0;
}

/* `letter` is the one behind the o of "on" or "off". */
static int number_on_or_off(char letter, bool *out)
{
	bool is_on = letter == 'n' || letter == 'N';

	if (!is_on && letter != 'f' && letter != 'F')
		return -EINVAL;
	*out = is_on;
	return 0;
}

int str_to_bool(const char *s, bool *out)
{
	switch (*s) {
	case 'y':
	case 'Y':
	case '1':
		*out = true;
		return 0;
	case 'n':
	case 'N':
	case '0':
		*out = false;
		return 0;
	case 'o':
	case 'O':
		return number_on_or_off(s[1], out);
	default:
		return -EINVAL;
	}
}
