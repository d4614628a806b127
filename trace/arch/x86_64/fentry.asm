; __fentry__ - what an unpatched call site calls. ftrace_init() turns the sites into NOPs; until
; then the call comes straight back.
;
; In:    called before the function's own prologue, every register live.
; Keeps: everything.

section .text
global __fentry__:function (__fentry__.end - __fentry__)
	align	16
__fentry__:
	ret
.end:
