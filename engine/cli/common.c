#include "cli/common.h"

#include <errno.h>
#include <string.h>

#include "lib/strutil.h"

#define WORD_SHOWN 60 /* bytes of a wrong word repeated in a message */

int cli_fail(const struct fl_error *err)
{
	out_error(err);
	return CLI_BAD;
}

int cli_help(const struct cli_args *args)
{
	cli_usage(stdout, args->cmd);
	return CLI_DONE;
}

int cli_unexpected(const struct cli_args *args, const char *word, struct fl_error *err)
{
	return fl_error_set(err, -EINVAL, NULL, 0,
			    "unexpected argument '%.*s', expected what 'foliolab %s --help' says",
			    shown_len(word, WORD_SHOWN), word, args->cmd->name);
}

int cli_parse_format(const char *value, enum cli_format *ret, struct fl_error *err)
{
	static const char *const names[] = {"text", "json"};
	const struct name_list list = {"format", names, ARRAY_SIZE(names)};
	char text[sizeof(err->text)];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(value, names[i])) {
			*ret = i;
			return 0;
		}
	}
	return fl_error_set(err, -EINVAL, "--format", 0, "%s",
			    describe_unknown(text, sizeof(text), value, &list));
}

static int show_json(const struct cli_result *result, const void *data, struct out *o,
		     struct fl_error *err)
{
	cJSON *obj = result->json(data);
	int ret = obj ? out_json(o, obj) : -ENOMEM;

	cJSON_Delete(obj);
	return ret ? fl_error_set(err, ret, NULL, 0, "out of memory") : 0;
}

int cli_show(const struct cli_result *result, const void *data, enum cli_format format,
	     const char *path, struct fl_error *err)
{
	struct out o;
	int ret = out_open(&o, path, err);

	if (ret)
		return ret;
	if (format == FORMAT_TEXT)
		result->text(&o, data);
	else
		ret = show_json(result, data, &o, err);
	if (ret) {
		out_abort(&o);
		return ret;
	}
	return out_commit(&o, err);
}
