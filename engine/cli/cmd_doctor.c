#include "cli/commands.h"

#include <errno.h>

#include "cli/common.h"
#include "cli/doctor.h"

static void show_text(struct out *o, const void *data)
{
	(void)data;
	doctor_print(o->f);
}

static int cmd_doctor_main(struct cli_args *args)
{
	static const struct cli_result result = {show_text, NULL};
	struct fl_error err = {0};
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, &err)) > 0) {
		if (id == CLI_HELP)
			return cli_help(args);
		if (cli_unexpected(args, value, &err))
			return cli_fail(&err);
	}
	if (!ret)
		ret = cli_show(&result, NULL, FORMAT_TEXT, NULL, &err);
	return ret ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_doctor = {
	.name = "doctor",
	.synopsis = "",
	.summary = "Say what this build, this terminal and this host can do.",
	.details =
		"One 'name: value' a line. Nothing is changed on the host, and what it does not\n"
		"allow is an answer, not an error: the exit status is 0.\n",
	.run = cmd_doctor_main,
};
