# $(BUILD)/tools/ksyms
KSYMS_SRCS := $(addprefix tools/ksyms/,main.c select.c table.c) \
	$(addprefix tools/common/,linked.c names.c blob.c)

$(BUILD)/tools/ksyms: $(KSYMS_SRCS) $(wildcard tools/ksyms/*.h tools/common/*.h) kernel/include/kernel/symbols_format.h
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC_CMD) $(HOST_CFLAGS) -o $@ $(KSYMS_SRCS)
