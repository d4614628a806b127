# $(BUILD)/tools/types
TYPES_SRCS := $(addprefix tools/types/,main.c atomics.c prune.c unsure.c) \
	$(addprefix tools/common/,linked.c names.c blob.c)

$(BUILD)/tools/types: $(TYPES_SRCS) $(wildcard tools/types/*.h tools/common/*.h)
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC_CMD) $(HOST_CFLAGS) -o $@ $(TYPES_SRCS) -ldw -lelf
