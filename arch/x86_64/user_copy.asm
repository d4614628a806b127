; user_copy.asm - copying from and to a program's memory.
;
; In:    rdi: to, rsi: from, rdx: bytes. The caller has checked that the program's side is below
;        TASK_SIZE_MAX.
; Out:   rax: bytes that were not copied, because of a fault. The table trace_fixups has each instruction
;        that may fault, see fixup.h.
; Keeps: what a C function keeps.
;
; Where the CPU has SMAP the kernel may touch programs' pages only while the flag AC is set.

%include "asm.inc"
%include "trace_cfi.inc"

extern user_has_smap

%macro open_user 0
	cmp	byte [user_has_smap], 0
	je	%%done
	stac
%%done:
%endmacro
%macro close_user 0
	cmp	byte [user_has_smap], 0
	je	%%done
	clac
%%done:
%endmacro
%macro fixup 2
	section trace_fixups progbits alloc noexec nowrite align=8
	dq	%1, %2
	section .text
%endmacro

section .text

global user_copy_begin
user_copy_begin:

global user_copy:function (user_copy.end - user_copy)
	align	16
user_copy:
	cfi_routine call, 8, user_copy.end
	open_user
	mov	rcx, rdx
	shr	rcx, 3
	and	edx, 7
.words:
	rep movsq
	mov	ecx, edx
.bytes:
	rep movsb
	mov	rax, rcx
	close_user
	ret
.words_fault:
	lea	rax, [rdx + rcx * 8]
	close_user
	ret
.bytes_fault:
	mov	rax, rcx
	close_user
	ret
	cfi_routine_end
.end:
	fixup user_copy.words, user_copy.words_fault
	fixup user_copy.bytes, user_copy.bytes_fault

global user_copy_end
user_copy_end:
