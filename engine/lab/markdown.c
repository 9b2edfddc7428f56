/* md4c parses; blocks are collected and wrapped here. */
#include "lab/markdown.h"

#include <errno.h>
#include <md4c.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16
#define CELLS_MAX 12
#define ROWS_MAX  200

#define BOLD   "\033[1m"
#define ITALIC "\033[3m"
#define CODE   "\033[36m"
#define PLAIN  "\033[0m"

/* A text that grows. */
struct text {
	char *s;
	size_t len, cap;
	bool failed;
};

struct level {
	char first[16]; /* before the first line of the next block */
	char rest[16];	/* before its other lines */
	int item;	/* number of the next item of an ordered list, 0: bullets */
};

struct markdown {
	FILE *f;
	int columns;
	bool colour;
	struct text text; /* of the block being collected */
	struct level levels[DEPTH_MAX];
	unsigned int depth;
	bool blank; /* a blank line is due before the next block */
	bool tight;
	bool in_code;
	char *cells[ROWS_MAX][CELLS_MAX];
	unsigned int rows, cols, col;
	bool in_table;
	char href[512];
};

static void add(struct text *t, const char *s, size_t n)
{
	char *bigger;

	if (t->len + n + 1 > t->cap) {
		t->cap = (t->len + n + 1) * 2;
		bigger = realloc(t->s, t->cap);
		if (!bigger) {
			t->failed = true;
			t->cap = t->len;
			return;
		}
		t->s = bigger;
	}
	memcpy(t->s + t->len, s, n);
	t->len += n;
	t->s[t->len] = 0;
}

static void add_string(struct text *t, const char *s)
{
	add(t, s, strlen(s));
}

/* Columns of @n bytes: no escapes, one a code point. */
static int width_of(const char *s, size_t n)
{
	int width = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\033') {
			while (i < n && s[i] != 'm')
				i++;
			continue;
		}
		width += (s[i] & 0xc0) != 0x80;
	}
	return width;
}

/* ---- lines ---- */

static int put_prefix(struct markdown *md, bool first)
{
	int width = 0;

	for (unsigned int i = 0; i < md->depth; i++) {
		struct level *l = &md->levels[i];
		const char *s = first && l->first[0] ? l->first : l->rest;

		fputs(s, md->f);
		width += (int)strlen(s);
		if (first)
			l->first[0] = 0;
	}
	return width;
}

static void start_block(struct markdown *md)
{
	if (md->blank)
		fputc('\n', md->f);
	md->blank = false;
}

static void wrap_text(struct markdown *md, const char *s)
{
	int indent = put_prefix(md, true), column = indent;
	bool fresh = true;

	while (*s) {
		size_t n = strcspn(s, " \n");
		int width = width_of(s, n);

		if (n) {
			if (!fresh && column + 1 + width > md->columns) {
				fputc('\n', md->f);
				column = put_prefix(md, false);
				fresh = true;
			}
			column += width + !fresh;
			fprintf(md->f, "%s%.*s", fresh ? "" : " ", (int)n, s);
			fresh = false;
		}
		s += n;
		if (*s == '\n') {
			fputc('\n', md->f);
			column = put_prefix(md, false);
			fresh = true;
		}
		s += *s != 0;
	}
	fputc('\n', md->f);
}

static void flush_text(struct markdown *md)
{
	if (!md->text.len)
		return;
	start_block(md);
	wrap_text(md, md->text.s);
	md->text.len = 0;
}

static void put_code(struct markdown *md)
{
	char *line = md->text.len ? md->text.s : (char *)"", *end;

	start_block(md);
	for (; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (end)
			*end = 0;
		put_prefix(md, true);
		fprintf(md->f, "    %s\n", line);
		if (!end)
			break;
	}
	md->text.len = 0;
}

static void put_heading(struct markdown *md, unsigned int level)
{
	int width = width_of(md->text.s ? md->text.s : "", md->text.len);

	if (!md->text.len)
		return;
	start_block(md);
	if (md->colour) {
		fprintf(md->f, BOLD "%s" PLAIN "\n", md->text.s);
	} else {
		fprintf(md->f, "%s\n", md->text.s);
		for (int i = 0; i < width; i++)
			fputc(level == 1 ? '=' : '-', md->f);
		fputc('\n', md->f);
	}
	md->text.len = 0;
}

static void put_table(struct markdown *md)
{
	int widths[CELLS_MAX] = {0};

	for (unsigned int r = 0; r < md->rows; r++)
		for (unsigned int c = 0; c < md->cols; c++)
			if (md->cells[r][c])
				widths[c] = max(widths[c],
						width_of(md->cells[r][c], strlen(md->cells[r][c])));
	start_block(md);
	for (unsigned int r = 0; r < md->rows; r++) {
		put_prefix(md, true);
		for (unsigned int c = 0; c < md->cols; c++) {
			const char *s = md->cells[r][c] ? md->cells[r][c] : "";
			int pad = widths[c] - width_of(s, strlen(s));

			fprintf(md->f, "  %s%*s", s, c + 1 < md->cols ? pad : 0, "");
		}
		fputc('\n', md->f);
		if (r == 0) {
			put_prefix(md, true);
			for (unsigned int c = 0; c < md->cols; c++) {
				fputs("  ", md->f);
				for (int i = 0; i < widths[c]; i++)
					fputc('-', md->f);
			}
			fputc('\n', md->f);
		}
	}
	for (unsigned int r = 0; r < ROWS_MAX; r++)
		for (unsigned int c = 0; c < CELLS_MAX; c++) {
			free(md->cells[r][c]);
			md->cells[r][c] = NULL;
		}
	md->rows = md->cols = 0;
}

/* ---- what md4c tells ---- */

static void push_level(struct markdown *md, const char *first, const char *rest)
{
	struct level *l;

	if (md->depth == DEPTH_MAX)
		return;
	l = &md->levels[md->depth++];
	snprintf(l->first, sizeof(l->first), "%s", first);
	snprintf(l->rest, sizeof(l->rest), "%s", rest);
	l->item = 0;
}

/* An item's level carries the bullet; the list's own level carries the number. */
static void enter_item(struct markdown *md)
{
	struct level *list = &md->levels[md->depth - 1];
	char first[16], rest[16];

	if (list->item)
		snprintf(first, sizeof(first), "%d. ", list->item++);
	else
		snprintf(first, sizeof(first), "- ");
	snprintf(rest, sizeof(rest), "%*s", (int)strlen(first), "");
	push_level(md, first, rest);
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *userdata)
{
	struct markdown *md = userdata;

	switch (type) {
	case MD_BLOCK_QUOTE:
		push_level(md, "", "  | ");
		break;
	case MD_BLOCK_UL:
	case MD_BLOCK_OL:
		flush_text(md);
		md->tight = type == MD_BLOCK_UL ? ((MD_BLOCK_UL_DETAIL *)detail)->is_tight
						: ((MD_BLOCK_OL_DETAIL *)detail)->is_tight;
		push_level(md, "", md->depth ? "" : "  ");
		if (type == MD_BLOCK_OL)
			md->levels[md->depth - 1].item = ((MD_BLOCK_OL_DETAIL *)detail)->start;
		break;
	case MD_BLOCK_LI:
		enter_item(md);
		break;
	case MD_BLOCK_HR:
		start_block(md);
		fprintf(md->f, "%.*s\n", min(md->columns, 40),
			"----------------------------------------");
		md->blank = true;
		break;
	case MD_BLOCK_CODE:
		md->in_code = true;
		break;
	case MD_BLOCK_TABLE:
		md->in_table = true;
		break;
	case MD_BLOCK_TR:
		md->col = 0;
		break;
	default:
		break;
	}
	return md->text.failed;
}

static void leave_cell(struct markdown *md)
{
	if (md->rows < ROWS_MAX && md->col < CELLS_MAX && md->text.s) {
		md->cells[md->rows][md->col++] = strndup(md->text.s, md->text.len);
		md->cols = max(md->cols, md->col);
	}
	md->text.len = 0;
	if (md->text.s)
		md->text.s[0] = 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *userdata)
{
	struct markdown *md = userdata;

	switch (type) {
	case MD_BLOCK_P:
		flush_text(md);
		md->blank = true;
		break;
	case MD_BLOCK_H:
		put_heading(md, ((MD_BLOCK_H_DETAIL *)detail)->level);
		md->blank = true;
		break;
	case MD_BLOCK_LI:
		flush_text(md);
		md->depth -= md->depth > 0;
		if (!md->tight)
			md->blank = true;
		break;
	case MD_BLOCK_UL:
	case MD_BLOCK_OL:
	case MD_BLOCK_QUOTE:
		md->depth -= md->depth > 0;
		md->blank = true;
		break;
	case MD_BLOCK_CODE:
		put_code(md);
		md->in_code = false;
		md->blank = true;
		break;
	case MD_BLOCK_TH:
	case MD_BLOCK_TD:
		leave_cell(md);
		break;
	case MD_BLOCK_TR:
		md->rows += md->rows < ROWS_MAX;
		break;
	case MD_BLOCK_TABLE:
		put_table(md);
		md->in_table = false;
		md->blank = true;
		break;
	default:
		break;
	}
	return md->text.failed;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *userdata)
{
	struct markdown *md = userdata;
	const MD_SPAN_A_DETAIL *a = detail;

	if (type == MD_SPAN_A)
		snprintf(md->href, sizeof(md->href), "%.*s", (int)min(a->href.size, 500u),
			 a->href.text);
	else if (type == MD_SPAN_CODE)
		add_string(&md->text, md->colour ? CODE : "`");
	else if (md->colour && (type == MD_SPAN_STRONG || type == MD_SPAN_EM))
		add_string(&md->text, type == MD_SPAN_STRONG ? BOLD : ITALIC);
	return md->text.failed;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *userdata)
{
	struct markdown *md = userdata;

	(void)detail;
	if (type == MD_SPAN_A) {
		size_t n = strlen(md->href);

		if (md->text.len < n || memcmp(md->text.s + md->text.len - n, md->href, n)) {
			add_string(&md->text, " <");
			add_string(&md->text, md->href);
			add_string(&md->text, ">");
		}
	} else if (type == MD_SPAN_CODE) {
		add_string(&md->text, md->colour ? PLAIN : "`");
	} else if (md->colour && (type == MD_SPAN_STRONG || type == MD_SPAN_EM)) {
		add_string(&md->text, PLAIN);
	}
	return md->text.failed;
}

static void add_entity(struct markdown *md, const char *s, size_t n)
{
	static const char *const known[][2] = {
		{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&nbsp;", " "}, {"&quot;", "\""}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strlen(known[i][0]) == n && !memcmp(known[i][0], s, n)) {
			add_string(&md->text, known[i][1]);
			return;
		}
	add(&md->text, s, n);
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *s, MD_SIZE n, void *userdata)
{
	struct markdown *md = userdata;

	switch (type) {
	case MD_TEXT_BR:
		add_string(&md->text, "\n");
		break;
	case MD_TEXT_SOFTBR:
		add_string(&md->text, " ");
		break;
	case MD_TEXT_ENTITY:
		add_entity(md, s, n);
		break;
	default:
		add(&md->text, s, n);
	}
	return md->text.failed;
}

int markdown_print(FILE *f, const char *text, unsigned int columns, bool colour)
{
	static const MD_PARSER parser = {
		.flags = MD_FLAG_TABLES | MD_FLAG_NOHTML | MD_FLAG_PERMISSIVEURLAUTOLINKS,
		.enter_block = enter_block,
		.leave_block = leave_block,
		.enter_span = enter_span,
		.leave_span = leave_span,
		.text = on_text,
	};
	struct markdown *md = calloc(1, sizeof(*md));
	int ret;

	if (!md)
		return -ENOMEM;
	md->f = f;
	md->columns = (int)columns;
	md->colour = colour;
	ret = md_parse(text, strlen(text), &parser, md);
	for (unsigned int r = 0; r < ROWS_MAX; r++)
		for (unsigned int c = 0; c < CELLS_MAX; c++)
			free(md->cells[r][c]);
	free(md->text.s);
	free(md);
	return ret ? -ENOMEM : 0;
}
