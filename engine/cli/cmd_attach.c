#include "cli/commands.h"

#include <errno.h>

#include "cli/common.h"
#include "cli/watch.h"

enum { OPT_VIEW, OPT_NO_SETTINGS };

static const struct cli_option options[] = {
	{"view", NULL, "V", "tui (default): in the terminal, gui: in a window", OPT_VIEW},
	{"no-settings", NULL, NULL, "remember nothing and look as at first", OPT_NO_SETTINGS},
	{0},
};

struct attach_args {
	const char *socket;
	enum cli_view view;
	bool no_settings, help;
};

static int take(struct attach_args *a, const struct cli_args *args, int id, const char *value,
		struct fl_error *err)
{
	switch (id) {
	case CLI_HELP:
		a->help = true;
		return 0;
	case CLI_POSITIONAL:
		if (a->socket)
			return cli_unexpected(args, value, err);
		a->socket = value;
		return 0;
	case OPT_VIEW:
		return cli_parse_view(value, &a->view, err);
	default:
		a->no_settings = true;
		return 0;
	}
}

static int cmd_attach_main(struct cli_args *args)
{
	struct attach_args a = {.view = VIEW_TUI};
	struct fl_error err = {0};
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, &err)) > 0) {
		if (take(&a, args, id, value, &err))
			return cli_fail(&err);
		if (a.help)
			return cli_help(args);
	}
	if (!ret && !a.socket)
		ret = fl_error_set(&err, -EINVAL, NULL, 0,
				   "no SOCKET, expected that of 'foliolab run --serve SOCKET'");
	if (!ret && !a.view)
		ret = fl_error_set(&err, -EINVAL, "--view", 0,
				   "'none' shows nothing, expected tui or gui");
	if (ret || watch_attached(a.socket, a.view, a.no_settings, &err))
		return cli_fail(&err);
	return CLI_DONE;
}

const struct cli_command cmd_attach = {
	.name = "attach",
	.synopsis = "SOCKET [options]",
	.summary = "Look on at a run that is served, in a second view that moves with the first.",
	.options = options,
	.details = "Whoever moves, moves all. A lecturer steps in the terminal and projects the "
		   "window:\n"
		   "  foliolab run FILE.wl --view tui --serve /tmp/lecture\n"
		   "  foliolab attach /tmp/lecture --view gui\n"
		   "\n"
		   "The socket is its owner's alone.\n",
	.run = cmd_attach_main,
};
