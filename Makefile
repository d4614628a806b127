# Fathom: `make`, `make run`, `make test`, `make check`, `make bench`, `make debug`, `make help`.

BUILD	   ?= build
CPUS	   ?= 4
MEM	   ?= 256M
UEFI	   ?= 0
CMDLINE	   ?=
DEBUG	   ?= 0
TESTS	   ?= 0
SITES	   ?= 0
PROCESSES  ?= 1
EVENTS	   ?= 0
PAHOLE	   ?= pahole
BTF	   ?= $(if $(shell command -v $(PAHOLE) 2>/dev/null),1,0)
LINE_TABLE ?= 1
RECORDMCOUNT ?= tool
QEMU	   ?= qemu-system-x86_64
MACHINE	   ?= q35
CPU	   ?= max
HOSTCC	   ?= gcc
PYTHON	   ?= /usr/bin/python3
V	   ?= 0

include tools/directory.mk

# A cross compiler on PATH is used unless something else is named. clang is a cross compiler by nature.
CROSS_COMPILE ?= $(if $(shell command -v x86_64-elf-gcc 2>/dev/null),x86_64-elf-)
ifeq ($(origin CC),default)
CC	   := $(CROSS_COMPILE)gcc
else ifeq ($(CC),gcc)
override CC := $(CROSS_COMPILE)gcc
endif
LD	   := $(CROSS_COMPILE)ld
OBJCOPY	   := $(CROSS_COMPILE)objcopy
NASM	   ?= nasm
IS_CLANG   := $(if $(findstring clang,$(notdir $(CC))),1)

Q := $(if $(filter 1,$(V)),,@)
say = @printf '  %-8s %s\n' '$1' '$(patsubst $(BUILD)/%,%,$2)'

.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all
# Every rule is written down. Make would try its own on each header: most of the time that it takes when nothing is to be done.
MAKEFLAGS += -r

# ---- Sources: all that lie in a folder; it says which of them have no call sites ----

TRACE_OFFSETS := $(BUILD)/gen/trace_offsets.inc
include boot/files.mk arch/x86_64/files.mk kernel/files.mk trace/files.mk trace/arch/x86_64/files.mk
include tests/kernel/files.mk
include tools/build.mk

# Without processes the kernel has no user mode, and no probes in programs. It is the small one, without scripts and events of calls, too.
ifeq ($(PROCESSES),0)
alone := without_uprobes+scripts+user_events+syscalls
TEST_SRCS := $(filter-out tests/kernel/ktest_uprobe.c tests/kernel/load/bench_scripts.c tests/kernel/load/torture_scripts.c,$(TEST_SRCS))
TRACE_SRCS := $(call named,$(alone),$(call trace_table,$(alone))) trace/default/programs.c
CFLAGS_trace/start/features.c := -iquote $(BUILD)/gen/alone
$(BUILD)/obj/trace/start/features.c.notrace.o: $(BUILD)/gen/alone/start/features.list
$(BUILD)/gen/alone/start/features.list: $(TRACE_TABLES)
	@mkdir -p $(@D)
	@$(call trace_list,$(alone)) > $@
KERNEL_SRCS := $(filter-out kernel/process/% kernel/syscall/% kernel/shell/cmd/cmd_bt.c kernel/fs/vfs_lock.c kernel/fs/vfs_proc_place.c kernel/fs/vfs_ram_mount.c,$(KERNEL_SRCS))
TRACE_ARCH_SRCS := $(filter-out trace/arch/x86_64/uprobe%,$(TRACE_ARCH_SRCS))
KERNEL_NOTRACE_SRCS := $(filter-out kernel/process/%,$(KERNEL_NOTRACE_SRCS))
ARCH_SRCS := $(filter-out arch/x86_64/user%,$(ARCH_SRCS))
# A shell need not be fast.
$(foreach source,$(filter kernel/shell/%,$(KERNEL_SRCS)),$(eval CFLAGS_$(source) += -Os))
ARCH_NOTRACE_SRCS := $(filter-out arch/x86_64/user%,$(ARCH_NOTRACE_SRCS))
ARCH_ASM := $(filter-out arch/x86_64/user%,$(ARCH_ASM))
else
with_processes := -DWITH_PROCESSES
endif

ifneq ($(SITES),0)
GEN_SRCS += $(BUILD)/gen/sites.c
endif
ifneq ($(EVENTS),0)
GEN_SRCS += $(BUILD)/gen/events.c
endif

traced_srcs  := $(KERNEL_SRCS) $(ARCH_SRCS) $(GEN_SRCS)
notrace_srcs := $(TRACE_SRCS) $(TRACE_ARCH_SRCS) $(KERNEL_NOTRACE_SRCS) $(ARCH_NOTRACE_SRCS)
asm_srcs     := $(BOOT_ASM) $(ARCH_ASM) $(TRACE_ARCH_ASM)

obj_of	     = $(patsubst %,$(BUILD)/obj/%.o,$(patsubst $(BUILD)/%,%,$(1)))
# The name tells the linker script where the code belongs.
notrace_obj_of = $(patsubst %.o,%.notrace.o,$(call obj_of,$(1)))

# Two kernels: fathom, and fathom-test, which is made of the same objects and those with tests and measurements.
# The order of the link is the order of the lists: fixed, so that the build is reproducible.
kernels		 := fathom fathom-test
srcs.fathom	 := $(traced_srcs) $(notrace_srcs)
srcs.fathom-test := $(srcs.fathom) $(TEST_SRCS) $(TEST_NOTRACE_SRCS)
objs.fathom	 := $(call obj_of,$(asm_srcs) $(traced_srcs)) $(call notrace_obj_of,$(notrace_srcs))
objs.fathom-test := $(objs.fathom) $(call obj_of,$(TEST_ASM) $(TEST_SRCS)) $(call notrace_obj_of,$(TEST_NOTRACE_SRCS))
kernel		 := fathom$(if $(filter 1,$(TESTS)),-test)

traced_objs  := $(call obj_of,$(traced_srcs) $(TEST_SRCS))
notrace_objs := $(call notrace_obj_of,$(notrace_srcs) $(TEST_NOTRACE_SRCS))
asm_objs     := $(call obj_of,$(asm_srcs) $(TEST_ASM))

# ---- Flags ----

WARN := -Wall -Wextra -Werror -Wshadow -Wundef -Wvla -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wframe-larger-than=1024
CFLAGS_COMMON := -std=gnu11 -O2 -g -ffreestanding -fno-pie -fno-pic -mcmodel=kernel -mno-red-zone \
	-mgeneral-regs-only -mcx16 -fno-omit-frame-pointer -fno-stack-protector \
	-fcf-protection=none -fno-strict-aliasing -fno-common -fno-asynchronous-unwind-tables \
	-ffile-prefix-map=$(CURDIR)/= -ffile-prefix-map=$(CURDIR)=. $(WARN) $(with_processes)
ifneq ($(IS_CLANG),)
CFLAGS_COMMON += --target=x86_64-unknown-none-elf -Wno-unused-command-line-argument
else
# Every function keeps its own name and its own site. Loops and targets of jumps are not padded: that would be 5 % of the code.
CFLAGS_COMMON += -fno-ipa-icf -fno-ipa-cp-clone -fno-partial-inlining -fno-ipa-sra -fno-align-loops -fno-align-jumps
endif
CFLAGS_TRACED := -pg -mfentry $(if $(filter cc,$(RECORDMCOUNT)),-mrecord-mcount)

plat_inc  := -Itrace/arch/x86_64/include -Iarch/x86_64/include/plat -Iarch/x86_64/include
inc_trace := -Itrace/include -Itrace $(plat_inc)
inc_arch  := -Iarch/x86_64 -Itrace/include $(plat_inc) -Ikernel/include
inc_kernel := -Ikernel/include -Ikernel -Itrace/include $(plat_inc)
inc_of	   = $(if $(filter trace/%,$1),$(inc_trace) -Wconversion,$(if $(filter arch/%,$1),$(inc_arch),$(inc_kernel)))

NASMFLAGS := $(with_processes) -f elf64 -g -F dwarf -w+all -Iarch/x86_64/ -Itrace/arch/x86_64/ -Iboot/
LDFLAGS	  := -nostdlib -static --build-id=none -z max-page-size=4096 -z noexecstack

# A change of compiler or flags rebuilds what they were used for; sites are in traced objects only.
flags_now := $(CC) | $(CFLAGS_COMMON) | $(NASMFLAGS) | $(LDFLAGS)
sites_now := $(CFLAGS_TRACED) | $(RECORDMCOUNT) | $(SITES) | $(EVENTS)
stamp = @mkdir -p $(@D); echo '$1' | cmp -s - $@ || echo '$1' > $@
$(BUILD)/flags: FORCE
	$(call stamp,$(flags_now))
$(BUILD)/flags.sites: FORCE
	$(call stamp,$(sites_now))

# The settings that <kernel/config.h> takes from here; its users are compiled again when one changes.
config := $(BUILD)/gen/kernel_debug.h
$(config): FORCE
	$(call stamp,#define KERNEL_DEBUG $(DEBUG))
$(traced_objs) $(notrace_objs): | $(config)

# ---- Objects ----

all: $(BUILD)/$(kernel).elf $(BUILD)/$(kernel).iso $(BUILD)/$(kernel).sym
# The kernel with tests in it. The suites that boot it make their own images.
test-kernel: $(BUILD)/fathom-test.elf $(BUILD)/fathom-test.stripped

compile = $(CC) $(CFLAGS_COMMON) $1 $(CFLAGS_$<) $(call inc_of,$<) -I$(BUILD)/gen -MMD -MP -MF $(@:.o=.d) -c $< -o $@

$(filter-out $(BUILD)/obj/gen/%,$(traced_objs)): $(BUILD)/obj/%.o: % $(BUILD)/flags $(BUILD)/flags.sites $(BUILD)/tools/recordmcount
	$(call say,CC,$<)
	$(folder)
	$(Q)$(call compile,$(CFLAGS_TRACED))
	$(Q)$(if $(filter cc,$(RECORDMCOUNT)),:,$(BUILD)/tools/recordmcount $@)

$(notrace_objs): $(BUILD)/obj/%.notrace.o: % $(BUILD)/flags
	$(call say,CC,$<)
	$(folder)
	$(Q)$(call compile,)

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/% $(BUILD)/flags $(BUILD)/flags.sites $(BUILD)/tools/recordmcount
	$(call say,CC,$<)
	$(folder)
	$(Q)$(call compile,$(CFLAGS_TRACED))
	$(Q)$(if $(filter cc,$(RECORDMCOUNT)),:,$(BUILD)/tools/recordmcount $@)

$(asm_objs): $(BUILD)/obj/%.o: % $(BUILD)/flags $(BUILD)/gen/offsets.inc $(TRACE_OFFSETS)
	$(call say,NASM,$<)
	$(folder)
	$(Q)$(NASM) $(NASMFLAGS) -I$(BUILD)/gen/ -MD $(@:.o=.d) -MP -o $@ $<
	$(Q)$(OBJCOPY) -w --strip-symbol='..@*' $@ # labels of macros

# Offsets of C structs for assembly, first the library's.
TRACE_OFFSETS_CC = $(CC) $(CFLAGS_COMMON) -Itrace/include -Itrace/arch/x86_64/include
$(TRACE_OFFSETS): $(BUILD)/flags
# Each OFFSET() of the file is a line "-> NAME value".
$(BUILD)/gen/offsets.inc: arch/x86_64/asm_offsets.c $(BUILD)/flags
	$(call say,GEN,$@)
	$(folder)
	$(Q)$(CC) $(CFLAGS_COMMON) $(inc_arch) -MMD -MP -MF $(@:.inc=.d) -MT $@ -S -o $(@:.inc=.s) $<
	$(Q)sed -n 's/.*-> \([A-Za-z0-9_]*\) \$$*\([-0-9]*\).*/%define \1 \2/p' $(@:.inc=.s) > $@

$(BUILD)/gen/sites.c: tools/gen-sites $(BUILD)/flags.sites
	$(call say,GEN,$@)
	$(folder)
	$(Q)tools/gen-sites $(SITES) > $@
$(BUILD)/gen/events.c: tools/gen-events $(BUILD)/flags.sites
	$(call say,GEN,$@)
	$(folder)
	$(Q)tools/gen-events $(EVENTS) > $(BUILD)/gen/events_many.h
	$(Q)tools/gen-events $(EVENTS) calls > $@

-include $(objs.fathom-test:.o=.d) $(BUILD)/gen/offsets.d

# ---- The kernels: linked twice, because the symbol tables are part of them ----

link = $(LD) $(LDFLAGS) -T linker.ld -o $@ $(objs.$*)
# Of a pattern with %, the file of each kernel.
each = $(kernels:%=$(BUILD)/$1)

# A source that is gone leaves no newer object behind, but another list.
$(BUILD)/flags.sources: FORCE
	$(call stamp,$(srcs.fathom-test))
$(BUILD)/fathom.stage1: $(objs.fathom)
$(BUILD)/fathom-test.stage1: $(objs.fathom-test)
$(call each,%.stage1): $(BUILD)/%.stage1: linker.ld $(BUILD)/flags.sources
	$(call say,LD,$@)
	$(Q)$(link)

$(call each,gen/%.ksyms.o): $(BUILD)/gen/%.ksyms.o: $(BUILD)/%.stage1 $(BUILD)/tools/ksyms
	$(call say,KSYMS,$@)
	$(folder)
	$(Q)$(BUILD)/tools/ksyms -o $@ $<

$(call each,gen/%.sources): $(BUILD)/gen/%.sources: $(BUILD)/flags.sources $(BUILD)/flags.sites
	$(folder)
	@printf '%s\n' $(sort $(srcs.$*)) > $@

$(call each,gen/%.whynot.o): $(BUILD)/gen/%.whynot.o: $(BUILD)/%.stage1 $(BUILD)/gen/%.sources $(BUILD)/tools/whynot
	$(call say,WHYNOT,$@)
	$(folder)
	$(Q)$(BUILD)/tools/whynot -o $@ --sources $(BUILD)/gen/$*.sources $<

# The types. pahole makes them of debug information; without it, or with BTF=0, the kernel has none.
ifeq ($(BTF),1)
btf_objs := $(call each,gen/%.btf.o)
$(btf_objs): $(BUILD)/gen/%.btf.o: $(BUILD)/%.stage1 $(BUILD)/tools/types
	$(call say,BTF,$@)
	$(folder)
	$(Q)$(BUILD)/tools/types --for-pahole $(@:.o=.elf) $<
	$(Q)$(PAHOLE) -J --skip_encoding_btf_vars --btf_encode_detached=$(@:.o=.raw) $(@:.o=.elf)
	$(Q)$(BUILD)/tools/types -o $@ $(@:.o=.raw) $<
	@rm -f $(@:.o=.elf) $(@:.o=.raw)
$(call each,%.elf): $(BUILD)/%.elf: $(BUILD)/gen/%.btf.o
btf_obj = $(BUILD)/gen/$*.btf.o
else
say_no_types = @echo '  NOTYPES  $(@F): $(if $(shell command -v $(PAHOLE) 2>/dev/null),BTF=$(BTF),no pahole (package dwarves))'
endif
$(BUILD)/flags.btf: FORCE
	$(call stamp,$(BTF) $(LINE_TABLE))

$(call each,gen/%.lines.o): $(BUILD)/gen/%.lines.o: $(BUILD)/%.stage1 $(BUILD)/tools/lines
	$(call say,LINES,$@)
	$(folder)
	$(Q)$(BUILD)/tools/lines -o $@ $<
ifeq ($(LINE_TABLE),1)
$(call each,%.elf): $(BUILD)/%.elf: $(BUILD)/gen/%.lines.o
lines_obj = $(BUILD)/gen/$*.lines.o
endif

# Between these symbols is the code that a probe can reach: tools/sites refuses a kernel with a call site there.
notrace_range := --notrace __notrace_text_start __notrace_text_end

$(call each,%.elf): $(BUILD)/%.elf: $(BUILD)/%.stage1 $(BUILD)/gen/%.ksyms.o $(BUILD)/gen/%.whynot.o $(BUILD)/flags.btf $(BUILD)/tools/sites
	$(call say,LD,$@)
	$(say_no_types)
	$(Q)$(link) $(BUILD)/gen/$*.ksyms.o $(BUILD)/gen/$*.whynot.o $(lines_obj) $(btf_obj)
	$(Q)$(BUILD)/tools/ksyms --check $@
	$(Q)$(BUILD)/tools/sites $(notrace_range) $@

$(call each,%.sym): $(BUILD)/%.sym: $(BUILD)/%.elf
	$(call say,NM,$@)
	$(Q)$(BUILD)/tools/ksyms --nm $@ $<

$(call each,%.stripped): $(BUILD)/%.stripped: $(BUILD)/%.elf
	$(Q)$(OBJCOPY) --strip-all $< $@

# CMDLINE is part of the image; the stamp changes when it does.
$(BUILD)/cmdline: FORCE
	$(folder)
	@printf '%s\n' '$(subst ','\'',$(CMDLINE))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(CMDLINE))' > $@

# Debian's static busybox, if it is there, is the file tree's only program. ROOT=debian: packages are the tree.
ROOT ?=
ROOT_PACKAGES ?= dash bash coreutils findutils grep sed gawk diffutils gzip tar less procps
BUSYBOX ?= $(shell readelf -l /bin/busybox 2> /dev/null | grep -qs INTERP || ls /bin/busybox 2> /dev/null)
busybox := $(if $(filter 1,$(PROCESSES)),$(BUSYBOX))
files	:= $(if $(busybox),$(BUILD)/files.cpio)
ifeq ($(ROOT),debian)
files	:= $(BUILD)/debian.cpio
endif
$(BUILD)/debian.cpio: tools/initramfs tools/rootfs $(BUILD)/flags.root
	$(call say,ROOTFS,$@)
	$(folder)
	$(Q)tools/rootfs -o $@ -c $(BUILD)/rootfs $(ROOT_PACKAGES)
$(BUILD)/flags.root: FORCE
	$(call stamp,$(ROOT_PACKAGES))
$(BUILD)/flags.files: FORCE
	$(call stamp,$(busybox) $(ROOT))
$(BUILD)/files.cpio: $(busybox) tools/initramfs $(BUILD)/flags.files
	$(call say,FILES,$@)
	$(folder)
	$(Q)tools/initramfs $@ bin/busybox=$(busybox)

$(call each,%.iso): $(BUILD)/%.iso: $(BUILD)/%.stripped $(BUILD)/cmdline iso/grub.cfg.in iso/make-iso $(files) $(BUILD)/flags.files
	$(call say,ISO,$@)
	$(Q)FILES=$(files) iso/make-iso $< $@ "$$(cat $(BUILD)/cmdline)"

# ---- Use ----

ovmf := /usr/share/OVMF/OVMF_CODE_4M.fd
firmware = -drive if=pflash,format=raw,readonly=on,file=$(ovmf)
# A reset ends QEMU, but where memory is to survive it.
qemu_args = -machine $(MACHINE) -cpu $(CPU) -accel tcg,thread=multi -smp $(CPUS) -m $(MEM) \
	-cdrom $(BUILD)/$(kernel).iso -boot d $(if $(findstring reserve_mem=,$(CMDLINE)),,-no-reboot) -device isa-debug-exit,iobase=0xf4,iosize=4 \
	$(if $(filter 1,$(UEFI)),$(firmware)) -net none

deps-build:
	@tools/install-deps build
deps-run:
	@tools/install-deps run
deps-host:
	@tools/install-deps host
deps-test:
	@tools/install-deps test
deps-check:
	@tools/install-deps check

# The terminal is the serial console: every key is the guest's, but for QEMU's escape key. Its usual one, Ctrl-A, is
# the shell's start of line.
terminal_args = -display none -echr 0x1d -chardev stdio,id=terminal,mux=on,signal=off \
	-serial chardev:terminal -mon chardev=terminal,mode=readline \
	-serial unix:$(BUILD)/channel-com2,server=on,wait=off -device virtio-serial-pci \
	-chardev socket,id=channel,path=$(BUILD)/channel,server=on,wait=off \
	-device virtserialport,chardev=channel,name=fathom.9p \
	-qmp unix:$(BUILD)/qmp,server=on,wait=off

# The packages come first, and the build is another make: as a second prerequisite it could begin before they are there.
run: deps-run
	@$(MAKE) --no-print-directory all
	@echo 'Ctrl-] and then x ends QEMU; all other keys are the guest'\''s.'
	@$(QEMU) $(qemu_args) $(terminal_args); rc=$$?; [ $$rc -le 1 ] || exit $$rc

# SPEED=2: twice as fast; DEMO_PAUSE=0: without waiting.
demo: deps-run
	@$(MAKE) --no-print-directory all
	@$(PYTHON) tools/demo --build $(BUILD)

man:
	@mkdir -p $(BUILD)
	@tools/man-page > $(BUILD)/fathom.1
	@man -l $(BUILD)/fathom.1

# The parts of tools/fathom that are not Python.
host-tools: deps-host
	@$(MAKE) --no-print-directory $(BUILD)/tools/mount $(BUILD)/tools/splice.so

# The libraries of the page of `fathom view`, from npm, in the versions that package-lock.json names.
view-page: $(BUILD)/view/installed
$(BUILD)/view/installed: tools/view/package.json tools/view/package-lock.json
	@tools/install-deps view
	$(call say,NPM,$@)
	$(folder)
	@cp tools/view/package.json tools/view/package-lock.json $(@D)
	$(Q)cd $(@D) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error > npm.log 2>&1 || { cat npm.log >&2; exit 1; }
	@touch $@

$(BUILD)/lint/installed: $(wildcard tools/lint/*)
	$(call say,NPM,$@)
	$(folder)
	@cp $^ $(@D)
	$(Q)cd $(@D) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error > npm.log 2>&1 || { cat npm.log >&2; exit 1; }
	@touch $@

# The page on a kernel of its own, with something to look at.
demo-view: deps-run
	@$(MAKE) --no-print-directory all
	@tools/fathom view --boot --build $(BUILD) --cpus $(CPUS) --mem $(MEM) --show timeline \
		--write events/sched/sched_switch/enable=1 --write events/kmem/kmalloc/trigger=hist:keys=bytes_req.log2 \
		--write 'set_graph_function=pipe_read pipe_write' --write max_graph_depth=3 --write current_tracer=function_graph \
		--run 'while true; do hackbench 2 200 > /dev/null; stress all 1 > /dev/null; sleep 1; done'

debug: deps-test
	@$(MAKE) --no-print-directory all
	@tools/gdb/debug $(BUILD)/$(kernel).elf $(QEMU) $(qemu_args)

test: deps-test
	@tests/run-all

quick: deps-test
	@tests/quick

check: deps-check
	@tools/check-all

# CHECK=1: leaves the documents as they are, and fails when they have other figures.
CHECK ?= 0

bench: deps-test
	@$(PYTHON) tests/bench/bench.py --build $(BUILD) $(if $(filter 1,$(CHECK)),--check)

# The README's pictures, of kernels that run.
pictures:
	@tools/install-deps test-host
	@$(MAKE) --no-print-directory all host-tools
	@FATHOM_BUILD=$(abspath $(BUILD)) $(PYTHON) tests/host/pictures.py

# The library in a process, on this machine's processors: its tests, and what an event costs in ns.
FLIPS ?= 1000000
process = $(abspath $(BUILD))/process
process_cc := $(if $(IS_CLANG),$(CC),gcc) # of this system, not a cross compiler

process:
	@$(MAKE) --no-print-directory libtrace PROFILE=full FOR=process HOST=examples/process/include LIBTRACE=$(process)/libtrace
	@$(MAKE) --no-print-directory -s -C examples/process CC=$(process_cc) LIBTRACE=$(process)/libtrace OUT=$(process)

flips: deps-build
	@$(MAKE) --no-print-directory process
	@$(process)/flips $(FLIPS)

# The same for probes, which change HITS times.
HITS ?= 200000
hits: deps-build
	@$(MAKE) --no-print-directory process
	@$(process)/hits $(HITS)

bench-silicon: deps-build
	@$(MAKE) --no-print-directory process
	@$(process)/bench

# The programs that bench-silicon measures, beside LTTng-UST, XRay and uftrace.
bench-peers:
	@tools/install-deps peers
	@$(MAKE) --no-print-directory process
	@mkdir -p $(process)-gettime/host
	@cp examples/process/include/*.h $(process)-gettime/host/
	@cp tests/bench/peers/process_clock.h $(process)-gettime/host/
	@$(MAKE) --no-print-directory libtrace PROFILE=full FOR=process HOST=$(process)-gettime/host LIBTRACE=$(process)-gettime/libtrace
	@$(MAKE) --no-print-directory -s -C examples/process CC=$(process_cc) LIBTRACE=$(process)-gettime/libtrace OUT=$(process)-gettime
	@tests/bench/peers/run $(process)/bench $(process)-gettime/bench

# With programs and kernels of others.
test-host:
	@tools/install-deps test-host
	@$(MAKE) --no-print-directory all
	@FATHOM_BUILD=$(abspath $(BUILD)) $(PYTHON) -m pytest -q -p no:cacheprovider tests/host/*.py

# All of Linux's ftrace self-tests, of LINUX=6.1 or 6.12, on a kernel whose files are mounted here; with INSIDE=dash or
# INSIDE=busybox by that shell in the guest.
LINUX  ?= 6.1
INSIDE ?=

self-tests:
	@tools/install-deps test-host
	@$(MAKE) --no-print-directory all host-tools
	@FATHOM_BUILD=$(abspath $(BUILD)) tests/host/selftests/run $(addprefix --inside ,$(INSIDE)) $(LINUX)

# The decoder of instructions on all code of Debian's kernel, which is downloaded: some 70 MB.
test-decode: deps-test
	@$(MAKE) -s --no-print-directory -f tests/decode/build.mk
	@tests/decode/linux $(BUILD)/decode/linux $(BUILD)/decode/compare

# The random tests of `make test`, long: unit tests with UNIT_SOAK times their rounds, all of clang's under sanitisers,
# then the torture tests for hours, both compilers, 1 to 8 CPUs, and live patches; and the whole kernel made a second
# time, to be the same.
UNIT_SOAK    ?= 20
SOAK_ROUNDS  ?= 50000
SOAK_SECONDS ?= 7200
SOAK_CROWD_SECONDS ?= 600
FUZZ_TIMES   ?= 10
SOAK_UNITS   := test_regex test_sh_parse test_filter test_ftrace test_memory step_ring threads_

soak: deps-test
	@DECODE_RANDOM=10000000 $(PYTHON) -m pytest -q -p no:cacheprovider tests/decode -k 'random or vectors'
	@DAMAGE_EVERY=1 $(PYTHON) -m pytest -q -p no:cacheprovider tests/tools/test_types.py -k damaged
	@UNIT_SOAK=$(UNIT_SOAK) tests/unit/run $(SOAK_UNITS)
	@$(MAKE) --no-print-directory soak-expr
	@EVERY_TEST=1 tests/unit/run unit/clang
	@SANITISED=1 BUILD=$(BUILD)/sanitised tests/unit/run unit/clang unit/simclang
	@$(MAKE) --no-print-directory CC=gcc all test-kernel
	@$(MAKE) --no-print-directory CC=clang BUILD=$(BUILD)/clang all test-kernel
	@FATHOM_BUILD=$(abspath $(BUILD)) FATHOM_BUILD_CLANG=$(abspath $(BUILD)/clang) \
		TORTURE_ROUNDS=$(SOAK_ROUNDS) TORTURE_SECONDS=$(SOAK_SECONDS) \
		TORTURE_CROWD_SECONDS=$(SOAK_CROWD_SECONDS) KTEST_TIMES=5 LIVEPATCH_SECONDS=60 \
		$(PYTHON) -m pytest -q -s -p no:cacheprovider tests/qemu/test_torture.py tests/qemu/test_kernel.py \
			tests/qemu/test_livepatch.py tests/qemu/test_process_threads.py tests/qemu/test_hotplug.py -k 'torture or hotplug or tests_inside or under_load'
	@FATHOM_BUILD=$(abspath $(BUILD)) FATHOM_BUILD_CLANG=$(abspath $(BUILD)/clang) EVERY_TEST=1 \
		$(PYTHON) -m pytest -q -p no:cacheprovider tests/examples/test_console.py
	@FATHOM_BUILD=$(abspath $(BUILD)) FATHOM_BUILD_CLANG=$(abspath $(BUILD)/clang) FUZZ_TIMES=$(FUZZ_TIMES) \
		$(PYTHON) -m pytest -q -p no:cacheprovider tests/qemu/test_process_fuzz.py
	@FATHOM_BUILD=$(abspath $(BUILD)) FATHOM_BUILD_CLANG=$(abspath $(BUILD)/clang) UPROBE_ROUNDS=50 \
		$(PYTHON) -m pytest -q -p no:cacheprovider tests/qemu/test_uprobe_counts.py
	@FATHOM_BUILD=$(abspath $(BUILD)) PROFILE_CPUS="1 2 4 8" \
		$(PYTHON) -m pytest -q -p no:cacheprovider tests/tracefs/test_profile.py tests/qemu/test_profile_programs.py -k '10000 or programs'
	@FATHOM_BUILD=$(abspath $(BUILD)) REBUILD_EVERY=1 $(PYTHON) -m pytest -q -p no:cacheprovider tests/build
	@FATHOM_BUILD=$(abspath $(BUILD)) FATHOM_BUILD_CLANG=$(abspath $(BUILD)/clang) PROCESS_LIBRARY_BY=clang \
		$(PYTHON) -m pytest -q -p no:cacheprovider tests/examples/test_process.py -k clang

# A part of it: 10,000,000 random programs of expressions, on the engine and on its twin.
soak-expr: deps-test
	@UNIT_SOAK=1000 TEST_SECONDS=7200 tests/unit/run gcc/bin/trace/expr/test_expr_twin

# Resets of the machine at random moments: RESETS of them, a second each and more.
soak-reset: deps-test
	@$(MAKE) --no-print-directory CC=gcc all
	@FATHOM_BUILD=$(abspath $(BUILD)) RESETS=$(RESETS) $(PYTHON) -m pytest -q -s -p no:cacheprovider tests/qemu/soak_reset.py
RESETS ?= 1000

# Debian's trinity for TRINITY_SECONDS, as a user and as root, with each compiler's kernel.
soak-trinity: deps-test
	@tools/install-deps test-host
	@$(MAKE) --no-print-directory CC=gcc all
	@$(MAKE) --no-print-directory CC=clang BUILD=$(BUILD)/clang all
	@FATHOM_BUILD=$(abspath $(BUILD)) FATHOM_BUILD_CLANG=$(abspath $(BUILD)/clang) TRINITY_SECONDS=$(TRINITY_SECONDS) \
		$(PYTHON) -m pytest -q -s -p no:cacheprovider tests/qemu/soak_trinity.py
TRINITY_SECONDS ?= 1800

# Put faults into the sources, one at a time, to find those that no test notices. See tests/mutate/README.md.
MUTANTS ?= 0
ONLY    ?=
SEED    ?= 1
JOBS    ?= 2
BOOTS   ?= 1
KEEP    ?= 0
PROGRAMS ?=
OPERATORS ?=

mutate: deps-test
	@tests/mutate/mutate --build $(BUILD) --mutants $(MUTANTS) --only '$(ONLY)' --seed $(SEED) --jobs $(JOBS) \
		--boots $(BOOTS) --keep $(KEEP) --programs '$(PROGRAMS)' --operators '$(OPERATORS)'

# For clangd and other editors: the commands of a build from nothing, which make only prints here. They are those of a
# build with clang, because clangd understands them. It also reads headers that a build generates.
compile_commands.json: $(BUILD)/gen/offsets.inc FORCE
	$(Q)$(MAKE) --no-print-directory -n -B CC=clang BUILD=$(BUILD) all test-kernel | tools/compile-commands > $@

include trace/libtrace.mk

# Messages of commits are checked as they are made, see CONTRIBUTING.md.
git-hooks:
	@git config core.hooksPath tools/git-hooks
	@echo 'commits are checked by tools/git-hooks; git config --unset core.hooksPath ends that'

format: $(BUILD)/lint/installed
	clang-format -i $$(git ls-files '*.c' '*.h')
	black -q $$(git ls-files '*.py'; git grep -Il '^#!/usr/bin/python3$$' -- ':!*.*')
	$(BUILD)/lint/node_modules/.bin/prettier --log-level warn --write tools/view/page tools/lint

clean:
	rm -rf $(BUILD)

# The table of docs/building.md without its Markdown: of a link its text, and no back quotes.
help:
	@sed -n '/^| `make/ { s/^| \(`[^`]*`\) | \(.*\) |$$/\1: \2/; s/\[\([^]]*\)\]([^)]*)/\1/g; s/`//g; p; }' docs/building.md

FORCE:
.PHONY: all test-kernel run demo man debug test quick test-host self-tests check bench pictures process flips hits bench-silicon bench-peers test-decode soak soak-expr soak-reset soak-trinity mutate git-hooks format clean help FORCE deps-build deps-run deps-host deps-test deps-check host-tools view-page demo-view
