/*
 * A client of 9P2000.L on a socket of QEMU's. Nothing waits: a request is put together and sent,
 * and its function is called when the answer has come.
 *
 *   client_begin, client_put_* , client_send --> queue --> socket --> client_input --> done()
 *
 * The server takes requests in order, so one may follow another without waiting for its answer. All
 * functions belong to one thread.
 *
 * Some requests wait for long, so a time says nothing about the server. Has it anything to say?
 * client_probe() asks for what every server answers at once: the end of a request that there is not.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENT_MSIZE   (128u << 10) /* bytes of a message, at most */
#define CLIENT_IO_MAX  (64u << 10)  /* bytes read or written by one request */
#define CLIENT_NR_TAGS 1024u

/* Types of requests; the answer to each has the next number. */
enum client_type {
	TSTATFS = 8,
	TLOPEN = 12,
	TLCREATE = 14,
	TGETATTR = 24,
	TSETATTR = 26,
	TREADDIR = 40,
	TFSYNC = 50,
	TMKDIR = 72,
	TRENAMEAT = 74,
	TUNLINKAT = 76,
	TVERSION = 100,
	TATTACH = 104,
	TFLUSH = 108,
	TWALK = 110,
	TREAD = 116,
	TWRITE = 118,
	TCLUNK = 120,
	/* Not of the protocol: docs/channel.md. */
	TPOLL = 128,
	TSETFL = 130,
};

/* `err` is 0 or an error number. `body` is the answer's; it is gone when the function returns. */
typedef void (*client_done_fn)(void *arg, int err, const uint8_t *body, size_t len);

/*
 * Connect and agree on the protocol. The socket; -1: no server listens there; -2: no answer has
 * come, though some seconds were waited, or about `patience_ms` if that is less.
 */
int client_connect(const char *path, uint64_t patience_ms);

void client_begin(enum client_type type);
void client_put(uint64_t value, unsigned int nr_bytes);
void client_put_text(const char *text);
void client_put_bytes(const void *bytes, size_t len);
/* Can `nr` requests more be on their way? */
bool client_can_send(unsigned int nr);
/* Send what was put together; client_can_send() has said yes. Its tag, good until done() is called. */
int client_send(client_done_fn done, void *arg);
/* Ask the server to end request `tag`. done() comes for it in any case, with EINTR if it has ended. */
void client_flush(int tag);

/* Ask whether the server is there, unless it was asked already. */
void client_probe(void);
/* Is an answer missing? For how long, in milliseconds, has none come, to anything? */
bool client_is_waiting(void);
uint64_t client_silent_ms(void);
/* For how long has the answer to client_probe() been missing? 0: it is not. */
uint64_t client_probed_ms(void);
uint64_t client_now_ms(void);

/* Bytes can be read; can be written. False when the other end has gone: every request has ended. */
bool client_input(void);
bool client_output(void);
bool client_has_output(void);

/* The number in `nr` bytes. */
uint64_t client_number(const uint8_t *bytes, unsigned int nr);

#endif
