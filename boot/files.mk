BOOT_ASM := boot/boot.asm
BOOT_ASM += boot/ap_start.asm
