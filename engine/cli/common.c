#include "cli/common.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strutil.h"

#define WORD_SHOWN 60 /* bytes of a wrong word repeated in a message */

int cli_fail(const struct fl_error *err)
{
	out_error(err);
	return err->code == -ENOTRECOVERABLE ? CLI_NO : CLI_BAD;
}

int cli_help(const struct cli_args *args)
{
	struct fl_error err = {0};
	struct out o;

	if (out_open(&o, NULL, &err))
		return cli_fail(&err);
	cli_usage(o.f, args->cmd);
	return out_commit(&o, &err) ? cli_fail(&err) : CLI_DONE;
}

int cli_unexpected(const struct cli_args *args, const char *word, struct fl_error *err)
{
	return fl_error_set(err, -EINVAL, NULL, 0,
			    "unexpected argument '%.*s', expected what 'foliolab %s --help' says",
			    shown_len(word, WORD_SHOWN), word, args->cmd->name);
}

/* Which of two words @value is; -EINVAL where it is neither. */
static int one_of_two(const char *option, const char *what, const char *const *names,
		      const char *value, struct fl_error *err)
{
	const struct name_list list = {what, names, 2};
	char text[sizeof(err->text)];

	for (int i = 0; i < 2; i++)
		if (!strcmp(value, names[i]))
			return i;
	return fl_error_set(err, -EINVAL, option, 0, "%s",
			    describe_unknown(text, sizeof(text), value, &list));
}

int cli_parse_format(const char *value, enum cli_format *ret, struct fl_error *err)
{
	static const char *const names[] = {"text", "json"};
	int nr = one_of_two("--format", "format", names, value, err);

	if (nr < 0)
		return nr;
	*ret = nr;
	return 0;
}

int cli_parse_number(const char *option, const char *value, u64 most, u64 *ret,
		     struct fl_error *err)
{
	char *end;
	u64 v;

	errno = 0;
	v = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || v < 1 || v > most)
		return fl_error_set(err, -EINVAL, option, 0,
				    "'%.40s', expected a number from 1 to %" PRIu64, value, most);
	*ret = v;
	return 0;
}

int cli_parse_view(const char *value, enum cli_view *ret, struct fl_error *err)
{
	static const char *const names[] = {"none", "tui", "gui"};
	const struct name_list list = {"view", names, ARRAY_SIZE(names)};
	char text[sizeof(err->text)];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(value, names[i])) {
			*ret = i;
			return 0;
		}
	return fl_error_set(err, -EINVAL, "--view", 0, "%s",
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
