; user_copy.asm - copying from and to a program's memory, and following the frames of its stack.
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

; In:    rdi: the first frame, {the next one, the return address}; rsi: it is not below; rdx: where the return
;        addresses go; rcx: how many at most; r8: no frame is above.
; Out:   rax: how many. A frame that faults, lies below the one before or has the return address 0 ends it.
global user_frames_walk:function (user_frames_walk.end - user_frames_walk)
	align	16
user_frames_walk:
	cfi_routine call, 8, user_frames_walk.end
	open_user
	xor	eax, eax
.frame:
	cmp	rax, rcx
	jae	.done
	cmp	rdi, rsi
	jb	.done
	cmp	rdi, r8
	ja	.done
.next:
	mov	r9, [rdi]
.ret:
	mov	r10, [rdi + 8]
	test	r10, r10
	jz	.done
	mov	[rdx + rax * 8], r10
	inc	rax
	lea	rsi, [rdi + 16]
	mov	rdi, r9
	jmp	.frame
.done:
	close_user
	ret
	cfi_routine_end
.end:
	fixup user_frames_walk.next, user_frames_walk.done
	fixup user_frames_walk.ret, user_frames_walk.done

global user_copy_end
user_copy_end:
