BOOT_ASM := boot/boot.asm
