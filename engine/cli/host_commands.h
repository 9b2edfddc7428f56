/*
 * cli/host_commands.h - the commands below `foliolab host`.
 */
#ifndef FL_CLI_HOST_COMMANDS_H
#define FL_CLI_HOST_COMMANDS_H

#include "cli/options.h"

extern const struct cli_command cmd_host_orders;
extern const struct cli_command cmd_host_diff;
extern const struct cli_command cmd_host_record;
extern const struct cli_command cmd_host_trace;

#endif
