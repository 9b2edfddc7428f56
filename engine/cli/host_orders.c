/*
 * foliolab host orders: what of a file is cached, and in which folios.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/host_commands.h"
#include "host/cached.h"

#define MAX_ORDER_SHOWN 16
#define BAR		40

enum { OPT_FORMAT, OPT_MAP, OPT_OUTPUT };

static const struct cli_option options[] = {
	{"format", NULL, "FORMAT", "text (default) or json", OPT_FORMAT},
	{"map", NULL, NULL, "list every folio: index, order, flags", OPT_MAP},
	{"output", "o", "FILE", "write there instead of standard output", OPT_OUTPUT},
	{0},
};

struct orders_args {
	const char *path, *output;
	enum cli_format format;
	bool map, help;
};

struct orders_view {
	const struct orders_args *args;
	struct host_cached cached;
	u64 size, page_size;
};

static void flag_letters(u8 flags, char *buf)
{
	static const struct {
		u8 flag;
		char letter;
	} table[] = {
		{HOST_FOLIO_UPTODATE, 'u'}, {HOST_FOLIO_DIRTY, 'd'}, {HOST_FOLIO_REFERENCED, 'r'},
		{HOST_FOLIO_ACTIVE, 'a'},   {HOST_FOLIO_MARK, 'm'},  {HOST_FOLIO_WRITEBACK, 'w'},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		if (flags & table[i].flag)
			*buf++ = table[i].letter;
	*buf = 0;
}

static void count_orders(const struct host_cached *c, u64 *orders)
{
	memset(orders, 0, MAX_ORDER_SHOWN * sizeof(*orders));
	for (size_t i = 0; i < c->nr; i++)
		orders[min(c->folios[i].order, MAX_ORDER_SHOWN - 1)]++;
}

static void print_histogram(FILE *f, const struct host_cached *c)
{
	u64 orders[MAX_ORDER_SHOWN], most = 0;
	int last = 0;

	count_orders(c, orders);
	for (int o = 0; o < MAX_ORDER_SHOWN; o++) {
		most = max(most, orders[o]);
		if (orders[o])
			last = o;
	}
	fprintf(f, "     order : folios     distribution\n");
	for (int o = 0; o <= last; o++) {
		fprintf(f, "%10d : %-10" PRIu64 " ", o, orders[o]);
		print_bar(f, orders[o], most, BAR);
		fputc('\n', f);
	}
}

static void print_map(FILE *f, const struct host_cached *c)
{
	char letters[8];

	fprintf(f, "     index  order  flags (u uptodate, d dirty, r referenced, a active, "
		   "m readahead mark, w writeback)\n");
	for (size_t i = 0; i < c->nr; i++) {
		flag_letters(c->folios[i].flags, letters);
		if (c->exact)
			fprintf(f, "%10" PRIu64 "  %5u  %s\n", c->folios[i].index,
				c->folios[i].order, letters);
		else
			fprintf(f, "%10" PRIu64 "      ?  ?\n", c->folios[i].index);
	}
}

static void show_text(struct out *o, const void *data)
{
	const struct orders_view *v = data;
	u64 pages = (v->size + v->page_size - 1) / v->page_size;

	fprintf(o->f, "%s: %" PRIu64 " of %" PRIu64 " pages cached", v->args->path, v->cached.pages,
		pages);
	if (v->cached.dirty || v->cached.writeback)
		fprintf(o->f, ", %" PRIu64 " dirty, %" PRIu64 " under writeback", v->cached.dirty,
			v->cached.writeback);
	fputc('\n', o->f);
	if (v->cached.exact)
		print_histogram(o->f, &v->cached);
	else
		fprintf(o->f, "Folio orders and flags are unknown: /proc/kpageflags needs root "
			      "(CAP_SYS_ADMIN).\n");
	if (v->args->map)
		print_map(o->f, &v->cached);
}

static cJSON *show_json(const void *data)
{
	const struct orders_view *v = data;
	cJSON *obj = cJSON_CreateObject(), *orders, *list;
	u64 count[MAX_ORDER_SHOWN];
	char key[16], letters[8];

	cJSON_AddStringToObject(obj, "file", v->args->path);
	json_add_u64(obj, "size", v->size);
	json_add_u64(obj, "cached_pages", v->cached.pages);
	json_add_u64(obj, "dirty_pages", v->cached.dirty);
	json_add_u64(obj, "writeback_pages", v->cached.writeback);
	cJSON_AddBoolToObject(obj, "exact", v->cached.exact);
	orders = cJSON_AddObjectToObject(obj, "orders");
	count_orders(&v->cached, count);
	for (int o = 0; o < MAX_ORDER_SHOWN && v->cached.exact; o++)
		if (count[o]) {
			snprintf(key, sizeof(key), "%d", o);
			json_add_u64(orders, key, count[o]);
		}
	list = v->args->map ? cJSON_AddArrayToObject(obj, "folios") : NULL;
	for (size_t i = 0; i < v->cached.nr && list; i++) {
		cJSON *f = cJSON_CreateObject();

		json_add_u64(f, "index", v->cached.folios[i].index);
		if (v->cached.exact) {
			json_add_u64(f, "order", v->cached.folios[i].order);
			flag_letters(v->cached.folios[i].flags, letters);
			cJSON_AddStringToObject(f, "flags", letters);
		}
		cJSON_AddItemToArray(list, f);
	}
	return obj;
}

static int parse(struct cli_args *args, struct orders_args *a, struct fl_error *err)
{
	const char *value;
	int id, ret;

	while ((ret = cli_next(args, &id, &value, err)) > 0) {
		switch (id) {
		case CLI_HELP:
			a->help = true;
			return 0;
		case CLI_POSITIONAL:
			if (a->path)
				return cli_unexpected(args, value, err);
			a->path = value;
			break;
		case OPT_FORMAT:
			ret = cli_parse_format(value, &a->format, err);
			break;
		case OPT_MAP:
			a->map = true;
			break;
		case OPT_OUTPUT:
			a->output = value;
			break;
		}
		if (ret < 0)
			return ret;
	}
	if (!ret && !a->path)
		return fl_error_set(err, -EINVAL, "host orders", 0, "no file, expected FILE");
	return ret;
}

static int show_orders(const struct orders_args *a, struct fl_error *err)
{
	static const struct cli_result result = {show_text, show_json};
	struct orders_view v = {.args = a, .page_size = sysconf(_SC_PAGESIZE)};
	int fd = open(a->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;
	struct stat st;

	if (fd < 0)
		return fl_error_set(err, -errno, a->path, 0, "%s, expected a readable file",
				    strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return fl_error_set(err, -EINVAL, a->path, 0, "not a regular file, expected one");
	}
	v.size = st.st_size;
	ret = host_cached_read(fd, false, &v.cached, err);
	close(fd);
	if (!ret)
		ret = cli_show(&result, &v, a->format, a->output, err);
	host_cached_fini(&v.cached);
	return ret;
}

static int host_orders_main(struct cli_args *args)
{
	struct fl_error err = {0};
	struct orders_args a = {0};

	if (parse(args, &a, &err))
		return cli_fail(&err);
	if (a.help)
		return cli_help(args);
	return show_orders(&a, &err) ? cli_fail(&err) : CLI_DONE;
}

const struct cli_command cmd_host_orders = {
	.name = "orders",
	.group = "host",
	.synopsis = "FILE [options]",
	.summary = "The folios of FILE that are in this kernel's page cache now. Reads nothing in.",
	.options = options,
	.details =
		"With root the orders and flags come from /proc/kpageflags; without, mincore(2) and\n"
		"cachestat(2) tell which pages are cached, but not in which folios.\n"
		"\n"
		"JSON: {\"file\",\"size\",\"cached_pages\",\"dirty_pages\",\"writeback_pages\",\"exact\",\n"
		"  \"orders\": {ORDER: folios}, \"folios\": [{\"index\",\"order\",\"flags\"}] with --map}\n",
	.run = host_orders_main,
};
