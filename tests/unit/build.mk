# Unit tests on the build host: `make -f tests/unit/build.mk` builds, tests/unit/run builds and runs.
#
#   tests/unit/**/test_NAME.c     cmocka, under ASan and UBSan, with gcc; some of trace/ with clang too, optimised
#   tests/unit/**/threads_NAME.c  cmocka, under TSan (gcc)
#   tests/unit/**/step_NAME.c     cmocka, plain, with the kernel's own inline platform (tests/unit/fast)
#   tests/unit/**/sim_NAME.c      cmocka, sources of arch/ on simulated CPUs (tests/unit/sim), by gcc under UBSan
#   tests/unit/**/bare_NAME.c     cmocka, under ASan and UBSan, on a host that has hardly anything (tests/unit/bare)
#
# The first two link trace/ and the fake platform, the last one the ring profile with the defaults and that host;
# bare_events.c the profile events. Lines
# `links: a.c b.c` in a test name the sources to link instead of trace/ or the profile (from the root of the tree).
#
# With SANITISED=1 (make soak) clang's are under sanitisers as gcc's are.
#
# Every variant has its own objects: $(UNIT)/gcc, clang, tsan, fast, fastclang, sim, simclang, bare. Those that link the
# whole library compile its sources a dozen at a time ($(UNIT)/together), which takes half the time. `profiles` holds the
# symbols that each profile of trace/profiles.list needs against what its part of platform.h has, and the table in
# trace/README.md; `headers` the public headers against two languages and several hosts.

BUILD ?= build
include tools/directory.mk
UNIT  := $(BUILD)/unit
V     ?= 0
Q     := $(if $(filter 1,$(V)),,@)

include trace/files.mk
table	 := $(trace_table)
features := $(call named,features,$(table))
profiles := $(call named,profiles,$(table))

# Need libtraceevent, a second reader of raw pages. It has functions trace_seq_* of its own: those of trace.a are not to
# be taken for them, which exported symbols of a program are.
traceevent_tests := %/test_kbuffer.c %/test_event_parse.c %/test_event_lines.c %/test_synth.c %/test_probe_events.c %/test_probe_names.c \
		    %/test_probe_watch.c %/test_kprobe_events.c %/test_uprobe_events.c \
		    %/kernel/test_events.c
has_traceevent := $(wildcard /usr/include/traceevent/kbuffer.h)
traceevent = $(if $(filter $(traceevent_tests),$1),-ltraceevent -Wl$(comma)--exclude-libs$(comma)ALL)
comma	:= ,
tests	:= $(filter-out $(if $(has_traceevent),,$(traceevent_tests)),$(sort $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c)))
threads := $(sort $(wildcard tests/unit/*/threads_*.c tests/unit/*/*/threads_*.c))
steps	:= $(sort $(wildcard tests/unit/*/step_*.c tests/unit/*/*/step_*.c))
sims	:= $(sort $(wildcard tests/unit/*/sim_*.c tests/unit/*/*/sim_*.c))
bares	:= $(sort $(wildcard tests/unit/*/bare_*.c tests/unit/*/*/bare_*.c))
fakes	:= $(wildcard tests/unit/fake/*.c)
fasts	:= $(wildcard tests/unit/fast/*.c)
simulation := $(wildcard tests/unit/sim/*.c)

warn	:= -Wall -Wextra -Werror -Wshadow -Wundef -Wvla -Wstrict-prototypes -Wmissing-prototypes \
	   -Wwrite-strings
common	:= -std=gnu11 -g -mcx16 -fno-strict-aliasing -fno-common -D_GNU_SOURCE
inc	:= -Itests/unit/host -Itrace/include -iquote trace -Itests/unit -Itests/unit/fake
inc_arch := -Itrace/arch/x86_64/include -Iarch/x86_64/include/plat -Iarch/x86_64/include
# The sources of the machine's half that build anywhere, and its users.
inc_decode := -Itrace/arch/x86_64/include
inc_kernel := -Ikernel/include -iquote kernel -Iarch/x86_64/include

# The address 0 of %gs is no null pointer; gcc's check does not tell them apart.
flags_gs := -fno-sanitize=null

cc_gcc	:= gcc
cc_clang := clang
cc_tsan := gcc
cc_fast := gcc
cc_fastclang := clang
cc_sim := gcc
cc_simclang := clang
cc_bare := gcc
asan	:= -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
# gcc 12 crashes where functions that are not sanitised call others, unless it optimises; -Og compiles in three quarters of
# the time of -O1.
CFLAGS_trace/text/str.c := -O1
# Two of UBSan's checks are a quarter of the compiler's time: that a null pointer is used is seen by ASan, too, and pointers that run
# over are left to clang's (make soak).
quick_asan := $(asan) -fno-sanitize=null,pointer-overflow
flags_gcc := -Og $(quick_asan) -Itests/unit/fake/plat
# The tests themselves, and the fake platform: half the time, a quarter less without UBSan, which is for the product, and an eighth
# less with calls of ASan's functions in place of their code.
opt_gcc	:= -O0 -fno-sanitize=undefined --param asan-instrumentation-with-call-threshold=0
opt_clang := -O0
# Another compiler differs in the functions that it inlines and how it makes atomics. Sanitised it is not optimised: the
# sanitisers see accesses that the optimiser would leave out.
flags_clang := $(if $(SANITISED),-O0 $(asan),-O1 -g1 -fno-omit-frame-pointer) -Itests/unit/fake/plat
# The ring checks with a fence what it copied; the sanitiser does not know fences. Not optimised: it sees all accesses.
flags_tsan := -O0 -g1 -fsanitize=thread -Wno-tsan -Itests/unit/fake/plat
# As the kernel is built: the step tests stop at its very instructions.
flags_fast := -O2 -fno-pie -mno-red-zone -mgeneral-regs-only -fno-omit-frame-pointer -fno-stack-protector -fcf-protection=none \
	      $(inc_arch) -Itests/unit/fast
flags_fastclang := $(flags_fast) -DPAIR_STRIDE=23u
# include/ comes before the kernel's headers: it takes their place. A process has its text low, as packed addresses need.
flags_sim := -O1 -fno-pie -mno-red-zone -fno-omit-frame-pointer -fno-stack-protector -fcf-protection=none \
	     -fsanitize=undefined -fno-sanitize-recover=all -Itests/unit/sim/include $(inc_arch) -Itrace/arch/x86_64 \
	     -Iarch/x86_64 -Ikernel/include -Itests/unit/sim
flags_simclang := $(if $(SANITISED),$(flags_sim),$(filter-out -O1 -fsanitize=% -fno-sanitize-recover=all,$(flags_sim)) -O2) \
		  -Wno-unused-value
# Without any optimiser, gcc 12 takes variables that an inlined function sets for ones out of their scope.
flags_bare := -Og -fno-pie -Wno-unused-function $(quick_asan) -Itests/unit/bare/run -Itests/unit/bare/none

# LLVM's linker, where it is, or GNU's other one: a third or half of the time, of 250 programs.
linker	:= $(if $(shell command -v ld.lld),-fuse-ld=lld -Wl$(comma)--threads=1,$(if $(shell command -v ld.gold),-fuse-ld=gold))
# Programs without sanitisers are linked by gcc, whoever compiled it: it starts faster than clang.
ld_by	= $(if $(findstring -fsanitize,$(flags_$(variant))),$(cc_$(variant)),gcc)

# The objects that a test links besides itself: those it names, or all of trace/. One awk finds the `links:` of all tests, as TEST:SOURCE.
said	:= $(shell awk 'sub(/^.*links: /, "") { sub(/\*\//, ""); for (i = 1; i <= NF; i++) print FILENAME ":" $$i }' \
	$(tests) $(threads) $(steps) $(sims) $(bares))
says	= $(patsubst $1:%,%,$(filter $1:%,$(said)))
objs_of = $(or $(patsubst %.c,$(UNIT)/$1/%.o,$(wildcard $(call says,$2))),$(UNIT)/$1/$(if $(filter %/bare_events.c,$2),events,trace).a)

bin_of	= $(patsubst tests/unit/%.c,$(UNIT)/$1/bin/%,$2)
# Parsers and tables are no different with another compiler; atomics and what is inlined are: rings, ops, the map of a
# histogram, whose tests name their sources. EVERY_TEST=1 (make soak) has all of them.
say_so	:= $(sort $(foreach s,$(said),$(firstword $(subst :, ,$s))))
tests_clang := $(filter $(if $(SANITISED)$(EVERY_TEST),%,$(say_so)),$(filter tests/unit/trace/%,$(tests)))
linked	:= $(call bin_of,gcc,$(tests)) $(call bin_of,clang,$(tests_clang)) $(call bin_of,tsan,$(threads)) \
	   $(call bin_of,fast,$(steps)) $(call bin_of,fastclang,$(steps)) \
	   $(call bin_of,sim,$(sims)) $(call bin_of,simclang,$(sims)) $(call bin_of,bare,$(bares))

withouts := $(features:%=$(UNIT)/gcc/bin/trace/without_%)
bins	:= $(linked) $(withouts) $(UNIT)/gcc/bin/trace/adding

# Checks besides programs, and the variant whose objects it looks at, if any.
checks	:= headers profiles:fast

.PHONY: all list checks $(foreach c,$(checks),$(firstword $(subst :, ,$c)))
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += -r
all: $(bins)
list:
	@echo $(bins)
checks:
	@echo $(checks)

# ---- Objects: $(UNIT)/VARIANT/SOURCE.o; variant and folder say how each is compiled ----

variant	= $(firstword $(subst /, ,$*))
source	= $(patsubst $(variant)/%,%,$*).c
how_arch   = -Wconversion $(flags_$1) -Itrace/include $(inc_decode)
how_trace  = -Wconversion -ffreestanding $(flags_$1) $(CFLAGS_$<) -Itrace/include -iquote trace
how_kernel = $(flags_$1) $(flags_gs) $(inc) $(inc_kernel)
how_tests  = $(flags_$1) $(if $(filter tests/%,$<),$(opt_$1)) $(inc) $(inc_kernel) $(inc_decode)
how = $(call how_$(if $(filter trace/arch/%,$<),arch,$(if $(filter trace/%,$<),trace,$(if $(filter kernel/%,$<),kernel,tests))),$1)

# Prerequisites with $$ are expanded for each target.
.SECONDEXPANSION:
$(UNIT)/%.o: $$(source) tests/unit/build.mk
	$(folder)
	$(Q)$(cc_$(variant)) $(common) $(warn) $(call how,$(variant)) -MMD -MP -c $< -o $@

# Sources that the same features and profiles have are compiled together, twelve at most, named after the first of them: a
# word FIRST:SOURCE for each. The table of features is by itself, because some builds have another one, and tracepoint.c,
# because it gives a section its attributes, which has to come first. A static name is in one file of trace/ only
# (tools/check-names), and the kernel's build has the warnings.
together := $(shell $(call trace_awk,) $(TRACE_SRCS) $(wildcard trace/log/*.c) | tr ' ' '\n' | \
	awk -F: '$$1 !~ /defaults$$/ && $$2 ~ "/" { owners[$$2] = owners[$$2] $$1 "+" } \
		 END { for (s in owners) print owners[s] (s ~ /features.c$$|tracepoint.c$$/ ? s : "") ":" s }' | \
	LC_ALL=C sort -t: | awk -F: '$$1 != owners || ++n == 12 { owners = $$1; n = 0; first = $$2 } { print first ":" $$2 }')
firsts	:= $(sort $(foreach w,$(together),$(firstword $(subst :, ,$w))))
members	:= $(UNIT)/together/members
$(shell mkdir -p $(UNIT)/together; echo '$(together)' | cmp -s - $(members) || echo '$(together)' > $(members))
$(firsts:%=$(UNIT)/together/%): $(UNIT)/together/%: $(members)
	$(folder)
	$(Q)printf '#include "%s"\n' $(patsubst $*:%,%,$(filter $*:%,$(together))) > $@
# Of a variant, the objects of sources; those are all that a feature or a profile has.
objs_together = $(patsubst %.c,$(UNIT)/$1/together/%.o,$(filter $2,$(firsts)))
cc_profile := gcc
flags_profile = $(call profile_flags,none)
$(foreach v,gcc clang tsan bare profile/none,$(call objs_together,$v,$(firsts))): $(UNIT)/%.o: \
		$$(UNIT)/together/$$(word 2,$$(subst /together/, ,$$*)).c tests/unit/build.mk
	$(folder)
	$(Q)$(cc_$(variant)) $(common) -w -ffreestanding $(flags_$(variant)) -Itrace/include -iquote . -iquote trace -MMD -MP -c $< -o $@

# Members are linked as needed, so a test of one part does without what other parts call.
trace_objs = $(call objs_together,$1,$(TRACE_SRCS))
$(patsubst %,$(UNIT)/%/trace.a,gcc clang tsan): $(UNIT)/%/trace.a: $$(call trace_objs,$$*) trace/files.mk
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
$(UNIT)/bare/trace.a: $(call objs_together,bare,$(call named,ring,$(table))) \
		$(patsubst %.c,$(UNIT)/bare/%.o,$(call named,ring.defaults,$(table))) $(TRACE_TABLES)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# The features of some profiles are fewer: each of these has a table of them of its own.
partial := events scripts
$(partial:%=$(UNIT)/%_features/start/features.list): $(UNIT)/%_features/start/features.list: $(TRACE_TABLES) tests/unit/build.mk
	$(folder)
	$(Q)$(call trace_list,$*) > $@
$(UNIT)/bare/trace/start/features_%.o: table_flags = $(flags_bare)
$(UNIT)/fast/trace/start/features_%.o: table_flags = $(flags_fast)
$(UNIT)/profile/none/trace/start/features_%.o: table_flags = $(call profile_flags,none)
partial_tables := $(foreach p,$(partial),$(patsubst %,$(UNIT)/%/trace/start/features_$p.o,bare fast profile/none))
partial_of = $(patsubst features_%,%,$(basename $(notdir $1)))
$(partial_tables): trace/start/features.c $$(UNIT)/$$(call partial_of,$$@)_features/start/features.list
	$(folder)
	$(Q)gcc $(common) -ffreestanding $(table_flags) -iquote $(UNIT)/$(call partial_of,$@)_features -Itrace/include -iquote trace -MMD -MP -c $< -o $@
partial_srcs = $(patsubst %/features.c,%/features_$1.c,$(call named,$1,$(table)))
partial_objs = $(UNIT)/$1/trace/start/features_$2.o $(call objs_together,$1,$(filter-out %/features.c,$(call named,$2,$(table))))
$(UNIT)/bare/events.a: $(call partial_objs,bare,events) $(patsubst %.c,$(UNIT)/bare/%.o,$(call named,events.defaults,$(table))) $(TRACE_TABLES)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# ---- Programs: $(UNIT)/VARIANT/bin/TEST, of the test, of what it links, and of the variant's platform ----

platform_gcc := $(fakes)
platform_clang := $(fakes)
platform_tsan := $(fakes)
platform_fast := $(fasts)
platform_fastclang := $(fasts)
platform_sim := $(simulation)
platform_simclang := $(simulation)
platform_bare := tests/unit/bare/host.c
test	= $(patsubst $(variant)/bin/%,tests/unit/%,$*).c
parts	= $(UNIT)/$1/$(2:.c=.o) $(call objs_of,$1,$2) $(patsubst %.c,$(UNIT)/$1/%.o,$(platform_$1))
$(linked): $(UNIT)/%: $$(call parts,$$(variant),$$(test))
	$(folder)
	$(Q)$(ld_by) $(flags_$(variant)) $(linker) $(filter %.o,$^) $(filter %.a,$^) -lcmocka -lpthread $(call traceevent,$(test)) -o $@ $(if $(filter fast% sim% bare,$(variant)),-no-pie)

# The library without one of its features, FEATURE: what is left links and works, see trace/start/without.c. Each has a table of its
# own, which is plain; all else is the same, and sanitised.
without_flags = $(cc_gcc) $(common) $(warn) -O0 -g1 -Itests/unit/fake/plat -iquote $(UNIT)/without/$* $(inc)
without_objs = $(call objs_together,gcc,$(filter-out trace/start/features.c,$(call named,without_$1,$(table)))) \
	       $(patsubst %.c,$(UNIT)/gcc/%.o,tests/unit/trace/start/without.c $(fakes))
$(UNIT)/without/%/start/features.list: $(TRACE_TABLES) tests/unit/build.mk
	$(folder)
	$(Q)$(call trace_list,without_$*) > $@
$(UNIT)/without/%/features.o: trace/start/features.c $(UNIT)/without/%/start/features.list
	$(Q)$(without_flags) -MMD -MP -c $< -o $@
$(withouts): $(UNIT)/gcc/bin/trace/without_%: $(UNIT)/without/%/features.o $$(call without_objs,$$*)
	$(folder)
	$(Q)$(cc_gcc) $(flags_gcc) $(linker) $^ -lcmocka -lpthread -o $@

# The code of docs/adding.md: its blocks, each of which says in its first line which file it belongs to. door.c and visit.c get
# public headers only, and the host's; the test of all is trace/start/adding.c. The archive comes last: the table of features
# is ours.
adding	:= $(UNIT)/adding
adding_flags := $(common) $(warn) $(flags_gcc) -MMD -MP
adding_inside := -iquote $(adding) -iquote trace $(inc_kernel)
adding_names := door visit door_limit cmd_door
$(adding)/door.c: docs/adding.md tests/unit/build.mk
	@mkdir -p $(adding)/start && rm -f $(adding)/*.c
	$(Q)awk '/^```/ { is_code = $$0 == "```c"; file = ""; next } \
		is_code && !file { n = split($$2, path, "/"); file = "$(adding)/" path[n]; next } \
		is_code { print > file }' $<
$(patsubst %,$(adding)/%.c,$(filter-out door,$(adding_names))): $(adding)/door.c
$(adding)/start/features.list: trace/start/features.list $(adding)/door.c
	$(Q)sed 's!^TRACE_FEATURE(files,!TRACE_FEATURE(door, functions, tracers/door*)\n&!' $< > $@
$(adding)/door.o: $(adding)/door.c
	$(Q)$(cc_gcc) $(adding_flags) -Wno-missing-prototypes -Itrace/include -c $< -o $@
$(adding)/visit.o: $(adding)/visit.c
	$(Q)$(cc_gcc) $(adding_flags) -Wno-missing-prototypes -Itrace/include -I$(adding) -c $< -o $@
$(adding)/features.o: trace/start/features.c $(adding)/start/features.list
	$(Q)$(cc_gcc) $(adding_flags) -Itrace/include $(adding_inside) -c $< -o $@
$(adding)/%.o: $(adding)/%.c $(adding)/start/features.list
	$(Q)$(cc_gcc) $(adding_flags) -Itrace/include $(adding_inside) -c $< -o $@
$(UNIT)/gcc/bin/trace/adding: $(adding_names:%=$(adding)/%.o) $(adding)/features.o $(UNIT)/gcc/tests/unit/trace/start/adding.o \
		$(patsubst %.c,$(UNIT)/gcc/%.o,$(fakes) kernel/params.c kernel/number.c) $(UNIT)/gcc/trace.a
	$(folder)
	$(Q)$(cc_gcc) $(flags_gcc) $(linker) $(filter %.o,$^) $(filter %.a,$^) -lcmocka -lpthread -o $@

# Every public header by itself, but for those that another one includes in its middle; then all, with what a user writes
# (headers/use.c), as C and as C++, by both compilers, with warnings about conversions. Here uint64_t is unsigned long. Two
# other hosts have unsigned long long instead, and one of these has a long of 32 bits. What C++ calls has the names that
# C gives it, and structs are laid out alike. The host's headers are those of examples/tiny; examples/smp has what several
# CPUs have in place of the three for one.
all_public := $(wildcard trace/include/trace/*.h trace/arch/x86_64/include/trace/*.h)
public	:= $(filter-out %/arch_per_cpu.h,$(all_public))
public_smp := $(filter-out %/one_cpu.h %/arch_one_cpu.h,$(all_public))
alone	:= $(filter-out %/platform_ops.h %/arch_in_place.h %/arch_one_cpu.h,$(public))
check_for = -ffreestanding -Wall -Wextra -Werror -Wundef -Wconversion -Wsign-conversion -Wno-unused-function \
	   -Itrace/include -Itrace/arch/x86_64/include -Iexamples/$1/include
check	:= $(call check_for,tiny)
check_c := $(check) -std=gnu11 -x c
check_cxx := $(check) -std=c++17 -x c++
check_smp := $(call check_for,smp) -fsyntax-only $(addprefix -include ,$(public_smp))
use	:= $(UNIT)/headers_use
uses	:= $(addprefix -include ,$(public)) tests/unit/headers/use.c
headers: $(UNIT)/headers.ok
$(UNIT)/headers.ok: $(all_public) tests/unit/headers/use.c $(wildcard examples/*/include/*.h) tests/unit/build.mk
	$(folder)
	$(Q)for compiler in g++ clang++; do $$compiler $(check_smp) -std=c++17 -x c++ tests/unit/headers/use.c || exit; done
	$(Q)for compiler in gcc clang; do $$compiler $(check_smp) -std=gnu11 -x c tests/unit/headers/use.c || exit; done
	$(Q)for header in $(alone); do gcc -fsyntax-only $(check_c) -include $$header /dev/null || exit; done
	$(Q)gcc $(check_c) $(uses) -c -o $(use)_c.o
	$(Q)g++ $(check_cxx) -fno-exceptions $(uses) -c -o $(use)_cxx.o
	$(Q)for object in $(use)_c $(use)_cxx; do \
		nm -u $$object.o > $$object.calls && \
		objcopy -O binary --only-section=.use_layout $$object.o $$object.layout || exit; \
	done
	$(Q)cmp $(use)_c.layout $(use)_cxx.layout
	$(Q)! grep -vxFf $(use)_c.calls $(use)_cxx.calls
	$(Q)for target in x86_64-unknown-linux-gnu x86_64-unknown-openbsd x86_64-unknown-windows-gnu; do \
		clang -fsyntax-only --target=$$target $(check_c) $(uses) && \
		clang++ -fsyntax-only --target=$$target $(check_cxx) $(uses) || exit; \
	done
	@touch $@

# A profile's needs are the names that stay undefined: all that it calls on a host with an empty inline half. What is left to
# write for one CPU is known from that, from the defaults, which lie in an archive, and from the inline functions of one
# CPU, each in a section of its own. Not optimised: the names are the same, in half the time.
profile_flags = -w -O0 -g0 -fno-pie -fno-stack-protector -Itests/unit/bare/$1 -Itests/unit/bare/none
profile_cc = gcc $(common) -ffreestanding $(call profile_flags,$1) -Itrace/include -iquote trace -MMD -MP -c $< -o $@
$(UNIT)/profile/none/%.o: %.c tests/unit/build.mk
	$(folder)
	$(Q)$(call profile_cc,none)
$(UNIT)/profile/one_cpu.o: tests/unit/bare/one_cpu.c tests/unit/build.mk
	$(folder)
	$(Q)$(call profile_cc,one) -fkeep-inline-functions -ffunction-sections
# With the inline half of the kernel: its own objects, as its makefile makes them, and those of what it has not.
kernel_obj = $(if $(filter $(TRACE_SRCS),$1),$(BUILD)/obj/$1.notrace.o,$(UNIT)/fast/$(1:.c=.o))
.PHONY: kernel_objs
kernel_objs:
	$(Q)$(MAKE) -s -f Makefile CC=gcc $(foreach s,$(TRACE_SRCS),$(call kernel_obj,$s)) > /dev/null
$(foreach s,$(TRACE_SRCS),$(call kernel_obj,$s)): kernel_objs ;
profile_srcs = $(if $(filter $(partial),$1),$(call partial_srcs,$1),$(call named,$1,$(table)))
objs_none = $(if $(filter $(partial),$1),$(call partial_objs,profile/none,$1),$(call objs_together,profile/none,$(call named,$1,$(table))))
objs_fast = $(foreach s,$1,$(call kernel_obj,$s))
profile_defaults = $(patsubst %.c,$(UNIT)/profile/none/%.o,$(call named,$1.defaults,$(table)))
$(profiles:%=$(UNIT)/profile/%.a): $(UNIT)/profile/%.a: $$(call profile_defaults,$$*)
	$(Q)rm -f $@ && ar rcs $@ $^
$(profiles:%=$(UNIT)/profile/none/%.o): $(UNIT)/profile/none/%.o: $$(call objs_none,$$*)
	$(Q)ld -r -o $@ $^
$(profiles:%=$(UNIT)/profile/fast/%.o): $(UNIT)/profile/fast/%.o: $$(call objs_fast,$$(call profile_srcs,$$*))
	$(folder)
	$(Q)ld -r -o $@ $^
profiles: $(UNIT)/profile/one_cpu.o $(foreach p,$(profiles),$(patsubst %,$(UNIT)/profile/%/$p.o,none fast) $(UNIT)/profile/$p.a)
	$(Q)tests/unit/bare/profiles $(UNIT)/profile $(foreach p,$(profiles),$p:$(words $(call named,$p,$(table))))

-include $(shell find $(UNIT) -name '*.d' 2>/dev/null)
