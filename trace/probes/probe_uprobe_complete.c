/* Completion of the lines of probes of programs: behind PATH: the functions of the file. See probe_uprobe.h, probe_shell.h. */
#include <trace/platform.h>
#include "events/dyn_event.h"
#include "probe_shell.h"
#include "probe_uprobe.h"
#include "text/str.h"

/* Without a letter, as many functions as a terminal can show. */
#define UPROBE_OFFER_MAX 256u

struct uprobe_offer {
	const struct dyn_event_completion *completion;
	const char *at; /* the beginning of the name, behind the colon */
	uint32_t nr;
};

static void uprobe_offer_count(const char *name, void *arg)
{
	(void)name;
	((struct uprobe_offer *)arg)->nr++;
}

static void uprobe_offer_one(const char *name, void *arg)
{
	const struct uprobe_offer *offer = arg;
	const struct trace_dyn_event_word word = { .text = name, .hint = "" };

	trace_dyn_event_offer(offer->completion, offer->at, &word);
}

/* `at`: the place, up to the end of the line. */
void trace_probe_uprobe_offer(const struct dyn_event_completion *completion, const char *at)
{
	size_t len = trace_strlen(at);
	struct uprobe_offer offer = { .completion = completion };
	struct uprobe_file *file;
	char path[PROBE_PATH_MAX];

	while (len && at[len - 1] != ':')
		len--;
	if (len < 2 || len > PROBE_PATH_MAX)
		return;
	trace_strcpy(path, at, len);
	offer.at = at + len;
	if (uprobe_file_get(path, &file))
		return;
	if (!*offer.at)
		(void)trace_probe_elf_each(file, uprobe_offer_count, &offer);
	if (offer.nr <= UPROBE_OFFER_MAX)
		(void)trace_probe_elf_each(file, uprobe_offer_one, &offer);
	uprobe_file_put(file);
}

void trace_probe_uprobe_complete(struct dyn_event_completion *completion)
{
	trace_probe_complete(trace_probe_uprobe_is_return(completion->line)
				     ? &trace_probe_uretprobe_kind
				     : &trace_probe_uprobe_kind,
			     completion);
}
