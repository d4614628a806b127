/*
 * Messages of 9P2000.L. See ninep_msg.h.
 */
#include <kernel/string.h>
#include "ninep_msg.h"

/*
 * The bodies of requests, a letter for each field:
 *
 *   f fid[4] n new_fid[4] o offset[8] c count[4] F flags[4] m mode[4] z size[8] U user[4] G
 *   group[4] s name[s] S new_name[s] t old_tag[2] w nr[2] and so many names[s] d `count` bytes of
 *   data 1 4 8 as many bytes that are not used here
 */
static const char *const layouts[] = {
	[NINEP_TSTATFS] = "f",	    [NINEP_TLOPEN] = "fF",	   [NINEP_TLCREATE] = "fsFm4",
	[NINEP_TSYMLINK] = "fsS4",  [NINEP_TMKNOD] = "fsm444",	   [NINEP_TRENAME] = "fns",
	[NINEP_TREADLINK] = "f",    [NINEP_TGETATTR] = "f8",	   [NINEP_TSETATTR] = "fFmUGz8888",
	[NINEP_TXATTRWALK] = "fns", [NINEP_TXATTRCREATE] = "fs84", [NINEP_TREADDIR] = "foc",
	[NINEP_TFSYNC] = "f4",	    [NINEP_TLOCK] = "f14884s",	   [NINEP_TGETLOCK] = "f1884s",
	[NINEP_TLINK] = "fns",	    [NINEP_TMKDIR] = "fsm4",	   [NINEP_TRENAMEAT] = "fsnS",
	[NINEP_TUNLINKAT] = "fsF",  [NINEP_TVERSION] = "cs",	   [NINEP_TAUTH] = "fsS4",
	[NINEP_TATTACH] = "fnsS4",  [NINEP_TFLUSH] = "t",	   [NINEP_TWALK] = "fnw",
	[NINEP_TREAD] = "foc",	    [NINEP_TWRITE] = "focd",	   [NINEP_TCLUNK] = "f",
	[NINEP_TREMOVE] = "f",	    [NINEP_TPOLL] = "fFc",	   [NINEP_TSETFL] = "fF",
};

/* The rest of a message; `is_bad`: more was asked for than is there. */
struct msg_rest {
	const uint8_t *at;
	size_t len;
	bool is_bad;
};

uint64_t ninep_number(const uint8_t *bytes, unsigned int nr)
{
	uint64_t value = 0;

	while (nr-- > 0)
		value = value << 8 | bytes[nr];
	return value;
}

/* Go `nr` bytes ahead. Returns the first of them, or NULL. */
static const uint8_t *msg_take(struct msg_rest *rest, size_t nr)
{
	const uint8_t *at = rest->at;

	if (rest->is_bad || nr > rest->len) {
		rest->is_bad = true;
		return NULL;
	}
	rest->at += nr;
	rest->len -= nr;
	return at;
}

static uint64_t msg_take_number(struct msg_rest *rest, unsigned int nr_bytes)
{
	const uint8_t *at = msg_take(rest, nr_bytes);

	return at ? ninep_number(at, nr_bytes) : 0;
}

static struct ninep_text msg_take_text(struct msg_rest *rest)
{
	uint16_t len = (uint16_t)msg_take_number(rest, 2);
	const uint8_t *at = msg_take(rest, len);

	return (struct ninep_text){ .bytes = (const char *)at, .len = at ? len : 0 };
}

static void msg_take_names(struct msg_rest *rest, struct ninep_request *request)
{
	uint16_t nr = (uint16_t)msg_take_number(rest, 2);

	if (nr > NINEP_WALK_MAX) {
		rest->is_bad = true;
		return;
	}
	request->nr_names = nr;
	for (uint16_t i = 0; i < nr; i++)
		request->names[i] = msg_take_text(rest);
}

static void msg_take_field(struct msg_rest *rest, char field, struct ninep_request *request)
{
	switch (field) {
	case 'f':
		request->fid = (uint32_t)msg_take_number(rest, 4);
		break;
	case 'n':
		request->new_fid = (uint32_t)msg_take_number(rest, 4);
		break;
	case 'o':
		request->offset = msg_take_number(rest, 8);
		break;
	case 'c':
		request->count = (uint32_t)msg_take_number(rest, 4);
		break;
	case 'F':
		request->flags = (uint32_t)msg_take_number(rest, 4);
		break;
	case 'm':
		request->mode = (uint32_t)msg_take_number(rest, 4);
		break;
	case 'U':
		request->user = (uint32_t)msg_take_number(rest, 4);
		break;
	case 'G':
		request->group = (uint32_t)msg_take_number(rest, 4);
		break;
	case 'z':
		request->size = msg_take_number(rest, 8);
		break;
	case 's':
		request->name = msg_take_text(rest);
		break;
	case 'S':
		request->new_name = msg_take_text(rest);
		break;
	case 't':
		request->old_tag = (uint16_t)msg_take_number(rest, 2);
		break;
	case 'w':
		msg_take_names(rest, request);
		break;
	case 'd':
		request->data = msg_take(rest, request->count);
		break;
	default:
		msg_take(rest, (size_t)(field - '0'));
	}
}

bool ninep_is_request(uint8_t type)
{
	return type < ARRAY_SIZE(layouts) && layouts[type];
}

int ninep_decode(const uint8_t *message, size_t len, struct ninep_request *out_request)
{
	struct msg_rest rest = { message + NINEP_HEADER_BYTES, len - NINEP_HEADER_BYTES, false };
	const char *layout;

	*out_request = (struct ninep_request){ .type = message[4],
					       .tag = (uint16_t)ninep_number(message + 5, 2) };
	if (!ninep_is_request(out_request->type))
		return -EOPNOTSUPP;
	layout = layouts[out_request->type];
	while (*layout)
		msg_take_field(&rest, *layout++, out_request);
	return rest.is_bad || rest.len ? -EINVAL : 0;
}

static void msg_put_bytes(struct ninep_reply *reply, const void *bytes, size_t len)
{
	if (len > reply->size - reply->len) {
		reply->is_cut = true;
		return;
	}
	memcpy(reply->bytes + reply->len, bytes, len);
	reply->len += len;
}

void ninep_reply_begin(struct ninep_reply *reply, uint8_t *bytes, size_t size)
{
	*reply = (struct ninep_reply){ bytes, size, NINEP_HEADER_BYTES, false };
}

void ninep_put_number(struct ninep_reply *reply, uint64_t value, unsigned int nr_bytes)
{
	uint8_t bytes[8];

	for (unsigned int i = 0; i < nr_bytes; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	msg_put_bytes(reply, bytes, nr_bytes);
}

void ninep_put_text(struct ninep_reply *reply, const char *text, size_t len)
{
	ninep_put_number(reply, len, 2);
	msg_put_bytes(reply, text, len);
}

void ninep_put_qid(struct ninep_reply *reply, const struct ninep_qid *qid)
{
	ninep_put_number(reply, qid->type, 1);
	ninep_put_number(reply, qid->version, 4);
	ninep_put_number(reply, qid->path, 8);
}

void ninep_reply_end(struct ninep_reply *reply, uint8_t type, uint16_t tag)
{
	struct ninep_reply header = { reply->bytes, NINEP_HEADER_BYTES, 0, false };

	ninep_put_number(&header, reply->len, 4);
	ninep_put_number(&header, type, 1);
	ninep_put_number(&header, tag, 2);
}

void ninep_reply_error(struct ninep_reply *reply, uint16_t tag, int err)
{
	reply->len = NINEP_HEADER_BYTES;
	reply->is_cut = false;
	ninep_put_number(reply, (uint64_t)-err, 4);
	ninep_reply_end(reply, NINEP_RLERROR, tag);
}
