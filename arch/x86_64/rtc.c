/* The clock of the mainboard, see <arch/rtc.h>. */
#include <stdbool.h>
#include <arch/port.h>
#include <arch/rtc.h>
#include <kernel/base.h>

#define RTC_INDEX 0x70
#define RTC_DATA  0x71

/* Registers. */
enum {
	RTC_SECOND = 0,
	RTC_MINUTE = 2,
	RTC_HOUR = 4,
	RTC_DAY = 7,
	RTC_MONTH = 8,
	RTC_YEAR = 9,
	RTC_STATUS_A = 10,
	RTC_STATUS_B = 11,
};

#define UPDATE_IN_PROGRESS 0x80 /* status A */
#define IS_24_HOURS	   0x02 /* status B */
#define IS_BINARY	   0x04
#define HOUR_IS_PM	   0x80
#define TRIES		   20000 /* an update takes 2 ms, a read of a port a microsecond */

struct rtc_time {
	uint8_t second, minute, hour, day, month, year;
};

static uint8_t rtc_get(uint8_t index)
{
	outb(RTC_INDEX, index);
	return inb(RTC_DATA);
}

static bool rtc_wait_update(void)
{
	for (int i = 0; i < TRIES; i++) {
		if (!(rtc_get(RTC_STATUS_A) & UPDATE_IN_PROGRESS))
			return true;
	}
	return false;
}

static void rtc_get_all(struct rtc_time *time)
{
	time->second = rtc_get(RTC_SECOND);
	time->minute = rtc_get(RTC_MINUTE);
	time->hour = rtc_get(RTC_HOUR);
	time->day = rtc_get(RTC_DAY);
	time->month = rtc_get(RTC_MONTH);
	time->year = rtc_get(RTC_YEAR);
}

/* Read until two readings are alike: then the clock did not change between the registers of one. */
static bool rtc_get_time(struct rtc_time *time)
{
	struct rtc_time again;

	for (int i = 0; i < 5; i++) {
		if (!rtc_wait_update())
			return false;
		rtc_get_all(time);
		rtc_get_all(&again);
		if (__builtin_memcmp(time, &again, sizeof(again)) == 0)
			return true;
	}
	return false;
}

static uint32_t rtc_number(uint8_t value, uint8_t status)
{
	return status & IS_BINARY ? value : (value >> 4) * 10u + (value & 15);
}

static uint32_t rtc_hour(uint8_t value, uint8_t status)
{
	uint32_t hour = rtc_number(value & (uint8_t)~HOUR_IS_PM, status);

	if (status & IS_24_HOURS)
		return rtc_number(value, status);
	return hour % 12 + (value & HOUR_IS_PM ? 12 : 0);
}

/* Days from 1970 to a day of this century; `year` is 0 to 99. Every fourth year has 366 days. */
static uint32_t rtc_days(uint32_t year, uint32_t month, uint32_t day)
{
	static const uint16_t before_month[] = { 0,   31,  59,	90,  120, 151,
						 181, 212, 243, 273, 304, 334 };
	uint32_t days = 10957 + year * 365 + (year + 3) / 4; /* 10957: 1970 to 2000 */

	return days + before_month[month - 1] + (year % 4 == 0 && month > 2) + day - 1;
}

uint64_t rtc_read(void)
{
	struct rtc_time time;
	uint32_t day, month, seconds;
	uint8_t status;

	if (!rtc_get_time(&time))
		return 0;
	status = rtc_get(RTC_STATUS_B);
	day = rtc_number(time.day, status);
	month = rtc_number(time.month, status);
	if (day < 1 || day > 31 || month < 1 || month > 12)
		return 0;
	seconds = rtc_hour(time.hour, status) * 3600 + rtc_number(time.minute, status) * 60 +
		  rtc_number(time.second, status);
	return rtc_days(rtc_number(time.year, status), month, day) * 86400ull + seconds;
}
