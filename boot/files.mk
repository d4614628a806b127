BOOT_ASM := $(sort $(wildcard boot/*.asm))
