; trampoline_code - the shared entry trampolines, and the pieces that those of single ops and of sets
;                   of ops are put together from: a head, a step for each ops, a tail.
;
; In:    called by a call site at the start of a traced function, before its prologue: every
;        argument register is live. The kernel uses no vector registers.
; Calls: func(ip, parent_ip, ops, fregs), or site_func(ip, fregs); shared: trace_ops_list_func or, with all registers,
;        trace_ops_list_regs_func(ip, parent_ip, NULL, fregs)
; Keeps: everything but r10, r11 and the flags, which no caller expects to survive a call, and rax
;        with site_func; with all
;        registers, everything, but for r11 on the way to a direct call. What C writes into fregs is
;        taken instead.
;
; r10 and r11: no function takes an argument there (no nested functions in this kernel), and a site
; is the first instruction of its function.

%include "trace_asm.inc"

INSN_SIZE	equ 5
%define ARG_REGS rax, rcx, rdx, rsi, rdi, r8, r9
%define REST_REGS rbx, r10, r11, r12, r13, r14, r15

%macro save_args 0
	push	rbp
	mov	rbp, rsp
	push_all ARG_REGS
%endmacro

%macro restore_args 0
	pop_all	ARG_REGS
	pop	rbp
%endmacro

; Below what save_args has saved. Nothing so far has changed the flags.
%macro save_rest 0
	push	0
	lea	rcx, [rbp + ftrace_regs.parent - ftrace_regs.rbp]
	push	rcx
	pushfq
	push_all REST_REGS
%endmacro

%macro restore_rest 0
	pop_all	REST_REGS
	popfq
	lea	rsp, [rsp + ftrace_regs.r9 - ftrace_regs.rsp]
%endmacro

; The first two arguments of func.
%macro load_ips 0
	mov	rdi, [rbp + ftrace_regs.rip - ftrace_regs.rbp]
	sub	rdi, INSN_SIZE
	mov	rsi, [rbp + ftrace_regs.parent - ftrace_regs.rbp]
%endmacro

extern trace_ops_list_func
extern trace_ops_list_regs_func

section .text

global ftrace_caller:function (ftrace_caller.end - ftrace_caller)
global ftrace_caller_end
	align	16
ftrace_caller:
	save_args
	load_ips
	xor	edx, edx
	lea	rcx, [rsp - ftrace_regs.r9]
	call	trace_ops_list_func
	restore_args
	ret
.end:
ftrace_caller_end:

global ftrace_regs_caller:function (ftrace_regs_caller_end - ftrace_regs_caller)
global ftrace_regs_caller_end, ftrace_regs_caller_direct, ftrace_regs_caller_leave
	align	16
ftrace_regs_caller:
	save_args
	save_rest
	load_ips
	xor	edx, edx
	mov	rcx, rsp
	call	trace_ops_list_regs_func
ftrace_regs_caller_leave:		; rsp: struct ftrace_regs
	mov	rax, [rsp + ftrace_regs.direct]
	test	rax, rax
	jnz	.direct
	restore_rest
	restore_args
	ret

; To the address in rax, as if the site had called it: by a jump, because a return without a call
; would put the processor's prediction of all returns behind it out of step.
.direct:
	restore_rest
	mov	r11, rax
	restore_args
ftrace_regs_caller_direct:		; rsp: .rip, .parent
	jmp	r11
ftrace_regs_caller_end:

; The code of a function that shall return at once: ftrace_override_function_with_return().
global ftrace_just_return:function (ftrace_just_return.end - ftrace_just_return)
	align	16
ftrace_just_return:
	ret
.end:

section .rodata

; Copied, never run here. trampoline.c puts them together and fills in the two operands of a step.

; piece NAME: the template's next piece begins here.
%macro piece 1
global trampoline_%1
trampoline_%1:
%endmacro

; call_func NAME: the end of a step, with operands to fill in. %2: what is behind `ops`.
%macro call_func 2+
	mov	rdx, strict qword 0
global trampoline_%{1}_ops
trampoline_%{1}_ops equ $ - 8
	%2
	piece	%{1}_call
	db	0xe8, 0, 0, 0, 0
%endmacro

; ---- A single ops ----

	piece	plain
	save_args
	piece	plain_step
	load_ips
	call_func plain, lea rcx, [rsp - ftrace_regs.r9]
	piece	plain_tail
	restore_args
	ret
	piece	plain_end

	piece	regs
	save_args
	save_rest
	piece	regs_step
	load_ips
	call_func regs, mov rcx, rsp
	piece	regs_tail
	restore_rest
	restore_args
	ret
	piece	regs_end

; A single ops with a site_func(ip, fregs), which finds its own address in fregs and returns 0 for a
; function that is to go on behind the site. Such a function does not get its rax back: no argument is
; there but the number of vector registers, for a variable number of arguments, and 0 is right.
	piece	site
	save_args
	piece	site_step
	sub	qword [rbp + ftrace_regs.rip - ftrace_regs.rbp], INSN_SIZE
	mov	rdi, [rbp + ftrace_regs.rip - ftrace_regs.rbp]
	lea	rsi, [rsp - ftrace_regs.r9]
	piece	site_ops
	piece	site_call
	db	0xe8, 0, 0, 0, 0
	piece	site_tail
	test	eax, eax
	jnz	.elsewhere
	add	qword [rbp + ftrace_regs.rip - ftrace_regs.rbp], INSN_SIZE
	pop_all	rcx, rdx, rsi, rdi, r8, r9
	leave
	ret
.elsewhere:
	restore_args
	ret
	piece	site_end

; ---- Several: called in a row. ----

; All are told the same addresses, even when one of them has sent the call elsewhere or has hooked
; the return. They lie below what is saved.
struc told
.ip:		resq 1
.parent:	resq 1
endstruc

%macro keep_ips 0
	push	qword [rbp + ftrace_regs.parent - ftrace_regs.rbp]
	mov	rax, [rbp + ftrace_regs.rip - ftrace_regs.rbp]
	sub	rax, INSN_SIZE
	push	rax
%endmacro

; No copy of a return address stays behind: who looks for one on the stack, as the stack tracer
; does, would take it for a frame.
%macro forget_ips 0
	mov	dword [rsp + told.parent], 0
	add	rsp, told_size
%endmacro

%macro load_told_ips 0
	mov	rdi, [rsp + told.ip]
	mov	rsi, [rsp + told.parent]
%endmacro

	piece	plain_set
	save_args
	keep_ips
	piece	plain_set_step
	load_told_ips
	call_func plain_set, lea rcx, [rsp + told_size - ftrace_regs.r9]
	piece	plain_set_tail
	forget_ips
	restore_args
	ret
	piece	plain_set_end

; One of them may have said where to leave to: the shared trampoline's last part looks.
	piece	regs_set
	save_args
	save_rest
	keep_ips
	piece	regs_set_step
	load_told_ips
	call_func regs_set, lea rcx, [rsp + told_size]
	piece	regs_set_tail
	forget_ips
	mov	rax, strict qword ftrace_regs_caller_leave
	jmp	rax
	piece	regs_set_end
