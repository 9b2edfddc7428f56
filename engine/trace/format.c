#include "trace/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text {
	char *buf;
	size_t size, len;
};

static void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->len + 1 >= t->size)
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len = min(t->len + n, t->size - 1);
}

enum field {
	F_DEV,
	F_DEVC,
	F_INO,
	F_INOD,
	F_PFN,
	F_INDEX,
	F_OFS,
	F_LAST,
	F_ORDER,
	F_A,
	F_B,
	F_C,
	F_CS,
	F_D,
	F_E,
	F_F,
	F_RW,
	F_BYTES,
	F_NR
};

static const char *const field_names[F_NR] = {
	[F_DEV] = "dev", [F_DEVC] = "dev:c",  [F_INO] = "ino",	   [F_INOD] = "ino:d",
	[F_RW] = "rw",	 [F_BYTES] = "bytes", [F_PFN] = "pfn",	   [F_INDEX] = "index",
	[F_OFS] = "ofs", [F_LAST] = "last",   [F_ORDER] = "order", [F_A] = "a",
	[F_B] = "b",	 [F_C] = "c",	      [F_CS] = "c:s",	   [F_D] = "d",
	[F_E] = "e",	 [F_F] = "f",
};

static enum field field_by_name(const char *name, size_t len)
{
	enum field f;

	for (f = 0; f < F_NR; f++)
		if (strlen(field_names[f]) == len && !memcmp(field_names[f], name, len))
			break;
	return f;
}

static void add_field(struct text *t, enum field f, const struct trace_format *fmt,
		      const struct trace_event *ev)
{
	switch (f) {
	case F_DEV:
		text_add(t, "%u:%u", fmt->major, fmt->minor);
		break;
	case F_DEVC:
		text_add(t, "%u,%u", fmt->major, fmt->minor);
		break;
	case F_INOD:
		text_add(t, "%u", ev->ino);
		break;
	case F_RW:
		text_add(t, "%s", ev->b ? "W" : "R");
		break;
	case F_BYTES:
		text_add(t, "%" PRIu64, (u64)ev->a << 9);
		break;
	case F_INO:
		text_add(t, "%x", ev->ino);
		break;
	case F_PFN:
		text_add(t, "%x", ev->a);
		break;
	case F_OFS:
		text_add(t, "%" PRIu64, ev->index << fmt->page_shift);
		break;
	case F_LAST:
		text_add(t, "%" PRIu64, ((ev->c + 1) << fmt->page_shift) - 1);
		break;
	case F_CS:
		text_add(t, "%" PRId64, (s64)ev->c);
		break;
	default: {
		const u64 value[F_NR] = {
			[F_INDEX] = ev->index, [F_ORDER] = ev->order, [F_A] = ev->a, [F_B] = ev->b,
			[F_C] = ev->c,	       [F_D] = ev->d,	      [F_E] = ev->e, [F_F] = ev->f,
		};

		text_add(t, "%" PRIu64, value[f]);
	}
	}
}

size_t trace_format_event(const struct trace_format *fmt, const struct trace_event *ev, char *buf,
			  size_t size)
{
	const struct trace_event_info *info = trace_event_info(ev->id);
	struct text t = {.buf = buf, .size = size};

	if (size)
		buf[0] = 0;
	for (const char *p = info ? info->format : ""; *p; p++) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;
		enum field f = end ? field_by_name(p + 1, end - p - 1) : F_NR;

		if (f != F_NR) {
			add_field(&t, f, fmt, ev);
		} else if (end && !strncmp(p, "{x:", 3)) {
			text_add(&t, "%.*s", (int)(end - p - 3), p + 3);
		} else {
			text_add(&t, "%c", *p);
			continue;
		}
		p = end;
	}
	return t.len;
}
