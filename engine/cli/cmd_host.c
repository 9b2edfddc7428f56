/*
 * foliolab host: the real kernel, live.
 */
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/host_commands.h"

static const struct cli_command *const commands[] = {
	&cmd_host_orders,
	&cmd_host_diff,
	&cmd_host_record,
	&cmd_host_trace,
};

static int cmd_host_main(struct cli_args *args)
{
	struct fl_error err = {0};
	const struct cli_command *cmd;
	struct cli_args sub;
	const char *word = args->argc ? args->argv[0] : "--help";

	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return cli_help(args);
	cmd = cli_find_command(word, commands, ARRAY_SIZE(commands), &err);
	if (!cmd)
		return cli_fail(&err);
	cli_args_init(&sub, cmd, args->argc - 1, args->argv + 1);
	return cmd->run(&sub);
}

const struct cli_command cmd_host = {
	.name = "host",
	.synopsis = "orders|diff|record|trace ...",
	.summary = "Look at the page cache of the kernel you are running, and hold the miniature "
		   "against it.",
	.details =
		"  host orders FILE                  the folios of FILE that are cached now\n"
		"  host diff WORKLOAD --file PATH    the same operations on both, folio by folio\n"
		"  host record WORKLOAD --file PATH  write down what the kernel does\n"
		"  host trace -- COMMAND             record its tracepoints while COMMAND runs\n"
		"\n"
		"Each has a --help of its own. Folio orders and tracepoints need root; what can be\n"
		"told without is told. Files are only read, settings of the host are not changed.\n",
	.run = cmd_host_main,
};
