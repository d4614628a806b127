/*
 * The thread of a channel: takes requests, has them served, sends replies. See ninep_session.h.
 */
#include <stdatomic.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include "mm/page.h"
#include "ninep_session.h"

static const char dialect[] = "9P2000.L";

void ninep_send(struct ninep_session *session, const struct ninep_reply *reply)
{
	mutex_lock(&session->send_lock);
	if (!atomic_load(&session->is_ending))
		session->channel->write(reply->bytes, reply->len);
	mutex_unlock(&session->send_lock);
}

/* Forget the client that was there before. */
static void server_reset(struct ninep_session *session)
{
	atomic_store(&session->is_ending, true);
	session->channel->abort();
	ninep_fid_drop_all(session);
	session->channel->resume();
	atomic_store(&session->is_ending, false);
}

static int server_version(struct ninep_session *session, const struct ninep_request *request,
			  struct ninep_reply *reply)
{
	const struct ninep_text *version = &request->name;
	size_t len = sizeof(dialect) - 1;

	server_reset(session);
	session->msize = 0;
	session->frame.limit = NINEP_MSIZE_MAX;
	if (request->count < NINEP_MSIZE_MIN)
		return -EMSGSIZE;
	/*
	 * A version with an addition behind a dot is ours, too: the answer is the one that both
	 * sides know.
	 */
	if (version->len < len || memcmp(version->bytes, dialect, len) != 0) {
		ninep_put_number(reply, request->count, 4);
		ninep_put_text(reply, "unknown", 7);
		return 0;
	}
	session->msize = request->count < NINEP_MSIZE_MAX ? request->count : NINEP_MSIZE_MAX;
	session->frame.limit = session->msize;
	ninep_put_number(reply, session->msize, 4);
	ninep_put_text(reply, dialect, len);
	return 0;
}

static int server_flush(struct ninep_session *session, const struct ninep_request *request,
			struct ninep_reply *reply)
{
	(void)reply;
	ninep_polls_flush(session->polls, request->old_tag);
	for (uint32_t i = 0; i < NINEP_FID_LISTS; i++) {
		for (struct ninep_fid *fid = session->fids[i]; fid; fid = fid->next) {
			if (fid->waits)
				ninep_waits_flush(fid, request->old_tag);
		}
	}
	return 0;
}

/* Other requests that the protocol knows are answered with EOPNOTSUPP. */
static const ninep_handler_fn handlers[] = {
	[NINEP_TSTATFS] = ninep_statfs,	    [NINEP_TLOPEN] = ninep_lopen,
	[NINEP_TLCREATE] = ninep_lcreate,   [NINEP_TGETATTR] = ninep_getattr,
	[NINEP_TSETATTR] = ninep_setattr,   [NINEP_TREADDIR] = ninep_readdir,
	[NINEP_TFSYNC] = ninep_fsync,	    [NINEP_TMKDIR] = ninep_mkdir,
	[NINEP_TUNLINKAT] = ninep_unlinkat, [NINEP_TVERSION] = server_version,
	[NINEP_TATTACH] = ninep_attach,	    [NINEP_TFLUSH] = server_flush,
	[NINEP_TWALK] = ninep_walk,	    [NINEP_TREAD] = ninep_read,
	[NINEP_TWRITE] = ninep_write,	    [NINEP_TCLUNK] = ninep_clunk,
	[NINEP_TREMOVE] = ninep_remove,	    [NINEP_TRENAME] = ninep_rename,
	[NINEP_TRENAMEAT] = ninep_renameat, [NINEP_TPOLL] = ninep_poll,
	[NINEP_TSETFL] = ninep_setfl,
};

static int server_handle(struct ninep_session *session, const struct ninep_request *request,
			 struct ninep_reply *reply)
{
	ninep_handler_fn handler = NULL;

	if (request->type < ARRAY_SIZE(handlers))
		handler = handlers[request->type];
	if (!handler)
		return -EOPNOTSUPP;
	if (!session->msize && request->type != NINEP_TVERSION)
		return -EINVAL;
	return handler(session, request, reply);
}

static void server_answer(struct ninep_session *session, const uint8_t *message, size_t len)
{
	size_t size = session->msize ? session->msize : NINEP_MSIZE_MIN;
	struct ninep_request request;
	struct ninep_reply reply;
	int err = ninep_decode(message, len, &request);

	ninep_reply_begin(&reply, session->out, size);
	if (ninep_number(message, 4) > len)
		err = -EMSGSIZE; /* only its header is there */
	if (!err)
		err = server_handle(session, &request, &reply);
	if (err == NINEP_LATER)
		return;
	if (!err && reply.is_cut)
		err = -EMSGSIZE;
	if (err)
		ninep_reply_error(&reply, request.tag, err);
	else
		ninep_reply_end(&reply, request.type + 1, request.tag);
	ninep_send(session, &reply);
}

static void server_receive(struct ninep_session *session)
{
	struct ninep_frame *frame = &session->frame;
	uint64_t patience = ninep_frame_is_waiting(frame) ? NINEP_PAUSE_NS : WAIT_FOREVER;
	size_t room;
	uint8_t *to = ninep_frame_room(frame, &room);
	ssize_t got = session->channel->read(to, room, patience);

	if (got > 0)
		ninep_frame_add(frame, (size_t)got);
	else
		ninep_frame_pause(frame);
}

static size_t server_wait_bytes_max(void)
{
	uint64_t total_pages, unused, part;

	page_get_counts(&total_pages, &unused, &unused);
	part = total_pages * PAGE_SIZE / NINEP_WAIT_PART;
	return part < NINEP_WAIT_BYTES_MAX ? (size_t)part : NINEP_WAIT_BYTES_MAX;
}

int ninep_serve(const struct ninep_channel *channel)
{
	struct ninep_session *session = kzalloc(sizeof(*session));
	const uint8_t *message;
	size_t len;

	if (!session)
		return -ENOMEM;
	session->channel = channel;
	session->in = kmalloc(NINEP_MSIZE_MAX);
	session->out = kmalloc(NINEP_MSIZE_MAX);
	session->polls = ninep_polls_create(session);
	if (!session->in || !session->out || !session->polls) {
		kfree(session->polls);
		kfree(session->in);
		kfree(session->out);
		kfree(session);
		return -ENOMEM;
	}
	session->wait_bytes_max = server_wait_bytes_max();
	ninep_frame_init(&session->frame, session->in, NINEP_MSIZE_MAX);
	for (;;) {
		server_receive(session);
		while ((message = ninep_frame_next(&session->frame, &len)))
			server_answer(session, message, len);
	}
}
