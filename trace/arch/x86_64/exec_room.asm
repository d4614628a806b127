; exec_room - room for trampolines, for hosts that have no other: <trace/arch_in_place.h>.

EXEC_ROOM_BYTES	equ 16384

section .text

global trace_exec_room:data (trace_exec_room_end - trace_exec_room), trace_exec_room_end
	align	64
trace_exec_room:
	times EXEC_ROOM_BYTES db 0xcc
trace_exec_room_end:
