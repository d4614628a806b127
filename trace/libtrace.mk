# `make libtrace PROFILE=graph HOST=folder`: the library by itself, for other kernels. In LIBTRACE there is then
#
#   libtrace.a      what the profile needs, and the defaults; a function of the host takes a default's place
#   include/        the public headers
#   host/           a copy of the host's: they are compiled into the archive, so all of this belongs together
#   flags           compiler flags for each file of the host: cc @flags -c a.c
#   flags.traced    the same, and call sites
#   sections.ld     what a linker script includes
#   recordmcount    lists the call sites of an object, in the object
#
# HOST holds the host's inline halves; FOR says what the host is, a kernel or a process. docs/porting.md goes through all
# of it.
PROFILE	 ?= full
FOR	 ?= kernel
HOST	 ?= examples/tiny/include
LIBTRACE ?= $(BUILD)/libtrace-$(PROFILE)
override LIBTRACE := $(call in_tree,$(LIBTRACE))

lib_table := $(call trace_table,$(PROFILE))
lib_srcs := $(call named,$(PROFILE),$(lib_table)) $(call named,$(PROFILE).defaults,$(lib_table)) \
	$(filter-out $(TRACE_ARCH_LACKS_$(PROFILE)),$(TRACE_ARCH_$(FOR)))
lib_objs := $(lib_srcs:%=$(LIBTRACE)/obj/%.o)
# A profile with fewer features than start/features.list has a table of them that is an object of its own.
ifneq ($(PROFILE),full)
lib_objs := $(patsubst %/start/features.c.o,%/start/features-$(PROFILE).c.o,$(lib_objs))
endif
lib_headers := $(patsubst trace/include/%,$(LIBTRACE)/include/%,$(wildcard trace/include/trace/*.h trace/include/trace/*/*.h)) \
	$(patsubst trace/arch/x86_64/include/%,$(LIBTRACE)/include/%,$(wildcard trace/arch/x86_64/include/trace/*.h)) \
	$(patsubst $(HOST)/%,$(LIBTRACE)/host/%,$(wildcard $(HOST)/*.h))
# In its own files; the host's warnings are the host's.
lib_inc := -I$(LIBTRACE)/include -isystem $(LIBTRACE)/host

lib_nasmflags := -f elf64 -g -F dwarf -w+all -Itrace/arch/x86_64/ -I$(dir $(TRACE_OFFSETS))

# Flags that the host's code has to have in common with the library; the reasons are in docs/porting.md.
LIBTRACE_KERNEL := -ffreestanding -mcmodel=kernel -mno-red-zone -mgeneral-regs-only -fno-stack-protector
LIBTRACE_FLAGS := $(if $(filter kernel,$(FOR)),$(LIBTRACE_KERNEL)) -fno-pie -fno-pic -mcx16 -fno-omit-frame-pointer \
	-fcf-protection=none -Wno-unused-function
LIBTRACE_TRACED := $(if $(filter process,$(FOR)),-mno-red-zone) -pg -mfentry $(if $(IS_CLANG),,-fno-ipa-icf -fno-ipa-cp-clone -fno-partial-inlining -fno-ipa-sra)

# The library itself, and what the caller adds. A process has its thread pointer in FS, which the code model of kernels
# does not know.
LIBTRACE_CFLAGS ?=
lib_cflags := $(filter-out $(if $(filter process,$(FOR)),-mcmodel=kernel),$(CFLAGS_COMMON)) $(LIBTRACE_CFLAGS)

AR := $(CROSS_COMPILE)ar

libtrace: $(addprefix $(LIBTRACE)/,libtrace.a flags flags.traced recordmcount sections.ld LICENSE)

# A process has a memcpy() and its kin, which callbacks may not use: the library calls its own.
$(LIBTRACE)/libtrace.a: $(lib_objs) $(LIBTRACE)/members
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcsD $@ $(lib_objs)
	$(if $(filter process,$(FOR)),$(Q)$(OBJCOPY) -D $(foreach f,memcpy memmove memset memcmp,--redefine-sym $f=trace_$f) $@)

# Another host or compiler makes all of it anew, another profile what the last one did not have.
$(LIBTRACE)/config: FORCE
	@rm -f $(LIBTRACE)/include/*.h # older versions had the host's there
	$(call stamp,$(HOST) | $(FOR) | $(flags_now) | $(LIBTRACE_FLAGS) $(LIBTRACE_TRACED) | $(LIBTRACE_CFLAGS))
$(LIBTRACE)/members: FORCE
	$(call stamp,$(lib_objs))
$(LIBTRACE)/libtrace.pc: $(LIBTRACE)/members

$(LIBTRACE)/host/%.h: $(HOST)/%.h $(LIBTRACE)/config
	$(folder)
	@cp $< $@
$(LIBTRACE)/include/%.h: trace/include/%.h $(LIBTRACE)/config
	$(folder)
	@cp $< $@
$(LIBTRACE)/include/%.h: trace/arch/x86_64/include/%.h $(LIBTRACE)/config
	$(folder)
	@cp $< $@

# A host of a small profile has not all of the inline half that headers declare.
$(LIBTRACE)/obj/%.c.o: %.c $(lib_headers) $(LIBTRACE)/config
	$(call say,CC,$<)
	$(folder)
	$(Q)$(CC) $(lib_cflags) $(CFLAGS_$<) -Wconversion -Wno-unused-function \
		$(lib_inc) -Itrace -MMD -MP -MF $(@:.o=.d) -c $< -o $@

$(LIBTRACE)/obj/trace/start/features-$(PROFILE).c.o: trace/start/features.c $(LIBTRACE)/features/$(PROFILE)/start/features.list $(lib_headers) $(LIBTRACE)/config
	$(call say,CC,$<)
	$(folder)
	$(Q)$(CC) $(lib_cflags) -Wconversion -Wno-unused-function -iquote $(LIBTRACE)/features/$(PROFILE) \
		$(lib_inc) -Itrace -MMD -MP -MF $(@:.o=.d) -c $< -o $@
$(LIBTRACE)/features/$(PROFILE)/start/features.list: $(TRACE_TABLES) $(LIBTRACE)/members
	$(folder)
	$(Q)$(call trace_list,$(PROFILE)) > $@

ifneq ($(NASM),)
$(LIBTRACE)/obj/%.asm.o: %.asm $(TRACE_OFFSETS) $(LIBTRACE)/config
	$(call say,NASM,$<)
	$(folder)
	$(Q)$(NASM) $(lib_nasmflags) -MD $(@:.o=.d) -MP -o $@ $<
	$(Q)$(OBJCOPY) -w --strip-symbol='..@*' $@
else
$(LIBTRACE)/obj/%.asm.o: %.s $(LIBTRACE)/config
	$(call say,AS,$<)
	$(folder)
	$(Q)$(CC) $(if $(IS_CLANG),--target=x86_64-unknown-none-elf) -c $< -o $@
endif

$(LIBTRACE)/flags: $(LIBTRACE)/config trace/libtrace.mk
	@printf '%s\n' -I$(abspath $(LIBTRACE))/include -I$(abspath $(LIBTRACE))/host $(LIBTRACE_FLAGS) > $@
$(LIBTRACE)/flags.traced: $(LIBTRACE)/flags
	@(cat $<; printf '%s\n' $(LIBTRACE_TRACED)) > $@
$(LIBTRACE)/recordmcount: $(BUILD)/tools/recordmcount
	$(folder)
	@cp $< $@
$(LIBTRACE)/sections.ld: trace/sections.ld
	$(folder)
	@cp $< $@
$(LIBTRACE)/LICENSE: LICENSE
	$(folder)
	@cp $< $@

# ---- `make install-libtrace PREFIX=/usr/local`: for pkg-config ----

PREFIX	 ?= /usr/local
DESTDIR	 ?=
installed := $(DESTDIR)$(abspath $(PREFIX))
lib_version = $(shell sed -n 's/.*TRACE_VERSION_TEXT *"\(.*\)"/\1/p;' trace/include/trace/version.h)

install-libtrace: libtrace $(LIBTRACE)/libtrace.pc
	$(call say,INSTALL,$(installed))
	$(Q)install -d $(addprefix $(installed)/,include/libtrace lib/libtrace lib/pkgconfig share/doc/libtrace)
	$(Q)cp -R $(LIBTRACE)/include $(LIBTRACE)/host $(installed)/include/libtrace
	$(Q)install -m 644 $(addprefix $(LIBTRACE)/,libtrace.a sections.ld) $(installed)/lib/libtrace
	$(Q)install $(LIBTRACE)/recordmcount $(installed)/lib/libtrace
	$(Q)install -m 644 $(LIBTRACE)/libtrace.pc $(installed)/lib/pkgconfig
	$(Q)install -m 644 LICENSE $(installed)/share/doc/libtrace

# The folder may be moved: all paths begin where this file is.
$(LIBTRACE)/libtrace.pc: $(LIBTRACE)/config trace/libtrace.mk trace/include/trace/version.h
	@printf '%s\n' 'prefix=$${pcfiledir}/../..' 'libdir=$${prefix}/lib/libtrace' 'includedir=$${prefix}/include/libtrace' \
		'profile=$(PROFILE)' 'traced=$(LIBTRACE_TRACED)' 'recordmcount=$${libdir}/recordmcount' '' \
		'Name: libtrace' 'Description: ftrace for kernels, profile $(PROFILE)' 'Version: $(lib_version)' \
		'Cflags: -I$${includedir}/include -I$${includedir}/host $(strip $(LIBTRACE_FLAGS))' \
		'Libs: -L$${libdir} $${libdir}/libtrace.a' > $@

# ---- `make dist-libtrace DIST=folder`: all that the rules above need, without the rest of this tree ----

DIST ?= $(BUILD)/dist-libtrace
dist_asms := $(wildcard trace/arch/x86_64/*.asm)

dist-libtrace: $(TRACE_OFFSETS)
	$(call say,DIST,$(DIST))
	$(Q)[ ! -e $(DIST) ] || [ -e $(DIST)/trace/libtrace.mk ] || { echo "$(DIST) is there, and was not made by this"; false; }
	$(Q)rm -rf $(DIST)
	$(Q)mkdir -p $(DIST)/tools $(DIST)/hosts
	$(Q)cp -R trace $(DIST)
	$(Q)cp tools/dist/* $(DIST)
	$(Q)cp -R tools/recordmcount tools/directory.mk $(DIST)/tools
	$(Q)mkdir $(DIST)/tools/common && cp tools/common/replace.[ch] $(DIST)/tools/common
	$(Q)cp LICENSE docs/porting.md $(DIST)
	$(Q)for host in tiny smp; do cp -R examples/$$host/include $(DIST)/hosts/$$host || exit; done
	$(Q)for asm in $(dist_asms); do \
		$(NASM) -f elf64 -Itrace/arch/x86_64/ -I$(dir $(TRACE_OFFSETS)) -o $(DIST)/asm.o $$asm && \
		tools/gas $(DIST)/asm.o $$(basename $$asm) > $(DIST)/$${asm%.asm}.s || exit; done
	$(Q)rm $(DIST)/asm.o

-include $(lib_objs:.o=.d)
.PHONY: libtrace install-libtrace dist-libtrace
