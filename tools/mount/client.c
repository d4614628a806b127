/* A client of 9P2000.L. See client.h. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "client.h"

#define HEADER	     7u
#define RLERROR	     7u
#define NOTAG	     0xffffu
#define TRIES	     4
#define TRY_MS	     1500 /* longer than the server waits for the rest of a message */
#define VERSION_SIZE 21u  /* of Tversion and Rversion */

struct request {
	client_done_fn done; /* NULL: the tag is free */
	void *arg;
};

static int line = -1;
static struct request requests[CLIENT_NR_TAGS];
static unsigned int last_tag;
/* The message in the making. */
static uint8_t made[CLIENT_MSIZE];
static size_t made_len;
/* What the socket has not taken yet. */
static uint8_t *out;
static size_t out_len, out_size;
/* What has come of the next message. */
static uint8_t in[CLIENT_MSIZE];
static size_t in_len;

uint64_t client_number(const uint8_t *bytes, unsigned int nr)
{
	uint64_t value = 0;

	while (nr-- > 0)
		value = value << 8 | bytes[nr];
	return value;
}

void client_put_bytes(const void *bytes, size_t len)
{
	if (len > sizeof(made) - made_len)
		abort(); /* nobody asks for so much: CLIENT_IO_MAX */
	memcpy(made + made_len, bytes, len);
	made_len += len;
}

void client_put(uint64_t value, unsigned int nr_bytes)
{
	for (unsigned int i = 0; i < nr_bytes; i++) {
		uint8_t byte = (uint8_t)(value >> 8 * i);

		client_put_bytes(&byte, 1);
	}
}

void client_put_text(const char *text)
{
	client_put(strlen(text), 2);
	client_put_bytes(text, strlen(text));
}

void client_begin(enum client_type type)
{
	made_len = 0;
	client_put(0, 4);
	client_put(type, 1);
	client_put(0, 2);
}

static void write_header(uint16_t tag)
{
	size_t len = made_len;

	made_len = 0;
	client_put(len, 4);
	made_len = 5;
	client_put(tag, 2);
	made_len = len;
}

static void queue_made(void)
{
	if (out_size - out_len < made_len) {
		out_size = 2 * (out_len + made_len);
		out = realloc(out, out_size);
		if (!out)
			abort();
	}
	memcpy(out + out_len, made, made_len);
	out_len += made_len;
}

/* A tag that no request has; -1: there is none. */
static int free_tag(void)
{
	for (unsigned int i = 0; i < CLIENT_NR_TAGS; i++) {
		last_tag = (last_tag + 1) % CLIENT_NR_TAGS;
		if (!requests[last_tag].done)
			return (int)last_tag;
	}
	return -1;
}

int client_send(client_done_fn done, void *arg)
{
	int tag = free_tag();

	if (tag < 0)
		return -1;
	requests[tag] = (struct request){ .done = done, .arg = arg };
	write_header((uint16_t)tag);
	queue_made();
	return tag;
}

static void end_request(unsigned int tag, int err, const uint8_t *body, size_t len)
{
	struct request request = requests[tag];

	requests[tag].done = NULL;
	request.done(request.arg, err, body, len);
}

/* Rflush: what was flushed has been answered before, or never will be. */
static void flush_done(void *arg, int err, const uint8_t *body, size_t len)
{
	const struct request *old = arg;

	(void)err;
	(void)body;
	(void)len;
	if (old->done)
		end_request((unsigned int)(old - requests), EINTR, NULL, 0);
}

void client_flush(int tag)
{
	client_begin(TFLUSH);
	client_put((uint64_t)tag, 2);
	client_send(flush_done, &requests[tag]);
}

static void take_message(const uint8_t *message, size_t len)
{
	unsigned int type = message[4], tag = (unsigned int)client_number(message + 5, 2);
	const uint8_t *body = message + HEADER;

	if (tag >= CLIENT_NR_TAGS || !requests[tag].done)
		return; /* a second Rversion, for instance */
	if (type == RLERROR && len >= HEADER + 4)
		end_request(tag, (int)client_number(body, 4), NULL, 0);
	else
		end_request(tag, 0, body, len - HEADER);
}

static bool end_all(void)
{
	for (unsigned int tag = 0; tag < CLIENT_NR_TAGS; tag++) {
		if (requests[tag].done)
			end_request(tag, EIO, NULL, 0);
	}
	return false;
}

bool client_input(void)
{
	ssize_t got = recv(line, in + in_len, sizeof(in) - in_len, MSG_DONTWAIT);
	size_t from = 0;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (got <= 0)
		return end_all();
	in_len += (size_t)got;
	while (in_len - from >= HEADER) {
		size_t size = client_number(in + from, 4);

		if (size < HEADER || size > sizeof(in))
			return end_all();
		if (size > in_len - from)
			break;
		take_message(in + from, size);
		from += size;
	}
	memmove(in, in + from, in_len - from);
	in_len -= from;
	return true;
}

bool client_has_output(void)
{
	return out_len > 0;
}

bool client_output(void)
{
	ssize_t put = send(line, out, out_len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (put < 0)
		return errno == EAGAIN || errno == EINTR ? true : end_all();
	memmove(out, out + put, out_len - (size_t)put);
	out_len -= (size_t)put;
	return true;
}

/* ---- The beginning: the line may be in any state ---- */

static bool is_version_answer(const uint8_t *at)
{
	return at[4] == TVERSION + 1 && client_number(at, 4) == VERSION_SIZE &&
	       client_number(at + 5, 2) == NOTAG && memcmp(at + 13, "9P2000.L", 8) == 0;
}

/* Has the answer come, and nothing behind it? What was there before it is left of others. */
static bool version_came(void)
{
	ssize_t got;

	if (in_len > sizeof(in) / 2) {
		memmove(in, in + in_len - VERSION_SIZE, VERSION_SIZE);
		in_len = VERSION_SIZE;
	}
	got = recv(line, in + in_len, sizeof(in) - in_len, MSG_DONTWAIT);
	if (got > 0)
		in_len += (size_t)got;
	return in_len >= VERSION_SIZE && is_version_answer(in + in_len - VERSION_SIZE);
}

static bool agree_on_version(void)
{
	for (int i = 0; i < TRIES; i++) {
		struct pollfd poll_line = { .fd = line, .events = POLLIN };

		client_begin(TVERSION);
		client_put(CLIENT_MSIZE, 4);
		client_put_text("9P2000.L");
		write_header(NOTAG);
		if (send(line, made, made_len, MSG_NOSIGNAL) != (ssize_t)made_len)
			return false;
		while (poll(&poll_line, 1, TRY_MS) > 0 && !(poll_line.revents & POLLHUP)) {
			if (version_came()) {
				in_len = 0;
				return true;
			}
		}
	}
	return false;
}

int client_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		return -1;
	strcpy(address.sun_path, path);
	line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (line < 0 || connect(line, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return agree_on_version() ? line : -2;
}
