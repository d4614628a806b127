; probe_detour_code - where the detour of an optimised probe calls: registers saved, handlers called,
;                     registers restored, and back into the detour, where the replaced instructions are.
;
; In:    called from the first instruction of a detour, anywhere in a function: every register and
;        the flags are live. Interrupts may be on.
; Calls: with interrupts off, bool kprobe_hit_run(struct trace_plat_probe *, struct ftrace_regs *);
;        or, from probe_detour_args, if the place has one enabled probe that only reads arguments,
;        void kprobe_hit_args(struct kprobe *, struct ftrace_regs *)
; Keeps: everything, except what C writes into the frame that kprobe_hit_run gets; if that returns
;        true, `rip` there is where it returns to.

%include "trace_asm.inc"

extern kprobe_hit_run
extern kprobe_hit_args

; struct detour_note, from the return address into the detour; probe_jump.c checks these. What its
; first member points to begins with the only probe to call, or NULL. As long as a CPU is in the
; detour, all that exists.
NOTE_PROBE	equ 43
NOTE_ORIGIN	equ NOTE_PROBE + 8

%define ARG_REGS rax, rcx, rdx, rsi, rdi, r8, r9

section .text

global probe_detour:function (probe_detour.end - probe_detour)
	align	16
probe_detour:
	push	rbp
	mov	rbp, rsp
	push_all ARG_REGS
	push	0
	lea	rcx, [rbp + ftrace_regs.parent - ftrace_regs.rbp]
	push	rcx
	pushfq				; nothing so far has changed them
	push_all rbx, r10, r11, r12, r13, r14, r15
	cli
	cld
.call:					; rsp: struct ftrace_regs
	mov	rbx, [rbp + ftrace_regs.rip - ftrace_regs.rbp]	; C keeps it
	movsxd	rcx, dword [rbx + NOTE_ORIGIN]
	mov	[rbp + ftrace_regs.rip - ftrace_regs.rbp], rcx
	mov	rdi, [rbx + NOTE_PROBE]
	mov	rsi, rsp
	and	rsp, -16		; the probed code may be anywhere
	call	kprobe_hit_run
	test	al, al
	jnz	.moved
	mov	[rbp + ftrace_regs.rip - ftrace_regs.rbp], rbx
.moved:
	lea	rsp, [rbp + ftrace_regs.r15 - ftrace_regs.rbp]
	pop_all	rbx, r10, r11, r12, r13, r14, r15
	popfq				; interrupts, too
	lea	rsp, [rsp + ftrace_regs.r9 - ftrace_regs.rsp]
	pop_all	ARG_REGS
	pop	rbp
	ret
.end:

; The same, for a place that had an only probe when its detour was made. C keeps rbx and r12 to r15;
; so r10 and r11 lie where `direct` and `rbx` of the frame are, of which such a probe reads neither.
global probe_detour_args:function (probe_detour_args.end - probe_detour_args)
	align	16
probe_detour_args:
	push	rbp
	mov	rbp, rsp
	push_all ARG_REGS, r10
	lea	rcx, [rbp + ftrace_regs.parent - ftrace_regs.rbp]
	push	rcx
	pushfq				; nothing so far has changed them
	push	r11
	cli
	cld
	mov	rcx, [rbp + ftrace_regs.rip - ftrace_regs.rbp]
	mov	rdi, [rcx + NOTE_PROBE]
	mov	rdi, [rdi]
	test	rdi, rdi
	jz	.all
	push	rcx
	movsxd	rcx, dword [rcx + NOTE_ORIGIN]
	mov	[rbp + ftrace_regs.rip - ftrace_regs.rbp], rcx
	lea	rsi, [rbp - ftrace_regs.rbp]
	and	rsp, -16
	call	kprobe_hit_args
	lea	rsp, [rbp + ftrace_regs.rbx - 8 - ftrace_regs.rbp]
	pop	qword [rbp + ftrace_regs.rip - ftrace_regs.rbp]
	pop	r11
	popfq				; interrupts, too
	mov	r10, [rbp + ftrace_regs.direct - ftrace_regs.rbp]
	mov	r9, [rbp + ftrace_regs.r9 - ftrace_regs.rbp]
	mov	r8, [rbp + ftrace_regs.r8 - ftrace_regs.rbp]
	mov	rdi, [rbp + ftrace_regs.rdi - ftrace_regs.rbp]
	mov	rsi, [rbp + ftrace_regs.rsi - ftrace_regs.rbp]
	mov	rdx, [rbp + ftrace_regs.rdx - ftrace_regs.rbp]
	mov	rcx, [rbp + ftrace_regs.rcx - ftrace_regs.rbp]
	mov	rax, [rbp + ftrace_regs.rax - ftrace_regs.rbp]
	leave
	ret
.all:					; the rest of what probe_detour saves
	mov	[rsp], rbx
	push_all r10, r11, r12, r13, r14, r15
	mov	qword [rbp + ftrace_regs.direct - ftrace_regs.rbp], 0
	jmp	probe_detour.call
.end:
