/*
 * cli/commands.h - every command once: its table row lives in its own file.
 */
#ifndef FL_CLI_COMMANDS_H
#define FL_CLI_COMMANDS_H

#include "cli/options.h"

extern const struct cli_command cmd_lab;
extern const struct cli_command cmd_grade;
extern const struct cli_command cmd_run;
extern const struct cli_command cmd_compare;
extern const struct cli_command cmd_sweep;
extern const struct cli_command cmd_golden;
extern const struct cli_command cmd_bench;
extern const struct cli_command cmd_replay;
extern const struct cli_command cmd_attach;
extern const struct cli_command cmd_export;
extern const struct cli_command cmd_import;
extern const struct cli_command cmd_ext4;
extern const struct cli_command cmd_kernels;
extern const struct cli_command cmd_doctor;
extern const struct cli_command cmd_host;
extern const struct cli_command cmd_calibrate;
extern const struct cli_command cmd_struct;
extern const struct cli_command cmd_where;
extern const struct cli_command cmd_names;

#endif
