/*
 * The stack that a program starts with.
 *
 *   stack_top  8 zero bytes
 *              path of the program, "x86_64", 16 random bytes
 *              strings of the environment and the arguments
 *              a random gap
 *              auxiliary vector: pairs, AT_NULL at the end
 *              pointers to the environment, NULL
 *              pointers to the arguments, NULL
 *   rsp -->    number of arguments                          aligned to 16
 */
#include <kernel/random.h>
#include <kernel/string.h>
#include "elf.h"
#include "exec.h"
#include "process.h"

#define STACK_FREE_BYTES (32 * PAGE_SIZE) /* below what it begins with */
#define MAX_AUX		 20
#define TICKS_PER_SECOND 100 /* as times() counts */

/* A stack that is being filled, from its top down. */
struct stack {
	struct mm *mm;
	uintptr_t sp;
	uintptr_t path, platform, random, strings;
	int err;
};

static uintptr_t stack_push(struct stack *stack, const void *bytes, size_t len)
{
	stack->sp -= len;
	if (!stack->err)
		stack->err = mm_write(stack->mm, stack->sp, bytes, len);
	return stack->sp;
}

/* Tell where arguments and environment are, for those who ask. */
static void stack_note_strings(const struct stack *stack, const struct exec_args *args)
{
	const char *text = args->text;

	for (uint32_t i = 0; i < args->argc; i++)
		text += strlen(text) + 1;
	stack->mm->arg_start = stack->strings;
	stack->mm->arg_end = stack->strings + (uintptr_t)(text - args->text);
	stack->mm->env_end = stack->strings + args->len;
}

static void stack_push_strings(struct stack *stack, const struct exec_args *args)
{
	const uint64_t zero = 0, random[2] = { random_u64(), random_u64() };

	stack_push(stack, &zero, sizeof(zero));
	stack->path = stack_push(stack, args->name, strlen(args->name) + 1);
	stack->platform = stack_push(stack, "x86_64", 7);
	stack->random = stack_push(stack, random, sizeof(random));
	stack->strings = stack_push(stack, args->text, args->len);
	stack_note_strings(stack, args);
	stack->sp -= aslr_stack_gap(stack->mm);
}

/* Fill `to` with pairs; the number of words. */
static size_t stack_make_aux(const struct stack *stack, const struct elf_image *image,
			     const struct exec_args *args, uint64_t *to)
{
	const uint64_t pairs[][2] = {
		{ AT_HWCAP, arch_user_hwcap() },
		{ AT_PAGESZ, PAGE_SIZE },
		{ AT_CLKTCK, TICKS_PER_SECOND },
		{ AT_PHDR, image->phdr },
		{ AT_PHENT, ELF_PH_BYTES },
		{ AT_PHNUM, image->phnum },
		{ AT_BASE, image->base },
		{ AT_FLAGS, 0 },
		{ AT_ENTRY, image->entry },
		{ AT_UID, args->cred.user.real },
		{ AT_EUID, args->cred.user.effective },
		{ AT_GID, args->cred.group.real },
		{ AT_EGID, args->cred.group.effective },
		{ AT_SECURE, args->is_secure },
		{ AT_RANDOM, stack->random },
		{ AT_HWCAP2, 0 },
		{ AT_EXECFN, stack->path },
		{ AT_PLATFORM, stack->platform },
		{ AT_NULL, 0 },
	};

	_Static_assert(ARRAY_SIZE(pairs) <= MAX_AUX, "room for all pairs");
	memcpy(to, pairs, sizeof(pairs));
	return sizeof(pairs) / sizeof(uint64_t);
}

/* Pointers to `nr` strings, the first at `*at` in `text`, and NULL. The number of words. */
static size_t stack_make_pointers(uint64_t *to, uint32_t nr, const char **text, uintptr_t *at)
{
	for (uint32_t i = 0; i < nr; i++) {
		size_t len = strlen(*text) + 1;

		to[i] = *at;
		*at += len;
		*text += len;
	}
	to[nr] = 0;
	return nr + 1;
}

static void stack_push_words(struct stack *stack, const struct elf_image *image,
			     const struct exec_args *args)
{
	size_t nr = 3 + args->argc + args->envc + 2 * MAX_AUX, at = 0;
	uint64_t *words = kmalloc(nr * sizeof(*words));
	uintptr_t string = stack->strings;
	const char *text = args->text;
	size_t nr_aux;

	if (!words) {
		stack->err = -ENOMEM;
		return;
	}
	words[at++] = args->argc;
	at += stack_make_pointers(words + at, args->argc, &text, &string);
	at += stack_make_pointers(words + at, args->envc, &text, &string);
	nr_aux = stack_make_aux(stack, image, args, words + at);
	at += nr_aux;
	stack->sp = ALIGN_DOWN(stack->sp - at * sizeof(*words), 16) + at * sizeof(*words);
	stack->mm->aux_end = stack->sp;
	stack->mm->aux_start = stack->sp - nr_aux * sizeof(*words);
	stack_push(stack, words, at * sizeof(*words));
	kfree(words);
}

int create_elf_tables(struct mm *mm, const struct elf_image *image, const struct exec_args *args,
		      uintptr_t *out_sp)
{
	struct stack stack = { .mm = mm, .sp = mm->stack_top };
	size_t filled = args->len + (args->argc + args->envc) * sizeof(uint64_t);

	mutex_lock(&mm->lock);
	stack.err = vma_add(
		mm, &(struct vma){ .start = ALIGN_DOWN(mm->stack_top - STACK_FREE_BYTES - filled,
						       PAGE_SIZE),
				   .end = mm->stack_top,
				   .flags = VM_READ | VM_WRITE | VM_STACK });
	mutex_unlock(&mm->lock);
	stack_push_strings(&stack, args);
	if (!stack.err)
		stack_push_words(&stack, image, args);
	*out_sp = stack.sp;
	return stack.err;
}
