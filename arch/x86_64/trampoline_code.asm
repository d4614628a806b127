; trampoline_code - the shared entry trampoline, and the template of those with a single ops.
;
; In:    called by a call site at the start of a traced function, before its prologue: every
;        argument register is live. The kernel uses no vector registers.
; Calls: func(ip, parent_ip, ops, NULL); shared: trace_ops_list_func(ip, parent_ip, NULL, NULL)
; Keeps: everything but r10, r11 and the flags, which no caller expects to survive a call.
;
; r10 and r11: no function takes an argument there (no nested functions in this kernel), and a site
; is the first instruction of its function.

%include "asm.inc"

INSN_SIZE	equ 5
%define SAVED_REGS rax, rcx, rdx, rsi, rdi, r8, r9

struc trampoline_frame		; from rbp; the saved registers lie below, 16-byte aligned for C
.rbp:		resq 1
.site:		resq 1		; return into the traced function, behind its call
.parent:	resq 1		; return into the traced function's caller
endstruc

%macro enter_trampoline 0
	push	rbp
	mov	rbp, rsp
	push_all SAVED_REGS
	mov	rdi, [rbp + trampoline_frame.site]
	sub	rdi, INSN_SIZE
	mov	rsi, [rbp + trampoline_frame.parent]
	xor	ecx, ecx
%endmacro

%macro leave_trampoline 0
	pop_all	SAVED_REGS
	pop	rbp
	ret
%endmacro

extern trace_ops_list_func

section .text

global trampoline_shared:function (trampoline_shared.end - trampoline_shared)
global trampoline_shared_end
	align	16
trampoline_shared:
	enter_trampoline
	xor	edx, edx
	call	trace_ops_list_func
	leave_trampoline
.end:
trampoline_shared_end:

section .rodata

; Copied, never run here. trampoline.c fills in the two operands.
global trampoline_template, trampoline_template_ops, trampoline_template_call
global trampoline_template_end
trampoline_template:
	enter_trampoline
	mov	rdx, strict qword 0
trampoline_template_ops equ $ - 8
trampoline_template_call:
	db	0xe8, 0, 0, 0, 0
	leave_trampoline
trampoline_template_end:
