# $(BUILD)/tools/sites
SITES_SRCS := $(addprefix tools/sites/,main.c functions.c) \
	$(addprefix tools/common/,linked.c names.c replace.c)

$(BUILD)/tools/sites: $(SITES_SRCS) $(wildcard tools/sites/*.h tools/common/*.h)
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC_CMD) $(HOST_CFLAGS) -o $@ $(SITES_SRCS)
