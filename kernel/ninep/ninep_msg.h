/*
 * Messages of 9P2000.L, from and to bytes. Nothing here knows files.
 *
 *   size[4] type[1] tag[2] body        little-endian; `size` counts all of it
 *
 * A request (T-message) is decoded as a whole, with the layout of its type from one table; a reply
 * (R-message) is put together piece by piece.
 *
 * Context:   any.
 * Locking:   none: a message belongs to one thread.
 * Ownership: texts and data of a request point into the message that it was decoded from.
 */
#ifndef NINEP_MSG_H
#define NINEP_MSG_H

#include <kernel/base.h>

#define NINEP_HEADER_BYTES 7u
#define NINEP_QID_BYTES	   13u
#define NINEP_WALK_MAX	   16u			    /* names in one Twalk */
#define NINEP_READ_BYTES   (NINEP_HEADER_BYTES + 4) /* an Rread, beside its data */

/* Requests. The reply to each has the next higher number; a failure is answered by NINEP_RLERROR. */
enum ninep_type {
	NINEP_RLERROR = 7,
	NINEP_TSTATFS = 8,
	NINEP_TLOPEN = 12,
	NINEP_TLCREATE = 14,
	NINEP_TSYMLINK = 16,
	NINEP_TMKNOD = 18,
	NINEP_TRENAME = 20,
	NINEP_TREADLINK = 22,
	NINEP_TGETATTR = 24,
	NINEP_TSETATTR = 26,
	NINEP_TXATTRWALK = 30,
	NINEP_TXATTRCREATE = 32,
	NINEP_TREADDIR = 40,
	NINEP_TFSYNC = 50,
	NINEP_TLOCK = 52,
	NINEP_TGETLOCK = 54,
	NINEP_TLINK = 70,
	NINEP_TMKDIR = 72,
	NINEP_TRENAMEAT = 74,
	NINEP_TUNLINKAT = 76,
	NINEP_TVERSION = 100,
	NINEP_TAUTH = 102,
	NINEP_TATTACH = 104,
	NINEP_TFLUSH = 108,
	NINEP_TWALK = 110,
	NINEP_TREAD = 116,
	NINEP_TWRITE = 118,
	NINEP_TCLUNK = 120,
	NINEP_TREMOVE = 122,
	/* An addition to the protocol: docs/channel.md. */
	NINEP_TPOLL = 128,
	NINEP_TSETFL = 130,
};

/* Events of a Tpoll, with the values of poll(2). */
#define NINEP_POLLIN	 0x001u
#define NINEP_POLLPRI	 0x002u
#define NINEP_POLLOUT	 0x004u
#define NINEP_POLLRDNORM 0x040u
#define NINEP_POLLWRNORM 0x100u

struct ninep_text {
	const char *bytes; /* no NUL behind them */
	uint16_t len;
};

/* A request; each type sets the fields of its layout, the others are 0. */
struct ninep_request {
	uint8_t type;
	uint16_t tag;
	uint16_t old_tag; /* Tflush: of the request to give up */
	uint32_t fid;
	uint32_t new_fid;
	uint64_t offset;
	uint32_t count; /* bytes to read, or of `data`; Tversion: msize; Tpoll: milliseconds */
	uint32_t flags; /* of an open or an unlink; Tsetattr: which values are set; Tpoll: events */
	uint32_t mode;
	uint64_t size; /* Tsetattr, as the next two */
	uint32_t user;
	uint32_t group;
	struct ninep_text name;
	struct ninep_text new_name;
	uint16_t nr_names; /* Twalk */
	struct ninep_text names[NINEP_WALK_MAX];
	const uint8_t *data; /* Twrite */
};

/*
 * Decode a message of `len` bytes, which is at least NINEP_HEADER_BYTES. type and tag are set in
 * any case. 0; -EINVAL: the body does not have the layout of its type; -EOPNOTSUPP: no such type.
 */
int ninep_decode(const uint8_t *message, size_t len, struct ninep_request *out_request);

/* Does the protocol have a request of that type? */
bool ninep_is_request(uint8_t type);

/* The number in `nr` bytes. */
uint64_t ninep_number(const uint8_t *bytes, unsigned int nr);

/* A reply in the making. A field that does not fit is left out, and `is_cut` is set. */
struct ninep_reply {
	uint8_t *bytes;
	size_t size; /* of `bytes` */
	size_t len;
	bool is_cut;
};

/* The identity of a file. */
struct ninep_qid {
	uint8_t type; /* NINEP_QID_* */
	uint32_t version;
	uint64_t path;
};
#define NINEP_QID_FILE 0x00u
#define NINEP_QID_DIR  0x80u

/* Begin a reply of that type; `size` is at least NINEP_HEADER_BYTES. */
void ninep_reply_begin(struct ninep_reply *reply, uint8_t *bytes, size_t size);
void ninep_put_number(struct ninep_reply *reply, uint64_t value, unsigned int nr_bytes);
void ninep_put_text(struct ninep_reply *reply, const char *text, size_t len);
void ninep_put_qid(struct ninep_reply *reply, const struct ninep_qid *qid);
/* Write the header, whose room is there from the beginning. */
void ninep_reply_end(struct ninep_reply *reply, uint8_t type, uint16_t tag);
/* Make it the reply to a request that has failed with -errno `err`. */
void ninep_reply_error(struct ninep_reply *reply, uint16_t tag, int err);

#endif
