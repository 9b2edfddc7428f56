#include "trace/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number at *s; moves behind it. Hexadecimal and signed as the field wants. */
static bool take_number(const char **s, int base, bool is_signed, u64 *ret)
{
	char *end;

	if (is_signed ? !isdigit((unsigned char)**s) && **s != '-' : !isxdigit((unsigned char)**s))
		return false;
	errno = 0;
	*ret = is_signed ? (u64)strtoll(*s, &end, base) : strtoull(*s, &end, base);
	if (errno || end == *s)
		return false;
	*s = end;
	return true;
}

static bool take_dev(const char **s, char separator, struct trace_format *fmt)
{
	u64 major, minor;

	if (!take_number(s, 10, false, &major) || **s != separator)
		return false;
	(*s)++;
	if (!take_number(s, 10, false, &minor))
		return false;
	fmt->major = major;
	fmt->minor = minor;
	return true;
}

/* Store a plain field of @ev; what is too large becomes the largest there is room for. */
static bool set_field(struct trace_event *ev, const char *name, u64 v)
{
	const struct {
		const char *name;
		void *p;
		size_t size;
	} fields[] = {
		{"pfn", &ev->a, 4}, {"index", &ev->index, 8}, {"order", &ev->order, 1},
		{"a", &ev->a, 4},   {"b", &ev->b, 4},	      {"c", &ev->c, 8},
		{"c:s", &ev->c, 8}, {"d", &ev->d, 8},	      {"e", &ev->e, 4},
		{"f", &ev->f, 4},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(fields[i].name, name))
			continue;
		if (fields[i].size < 8)
			v = min_t(u64, v, (1ull << 8 * fields[i].size) - 1);
		memcpy(fields[i].p, &v,
		       fields[i].size); /* little endian hosts only, as the formats */
		return true;
	}
	return false;
}

/* "R", "RA", "WFS": letters of which one may be the W of a write. */
static bool take_rw(const char **s, struct trace_event *ev)
{
	const char *p = *s;

	for (; isupper((unsigned char)*p); p++)
		if (*p == 'W')
			ev->b = 1;
	if (p == *s)
		return false;
	*s = p;
	return true;
}

/* What @name says of the text at *s, as far as it is not a plain number. 1, 0, or -1 for another.
 */
static int take_special(const char **s, const char *name, struct trace_format *fmt,
			struct trace_event *ev)
{
	if (!strcmp(name, "dev"))
		return take_dev(s, ':', fmt);
	if (!strcmp(name, "dev:c"))
		return take_dev(s, ',', fmt);
	if (!strcmp(name, "rw"))
		return take_rw(s, ev);
	return -1;
}

static bool take_field(const char **s, const char *name, struct trace_format *fmt,
		       struct trace_event *ev)
{
	bool hex = !strcmp(name, "ino") || !strcmp(name, "pfn");
	int special = take_special(s, name, fmt, ev);
	u64 v;

	if (special >= 0)
		return special;
	if (!take_number(s, hex ? 16 : 10, !strcmp(name, "c:s"), &v))
		return false;
	if (!strcmp(name, "bytes"))
		return true;
	if (!strcmp(name, "ofs")) {
		ev->index = v >> fmt->page_shift;
		return true;
	}
	if (!strcmp(name, "last")) {
		ev->c = v >> fmt->page_shift;
		return true;
	}
	if (!strncmp(name, "ino", 3)) {
		fmt->ino = v;
		ev->ino = (u32)v ? (u32)v : v != 0; /* 0 would be no file */
		return true;
	}
	return set_field(ev, name, v);
}

/* Anything up to the character that follows in the format. */
static bool skip_text(const char **s, char end)
{
	const char *p = strchr(*s, end);

	if (!p || !end)
		return false;
	*s = p;
	return true;
}

static int parse_as(const char *f, struct trace_format *fmt, const char *s, struct trace_event *ev)
{
	while (*f) {
		const char *end = *f == '{' ? strchr(f, '}') : NULL;
		char name[32];

		if (!end) {
			if (*f++ != *s++)
				return -EINVAL;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(end - f - 1), f + 1);
		if (!strncmp(name, "x:", 2) ? !skip_text(&s, end[1])
					    : !take_field(&s, name, fmt, ev))
			return -EINVAL;
		f = end + 1;
	}
	return ev->order < TRACE_ORDERS ? 0 : -EINVAL;
}

/* How kernels before v6.1 printed some events: without an order, with a pointer. */
static const struct {
	u16 id;
	const char *format;
} older_formats[] = {
	{EV_mm_filemap_add_to_page_cache,
	 "dev {dev} ino {ino} page={x:} pfn=0x{pfn} ofs={ofs} order={order}"},
	{EV_mm_filemap_add_to_page_cache, "dev {dev} ino {ino} page={x:} pfn={a} ofs={ofs}"},
	{EV_mm_filemap_delete_from_page_cache,
	 "dev {dev} ino {ino} page={x:} pfn=0x{pfn} ofs={ofs} order={order}"},
	{EV_mm_filemap_delete_from_page_cache, "dev {dev} ino {ino} page={x:} pfn={a} ofs={ofs}"},
};

int trace_parse_args(struct trace_format *fmt, const char *args, struct trace_event *ev)
{
	const struct trace_event fresh = *ev;

	if (!parse_as(trace_event_info(ev->id)->format, fmt, args, ev))
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(older_formats); i++) {
		if (older_formats[i].id != fresh.id)
			continue;
		*ev = fresh;
		if (!parse_as(older_formats[i].format, fmt, args, ev))
			return 0;
	}
	return -EINVAL;
}

/* "comm-pid": the last dash counts, commands have dashes too. */
static bool take_task(const char *line, const char *cpu, struct trace_line *info)
{
	const char *dash = cpu;
	size_t len;

	while (dash > line && *--dash != '-')
		;
	if (*dash != '-')
		return false;
	while (line < dash && *line == ' ')
		line++;
	len = min_t(size_t, dash - line, sizeof(info->comm) - 1);
	memcpy(info->comm, line, len);
	info->comm[len] = 0;
	info->pid = atoi(dash + 1);
	return true;
}

/* The fraction of a second in ns, whatever number of digits a clock prints; NULL if it is none. */
static const char *take_fraction(const char *p, u64 *ns)
{
	u64 unit = 1000000000;

	*ns = 0;
	if (*p++ != '.' || !isdigit((unsigned char)*p))
		return NULL;
	for (; isdigit((unsigned char)*p); p++) {
		unit /= 10;
		*ns += unit * (*p - '0');
	}
	return *p == ':' ? p + 1 : NULL;
}

/* " [001] ..... 12.345678: name: args" from the bracket on; returns what follows the time. */
static const char *take_head(const char *cpu, struct trace_event *ev)
{
	const char *colon = strchr(cpu, ':'), *sec;
	u64 s, ns;

	if (!colon)
		return NULL;
	for (sec = colon; sec > cpu && sec[-1] != ' '; sec--)
		;
	if (!isdigit((unsigned char)*sec) || !take_number(&sec, 10, false, &s) || s >> 32)
		return NULL;
	sec = take_fraction(sec, &ns);
	ev->ns = s * 1000000000 + ns;
	ev->cpu = atoi(cpu + 1);
	return sec;
}

/* "name: args"; fills info->name and info->args. */
static bool take_name(const char *p, struct trace_line *info)
{
	const char *colon;

	while (*p == ' ')
		p++;
	colon = strchr(p, ':');
	if (!colon || colon == p || colon - p >= (long)sizeof(info->name))
		return false;
	memcpy(info->name, p, colon - p);
	info->name[colon - p] = 0;
	for (p = colon + 1; *p == ' '; p++)
		;
	info->args = p;
	return true;
}

int trace_parse_line(struct trace_format *fmt, const char *line, struct trace_event *ev,
		     struct trace_line *info)
{
	const char *cpu, *p;
	int id;

	memset(ev, 0, sizeof(*ev));
	fmt->major = fmt->minor = 0;
	fmt->ino = 0;
	info->name[0] = 0;
	while (*line == ' ')
		line++;
	cpu = strstr(line, " [");
	if (!*line || *line == '#' || !cpu || !isdigit((unsigned char)cpu[2]) ||
	    !take_task(line, cpu, info))
		return 0;
	p = take_head(cpu + 1, ev);
	if (!p || !take_name(p, info))
		return 0;
	id = trace_event_by_name(info->name);
	if (id < 0)
		return -ENOENT;
	ev->id = id;
	return trace_parse_args(fmt, info->args, ev) ? -EINVAL : 1;
}
