# $(BUILD)/tools/recordmcount
RECORDMCOUNT_SRCS := $(addprefix tools/recordmcount/,main.c object.c sites.c symbols.c table.c image.c) \
	tools/common/replace.c

$(BUILD)/tools/recordmcount: $(RECORDMCOUNT_SRCS) $(wildcard tools/recordmcount/*.h) tools/common/replace.h
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC_CMD) $(HOST_CFLAGS) -o $@ $(RECORDMCOUNT_SRCS) -lelf
