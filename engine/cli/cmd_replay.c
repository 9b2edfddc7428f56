#include "cli/commands.h"

#include <errno.h>

#include "cli/common.h"
#include "cli/watch.h"

enum { OPT_FROM, OPT_TO, OPT_VIEW, OPT_NO_SETTINGS };

static const struct cli_option options[] = {
	{"from", NULL, "N", "begin with this event; what was before it is summed up", OPT_FROM},
	{"to", NULL, "N", "end with this event", OPT_TO},
	{"view", NULL, "V", "tui (default): in the terminal, gui: in a window", OPT_VIEW},
	{"no-settings", NULL, NULL, "remember nothing and look as at first", OPT_NO_SETTINGS},
	{0},
};

static int take(struct recording_args *a, enum cli_view *view, int id, const char *value,
		struct fl_error *err)
{
	if (id == CLI_POSITIONAL)
		return recording_args_path(a, value, err);
	if (id == OPT_VIEW) {
		int ret = cli_parse_view(value, view, err);

		if (!ret && !*view)
			ret = fl_error_set(err, -EINVAL, "--view", 0,
					   "none shows nothing, expected tui or gui");
		return ret;
	}
	if (id == OPT_NO_SETTINGS) {
		a->no_settings = true;
		return 0;
	}
	return recording_args_number(id == OPT_FROM ? "--from" : "--to", value,
				     id == OPT_FROM ? &a->from : &a->to, err);
}

static int cmd_replay_main(struct cli_args *args)
{
	struct fl_error err = {0};
	struct recording_args a;
	enum cli_view view = VIEW_TUI;
	const char *value;
	int id, ret;

	recording_args_init(&a);
	while ((ret = cli_next(args, &id, &value, &err)) > 0) {
		if (id == CLI_HELP)
			return cli_help(args);
		if (take(&a, &view, id, value, &err))
			return cli_fail(&err);
	}
	if (ret || watch_recording(&a, view, &err))
		return cli_fail(&err);
	return CLI_DONE;
}

const struct cli_command cmd_replay = {
	.name = "replay",
	.synopsis = "TRACE [options]",
	.summary = "Travel through a recorded run in the terminal or a window, forward and back.",
	.options = options,
	.details = "Example:\n"
		   "  foliolab run -e 'read 4k 1000' --trace t.flt\n"
		   "  foliolab replay t.flt\n"
		   "\n"
		   "Press ? for the keys. 'foliolab export' writes a recording as text.\n",
	.run = cmd_replay_main,
};
