/* See ninep_client.h. */
#include "unit.h"
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include "kernel/files.h"
#include "kernel/ninep_client.h"
#include "kernel/threads.h"
#include "mm/page.h"

const uint8_t *body;
size_t body_len;
uint64_t client_patience;
uint32_t client_nr_aborts, client_nr_resumes;

void page_get_counts(uint64_t *out_total, uint64_t *out_free, uint64_t *out_failures)
{
	*out_total = NINEP_WAIT_PART * WAIT_BYTES / PAGE_SIZE;
	*out_free = 5;
	*out_failures = 0;
}

/* ---- The channel ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint8_t line[1 << 18]; /* bytes for the server */
static size_t nr_line;
static bool is_pause; /* nothing comes for a while */
static uint32_t nr_pauses;
static struct reply {
	uint8_t bytes[NINEP_MSIZE_MAX];
	size_t len;
} replies[64];
static uint32_t nr_replies;

static void wait_for_change(void)
{
	threads_wait(&changed, &lock);
}

static ssize_t channel_read(void *buf, size_t len, uint64_t timeout_ns)
{
	ssize_t got;

	pthread_mutex_lock(&lock);
	client_patience = timeout_ns;
	while (!nr_line && !is_pause)
		pthread_cond_wait(&changed, &lock);
	got = is_pause ? -ETIMEDOUT : (ssize_t)(nr_line < len ? nr_line : len);
	if (is_pause)
		nr_pauses++;
	is_pause = false;
	if (got > 0) {
		memcpy(buf, line, (size_t)got);
		nr_line -= (size_t)got;
		memmove(line, line + got, nr_line);
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return got;
}

static void channel_write(const void *buf, size_t len)
{
	pthread_mutex_lock(&lock);
	if (nr_replies == ARRAY_SIZE(replies) || client_nr_aborts != client_nr_resumes)
		abort();
	memcpy(replies[nr_replies].bytes, buf, len);
	replies[nr_replies++].len = len;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void channel_abort(void)
{
	client_nr_aborts++;
}

static void channel_resume(void)
{
	client_nr_resumes++;
	if (client_nr_aborts != client_nr_resumes)
		abort();
}

static const struct ninep_channel channel = { .name = "9p-test",
					      .read = channel_read,
					      .write = channel_write,
					      .abort = channel_abort,
					      .resume = channel_resume };

static int serve(void *arg)
{
	(void)arg;
	ninep_serve(&channel);
	abort();
}

int client_begin(void **state)
{
	(void)state;
	threads_begin();
	threads_start(serve, NULL);
	return 0;
}

/* ---- The client ---- */

#define NO_TAG 0xffffu /* of a Tversion */

static uint16_t last_tag, next_tag;

void client_send_bytes(const void *bytes, size_t len)
{
	pthread_mutex_lock(&lock);
	assert_true(nr_line + len <= sizeof(line));
	memcpy(line + nr_line, bytes, len);
	nr_line += len;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void client_wait_until_taken(void)
{
	pthread_mutex_lock(&lock);
	while (nr_line)
		wait_for_change();
	pthread_mutex_unlock(&lock);
	usleep(2000);
}

void client_let_line_pause(void)
{
	uint32_t pauses;

	pthread_mutex_lock(&lock);
	while (nr_line)
		wait_for_change();
	pauses = nr_pauses;
	is_pause = true;
	pthread_cond_broadcast(&changed);
	while (nr_pauses == pauses)
		wait_for_change();
	pthread_mutex_unlock(&lock);
}

/* A digit in `layout` is a number of as many bytes, s a text, d data with a length of 4 bytes in front. */
static uint16_t post_args(uint8_t type, const char *layout, va_list args)
{
	static uint8_t message[NINEP_MSIZE_MAX];
	struct ninep_reply out;
	const char *text;
	uint32_t len;

	ninep_reply_begin(&out, message, sizeof(message));
	for (; *layout; layout++) {
		if (*layout == 's') {
			text = va_arg(args, const char *);
			ninep_put_text(&out, text, strlen(text));
		} else if (*layout == 'd') {
			text = va_arg(args, const char *);
			len = (uint32_t)strlen(text);
			ninep_put_number(&out, len, 4);
			memcpy(out.bytes + out.len, text, len);
			out.len += len;
		} else if (*layout == '8') {
			ninep_put_number(&out, va_arg(args, uint64_t), 8);
		} else {
			ninep_put_number(&out, va_arg(args, uint32_t), (unsigned int)*layout - '0');
		}
	}
	last_tag = type == NINEP_TVERSION ? NO_TAG : next_tag++;
	ninep_reply_end(&out, type, last_tag);
	client_send_bytes(message, out.len);
	return last_tag;
}

uint16_t client_post(uint8_t type, const char *layout, ...)
{
	va_list args;

	va_start(args, layout);
	post_args(type, layout, args);
	va_end(args);
	return last_tag;
}

static bool has_reply(uint16_t tag)
{
	for (uint32_t i = 0; i < nr_replies; i++) {
		if (ninep_number(replies[i].bytes + 5, 2) == tag)
			return true;
	}
	return false;
}

/* Its type; `body` has the rest. */
static uint8_t wait_for(uint16_t tag)
{
	static struct reply reply;

	pthread_mutex_lock(&lock);
	while (!has_reply(tag))
		wait_for_change();
	for (uint32_t i = 0; i < nr_replies; i++) {
		if (ninep_number(replies[i].bytes + 5, 2) != tag)
			continue;
		reply = replies[i];
		replies[i] = replies[--nr_replies];
		break;
	}
	pthread_mutex_unlock(&lock);
	assert_int_equal(ninep_number(reply.bytes, 4), reply.len);
	body = reply.bytes + NINEP_HEADER_BYTES;
	body_len = reply.len - NINEP_HEADER_BYTES;
	return reply.bytes[4];
}

/* 0, or the number of the error. */
int client_result_of(uint16_t tag, uint8_t type)
{
	uint8_t got = wait_for(tag);

	if (got == NINEP_RLERROR) {
		assert_int_equal(body_len, 4);
		return (int)ninep_number(body, 4);
	}
	assert_int_equal(got, type + 1);
	return 0;
}

int client_ask(uint8_t type, const char *layout, ...)
{
	va_list args;

	va_start(args, layout);
	post_args(type, layout, args);
	va_end(args);
	return client_result_of(last_tag, type);
}

/* All that was posted before has been looked at. */
void client_settle(void)
{
	assert_int_equal(client_ask(NINEP_TCLUNK, "4", NO_FID), EBADF);
}

bool client_is_answered(uint16_t tag)
{
	bool answer;

	client_settle();
	pthread_mutex_lock(&lock);
	answer = has_reply(tag);
	pthread_mutex_unlock(&lock);
	return answer;
}

int client_version(uint32_t msize, const char *name)
{
	return client_ask(NINEP_TVERSION, "4s", msize, name);
}

/* Fid `fid` stands for `path`, of one name or two; 0: the root. */
int client_walk(uint32_t fid, const char *first, const char *second)
{
	uint32_t nr = !!first + !!second;

	return nr == 0	 ? client_ask(NINEP_TWALK, "442", 0u, fid, nr)
	       : nr == 1 ? client_ask(NINEP_TWALK, "442s", 0u, fid, nr, first)
			 : client_ask(NINEP_TWALK, "442ss", 0u, fid, nr, first, second);
}

void client_open_file(uint32_t fid, const char *name, uint32_t flags)
{
	assert_int_equal(client_walk(fid, name, NULL), 0);
	assert_int_equal(client_ask(NINEP_TLOPEN, "44", fid, flags), 0);
}

int client_start(void **state)
{
	(void)state;
	files_reset();
	assert_int_equal(client_version(MSIZE, "9P2000.L"), 0);
	assert_int_equal(client_ask(NINEP_TATTACH, "44ss4", 0u, NO_FID, "root", "/", 0u), 0);
	return 0;
}

/* A client that comes leaves nothing of the one before. */
int client_stop(void **state)
{
	(void)state;
	assert_int_equal(client_version(MSIZE, "9P2000.L"), 0);
	client_settle();
	assert_int_equal(files_nr_open(), 0);
	assert_int_equal(nr_replies, 0);
	return 0;
}
