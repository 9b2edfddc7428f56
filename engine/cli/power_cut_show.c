#include "cli/power_cut_show.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/out.h"
#include "lab/power_cut.h"
#include "lib/json.h"

struct shown {
	const struct run_args *args;
	struct power_cut cut;
};

static void show_rows(struct out *o, const struct power_cut *p)
{
	char op[160];

	fprintf(o->f, "\n%6s  %-28s %12s %12s\n", "line", "write", "bytes", "survive");
	for (size_t i = 0; i < p->nr_rows; i++) {
		const struct power_cut_row *r = &p->rows[i];

		workload_format_op(&r->op, op, sizeof(op));
		fprintf(o->f, "%6" PRIu32 "  %-28s %12" PRIu64 " %12" PRIu64 "%s\n", r->op.line, op,
			r->bytes, r->survived, r->synced ? "  fsynced" : "");
	}
	fprintf(o->f,
		"elsewhere %" PRIu64 " zeros, %" PRIu64 " other bytes; %" PRIu64
		" bytes behind the end are gone\n",
		p->zeros, p->others, p->bytes_lost);
}

static void show_text(struct out *o, const void *data)
{
	const struct shown *s = data;
	const struct run_config *c = &s->args->machine.config;
	const struct power_cut *p = &s->cut;
	char op[160] = "";

	fprintf(o->f, "Linux %s: %s, the power goes out with write %" PRIu64 " of the disk\n",
		c->machine.kernel, c->fs, c->power_cut);
	if (!p->out) {
		fprintf(o->f, "Power:    never went out: the disk completed %" PRIu64 " writes\n",
			p->writes);
		return;
	}
	workload_format_op(&p->op, op, sizeof(op));
	fprintf(o->f, "Power:    went out in line %" PRIu32 ", %s\n", p->op.line, op);
	fprintf(o->f,
		"Journal:  %" PRIu32 " transactions replayed, %u blocks brought home, %u revoked\n",
		p->recovery.end_transaction - p->recovery.start_transaction, p->recovery.nr_replays,
		p->recovery.nr_revoke_hits);
	fprintf(o->f, "File:     %" PRId64 " bytes of %" PRId64 ", %u extents%s\n", p->size_after,
		p->size_before, p->extents, p->bad_groups ? "; its bitmaps are wrong" : "");
	show_rows(o, p);
}

static bool add_row(cJSON *rows, const struct power_cut_row *r)
{
	cJSON *obj = cJSON_CreateObject();
	char op[160];

	workload_format_op(&r->op, op, sizeof(op));
	cJSON_AddNumberToObject(obj, "line", r->op.line);
	cJSON_AddStringToObject(obj, "operation", op);
	json_add_u64(obj, "bytes", r->bytes);
	json_add_u64(obj, "survived", r->survived);
	cJSON_AddBoolToObject(obj, "fsynced", r->synced);
	return cJSON_AddItemToArray(rows, obj);
}

static void add_rest(cJSON *obj, const struct power_cut *p)
{
	cJSON *rows = cJSON_AddArrayToObject(obj, "rows");
	char op[160];

	workload_format_op(&p->op, op, sizeof(op));
	cJSON_AddNumberToObject(obj, "line", p->op.line);
	cJSON_AddStringToObject(obj, "operation", op);
	json_add_u64(obj, "transactions",
		     p->recovery.end_transaction - p->recovery.start_transaction);
	json_add_u64(obj, "blocks", p->recovery.nr_replays);
	json_add_u64(obj, "revoked", p->recovery.nr_revoke_hits);
	json_add_u64(obj, "size_before", p->size_before);
	json_add_u64(obj, "size_after", p->size_after);
	json_add_u64(obj, "extents", p->extents);
	for (size_t i = 0; i < p->nr_rows; i++)
		add_row(rows, &p->rows[i]);
	json_add_u64(obj, "zeros", p->zeros);
	json_add_u64(obj, "others", p->others);
	json_add_u64(obj, "lost", p->bytes_lost);
}

static cJSON *show_json(const void *data)
{
	const struct shown *s = data;
	const struct run_config *c = &s->args->machine.config;
	cJSON *obj = cJSON_CreateObject();

	cJSON_AddStringToObject(obj, "kernel", c->machine.kernel);
	cJSON_AddStringToObject(obj, "fs", c->fs);
	json_add_u64(obj, "power_cut", c->power_cut);
	cJSON_AddBoolToObject(obj, "out", s->cut.out);
	json_add_u64(obj, "writes", s->cut.writes);
	if (s->cut.out)
		add_rest(obj, &s->cut);
	return obj;
}

int power_cut_run(const struct run_args *a, const struct workload *w, struct fl_error *err)
{
	static const struct cli_result result = {show_text, show_json};
	struct shown s = {.args = a};
	int ret;

	if (a->view || a->serve || a->trace || a->measure || a->perf || a->folded)
		return fl_error_set(err, -EINVAL, "--power-cut", 0,
				    "it shows what survives, expected no --trace, --view, --serve, "
				    "--measure, --perf or --folded");
	ret = power_cut_play(&a->machine.config, w, &s.cut, err);
	if (!ret)
		ret = cli_show(&result, &s, a->format, a->output, err);
	power_cut_fini(&s.cut);
	return ret;
}
