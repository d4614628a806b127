/*
 * execve(): from a path to a program in an address space of its own, which the running thread gets. See exec.c.
 *
 * Context: thread. Locking: none is held by the caller. Ownership: the strings of struct exec_args are freed by the one that
 * has added them.
 */
#ifndef KERNEL_PROCESS_EXEC_H
#define KERNEL_PROCESS_EXEC_H

#include <kernel/cred.h>
#include <kernel/vfs_at.h>

struct mm;

/* exec.c: strings for a new program, one behind the other, argv first. */
struct exec_args {
	char *text;
	size_t len, size;
	uint32_t argc, envc;
	const char *name; /* of the program as it was asked for, which may be that of a link */
	struct cred cred; /* of the new program */
	bool is_secure;	  /* it has other rights than its caller */
};
/* 0, -ENOMEM, -E2BIG: add a string; or make room behind args->len, and add `len` bytes, NUL included, that were put there. */
int exec_args_add(struct exec_args *args, const char *text, bool is_env);
int exec_args_grow(struct exec_args *args);
int exec_args_added(struct exec_args *args, size_t len, bool is_env);
void exec_args_free(struct exec_args *args);
/*
 * Let the running thread have the program at that path; args->name is set. 0, and its frame is that of the new one; or
 * -errno, with the old one as it was.
 */
int do_execve(const struct vfs_at *at, struct exec_args *args);
/*
 * Open a file that may be executed, by a path in the text of a program, as the running one sees it. 0 and a reference; -EACCES: it may
 * not; other errors of opening.
 */
int open_exec(const char *path, struct file **out_file);

/* elf.c, for exec.c: what the loader has found out about a program. */
struct elf_image {
	uintptr_t start; /* the first instruction: the interpreter's, if there is one */
	uintptr_t base;	 /* what was added to the interpreter's addresses; 0: there is none */
	uintptr_t entry; /* where the program itself begins */
	uintptr_t bias;	 /* what was added to the program's own addresses */
	uintptr_t phdr;	 /* address of its program headers */
	uint16_t phnum;
	uintptr_t end; /* behind its last byte: the heap begins there */
};
/*
 * Map the program in `file` into a new mm, and its interpreter. 0; -ENOEXEC; -ELIBBAD, about the
 * interpreter; -ENOMEM; an error of opening or reading.
 */
int load_elf_binary(struct mm *mm, struct file *file, struct elf_image *out_image);
/* elf_stack.c: its stack, with strings, pointers and auxiliary vector. 0 or -errno. */
int create_elf_tables(struct mm *mm, const struct elf_image *image, const struct exec_args *args,
		      uintptr_t *out_sp);

#endif
