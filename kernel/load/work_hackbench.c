/*
 * hackbench: groups of threads that send messages to each other through pipes.
 *
 *   group:  sender 0 --+--> pipe 0 --> receiver 0      each sender writes `messages` times to
 *           sender 1 --+--> pipe 1 --> receiver 1      every pipe of its group
 *           ...
 *
 * A message has the number of its sender, and how many messages that sender had sent to the same
 * pipe before. The receiver checks both, and at the end that nothing is missing. The number of
 * checked messages is printed.
 *
 * Ownership: a group owns its members and its pipes; they are freed after all threads were joined.
 */
#include <stdatomic.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/pipe.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include "shell/cmd/command_tables.h"

#define GROUP_MEMBERS 8u /* senders, and as many receivers */
#define MESSAGE_BYTES 100u
#define GROUPS_MAX    64u
#define MESSAGES_MAX  1000000u

struct message {
	uint32_t group;
	uint32_t sender;
	uint32_t number;
	uint8_t fill[MESSAGE_BYTES - 12];
};

struct hack_run {
	bool is_broken; /* not all threads could be started: end at once; written before `go` */
	uint32_t nr_groups;
	uint32_t nr_messages; /* from each sender to each pipe of its group */
	struct completion go; /* senders wait for it */
	_Atomic uint64_t nr_received;
	_Atomic uint32_t nr_wrong;
	struct hack_group **groups;
};

struct hack_member {
	struct hack_group *group;
	uint32_t index;
	struct thread *sender;
	struct thread *receiver;
	struct file *read_end;
	struct file *write_end;
	struct message out;		  /* of the sender */
	struct message in;		  /* of the receiver */
	uint32_t expected[GROUP_MEMBERS]; /* number of the next message from each sender */
};

struct hack_group {
	struct hack_run *run;
	uint32_t index;
	struct hack_member members[GROUP_MEMBERS];
};

static void hackbench_fill_message(struct message *message, uint32_t group, uint32_t sender,
				   uint32_t number)
{
	message->group = group;
	message->sender = sender;
	message->number = number;
	memset(message->fill, (int)(sender + number), sizeof(message->fill));
}

static int hackbench_send_all(void *arg)
{
	struct hack_member *self = arg;
	struct hack_group *group = self->group;

	if (wait_for_completion_interruptible(&group->run->go, WAIT_FOREVER) ||
	    group->run->is_broken)
		return 1;
	for (uint32_t number = 0; number < group->run->nr_messages; number++) {
		hackbench_fill_message(&self->out, group->index, self->index, number);
		for (uint32_t i = 0; i < GROUP_MEMBERS; i++) {
			ssize_t put = file_write(group->members[i].write_end, &self->out,
						 sizeof(self->out));

			if (put != (ssize_t)sizeof(self->out))
				return 1;
		}
	}
	return 0;
}

/* Read one whole message: a single read of a pipe may give only a part of it. */
static bool hackbench_receive(struct hack_member *self)
{
	size_t have = 0;

	while (have < sizeof(self->in)) {
		ssize_t got = file_read(self->read_end, (uint8_t *)&self->in + have,
					sizeof(self->in) - have);

		if (got <= 0)
			return false;
		have += (size_t)got;
	}
	return true;
}

static bool hackbench_is_right(struct hack_member *self)
{
	const struct message *message = &self->in;
	uint8_t fill = (uint8_t)(message->sender + message->number);

	if (message->group != self->group->index || message->sender >= GROUP_MEMBERS)
		return false;
	if (message->number != self->expected[message->sender]++)
		return false;
	for (size_t i = 0; i < sizeof(message->fill); i++) {
		if (message->fill[i] != fill)
			return false;
	}
	return true;
}

static int hackbench_receive_all(void *arg)
{
	struct hack_member *self = arg;
	struct hack_run *run = self->group->run;
	uint64_t nr = (uint64_t)run->nr_messages * GROUP_MEMBERS;

	while (nr--) {
		if (!hackbench_receive(self))
			return 1;
		atomic_fetch_add(&run->nr_received, 1);
		if (!hackbench_is_right(self))
			atomic_fetch_add(&run->nr_wrong, 1);
	}
	return 0;
}

static bool hackbench_start_member(struct hack_group *group, uint32_t index)
{
	struct hack_member *member = &group->members[index];

	member->group = group;
	member->index = index;
	if (pipe_create(&member->read_end, &member->write_end))
		return false;
	member->receiver = thread_create("hackbench-rx", hackbench_receive_all, member, 0);
	member->sender = member->receiver
				 ? thread_create("hackbench-tx", hackbench_send_all, member, 0)
				 : NULL;
	return member->sender;
}

/* Wait for all senders, or all receivers. If we are interrupted, they are, too. False: one has not done its part. */
static bool hackbench_join_threads(struct hack_group *group, bool receivers)
{
	bool all_done = true;

	for (uint32_t i = 0; i < GROUP_MEMBERS; i++) {
		struct hack_member *member = &group->members[i];
		struct thread **thread = receivers ? &member->receiver : &member->sender;
		int status = 0;

		if (!*thread)
			continue;
		if (thread_join(*thread, &status)) {
			thread_interrupt(*thread);
			thread_join_wait(*thread);
		}
		*thread = NULL;
		all_done &= !status;
	}
	return all_done;
}

static void hackbench_interrupt_group(struct hack_group *group)
{
	for (uint32_t i = 0; group && i < GROUP_MEMBERS; i++) {
		if (group->members[i].sender)
			thread_interrupt(group->members[i].sender);
		if (group->members[i].receiver)
			thread_interrupt(group->members[i].receiver);
	}
}

static void hackbench_finish_group(struct hack_group *group)
{
	if (!group)
		return;
	if (!hackbench_join_threads(group,
				    false)) /* the receivers would wait for what is missing */
		hackbench_interrupt_group(group);
	hackbench_join_threads(group, true);
	for (uint32_t i = 0; i < GROUP_MEMBERS; i++) {
		fput(group->members[i].read_end);
		fput(group->members[i].write_end);
	}
	kfree(group);
}

/*
 * Start all threads; the senders wait for `go`. 0 or -ENOMEM. hackbench_finish_all() ends them in
 * both cases.
 */
static int hackbench_start_all(struct hack_run *run)
{
	run->groups = kcalloc(run->nr_groups, sizeof(void *));
	if (!run->groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < run->nr_groups; i++) {
		struct hack_group *group = kzalloc(sizeof(*group));

		run->groups[i] = group;
		if (!group)
			return -ENOMEM;
		group->run = run;
		group->index = i;
		for (uint32_t member = 0; member < GROUP_MEMBERS; member++) {
			if (!hackbench_start_member(group, member))
				return -ENOMEM;
		}
	}
	return 0;
}

static void hackbench_finish_all(struct hack_run *run, bool is_broken)
{
	if (!run->groups)
		return;
	for (uint32_t i = 0; is_broken && i < run->nr_groups; i++)
		hackbench_interrupt_group(run->groups[i]);
	run->is_broken = is_broken;
	complete_all(&run->go);
	for (uint32_t i = 0; i < run->nr_groups; i++)
		hackbench_finish_group(run->groups[i]);
	kfree(run->groups);
}

static int hackbench_report(struct command_env *env, const struct hack_run *run, uint64_t ns)
{
	uint64_t expected =
		(uint64_t)run->nr_groups * GROUP_MEMBERS * GROUP_MEMBERS * run->nr_messages;

	if (thread_interrupted())
		return COMMAND_SIGINT;
	if (run->nr_received != expected || run->nr_wrong) {
		command_error(env, "%lu of %lu messages arrived, %u of them wrong",
			      run->nr_received, expected, run->nr_wrong);
		return 1;
	}
	command_printf(env, "Checked: %lu messages, each whole and in order, all arrived once\n",
		       run->nr_received);
	command_printf(env, "Time: %llu.%03llu\n", ns / NSEC_PER_SEC, ns / NSEC_PER_MSEC % 1000);
	return 0;
}

static bool hackbench_parse_arguments(struct hack_run *run, int argc, char **argv)
{
	uint64_t groups = 10, messages = 100;

	if (argc > 1 && !command_parse_u64(argv[1], &groups))
		return false;
	if (argc > 2 && !command_parse_u64(argv[2], &messages))
		return false;
	if (!groups || groups > GROUPS_MAX || messages > MESSAGES_MAX || argc > 3)
		return false;
	run->nr_groups = (uint32_t)groups;
	run->nr_messages = (uint32_t)messages;
	return true;
}

static int hackbench_run(struct command_env *env, int argc, char **argv)
{
	struct hack_run run = { 0 };
	uint64_t start_ns;
	int err;

	if (!hackbench_parse_arguments(&run, argc, argv))
		return COMMAND_USAGE;
	command_printf(env, "Running with %u groups of %u senders and receivers (== %u threads)\n",
		       run.nr_groups, GROUP_MEMBERS, run.nr_groups * GROUP_MEMBERS * 2);
	command_printf(env, "Each sender will pass %u messages of %u bytes to each receiver\n",
		       run.nr_messages, MESSAGE_BYTES);
	err = hackbench_start_all(&run);
	start_ns = ktime_get_ns();
	hackbench_finish_all(&run, err);
	if (!err)
		return hackbench_report(env, &run, ktime_get_ns() - start_ns);
	command_error(env, "%s", command_strerror(err));
	return 1;
}

const struct command hackbench_commands[] = {
	{ "hackbench", "[GROUPS] [MESSAGES]", "exchange messages between many threads",
	  hackbench_run, 0 },
	{ 0 },
};
