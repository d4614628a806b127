# Host programs of the build, and of tools/fathom. In: BUILD, HOSTCC. Out: HOST_TOOLS, rules for $(BUILD)/tools/*.
HOSTCC ?= cc
HOST_CC_CMD ?= $(HOSTCC)
HOST_OPT ?= -O2
HOST_CFLAGS ?= -std=gnu11 $(HOST_OPT) -g -Wall -Wextra -Werror -Wshadow -Wundef -Wvla -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Itools/common -Ikernel/include

include tools/recordmcount/build.mk tools/ksyms/build.mk tools/lines/build.mk tools/sites/build.mk tools/types/build.mk tools/whynot/build.mk
include tools/mount/build.mk

HOST_TOOLS := $(addprefix $(BUILD)/tools/,recordmcount ksyms lines sites types whynot)
