# $(BUILD)/tools/lines
LINES_SRCS := tools/lines/main.c $(addprefix tools/common/,linked.c names.c blob.c)

$(BUILD)/tools/lines: $(LINES_SRCS) $(wildcard tools/common/*.h) kernel/include/kernel/lines_format.h
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC_CMD) $(HOST_CFLAGS) -o $@ $(LINES_SRCS) -ldw -lelf
