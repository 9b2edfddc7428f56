#include "lab/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/strutil.h"

#define BLANKS	    " \t\r\v\f"
#define MAX_WORDS   5  /* name and at most three arguments, and one too many */
#define WORD_SHOWN  40 /* bytes of a wrong word repeated in a message */
#define SIZE_SYNTAX "a number with an optional k, m, g or t"

struct op_desc {
	const char *name;
	const char *kinds;
	const char *args;
	const char *help;
};

static const struct op_desc op_descs[WL_NR_OPS] = {
#define X(id, name, kinds, args, help) {name, kinds, args, help},
	WL_OPS(X)
#undef X
};

static const char *const op_names[WL_NR_OPS] = {
#define X(id, name, ...) name,
	WL_OPS(X)
#undef X
};

static const char *const advice_names[WL_NR_ADVICES] = {
#define X(id, name, users) name,
	WL_ADVICES(X)
#undef X
};

static const u8 advice_users[WL_NR_ADVICES] = {
#define X(id, name, users) users,
	WL_ADVICES(X)
#undef X
};

/* One operation while it is read. */
struct op_parser {
	struct wl_op *op;
	const struct op_desc *desc;
	const char *file; /* for messages */
	struct fl_error *err;
	char *words[MAX_WORDS];
	unsigned int nr_words;
};

const char *workload_op_name(enum wl_op_type type)
{
	return (unsigned int)type < WL_NR_OPS ? op_descs[type].name : "?";
}

const char *workload_op_args(enum wl_op_type type)
{
	return (unsigned int)type < WL_NR_OPS ? op_descs[type].args : "?";
}

const char *workload_op_help(enum wl_op_type type)
{
	return (unsigned int)type < WL_NR_OPS ? op_descs[type].help : "?";
}

const char *workload_advice_name(u8 advice)
{
	return advice < WL_NR_ADVICES ? advice_names[advice] : "?";
}

static int find_name(const char *word, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(word, names[i]))
			return (int)i;
	return -EINVAL;
}

static int unknown(struct op_parser *p, const char *word, const struct name_list *list)
{
	char text[sizeof(p->err->text)];

	return fl_error_set(p->err, -EINVAL, p->file, p->op->line, "%s",
			    describe_unknown(text, sizeof(text), word, list));
}

static int bad_size(struct op_parser *p, int code, const char *what, const char *word)
{
	struct fl_error *err = p->err;
	const char *name = p->desc->name;
	int shown = shown_len(word, WORD_SHOWN);
	s64 ignored;

	if (code == -ERANGE)
		return fl_error_set(err, code, p->file, p->op->line,
				    "%s: %s '%.*s' is too large, expected at most 2^63-1", name,
				    what, shown, word);
	if (word[0] == '-' && parse_size(word + 1, &ignored) != -EINVAL)
		return fl_error_set(err, code, p->file, p->op->line,
				    "%s: %s '%.*s' is negative, expected 0 or more", name, what,
				    shown, word);
	return fl_error_set(err, code, p->file, p->op->line,
			    "%s: %s '%.*s' is not a number, expected " SIZE_SYNTAX, name, what,
			    shown, word);
}

static int read_size(struct op_parser *p, const char *what, const char *word, s64 *ret)
{
	int r = parse_size(word, ret);

	return r ? bad_size(p, r, what, word) : 0;
}

static int read_step(struct op_parser *p, const char *word)
{
	bool negative = word[0] == '-';
	int r = parse_size(word + negative, &p->op->step);

	if (r)
		return bad_size(p, r, "STEP", word);
	if (negative)
		p->op->step = -p->op->step;
	return 0;
}

static int read_count(struct op_parser *p, const char *word)
{
	s64 n;
	int r = read_size(p, "N", word, &n);

	if (r)
		return r;
	if (n < 1)
		return fl_error_set(p->err, -EINVAL, p->file, p->op->line,
				    "%s: N is 0, expected at least 1", p->desc->name);
	p->op->n = (u64)n;
	return 0;
}

static int read_advice(struct op_parser *p, const char *word, u8 user)
{
	const char *names[WL_NR_ADVICES];
	struct name_list list = {"advice", names, 0};
	int i = find_name(word, advice_names, WL_NR_ADVICES);

	if (i >= 0 && (advice_users[i] & user)) {
		p->op->advice = (u8)i;
		return 0;
	}
	for (i = 0; i < WL_NR_ADVICES; i++)
		if (advice_users[i] & user)
			names[list.nr++] = advice_names[i];
	return unknown(p, word, &list);
}

static int read_argument(struct op_parser *p, char kind, const char *word)
{
	s64 k;
	int r;

	switch (kind) {
	case 'o':
		return read_size(p, "OFF", word, &p->op->off);
	case 'l':
		return read_size(p, "LEN", word, &p->op->len);
	case 's':
		return read_step(p, word);
	case 'n':
		return read_count(p, word);
	case 'f':
		return read_advice(p, word, WL_BY_FADVISE);
	case 'm':
		return read_advice(p, word, WL_BY_MADVISE);
	default:
		r = read_size(p, "K", word, &k);
		if (!r)
			p->op->n = (u64)k;
		return r;
	}
}

/* The words after the name must fill the kinds before '|', or all of them. */
static int check_count(struct op_parser *p)
{
	const struct op_desc *desc = p->desc;
	size_t needed = strcspn(desc->kinds, "|");
	size_t all = strlen(desc->kinds) - (desc->kinds[needed] == '|');
	size_t given = p->nr_words - 1;

	if (given == needed || given == all)
		return 0;
	return fl_error_set(p->err, -EINVAL, p->file, p->op->line,
			    "%s: too %s arguments, expected '%s%s%s'", desc->name,
			    given > all ? "many" : "few", desc->name, *desc->args ? " " : "",
			    desc->args);
}

/* Where the operation starts last and ends last must both be file offsets. */
static bool op_in_range(const struct wl_op *op, const char *kinds)
{
	bool repeats_len = strchr(kinds, 'l') && strchr(kinds, 'o');
	s64 first = op->off, span, end;

	if (strchr(kinds, 's'))
		return !__builtin_mul_overflow(op->step, (s64)(op->n - 1), &span) &&
		       !__builtin_add_overflow(first, span, &end) && end >= 0;
	if (repeats_len)
		return !__builtin_mul_overflow(op->len, (s64)op->n, &span) &&
		       !__builtin_add_overflow(first, span, &end);
	return true;
}

static int check_range(struct op_parser *p)
{
	const char *kinds = p->desc->kinds;
	const char *sum = "OFF + LEN";

	if (op_in_range(p->op, kinds))
		return 0;
	if (strchr(kinds, 's'))
		sum = "OFF + STEP * (N - 1)";
	else if (strchr(kinds, 'n'))
		sum = "OFF + LEN * N";
	return fl_error_set(p->err, -ERANGE, p->file, p->op->line,
			    "%s: %s is out of range, expected 0 to 2^63-1", p->desc->name, sum);
}

static int read_words(struct op_parser *p)
{
	static const struct name_list list = {"operation", op_names, WL_NR_OPS};
	int type = find_name(p->words[0], op_names, WL_NR_OPS);
	const char *kind;
	int r;

	if (type < 0)
		return unknown(p, p->words[0], &list);
	p->desc = &op_descs[type];
	*p->op = (struct wl_op){.type = (enum wl_op_type)type, .line = p->op->line, .n = 1};
	r = check_count(p);
	if (r)
		return r;
	kind = p->desc->kinds;
	for (unsigned int i = 1; i < p->nr_words; i++, kind++) {
		kind += *kind == '|';
		r = read_argument(p, *kind, p->words[i]);
		if (r)
			return r;
	}
	r = check_range(p);
	return r ? r : 1;
}

/* Stops at the first word too many: that there is one is all check_count() wants to know. */
static void split_words(struct op_parser *p, char *text)
{
	char *save, *word = strtok_r(text, BLANKS, &save);

	while (word && p->nr_words < MAX_WORDS) {
		p->words[p->nr_words++] = word;
		word = strtok_r(NULL, BLANKS, &save);
	}
}

int workload_parse_op(struct wl_op *op, const char *name, const char *text, size_t len,
		      struct fl_error *err)
{
	struct op_parser p = {.op = op, .file = name, .err = err};
	char line[WL_MAX_LINE + 1];

	if (len > WL_MAX_LINE)
		return fl_error_set(err, -E2BIG, name, op->line,
				    "line too long, expected at most %lu bytes", WL_MAX_LINE);
	if (memchr(text, '\0', len))
		return fl_error_set(err, -EINVAL, name, op->line, "NUL byte, expected text");
	memcpy(line, text, len);
	line[len] = '\0';
	line[strcspn(line, "#")] = '\0';
	split_words(&p, line);
	return p.nr_words ? read_words(&p) : 0;
}

/* The length of the operation @text starts with, its comment included. */
static size_t operation_len(const char *text, size_t len)
{
	const char *newline;
	size_t i;

	for (i = 0; i < len && text[i] != '\n' && text[i] != ';'; i++) {
		if (text[i] == '#') {
			newline = memchr(text + i, '\n', len - i);
			return newline ? (size_t)(newline - text) : len;
		}
	}
	return i;
}

/* Room for one more: the capacity is the next power of two, so it need not be kept. */
static int grow(struct workload *w)
{
	struct wl_op *ops;

	if (w->nr & (w->nr - 1) || w->nr == 1)
		return 0;
	ops = realloc(w->ops, max_t(size_t, 2, w->nr * 2) * sizeof(*ops));
	if (!ops)
		return -ENOMEM;
	w->ops = ops;
	return 0;
}

static int add_op(struct workload *w, const struct wl_op *op, struct fl_error *err)
{
	if (w->nr == WL_MAX_LINES)
		return fl_error_set(err, -E2BIG, w->name, op->line,
				    "too many operations, expected at most %lu", WL_MAX_LINES);
	if (grow(w))
		return fl_error_set(err, -ENOMEM, w->name, op->line, "out of memory");
	w->ops[w->nr++] = *op;
	return 0;
}

static int parse_text(struct workload *w, const char *text, size_t len, struct fl_error *err)
{
	struct wl_op op = {.line = 1};
	size_t pos = 0;
	int r;

	while (pos < len) {
		size_t n = operation_len(text + pos, len - pos);

		if (op.line > WL_MAX_LINES)
			return fl_error_set(err, -E2BIG, w->name, op.line,
					    "too many lines, expected at most %lu", WL_MAX_LINES);
		r = workload_parse_op(&op, w->name, text + pos, n, err);
		if (r > 0)
			r = add_op(w, &op, err);
		if (r < 0)
			return r;
		pos += n;
		if (pos < len && text[pos] == '\n')
			op.line++;
		pos++;
	}
	return 0;
}

int workload_parse(struct workload *w, const char *name, const char *text, size_t len,
		   struct fl_error *err)
{
	int r;

	*w = (struct workload){0};
	snprintf(w->name, sizeof(w->name), "%.*s", shown_len(name, sizeof(w->name) - 1), name);
	if (len > WL_MAX_BYTES)
		return fl_error_set(err, -E2BIG, w->name, 0, "too long, expected at most %lu MiB",
				    WL_MAX_BYTES >> 20);
	r = parse_text(w, text, len, err);
	if (r)
		workload_fini(w);
	return r;
}

void workload_fini(struct workload *w)
{
	free(w->ops);
	w->ops = NULL;
	w->nr = 0;
}

static int check_regular(int fd, const char *path, struct fl_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return fl_error_set(err, -errno, path, 0, "%s", strerror(errno));
	if (S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		return fl_error_set(err, -EISDIR, path, 0, "is a directory, expected a file");
	return fl_error_set(err, -EINVAL, path, 0, "is not a regular file, expected one");
}

/* O_NONBLOCK: a FIFO is to be refused, not waited for. */
static int open_workload(const char *path, struct fl_error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fl_error_set(err, -errno, path, 0, "%s, expected a workload file",
				    strerror(errno));
	r = check_regular(fd, path, err);
	if (!r)
		return fd;
	close(fd);
	return r;
}

/* Read to the end, or to one byte past the limit, which is workload_parse() to refuse. */
static int read_all(int fd, char **text_ret, size_t *len_ret)
{
	size_t size = 0, len = 0;
	char *text = NULL, *bigger;
	ssize_t n = 1;

	while (n && len <= WL_MAX_BYTES) {
		if (len == size) {
			size = min(max(size * 2, (size_t)65536), (size_t)WL_MAX_BYTES + 1);
			bigger = realloc(text, size);
			if (!bigger)
				goto fail;
			text = bigger;
		}
		n = read(fd, text + len, size - len);
		if (n < 0 && errno != EINTR)
			goto fail;
		len += n > 0 ? (size_t)n : 0;
	}
	*text_ret = text;
	*len_ret = len;
	return 0;
fail:
	n = errno;
	free(text);
	return -(int)n;
}

int workload_load(struct workload *w, const char *path, struct fl_error *err)
{
	bool input = !strcmp(path, "-");
	int fd = input ? STDIN_FILENO : open_workload(path, err);
	char *text = NULL;
	size_t len = 0;
	int r;

	*w = (struct workload){0};
	if (fd < 0)
		return fd;
	if (input)
		path = "standard input";
	r = read_all(fd, &text, &len);
	if (!input)
		close(fd);
	if (r)
		return fl_error_set(err, r, path, 0, "%s", strerror(-r));
	r = workload_parse(w, path, text, len, err);
	free(text);
	return r;
}

static bool op_valid(const struct wl_op *op, const char *kinds)
{
	bool descriptor = *kinds == 'k';

	if (op->off < 0 || op->len < 0 || op->n > INT64_MAX || (!op->n && !descriptor))
		return false;
	if (*kinds == 'f' || *kinds == 'm')
		return op->advice < WL_NR_ADVICES &&
		       (advice_users[op->advice] & (*kinds == 'f' ? WL_BY_FADVISE : WL_BY_MADVISE));
	return op_in_range(op, kinds);
}

/* One argument with the blank before it; @buf holds 40 bytes. */
static void format_argument(const struct wl_op *op, char kind, char *buf)
{
	char size[24];

	switch (kind) {
	case 'o':
		snprintf(buf, 40, " %s", format_size((u64)op->off, size, sizeof(size)));
		break;
	case 'l':
		snprintf(buf, 40, " %s", format_size((u64)op->len, size, sizeof(size)));
		break;
	case 's':
		snprintf(buf, 40, " %s%s", op->step < 0 ? "-" : "",
			 format_size(op->step < 0 ? 0 - (u64)op->step : (u64)op->step, size,
				     sizeof(size)));
		break;
	case 'f':
	case 'm':
		snprintf(buf, 40, " %s", advice_names[op->advice]);
		break;
	default:
		snprintf(buf, 40, " %" PRIu64, op->n);
	}
}

int workload_format_op(const struct wl_op *op, char *buf, size_t n)
{
	char line[160], word[40];
	const char *kind;

	if ((unsigned int)op->type >= WL_NR_OPS || !op_valid(op, op_descs[op->type].kinds))
		return -EINVAL;
	snprintf(line, sizeof(line), "%s", op_descs[op->type].name);
	for (kind = op_descs[op->type].kinds; *kind; kind++) {
		if (*kind == '|') {
			if (op->n == 1 && !op->step)
				break;
			continue;
		}
		format_argument(op, *kind, word);
		strncat(line, word, sizeof(line) - strlen(line) - 1);
	}
	return snprintf(buf, n, "%s", line);
}
