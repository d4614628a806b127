# $(BUILD)/tools/whynot
WHYNOT_SRCS := $(addprefix tools/whynot/,main.c code.c debuginfo.c records.c source.c table.c) \
	tools/ksyms/select.c $(addprefix tools/common/,linked.c names.c blob.c)

$(BUILD)/tools/whynot: $(WHYNOT_SRCS) $(wildcard tools/whynot/*.h tools/ksyms/*.h tools/common/*.h) \
		kernel/include/kernel/whynot_format.h
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC_CMD) $(HOST_CFLAGS) -o $@ $(WHYNOT_SRCS) -ldw -lelf
