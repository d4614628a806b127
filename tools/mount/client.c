/* A client of 9P2000.L. See client.h. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "client.h"

#define HEADER	     7u
#define RLERROR	     7u
#define NOTAG	     0xffffu
#define TRIES	     4
#define TRY_MS	     1500 /* longer than the server waits for the rest of a message */
#define VERSION_SIZE 21u  /* of Tversion and Rversion */

#define ERRNO_MAX 1000 /* FUSE takes no larger ones */
/* Tags: of requests, of the Tflush of each, and of the question whether the server is there. */
#define FLUSH_TAG(tag) (CLIENT_NR_TAGS + (tag))
#define PROBE_TAG      (2 * CLIENT_NR_TAGS)

/* A tag is busy until the answer has come, and that to its Tflush, too. */
struct request {
	client_done_fn done; /* NULL: there is nothing to answer any more */
	void *arg;
	uint8_t type;
	bool is_flushing;
};

static int line = -1;
static struct request requests[CLIENT_NR_TAGS];
static unsigned int last_tag, nr_busy;
static bool is_probing;
static uint64_t heard_ms, busy_since_ms, probed_ms;
/* The message in the making. */
static uint8_t made[CLIENT_MSIZE];
static size_t made_len;
/* Bytes that the socket has not taken yet. */
static uint8_t *out;
static size_t out_len, out_size;
/* The part of the next message that has come. */
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
		abort(); /* no caller asks for so much: CLIENT_IO_MAX */
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

uint64_t client_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool is_busy(const struct request *request)
{
	return request->done || request->is_flushing;
}

bool client_can_send(unsigned int nr)
{
	return nr_busy + nr <= CLIENT_NR_TAGS;
}

static unsigned int free_tag(void)
{
	do
		last_tag = (last_tag + 1) % CLIENT_NR_TAGS;
	while (is_busy(&requests[last_tag]));
	return last_tag;
}

static void send_made(unsigned int tag)
{
	if (!client_is_waiting())
		busy_since_ms = client_now_ms();
	write_header((uint16_t)tag);
	queue_made();
}

int client_send(client_done_fn done, void *arg)
{
	unsigned int tag;

	if (!client_can_send(1))
		abort(); /* the caller has not asked client_can_send() */
	tag = free_tag();
	send_made(tag);
	requests[tag] = (struct request){ .done = done, .arg = arg, .type = made[4] };
	nr_busy++;
	return (int)tag;
}

static void end_request(struct request *request, int err, const uint8_t *body, size_t len)
{
	client_done_fn done = request->done;

	request->done = NULL;
	nr_busy -= !is_busy(request);
	done(request->arg, err, body, len);
}

void client_flush(int tag)
{
	struct request *request = &requests[tag];

	if (!request->done || request->is_flushing)
		return;
	client_begin(TFLUSH);
	client_put((uint64_t)tag, 2);
	send_made(FLUSH_TAG((unsigned int)tag));
	request->is_flushing = true;
}

/* Rflush: the request has been answered before, or never will be. */
static void end_flush(struct request *request)
{
	if (!request->is_flushing)
		return;
	request->is_flushing = false;
	if (request->done)
		end_request(request, EINTR, NULL, 0);
	else
		nr_busy--;
}

void client_probe(void)
{
	if (is_probing)
		return;
	client_begin(TFLUSH);
	client_put(NOTAG, 2);
	send_made(PROBE_TAG);
	is_probing = true;
	probed_ms = client_now_ms();
}

bool client_is_waiting(void)
{
	return nr_busy > 0 || is_probing;
}

uint64_t client_silent_ms(void)
{
	uint64_t since = heard_ms > busy_since_ms ? heard_ms : busy_since_ms;

	return client_is_waiting() ? client_now_ms() - since : 0;
}

uint64_t client_probed_ms(void)
{
	return is_probing ? client_now_ms() - probed_ms : 0;
}

/* The errno of an Rlerror; EIO for a number that is no error. */
static int read_error(const uint8_t *body, size_t len)
{
	uint64_t err = len >= 4 ? client_number(body, 4) : EIO;

	return err && err < ERRNO_MAX ? (int)err : EIO;
}

static void answer(struct request *request, unsigned int type, const uint8_t *body, size_t len)
{
	int err = 0;

	if (type == RLERROR)
		err = read_error(body, len);
	else if (type != request->type + 1u)
		err = EIO;
	end_request(request, err, err ? NULL : body, err ? 0 : len);
}

/* A message that answers nothing, as a second Rversion, is passed over. */
static void take_message(const uint8_t *message, size_t len)
{
	unsigned int type = message[4], tag = (unsigned int)client_number(message + 5, 2);
	unsigned int of = tag % CLIENT_NR_TAGS;

	if (tag == PROBE_TAG  ? !is_probing
	    : tag > PROBE_TAG ? true
	    : tag == of	      ? !requests[of].done
			      : !requests[of].is_flushing)
		return;
	heard_ms = client_now_ms();
	if (tag == PROBE_TAG)
		is_probing = false;
	else if (tag == of)
		answer(&requests[of], type, message + HEADER, len - HEADER);
	else
		end_flush(&requests[of]);
}

static bool end_all(void)
{
	for (unsigned int tag = 0; tag < CLIENT_NR_TAGS; tag++) {
		if (requests[tag].done)
			end_request(&requests[tag], EIO, NULL, 0);
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

/* Whatever else comes, for TRY_MS. */
static bool wait_for_version(void)
{
	struct pollfd poll_line = { .fd = line, .events = POLLIN };
	uint64_t end = client_now_ms() + TRY_MS, now;

	while ((now = client_now_ms()) < end) {
		if (poll(&poll_line, 1, (int)(end - now)) <= 0 || poll_line.revents & POLLHUP)
			return false;
		if (version_came())
			return true;
	}
	return false;
}

static bool agree_on_version(uint64_t patience_ms)
{
	uint64_t end = client_now_ms() + patience_ms;

	for (int i = 0; i < TRIES && (!i || client_now_ms() < end); i++) {
		client_begin(TVERSION);
		client_put(CLIENT_MSIZE, 4);
		client_put_text("9P2000.L");
		write_header(NOTAG);
		if (send(line, made, made_len, MSG_NOSIGNAL) != (ssize_t)made_len)
			return false;
		if (wait_for_version()) {
			in_len = 0;
			return true;
		}
	}
	return false;
}

int client_connect(const char *path, uint64_t patience_ms)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		return -1;
	strcpy(address.sun_path, path);
	line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (line < 0 || connect(line, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return agree_on_version(patience_ms) ? line : -2;
}
