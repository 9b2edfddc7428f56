/* Numbers and event lines as people read them. */
#include <inttypes.h>
#include <stdio.h>

#include "trace/export.h"
#include "view/tui/internal.h"

char *short_time(u64 ns, char *buf, size_t n)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned int unit = 0;
	u64 tenths = ns * 10;

	if (ns > 1ull << 60)
		tenths = 1ull << 60;
	while (tenths >= 10000 && unit < 3) {
		tenths /= 1000;
		unit++;
	}
	if (!unit || tenths >= 1000)
		snprintf(buf, n, "%" PRIu64 " %s", tenths / 10, units[unit]);
	else
		snprintf(buf, n, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
			 units[unit]);
	return buf;
}

char *short_count(u64 n, char *buf, size_t size)
{
	static const char units[] = "kMGT";
	int unit = -1;
	u64 tenths = n;

	if (n < 10000) {
		snprintf(buf, size, "%" PRIu64, n);
		return buf;
	}
	for (tenths = n / 100, unit = 0; tenths >= 10000 && unit < 3; unit++)
		tenths /= 1000;
	if (tenths >= 1000)
		snprintf(buf, size, "%" PRIu64 "%c", tenths / 10, units[unit]);
	else
		snprintf(buf, size, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10,
			 units[unit]);
	return buf;
}

void event_line(const struct scene *s, const struct trace_event *ev, tui_op_text_t op_text,
		char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s: ", trace_event_info(ev->id)->name);

	if (ev->id == EV_fl_op && op_text)
		op_text(ev, buf + n, size - n);
	else if (ev->id == EV_fl_window)
		snprintf(buf + n, size - n,
			 "start=%" PRIu64 " size=%u async_size=%u req=%" PRIu64 " max=%" PRIu64
			 " rule=%s",
			 ev->index, ev->a, ev->b, ev->c, ev->d, trace_rule_name(ev->e));
	else
		export_line(s->info, ev, buf + n, size - n);
}
