/*
 * A client of the 9P server, in one process with it: requests by their fields, replies as bytes. The
 * server runs in a thread of its own, on the files of files.h.
 */
#ifndef NINEP_CLIENT_H
#define NINEP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ninep/ninep_session.h"

#define NO_FID	   0xffffffffu
#define MSIZE	   8192u
#define WAIT_BYTES 4096u /* of the requests that may wait: a part of the memory */

/* The last reply, behind its header. */
extern const uint8_t *body;
extern size_t body_len;
/* How long the server is ready to wait for more bytes; how often it has ended a client. */
extern uint64_t client_patience;
extern uint32_t client_nr_aborts, client_nr_resumes;

/* Of the group of tests: the server begins. */
int client_begin(void **state);
/* Of each test: a session whose fid 0 is the root begins; nothing of it may be left. */
int client_start(void **state);
int client_stop(void **state);

/*
 * Send a request. A digit in `layout` is a number of as many bytes, s a text, d data with its length
 * of 4 bytes in front; numbers of 8 bytes are uint64_t. Returns its tag.
 */
uint16_t client_post(uint8_t type, const char *layout, ...);
/* The same, and wait for the reply: 0, or the number of its error. */
int client_ask(uint8_t type, const char *layout, ...);
/* Wait for the reply to a request that was sent: 0, or the number of its error. */
int client_result_of(uint16_t tag, uint8_t type);
/* Is there a reply yet, when all that was sent has been looked at? */
bool client_is_answered(uint16_t tag);
/* All that was sent has been looked at. */
void client_settle(void);
void client_send_bytes(const void *bytes, size_t len);
/* The server has taken all bytes that were sent, and looked at them. */
void client_wait_until_taken(void);
/* Nothing comes for a while. */
void client_let_line_pause(void);

int client_version(uint32_t msize, const char *name);
/* Fid `fid` is to stand for the file with these names, from the root; NULL: there is none more. */
int client_walk(uint32_t fid, const char *first, const char *second);
/* Fid `fid` stands for a file of the root, opened. */
void client_open_file(uint32_t fid, const char *name, uint32_t flags);

#define ask  client_ask
#define post client_post
#define walk client_walk

#endif
