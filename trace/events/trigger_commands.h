/*
 * Tables of trigger commands, each ended by one without a name, for trace_triggers_register().
 */
#ifndef TRACE_TRIGGER_COMMANDS_H
#define TRACE_TRIGGER_COMMANDS_H

#include "trigger.h"

extern const struct trace_trigger_command trace_event_triggers[]; /* trigger_commands.c */

#endif
