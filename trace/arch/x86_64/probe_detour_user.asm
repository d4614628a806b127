; probe_detour_user - probe_detour_code.asm for hosts in user mode, which cannot turn interrupts off.
;
; In:    called from the beginning of a detour, anywhere in a function: every register and the flags
;        are live. Nothing is below the stack pointer: no red zone. The detour has pushed a word.
; Calls: void trace_probe_detour_hit_user(struct ftrace_regs *)
; Keeps: everything, except what C writes into the frame. `rip` there is where it returns to. What the
;        detour has pushed is gone.

%include "trace_asm.inc"

extern trace_probe_detour_hit_user

section .text

; A handler of arguments, too, finds all registers.
global trace_probe_detour:function (trace_probe_detour.end - trace_probe_detour)
global trace_probe_detour_args
	align	16
trace_probe_detour_args:
trace_probe_detour:
	pop	qword [rsp]		; the return address in place of that word
	push	rbp
	mov	rbp, rsp
	push_all rax, rcx, rdx, rsi, rdi, r8, r9
	push	0
	lea	rcx, [rbp + ftrace_regs.parent - ftrace_regs.rbp]
	push	rcx
	pushfq				; nothing so far has changed them
	push_all rbx, r10, r11, r12, r13, r14, r15
	cld
	mov	rdi, rsp
	and	rsp, -16		; the probed code may be anywhere
	call	trace_probe_detour_hit_user
	lea	rsp, [rbp + ftrace_regs.r15 - ftrace_regs.rbp]
	pop_all	rbx, r10, r11, r12, r13, r14, r15
	popfq
	lea	rsp, [rsp + ftrace_regs.r9 - ftrace_regs.rsp]
	pop_all	rax, rcx, rdx, rsi, rdi, r8, r9
	pop	rbp
	ret
.end:
