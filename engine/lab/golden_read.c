/*
 * Reading recordings.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/golden.h"

/* More than any recording has; what is larger is not one. */
#define GOLDEN_MAX_LINE	 4096
#define GOLDEN_MAX_COUNT (1u << 24)
#define GOLDEN_MAX_INDEX (1ULL << 51)

void golden_reader_init(struct golden_reader *r, const char *name, const char *text, size_t len)
{
	*r = (struct golden_reader){.name = name, .pos = text, .end = text + len};
}

static int grow(void **array, size_t *cap, size_t nr, size_t size)
{
	size_t want = *cap ? 2 * *cap : 64;
	void *p;

	if (nr < *cap)
		return 0;
	p = realloc(*array, want * size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = want;
	return 0;
}

static int bad(const struct golden_reader *r, struct fl_error *err, const char *line,
	       const char *expected)
{
	return fl_error_set(err, -EINVAL, r->name, r->line, "'%.60s', expected %s", line, expected);
}

/* The next line into @buf; 1, 0 at the end, -EINVAL if it is too long. */
static int next_line(struct golden_reader *r, char *buf, const char **start, struct fl_error *err)
{
	const char *nl;
	size_t len;

	if (r->pos >= r->end)
		return 0;
	nl = memchr(r->pos, '\n', r->end - r->pos);
	len = (nl ? nl : r->end) - r->pos;
	r->line++;
	if (len >= GOLDEN_MAX_LINE || memchr(r->pos, 0, len))
		return fl_error_set(err, -EINVAL, r->name, r->line,
				    "a line of %zu bytes or with a NUL, expected text", len);
	memcpy(buf, r->pos, len);
	buf[len] = 0;
	*start = r->pos;
	r->pos = nl ? nl + 1 : r->end;
	return 1;
}

/* Cut a trailing " xN" off; returns N or 1, 0 if it is out of bounds. */
static u64 cut_repeat(char *line)
{
	char *x = strrchr(line, ' '), *end;
	unsigned long n;

	if (!x || x[1] != 'x' || !isdigit((unsigned char)x[2]))
		return 1;
	errno = 0;
	n = strtoul(x + 2, &end, 10);
	if (*end)
		return 1;
	*x = 0;
	return errno || n > GOLDEN_MAX_COUNT ? 0 : n;
}

/* "INDEX ORDER" at @s; the rest after it goes to *rest. */
static bool parse_place(char *s, u64 *index, u8 *order, char **rest)
{
	unsigned long o;
	char *end;

	errno = 0;
	*index = strtoull(s, &end, 10);
	if (errno || end == s || *end != ' ' || *index > GOLDEN_MAX_INDEX)
		return false;
	s = end + 1;
	o = strtoul(s, &end, 10);
	if (errno || end == s || o > 15 || *index & ((1UL << o) - 1))
		return false;
	*order = o;
	*rest = end;
	return true;
}

static int add_change(struct golden_run *run, struct golden_change c)
{
	int ret = grow((void **)&run->changes, &run->cap_changes, run->nr_changes, sizeof(c));

	if (ret)
		return ret;
	run->changes[run->nr_changes++] = c;
	run->ops[run->nr_ops - 1].nr_changes++;
	return 0;
}

static int read_change(struct golden_reader *r, struct golden_run *run, char *line,
		       struct fl_error *err)
{
	struct golden_change c = {.sign = line[0]};
	u64 count = cut_repeat(line);
	char *rest;

	if (!run->nr_ops || line[1] != ' ' || !count ||
	    !parse_place(line + 2, &c.index, &c.order, &rest) || *rest)
		return bad(r, err, line, "'+ INDEX ORDER [xN]' under an operation");
	c.count = count;
	return add_change(run, c);
}

static int read_state(struct golden_reader *r, struct golden_run *run, char *line,
		      struct fl_error *err)
{
	struct golden_state s = {0};
	u64 count = cut_repeat(line);
	char *rest;
	int ret;

	if (line[1] != ' ' || !count || !parse_place(line + 2, &s.index, &s.order, &rest) ||
	    *rest != ' ')
		return bad(r, err, line, "'= INDEX ORDER FLAGS [xN]'");
	s.count = count;
	for (rest++; *rest; rest++) {
		s.flags |= *rest == 'u'	  ? GOLDEN_UPTODATE
			   : *rest == 'd' ? GOLDEN_DIRTY
			   : *rest == 'm' ? GOLDEN_MARK
					  : 0;
		if (!strchr("udram.", *rest))
			return bad(r, err, line, "flags out of 'udram.'");
	}
	ret = grow((void **)&run->states, &run->cap_states, run->nr_states, sizeof(s));
	if (ret)
		return ret;
	run->states[run->nr_states++] = s;
	return 0;
}

/* "# page_cache_sync_ra ..." is kept as it stands in the text. */
static int read_trace(struct golden_run *run, const char *line, const char *start)
{
	int ret;

	if (!run->nr_ops || line[1] != ' ')
		return 0;
	ret = grow((void **)&run->traces, &run->cap_traces, run->nr_traces, sizeof(*run->traces));
	if (ret)
		return ret;
	run->traces[run->nr_traces] = start + 2;
	return add_change(run, (struct golden_change){.sign = '#', .index = run->nr_traces++});
}

/* "> OP ..." ; "> end" has no operation and returns 0 with nothing added. */
static int read_op(struct golden_reader *r, struct golden_run *run, char *line,
		   struct fl_error *err)
{
	struct golden_op op = {.first_change = run->nr_changes};
	int ret;

	if (line[1] != ' ')
		return bad(r, err, line, "'> OPERATION [xN]'");
	op.repeat = cut_repeat(line);
	if (!op.repeat)
		return bad(r, err, line, "a repeat count below 2^24");
	if (!strcmp(line + 2, "end")) {
		run->ended = true;
		return 0;
	}
	op.op.line = r->line;
	ret = workload_parse_op(&op.op, r->name, line + 2, strlen(line + 2), err);
	if (ret <= 0)
		return ret ? ret : bad(r, err, line, "an operation");
	ret = grow((void **)&run->ops, &run->cap_ops, run->nr_ops, sizeof(op));
	if (ret)
		return ret;
	run->ops[run->nr_ops++] = op;
	return 0;
}

static bool copy_word(char *dst, size_t size, const char *src)
{
	size_t len = strlen(src);

	if (!len || len >= size)
		return false;
	memcpy(dst, src, len + 1);
	return true;
}

static bool read_number(const char *s, u64 max, u64 *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(s, &end, 10);
	return isdigit((unsigned char)*s) && !*end && !errno && *ret <= max;
}

static bool read_file_line(struct golden_run *run, char *s)
{
	char *size = strchr(s, ' ');
	u64 n;

	if (!size)
		return false;
	*size++ = 0;
	if (!copy_word(run->file, sizeof(run->file), s) || !read_number(size, INT64_MAX, &n))
		return false;
	run->size = n;
	return true;
}

/* "kernel ...", "fs ...", "file NAME SIZE", "ra_pages N", "io_pages N". */
static bool read_header_line(struct golden_run *run, char *line)
{
	char *value = strchr(line, ' ');

	if (!value)
		return false;
	*value++ = 0;
	if (!strcmp(line, "kernel"))
		return copy_word(run->kernel, sizeof(run->kernel), value);
	if (!strcmp(line, "fs"))
		return copy_word(run->fs, sizeof(run->fs), value);
	if (!strcmp(line, "file"))
		return read_file_line(run, value);
	if (!strcmp(line, "ra_pages"))
		return read_number(value, 1u << 24, &run->ra_pages);
	if (!strcmp(line, "io_pages"))
		return read_number(value, 1u << 24, &run->io_pages);
	return false;
}

static int read_header(struct golden_reader *r, struct golden_run *run, struct fl_error *err)
{
	char line[GOLDEN_MAX_LINE];
	const char *start;
	int ret;

	while ((ret = next_line(r, line, &start, err)) > 0) {
		if (!strcmp(line, "---"))
			break;
		if (!read_header_line(run, line))
			return bad(r, err, line, "kernel, fs, file, ra_pages, io_pages or ---");
	}
	if (ret > 0 && (!run->kernel[0] || !run->fs[0] || !run->file[0]))
		return bad(r, err, run->name, "kernel, fs and file before ---");
	return ret ? min(ret, 0) : bad(r, err, run->name, "a run with ---");
}

static int read_body_line(struct golden_reader *r, struct golden_run *run, char *line,
			  const char *start, struct fl_error *err)
{
	switch (line[0]) {
	case '>':
		return read_op(r, run, line, err);
	case '+':
	case '-':
		return read_change(r, run, line, err);
	case '=':
		return read_state(r, run, line, err);
	case '#':
		return read_trace(run, line, start);
	case 0:
		return 0;
	default:
		return bad(r, err, line, "a line beginning with > + - = or #");
	}
}

static void reset_run(struct golden_run *run)
{
	run->name[0] = run->kernel[0] = run->fs[0] = run->file[0] = run->profile[0] = 0;
	run->size = run->ra_pages = run->io_pages = 0;
	run->nr_ops = run->nr_changes = run->nr_states = run->nr_traces = 0;
	run->ended = false;
}

int golden_read(struct golden_reader *r, struct golden_run *run, struct fl_error *err)
{
	char line[GOLDEN_MAX_LINE];
	const char *start;
	int ret;

	reset_run(run);
	do {
		ret = next_line(r, line, &start, err);
	} while (ret > 0 && !line[0]);
	if (ret <= 0)
		return ret;
	if (strncmp(line, "=== ", 4) || !copy_word(run->name, sizeof(run->name), line + 4))
		return bad(r, err, line, "'=== NAME'");
	run->line = r->line;
	ret = read_header(r, run, err);
	while (!ret && r->pos < r->end && strncmp(r->pos, "=== ", min(4L, r->end - r->pos))) {
		ret = next_line(r, line, &start, err);
		if (ret > 0)
			ret = read_body_line(r, run, line, start, err);
	}
	if (!ret && !run->ended)
		return bad(r, err, run->name, "a whole run, up to '> end'");
	return ret ? ret : 1;
}

void golden_run_fini(struct golden_run *run)
{
	free(run->ops);
	free(run->changes);
	free(run->states);
	free(run->traces);
	memset(run, 0, sizeof(*run));
}
