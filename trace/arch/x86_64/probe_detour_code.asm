; probe_detour_code - where the detour of an optimised probe calls: registers saved, handlers called,
;                     registers restored, and back into the detour, where the replaced instructions are.
;
; In:    called from the beginning of a detour, anywhere in a function: every register and the flags
;        are live. Interrupts may be on. The detour has pushed the address of the probed instruction.
; Calls: with interrupts off, bool kprobe_hit_run(struct trace_plat_probe *, struct ftrace_regs *);
;        or, from trace_probe_detour_args, if the place has one enabled probe that only reads arguments,
;        void kprobe_hit_args(struct kprobe *, struct ftrace_regs *)
; Keeps: everything, except what C writes into the frame that kprobe_hit_run gets; if that returns
;        true, `rip` there is where it returns to. What the detour has pushed is gone.
;
; There is a frame, which leads from C back into the detour: so a backtrace finds the probed function,
; whose stack lies above (arch_probe.h, PROBE_DETOUR_PUSHED). What C gets lies below, with copies of
; the address and of rbp, which it may change.

%include "trace_asm.inc"

extern kprobe_hit_run
extern kprobe_hit_args

struc frame			; rbp points here
.rbp:		resq 1
.back:		resq 1		; return into the detour
.origin:	resq 1
.stack:				; the probed code's
endstruc

; struct detour_note, from the return address into the detour; probe_jump.c checks these. What its
; first member points to begins with the only probe to call, or NULL. As long as a CPU is in the
; detour, all that exists.
NOTE_PROBE	equ 38

%define ARG_REGS rax, rcx, rdx, rsi, rdi, r8, r9

section .text

; The place of struct ftrace_regs from rbp on: `parent` is the first word below the frame.
%define REGS	(-8 - ftrace_regs.parent)
%define reg(name) rbp + REGS + ftrace_regs. %+ name

global trace_probe_detour:function (trace_probe_detour.end - trace_probe_detour)
	align	16
trace_probe_detour:
	push	rbp
	mov	rbp, rsp
	push	qword [rbp + frame.stack]
	push	qword [rbp + frame.origin]
	push	qword [rbp + frame.rbp]
	push_all ARG_REGS
	push	0
	lea	rcx, [rbp + frame.stack]
	push	rcx
	pushfq				; nothing so far has changed them
	push_all rbx, r10, r11, r12, r13, r14, r15
	cli
	cld
	mov	rax, [rbp + frame.back]
	mov	rdi, [rax + NOTE_PROBE]
	mov	rsi, rsp
	and	rsp, -16		; the probed code may be anywhere
	call	kprobe_hit_run
	test	al, al
	jnz	.moved
.leave:
	mov	r15, [reg(r15)]
	mov	r14, [reg(r14)]
	mov	r13, [reg(r13)]
	mov	r12, [reg(r12)]
	mov	r11, [reg(r11)]
	mov	r10, [reg(r10)]
	mov	rbx, [reg(rbx)]
	lea	rsp, [reg(rflags)]
	popfq				; interrupts, too: what lies below is lost from here on
	mov	r9, [reg(r9)]
	mov	r8, [reg(r8)]
	mov	rdi, [reg(rdi)]
	mov	rsi, [reg(rsi)]
	mov	rdx, [reg(rdx)]
	mov	rcx, [reg(rcx)]
	mov	rax, [reg(rax)]
	mov	rbp, [reg(rbp)]
	lea	rsp, [rsp + frame.back - (REGS + ftrace_regs.rsp)]
	ret	frame.stack - frame.origin
.moved:
	mov	rcx, [reg(rip)]
	mov	[rbp + frame.back], rcx
	jmp	.leave
.end:

; The same, for a place that had an only probe when its detour was made. C keeps rbx and r12 to r15,
; and such a probe reads no `parent`: the first word below the frame is `rip`. The flags, r10 and r11
; lie where `direct`, `rsp` and `rflags` are. ftrace_regs_get_saved_stack_pointer() sees the flags in
; `direct`, which are never 0, and takes the stack pointer from where all this lies.
%undef REGS
%define REGS	(-8 - ftrace_regs.rip)

%macro restore_args_only 0
	pop_all	r10, r11
	popfq				; interrupts, too
	pop_all	ARG_REGS
	leave
%endmacro

global trace_probe_detour_args:function (trace_probe_detour_args.end - trace_probe_detour_args)
	align	16
trace_probe_detour_args:
	push	rbp
	mov	rbp, rsp
	push	qword [rbp + frame.origin]
	push	qword [rbp + frame.rbp]
	push_all ARG_REGS
	pushfq				; nothing so far has changed them
	push_all r10, r11
	cli
	cld
	mov	rax, [rbp + frame.back]
	mov	rdi, [rax + NOTE_PROBE]
	mov	rdi, [rdi]
	test	rdi, rdi
	jz	.all
	lea	rsi, [rbp + REGS]
	call	kprobe_hit_args		; with the stack as it is, see KPROBE_FLAG_ARGS
	restore_args_only
	ret	frame.stack - frame.origin
.all:
	restore_args_only
	jmp	trace_probe_detour
.end:
