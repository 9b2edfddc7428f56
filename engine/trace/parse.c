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

	if (is_signed ? !isdigit((unsigned char)**s) && **s != '-'
		      : !isxdigit((unsigned char)**s))
		return false;
	errno = 0;
	*ret = is_signed ? (u64)strtoll(*s, &end, base) : strtoull(*s, &end, base);
	if (errno || end == *s)
		return false;
	*s = end;
	return true;
}

static bool take_dev(const char **s, struct trace_format *fmt)
{
	u64 major, minor;

	if (!take_number(s, 10, false, &major) || **s != ':')
		return false;
	(*s)++;
	if (!take_number(s, 10, false, &minor))
		return false;
	fmt->major = major;
	fmt->minor = minor;
	return true;
}

/* Store a plain field of @ev. */
static bool set_field(struct trace_event *ev, const char *name, size_t len, u64 v)
{
	const struct {
		const char *name;
		void *p;
		size_t size;
	} fields[] = {
		{ "ino", &ev->ino, 4 },	  { "pfn", &ev->a, 4 }, { "index", &ev->index, 8 },
		{ "order", &ev->order, 1 }, { "a", &ev->a, 4 }, { "b", &ev->b, 4 },
		{ "c", &ev->c, 8 },	  { "c:s", &ev->c, 8 }, { "d", &ev->d, 8 },
		{ "e", &ev->e, 4 },	  { "f", &ev->f, 4 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strlen(fields[i].name) != len || memcmp(fields[i].name, name, len))
			continue;
		memcpy(fields[i].p, &v, fields[i].size); /* little endian hosts only, as the formats */
		return true;
	}
	return false;
}

static bool take_field(const char **s, const char *name, size_t len, struct trace_format *fmt,
		       struct trace_event *ev)
{
	bool hex = !strncmp(name, "ino", len) || !strncmp(name, "pfn", len);
	u64 v;

	if (len == 3 && !memcmp(name, "dev", 3))
		return take_dev(s, fmt);
	if (!take_number(s, hex ? 16 : 10, len == 3 && !memcmp(name, "c:s", 3), &v))
		return false;
	if (len == 3 && !memcmp(name, "ofs", 3)) {
		ev->index = v >> fmt->page_shift;
		return true;
	}
	if (len == 4 && !memcmp(name, "last", 4)) {
		ev->c = v >> fmt->page_shift;
		return true;
	}
	return set_field(ev, name, len, v);
}

int trace_parse_args(struct trace_format *fmt, const char *args, struct trace_event *ev)
{
	const char *f = trace_event_info(ev->id)->format, *s = args;

	while (*f) {
		const char *end = *f == '{' ? strchr(f, '}') : NULL;

		if (!end) {
			if (*f++ != *s++)
				return -EINVAL;
			continue;
		}
		if (!take_field(&s, f + 1, end - f - 1, fmt, ev))
			return -EINVAL;
		f = end + 1;
	}
	return ev->order < TRACE_ORDERS ? 0 : -EINVAL;
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

/* " [001] ..... 12.345678: name: args" from the bracket on. */
static const char *take_head(const char *cpu, struct trace_event *ev)
{
	const char *colon = strchr(cpu, ':'), *sec;
	unsigned long s, us;
	int n = 0;

	if (!colon)
		return NULL;
	for (sec = colon; sec > cpu && sec[-1] != ' '; sec--)
		;
	if (sscanf(sec, "%lu.%lu:%n", &s, &us, &n) != 2 || !n)
		return NULL;
	ev->ns = (u64)s * 1000000000 + us * 1000;
	ev->cpu = atoi(cpu + 1);
	return sec + n;
}

int trace_parse_line(struct trace_format *fmt, const char *line, struct trace_event *ev,
		     struct trace_line *info)
{
	const char *cpu = strstr(line, " ["), *p, *colon;
	char name[64];
	int id;

	memset(ev, 0, sizeof(*ev));
	while (*line == ' ')
		line++;
	if (!*line || *line == '#' || !cpu || !isdigit((unsigned char)cpu[2]) ||
	    !take_task(line, cpu, info))
		return 0;
	p = take_head(cpu + 1, ev);
	if (!p)
		return 0;
	while (*p == ' ')
		p++;
	colon = strchr(p, ':');
	if (!colon || colon - p >= (long)sizeof(name))
		return 0;
	memcpy(name, p, colon - p);
	name[colon - p] = 0;
	id = trace_event_by_name(name);
	if (id < 0)
		return -ENOENT;
	ev->id = id;
	for (p = colon + 1; *p == ' '; p++)
		;
	info->args = p;
	return trace_parse_args(fmt, p, ev) ? -EINVAL : 1;
}
