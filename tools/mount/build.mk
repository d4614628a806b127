# $(BUILD)/tools/mount, on libfuse3, which a build of the kernel does not need, and what `tools/fathom shell` preloads:
# `make host-tools`.
MOUNT_SRCS := $(addprefix tools/mount/,main.c task.c files.c files_open.c files_io.c files_poll.c node.c client.c)

$(BUILD)/tools/mount: $(MOUNT_SRCS) $(wildcard tools/mount/*.h)
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC_CMD) $(HOST_CFLAGS) -D_GNU_SOURCE -isystem /usr/include/fuse3 -o $@ $(MOUNT_SRCS) -lfuse3

$(BUILD)/tools/splice.so: tools/mount/splice.c
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC_CMD) $(HOST_CFLAGS) -D_GNU_SOURCE -fPIC -shared -o $@ $<
