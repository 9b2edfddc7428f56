#include "cli/lab_told.h"

#include <stdlib.h>
#include <string.h>

#include "lab/markdown.h"

void told_forget(struct told *t)
{
	while (t->nr)
		free(t->pieces[--t->nr].text);
	t->new_from = 0;
}

void told_fini(struct told *t)
{
	told_forget(t);
	free(t->pieces);
	t->pieces = NULL;
}

void told_mark(struct told *t)
{
	t->new_from = t->nr;
}

void told_add(struct told *t, enum told_kind kind, const char *text, size_t len)
{
	struct told_piece *more = realloc(t->pieces, (t->nr + 1) * sizeof(*more));
	char *copy = strndup(text, len);

	if (more)
		t->pieces = more;
	if (more && copy)
		t->pieces[t->nr++] = (struct told_piece){kind, copy, strlen(copy)};
	else
		free(copy);
}

void told_more(struct told *t, enum told_kind kind, const char *text, size_t len)
{
	struct told_piece *last = t->nr > t->new_from ? &t->pieces[t->nr - 1] : NULL;
	char *more;

	if (!last || last->kind != kind) {
		told_add(t, kind, text, len);
		return;
	}
	more = last->len + len <= TOLD_MAX ? realloc(last->text, last->len + len + 1) : NULL;
	if (!more)
		return;
	memcpy(more + last->len, text, len);
	last->text = more;
	last->len += len;
	more[last->len] = 0;
}

/* A word with the SGR in it; returns its bytes and counts its columns. */
static size_t word(const char *text, unsigned int *columns)
{
	size_t n = 0;

	for (*columns = 0; text[n] && text[n] != ' ' && text[n] != '\n'; n++) {
		if (text[n] == '\033')
			n += strcspn(text + n, "m\n");
		else
			*columns += ((unsigned char)text[n] & 0xc0) != 0x80;
		if (!text[n])
			break;
	}
	return n;
}

static void print_word(FILE *f, const char *text, size_t len, bool colour)
{
	for (size_t i = 0; i < len; i++) {
		if (!colour && text[i] == '\033')
			i += strcspn(text + i, "m");
		else
			fputc(text[i], f);
	}
}

/* Our own sentences, wrapped where they are too long. */
static void print_prose(FILE *f, const char *text, unsigned int columns, bool colour)
{
	unsigned int x = 0, width;

	while (*text) {
		size_t blanks = strspn(text, " "), len = word(text + blanks, &width);

		if (x && x + blanks + width > columns) {
			fputc('\n', f);
			x = 0;
		} else {
			fprintf(f, "%*s", (int)blanks, "");
			x += blanks;
		}
		print_word(f, text + blanks, len, colour);
		x += width;
		text += blanks + len;
		if (*text == '\n') {
			fputc(*text++, f);
			x = 0;
		}
	}
}

static void print_piece(FILE *f, const struct told_piece *piece, unsigned int columns, bool colour)
{
	if (piece->kind == TOLD_MARKDOWN)
		markdown_print(f, piece->text, columns, colour);
	else if (piece->kind == TOLD_PROSE)
		print_prose(f, piece->text, columns, colour);
	else
		fputs(piece->text, f);
}

static bool unfinished(const struct told_piece *piece)
{
	return piece->kind != TOLD_MARKDOWN && piece->len && piece->text[piece->len - 1] != '\n';
}

void told_print(const struct told *t, FILE *f, unsigned int columns, bool colour)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct told_piece *piece = &t->pieces[i];

		if (i == t->new_from && colour)
			fputc('\001', f);
		if (i && piece->kind == TOLD_MARKDOWN && unfinished(piece - 1))
			fputc('\n', f);
		print_piece(f, piece, columns, colour);
	}
}
