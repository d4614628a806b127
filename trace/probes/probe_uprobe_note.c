/*
 * Markers of a file, as <sys/sdt.h> leaves them in its notes: see probe_uprobe.h.
 *
 *   note: bytes of the owner | bytes of the rest | 3 | "stapsdt" | address, base, semaphore | "PROVIDER" "NAME" "ARGUMENTS"
 *
 * The base is for files whose addresses were moved after they were linked, as prelink did: it is not looked at. A note that is longer than the room for it, or has no end, is passed over.
 */
#include <trace/errno.h>
#include "probe_uprobe_elf.h"
#include "text/str.h"

#define NOTE_SECTION   7u
#define NOTE_MARKER    3u
#define NOTE_BYTES_MAX 512u
#define NOTES_MAX      65536u /* of a section */

struct note_head {
	uint32_t owner_bytes, bytes, kind;
};

struct note_marker {
	uint64_t addr, base, semaphore;
	char words[NOTE_BYTES_MAX]; /* three texts */
};

struct note_search {
	struct probe_elf elf;
	bool (*fn)(const struct probe_marker *marker, void *arg);
	void *arg;
};

static uint64_t note_aligned(uint64_t bytes)
{
	return (bytes + 3) / 4 * 4;
}

/* The text behind the one at `at`; NULL: it does not end. */
static const char *note_behind(const char *at, const char *end)
{
	size_t len = trace_strnlen(at, (size_t)(end - at));

	return at + len == end ? NULL : at + len + 1;
}

/* The marker of a note of so many bytes. False: it is none. */
static bool note_to_marker(const struct note_search *search, const struct note_marker *note,
			   size_t bytes, struct probe_marker *out)
{
	const char *end = (const char *)note + bytes;

	*out = (struct probe_marker){ .addr = note->addr, .provider = note->words };
	out->name = note_behind(out->provider, end);
	out->args = out->name ? note_behind(out->name, end) : NULL;
	if (!out->args || !note_behind(out->args, end) ||
	    !trace_probe_elf_offset(&search->elf, note->addr, &out->offset))
		return false;
	return !note->semaphore ||
	       trace_probe_elf_offset(&search->elf, note->semaphore, &out->semaphore);
}

/* False: fn wants no more. */
static TRACE_NOINLINE bool note_visit(const struct note_search *search, uint64_t at,
				      const struct note_head *head)
{
	uint64_t begin = at + sizeof(*head) + note_aligned(head->owner_bytes);
	static const char owner[] = "stapsdt";
	char name[sizeof(owner)];
	struct probe_marker marker;
	struct note_marker note;

	if (head->kind != NOTE_MARKER || head->owner_bytes != sizeof(owner) ||
	    head->bytes > sizeof(note) || head->bytes < offsetof(struct note_marker, words) ||
	    !trace_probe_elf_read(&search->elf, at + sizeof(*head), name, sizeof(name)) ||
	    memcmp(name, owner, sizeof(owner)) != 0 ||
	    !trace_probe_elf_read(&search->elf, begin, &note, head->bytes) ||
	    !note_to_marker(search, &note, head->bytes, &marker))
		return true;
	return search->fn(&marker, search->arg);
}

static bool note_visit_section(const struct note_search *search, const struct elf_section *section)
{
	uint64_t at = section->offset, end = at + section->bytes;
	struct note_head head;

	for (uint32_t i = 0; i < NOTES_MAX && at < end; i++) {
		if (!trace_probe_elf_read(&search->elf, at, &head, sizeof(head)))
			break;
		if (!note_visit(search, at, &head))
			return false;
		at += sizeof(head) + note_aligned(head.owner_bytes) + note_aligned(head.bytes);
	}
	return true;
}

int trace_probe_marker_each(struct uprobe_file *file,
			    bool (*fn)(const struct probe_marker *marker, void *arg), void *arg)
{
	struct note_search search = { .fn = fn, .arg = arg };
	struct elf_section section;

	if (!trace_probe_elf_open(&search.elf, file))
		return -ENOEXEC;
	for (uint32_t i = 0; trace_probe_elf_section(&search.elf, i, &section); i++) {
		if (section.type == NOTE_SECTION && !note_visit_section(&search, &section))
			break;
	}
	return 0;
}
