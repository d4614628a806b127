; user_entry.asm - system calls, and all ways back to a program.
;
;   SYSCALL --> syscall_entry --> upcall_syscall() --> upcall_user_return() --> SYSRET, if the frame allows it
;                                                                           \-> user_iret
;   traps (trap_entry.asm) --> trap_dispatch() -----> user_iret
;   a new thread --> user_start --> user_iret
;
; SYSCALL leaves rsp and the GS base as the program has them, its rip in rcx, its flags in r11. Interrupts
; are off until the frame is there. It lies at the top of the thread's kernel stack.
;
; Calls: void upcall_syscall(struct trap_frame *), with interrupts on
;        void upcall_user_return(struct trap_frame *)
;        bool user_may_sysret(const struct trap_frame *): may the return be by SYSRET?

%include "asm.inc"
%include "trace_cfi.inc"

extern upcall_syscall, upcall_user_return, user_may_sysret

TRAP_SYSCALL equ 256

section .text

global user_entry_begin
user_entry_begin:

; rsp is at the frame of a program, interrupts are off.
global user_iret:function (user_iret.end - user_iret)
	align	16
user_iret:
	cfi_routine trap, trap_frame_size, user_iret.end
	pop_saved TRAP_REGS
	add	rsp, 16			; vector, error code
	cfi_set_depth IRET_FRAME_SIZE
	swapgs
	iretq
	cfi_routine_end
.end:

; The first return of a thread, from arch_thread_start, to the registers in its frame.
global user_start:function (user_start.end - user_start)
	align	16
user_start:
	cfi_routine trap, trap_frame_size, user_start.end
	cli
	mov	rsp, [gs:LOCAL_STACK_TOP]
	sub	rsp, trap_frame_size
	lea	rbp, [rsp + 1]
	mov	rdi, rsp
	call	upcall_user_return
	jmp	user_iret
	cfi_routine_end
.end:

global user_sysret:function (user_sysret_end - user_sysret)
	align	16
user_sysret:
	cfi_routine trap, trap_frame_size, user_sysret_end
	pop_saved TRAP_REGS		; rcx and r11 are rip and flags
	mov	rsp, [rsp + trap_frame.rsp - trap_frame.vector]
global user_rsp_begin
user_rsp_begin:
	swapgs
	o64 sysret
	cfi_routine_end
user_sysret_end:

global syscall_entry:function (syscall_entry_end - syscall_entry)
	align	16
syscall_entry:
	cfi_routine call, 8, syscall_entry_end
	cfi_outermost
	swapgs
	mov	[gs:LOCAL_USER_RSP], rsp
	mov	rsp, [gs:LOCAL_STACK_TOP]
global user_rsp_end
user_rsp_end:
	push	SELECTOR_USER_DS
	push	qword [gs:LOCAL_USER_RSP]
	push	r11
	push	SELECTOR_USER_CS
	push	rcx
	push	rax
	push	TRAP_SYSCALL
	push_all TRAP_REGS
	lea	rbp, [rsp + 1]
	mov	rdi, rsp
	sti
	call	upcall_syscall
	cli
	mov	rdi, rsp
	call	upcall_user_return
	mov	rdi, rsp
	call	user_may_sysret
	test	al, al
	jnz	user_sysret
	jmp	user_iret
	cfi_routine_end
syscall_entry_end:

global user_entry_end
user_entry_end:
