/* See date.h. */
#include <kernel/string.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "date.h"

#define SECONDS_PER_DAY 86400u

struct date {
	uint64_t seconds; /* since 1970 */
	uint32_t ns;
	uint32_t year, month, day; /* month and day from 1 */
	uint32_t weekday;	   /* 0: Sunday */
	uint32_t yearday;	   /* from 0 */
	uint32_t second_of_day;
};

struct date_out {
	char *text;
	size_t size; /* with the NUL; text that does not fit is dropped */
	size_t len;
};

static bool date_is_leap(uint32_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static uint32_t date_month_days(uint32_t year, uint32_t month)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[month - 1] + (month == 2 && date_is_leap(year));
}

static void date_split(uint64_t ns, struct date *date)
{
	uint32_t days;

	date->seconds = ns / NSEC_PER_SEC;
	date->ns = (uint32_t)(ns % NSEC_PER_SEC);
	date->second_of_day = (uint32_t)(date->seconds % SECONDS_PER_DAY);
	days = (uint32_t)(date->seconds / SECONDS_PER_DAY);
	date->weekday = (days + 4) % 7;
	date->year = 1970;
	while (days >= 365u + date_is_leap(date->year))
		days -= 365u + date_is_leap(date->year++);
	date->yearday = days;
	date->month = 1;
	while (days >= date_month_days(date->year, date->month))
		days -= date_month_days(date->year, date->month++);
	date->day = days + 1;
}

static void date_put(struct date_out *out, const char *text, size_t len)
{
	for (; len && out->len + 1 < out->size; len--)
		out->text[out->len++] = *text++;
}

static void date_put_number(struct date_out *out, const char *format, uint64_t value)
{
	char text[24];

	date_put(out, text, trace_scnprintf(text, sizeof(text), format, value));
}

static void date_put_name(struct date_out *out, const char *names, uint32_t index, bool is_short)
{
	while (index--)
		names = strchr(names, ' ') + 1;
	date_put(out, names, is_short ? 3 : (size_t)(strchr(names, ' ') - names));
}

/* The format that this conversion is short for; NULL when it is short for none. */
static const char *date_expand(char letter)
{
	switch (letter) {
	case 'c':
		return "%a %b %e %H:%M:%S %Y";
	case 'D':
		return "%m/%d/%y";
	case 'F':
		return "%Y-%m-%d";
	case 'R':
		return "%H:%M";
	case 'T':
		return "%H:%M:%S";
	case 'Z':
		return "UTC";
	case 'z':
		return "+0000";
	case 'n':
		return "\n";
	case 't':
		return "\t";
	case '%':
		return "%%";
	default:
		return NULL;
	}
}

/* Write the conversion if it is a number. False when it is not. */
static bool date_number(struct date_out *out, const struct date *date, char letter)
{
	uint32_t hour = date->second_of_day / 3600;
	const struct {
		char letter;
		const char *format;
		uint64_t value;
	} numbers[] = {
		{ 'd', "%02lu", date->day },
		{ 'e', "%2lu", date->day },
		{ 'H', "%02lu", hour },
		{ 'I', "%02lu", hour % 12 ? hour % 12 : 12 },
		{ 'j', "%03lu", date->yearday + 1 },
		{ 'k', "%2lu", hour },
		{ 'm', "%02lu", date->month },
		{ 'M', "%02lu", date->second_of_day / 60 % 60 },
		{ 's', "%lu", date->seconds },
		{ 'S', "%02lu", date->second_of_day % 60 },
		{ 'u', "%lu", date->weekday ? date->weekday : 7 },
		{ 'w', "%lu", date->weekday },
		{ 'y', "%02lu", date->year % 100 },
		{ 'Y', "%lu", date->year },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].letter != letter)
			continue;
		date_put_number(out, numbers[i].format, numbers[i].value);
		return true;
	}
	return false;
}

static bool date_name(struct date_out *out, const struct date *date, char letter)
{
	static const char days[] = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday ";
	static const char months[] = "January February March April May June July August "
				     "September October November December ";

	switch (letter) {
	case 'a':
	case 'A':
		date_put_name(out, days, date->weekday, letter == 'a');
		return true;
	case 'b':
	case 'h':
	case 'B':
		date_put_name(out, months, date->month - 1, letter != 'B');
		return true;
	case 'p':
		date_put(out, date->second_of_day / 3600 < 12 ? "AM" : "PM", 2);
		return true;
	default:
		return false;
	}
}

/*
 * Write %N, or the first digits of it, as %3N says. Returns the length of the conversion, 0 when it
 * is another one.
 */
static size_t date_fraction(struct date_out *out, const struct date *date, const char *pos)
{
	bool has_width = *pos >= '1' && *pos <= '9';
	char digits[12];

	if (pos[has_width] != 'N')
		return 0;
	trace_scnprintf(digits, sizeof(digits), "%09u", date->ns);
	date_put(out, digits, has_width ? (size_t)(*pos - '0') : 9);
	return 1 + has_width;
}

/* Write the conversion at `pos`, behind the %. Returns its length, 0 when there is none like it. */
static size_t date_convert(struct date_out *out, const struct date *date, const char *pos)
{
	if (date_number(out, date, *pos) || date_name(out, date, *pos))
		return 1;
	return date_fraction(out, date, pos);
}

/* Write the time as `format` says; it has no conversion that is short for others. */
static void date_plain(struct date_out *out, const struct date *date, const char *format)
{
	while (*format) {
		size_t len = *format == '%' ? date_convert(out, date, format + 1) : 0;

		if (len) {
			format += 1 + len;
			continue;
		}
		date_put(out, format, 1);
		format += format[0] == '%' && format[1] == '%' ? 2 : 1;
	}
}

size_t date_format(char *out_text, size_t size, const char *format, uint64_t ns)
{
	struct date_out out = { out_text, size, 0 };
	char one[4] = "";
	struct date date;

	date_split(ns, &date);
	while (*format) {
		const char *other = *format == '%' ? date_expand(format[1]) : NULL;

		/* `one` is the conversion or character at `format`. */
		strlcpy(one, format,
			*format == '%' ? (format[1] >= '1' && format[1] <= '9' ? 4 : 3) : 2);
		date_plain(&out, &date, other ? other : one);
		format += other ? 2 : strlen(one);
	}
	out.text[out.len] = '\0';
	return out.len;
}
