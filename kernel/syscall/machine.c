/* Facts about the machine and what it gives to a program: CPUs, memory, file systems. */
#include <arch/cpu_local.h>
#include <arch/power.h>
#include <arch/smp.h>
#include <kernel/console.h>
#include <kernel/mm.h>
#include <kernel/ram_files.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include "path.h"
#include "process/proc_machine.h"
#include "syscall.h"

#define MACHINE_LOAD_ONE 65536u /* in loads of sysinfo() */

struct machine_info { /* struct sysinfo */
	int64_t uptime;
	uint64_t loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	uint16_t procs, pad;
	uint64_t totalhigh, freehigh;
	uint32_t mem_unit;
};

long sys_sysinfo(void *info)
{
	struct machine_info out = { .mem_unit = 1 };
	struct proc_threads threads;
	struct mm_stats stats;

	loadavg_get(out.loads);
	for (size_t i = 0; i < ARRAY_SIZE(out.loads); i++)
		out.loads[i] *= MACHINE_LOAD_ONE / LOADAVG_ONE;
	proc_count_threads(&threads);
	out.procs = (uint16_t)threads.nr;
	mm_stats_get(&stats);
	out.uptime = (int64_t)(ktime_get_ns() / NSEC_PER_SEC);
	out.totalram = stats.total_pages * PAGE_SIZE;
	out.freeram = stats.free_pages * PAGE_SIZE;
	return copy_to_user(info, &out, sizeof(out)) ? -EFAULT : 0;
}

long sys_sched_yield(void)
{
	yield();
	return 0;
}

struct thread *syscall_get_thread(int pid)
{
	struct thread *thread = current_thread();

	if (pid) {
		thread = thread_find(pid);
		if (thread && !thread->task) {
			thread_put(thread);
			thread = NULL;
		}
		return thread;
	}
	thread_get(thread);
	return thread;
}

long sys_sched_getaffinity(int pid, unsigned int len, unsigned long *user_mask_ptr)
{
	struct thread *thread;
	uint64_t mask = 0;

	if (len < sizeof(mask) || len % sizeof(mask))
		return -EINVAL;
	thread = syscall_get_thread(pid);
	if (!thread)
		return -ESRCH;
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++)
		mask |= smp_cpu_online(cpu) ? thread->affinity & 1ull << cpu : 0;
	thread_put(thread);
	return copy_to_user(user_mask_ptr, &mask, sizeof(mask)) ? -EFAULT : (long)sizeof(mask);
}

long sys_sched_setaffinity(int pid, unsigned int len, unsigned long *user_mask_ptr)
{
	struct thread *thread;
	uint64_t mask = 0;
	int err;

	if (copy_from_user(&mask, user_mask_ptr, len < sizeof(mask) ? len : sizeof(mask)))
		return -EFAULT;
	thread = syscall_get_thread(pid);
	if (!thread)
		return -ESRCH;
	err = cred_may_change(thread->task->process, CAP_SYS_NICE)
		      ? thread_set_affinity(thread, mask)
		      : -EPERM;
	thread_put(thread);
	return err;
}

long sys_getcpu(unsigned int *cpup, unsigned int *nodep, void *unused)
{
	const uint32_t cpu = cpu_local_read(id), node = 0;

	(void)unused;
	if (cpup && copy_to_user(cpup, &cpu, sizeof(cpu)))
		return -EFAULT;
	return nodep && copy_to_user(nodep, &node, sizeof(node)) ? -EFAULT : 0;
}

/* Numbers that tell file systems apart, as Linux has them. */
static int64_t machine_fs_magic(const char *type)
{
	static const struct {
		const char *type;
		int64_t magic;
	} kinds[] = {
		{ "ramfs", 0x858458f6 },   { "proc", 0x9fa0 },	      { "sysfs", 0x62656572 },
		{ "debugfs", 0x64626720 }, { "tracefs", 0x74726163 }, { "tmpfs", 0x01021994 }
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(type, kinds[i].type) == 0)
			return kinds[i].magic;
	}
	return 0;
}

static long machine_statfs(const char *path, void *buf)
{
	struct user_statfs out = { .bsize = PAGE_SIZE,
				   .frsize = PAGE_SIZE,
				   .namelen = VFS_NAME_MAX - 1 };
	const char *type = vfs_mount_type(path);
	struct mm_stats stats;
	uint64_t room;

	out.type = machine_fs_magic(type);
	mm_stats_get(&stats);
	if (strcmp(type, "ramfs") == 0 || strcmp(type, "tmpfs") == 0) {
		ram_files_room(&out.blocks, &room);
		out.bfree = out.bavail = room < stats.free_pages ? room : stats.free_pages;
	}
	return copy_to_user(buf, &out, sizeof(out)) ? -EFAULT : 0;
}

long sys_statfs(const char *pathname, void *buf)
{
	char path[VFS_PATH_MAX];
	struct vfs_stat stat;
	int err = user_path(pathname, path);

	if (!err)
		err = vfs_stat(VFS_REAL, path, &stat);
	return err ? err : machine_statfs(path, buf);
}

/* That of a pipe is that of the root. */
long sys_fstatfs(unsigned int fd, void *buf)
{
	struct file *file = files_get_file(current_process()->files, fd);
	long err;

	if (!file)
		return -EBADF;
	err = machine_statfs(file->path ? file->path : "/", buf);
	fput(file);
	return err;
}

/* All files are in memory: there is nothing to write back, and nothing to fetch. */
long sys_fsync(unsigned int fd)
{
	return files_get_cloexec(current_process()->files, fd) < 0 ? -EBADF : 0;
}

long sys_fdatasync(unsigned int fd)
{
	return sys_fsync(fd);
}

long sys_sync(void)
{
	return 0;
}

long sys_syncfs(int fd)
{
	return sys_fsync((unsigned int)fd);
}

long sys_sync_file_range(int fd, long offset, long nbytes, unsigned int flags)
{
	if (flags & ~7u || offset < 0 || nbytes < 0 || nbytes > INT64_MAX - offset)
		return -EINVAL;
	return sys_fsync((unsigned int)fd);
}

long sys_readahead(int fd, long offset, size_t count)
{
	struct file *file = files_get_file(current_process()->files, (unsigned int)fd);
	long err = -EBADF;

	(void)offset;
	(void)count;
	if (file && file->flags & VFS_READ)
		err = file->ops->map_page ? 0 : -EINVAL;
	fput(file);
	return err;
}

long sys_fadvise64(int fd, long offset, size_t len, int advice)
{
	(void)offset;
	(void)len;
	return advice < 0 || advice > 5 ? -EINVAL : sys_fsync((unsigned int)fd);
}

/* How the kernel behaves towards the program: as Linux, which is 0, or with fixed places. ~0 only asks. */
long sys_personality(unsigned int personality)
{
	struct process *process = current_process();
	uint32_t old = process->personality;

	if (personality == UINT32_MAX)
		return old;
	if (personality & ~ADDR_NO_RANDOMIZE)
		return -EINVAL;
	process->personality = personality;
	return old;
}

#define REBOOT_MAGIC1 ((int)0xfee1dead)

enum {
	REBOOT_CAD_OFF,
	REBOOT_RESTART = 0x01234567,
	REBOOT_POWER_OFF = 0x4321fedc,
	REBOOT_CAD_ON = (int)0x89abcdef, /* keys that end the machine: there are none */
	REBOOT_RESTART2 = (int)0xa1b2c3d4,
	REBOOT_HALT = (int)0xcdef0123
};

/* The second number that shows that the call is meant: four dates of births, as Linux has them. */
static bool machine_is_magic(int magic)
{
	return magic == 0x28121969 || magic == 0x05121996 || magic == 0x16041998 ||
	       magic == 0x20112000;
}

static void machine_end(int cmd)
{
	console_drain();
	smp_stop_others_nmi();
	if (cmd == REBOOT_POWER_OFF)
		power_off();
	if (cmd == REBOOT_HALT)
		power_halt();
	power_reboot();
}

/* A word for the firmware (RESTART2) is left out. */
long sys_reboot(int magic1, int magic2, unsigned int cmd, void *arg)
{
	(void)arg;
	if (!capable(CAP_SYS_BOOT))
		return -EPERM;
	if (magic1 != REBOOT_MAGIC1 || !machine_is_magic(magic2))
		return -EINVAL;
	switch ((int)cmd) {
	case REBOOT_RESTART:
	case REBOOT_RESTART2:
	case REBOOT_HALT:
	case REBOOT_POWER_OFF:
		machine_end((int)cmd);
		return 0;
	case REBOOT_CAD_OFF:
	case REBOOT_CAD_ON:
		return 0;
	default:
		return -EINVAL;
	}
}
