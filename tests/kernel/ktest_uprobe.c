/* Probes in programs, by hand: the command `uprobe` of the test kernel. */
#include <stdatomic.h>
#include <arch/regs.h>
#include <kernel/command.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/uprobe.h>
#include "test_commands.h"

#define MAX_PROBES 2048

struct uprobe_test {
	struct uprobe_consumer consumer;
	_Atomic uint64_t hits, returns;
};

static struct uprobe_test *probes[MAX_PROBES];
static size_t nr_probes;

static void uprobe_test_hit(struct uprobe_consumer *consumer, struct ftrace_regs *regs)
{
	(void)regs;
	atomic_fetch_add(&container_of(consumer, struct uprobe_test, consumer)->hits, 1);
}

static void uprobe_test_return(struct uprobe_consumer *consumer, uintptr_t func,
			       struct ftrace_regs *regs)
{
	(void)func;
	(void)regs;
	atomic_fetch_add(&container_of(consumer, struct uprobe_test, consumer)->returns, 1);
}

static int uprobe_test_add(struct uprobe_file *file, uint64_t offset, uint64_t counter,
			   bool wants_return)
{
	struct uprobe_test *test = nr_probes < MAX_PROBES ? kzalloc(sizeof(*test)) : NULL;

	if (!test)
		return -ENOMEM;
	test->consumer =
		(struct uprobe_consumer){ .file = file,
					  .offset = offset,
					  .ref_ctr_offset = counter,
					  .handler = uprobe_test_hit,
					  .ret_handler = wants_return ? uprobe_test_return : NULL };
	probes[nr_probes++] = test;
	return 0;
}

static void uprobe_test_print(struct command_env *env)
{
	uint64_t hits = 0, returns = 0, missed = 0;

	for (size_t i = 0; i < nr_probes; i++) {
		hits += probes[i]->hits;
		returns += probes[i]->returns;
		missed += probes[i]->consumer.nmissed;
	}
	command_printf(env, "hits %lu returns %lu missed %lu\n", hits, returns, missed);
}

static int uprobe_test_register(struct command_env *env)
{
	struct uprobe_consumer **all = kmalloc(MAX_PROBES * sizeof(struct uprobe_consumer *));
	int err = all ? 0 : -ENOMEM;
	uint64_t begin;

	for (size_t i = 0; i < nr_probes && !err; i++)
		all[i] = &probes[i]->consumer;
	begin = rdtsc();
	if (!err)
		err = register_uprobes(all, nr_probes);
	if (!err)
		command_printf(env, "registered %lu in %lu\n", nr_probes, rdtsc() - begin);
	kfree(all);
	return err;
}

static void uprobe_test_end(void)
{
	for (size_t i = 0; i < nr_probes; i++)
		unregister_uprobe(&probes[i]->consumer);
	if (nr_probes)
		uprobe_file_put(probes[0]->consumer.file);
	while (nr_probes)
		kfree(probes[--nr_probes]);
}

/* OFFSET[:COUNTER][%return] */
static int uprobe_test_parse(struct uprobe_file *file, char *word)
{
	char *percent = strchr(word, '%'), *colon = strchr(word, ':');
	uint64_t offset, counter = 0;

	if (percent)
		*percent = '\0';
	if (colon)
		*colon++ = '\0';
	if (!command_parse_u64(word, &offset) || (colon && !command_parse_u64(colon, &counter)))
		return -EINVAL;
	return uprobe_test_add(file, offset, counter, percent);
}

/* START STEP NR, behind -s */
static int uprobe_test_series(struct uprobe_file *file, char **argv)
{
	uint64_t start, step, nr;
	int err = 0;

	if (!command_parse_u64(argv[0], &start) || !command_parse_u64(argv[1], &step) ||
	    !command_parse_u64(argv[2], &nr))
		return -EINVAL;
	for (uint64_t i = 0; i < nr && !err; i++)
		err = uprobe_test_add(file, start + i * step, 0, false);
	return err;
}

static int uprobe_test_run(struct command_env *env, int argc, char **argv)
{
	struct uprobe_file *file;
	char why[80];
	int err;

	if (argc < 3) {
		uprobe_test_print(env);
		if (argc == 2)
			uprobe_test_end();
		return 0;
	}
	uprobe_test_end();
	err = uprobe_file_get(argv[1], &file);
	if (err)
		return command_printf(env, "error %d\n", err), 1;
	if (argc == 6 && strcmp(argv[2], "-s") == 0)
		err = uprobe_test_series(file, argv + 3);
	else
		for (int i = 2; i < argc && !err; i++)
			err = uprobe_test_parse(file, argv[i]);
	if (!err)
		err = uprobe_test_register(env);
	if (!err)
		return 0;
	if (nr_probes &&
	    uprobe_refusal(file, probes[nr_probes - 1]->consumer.offset, why, sizeof(why)))
		command_printf(env, "%s: ", why);
	command_printf(env, "error %d\n", err);
	if (!nr_probes)
		uprobe_file_put(file);
	uprobe_test_end();
	return 1;
}

const struct command uprobe_commands[] = {
	{ .name = "uprobe",
	  .usage = "[FILE OFFSET[:COUNTER][%return]... | FILE -s START STEP NR | -]",
	  .help = "count hits of probes in programs; show the sums; -: and end them",
	  .run = uprobe_test_run,
	  .flags = COMMAND_BUILTIN },
	{ 0 },
};
