#include "lib/strutil.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 64 /* longer words are not compared */
#define WORD_SHOWN   40 /* bytes of a wrong word repeated in a message */

static const char suffixes[] = "kmgt";

static int digit_value(char c, unsigned int base)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	if (base == 16 && c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The shift a suffix stands for: 0 for none, -EINVAL for one that is not known. */
static int suffix_shift(const char *s)
{
	const char *p;

	if (!*s)
		return 0;
	p = strchr(suffixes, tolower((unsigned char)*s));
	if (!p || s[1])
		return -EINVAL;
	return 10 * (int)(p - suffixes + 1);
}

int parse_size(const char *s, s64 *ret)
{
	unsigned int base = 10;
	bool overflow = false;
	const char *digits;
	u64 v = 0;
	int d, shift;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	}
	for (digits = s; (d = digit_value(*s, base)) >= 0; s++) {
		overflow |= __builtin_mul_overflow(v, (u64)base, &v);
		overflow |= __builtin_add_overflow(v, (u64)d, &v);
	}
	shift = suffix_shift(s);
	if (s == digits || shift < 0)
		return -EINVAL;
	if (overflow || v > (u64)INT64_MAX >> shift)
		return -ERANGE;
	*ret = (s64)(v << shift);
	return 0;
}

char *format_size(u64 size, char *buf, size_t n)
{
	int i = 0;

	while (size && i < 4 && size % 1024 == 0) {
		size /= 1024;
		i++;
	}
	if (i)
		snprintf(buf, n, "%" PRIu64 "%c", size, suffixes[i - 1]);
	else
		snprintf(buf, n, "%" PRIu64, size);
	return buf;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * Levenshtein's distance, a swap of neighbours counting once (optimal string alignment). Rows
 * of the table are reused in turn: only the last two are looked back at.
 */
static size_t edit_distance(const char *a, size_t la, const char *b, size_t lb)
{
	size_t row[3][NAME_MAX_LEN + 1];

	for (size_t j = 0; j <= lb; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *cur = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		cur[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t d = up[j - 1] + !same(a[i - 1], b[j - 1]);

			d = min(d, min(up[j], cur[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				d = min(d, up2[j - 2] + 1);
			cur[j] = d;
		}
	}
	return row[la % 3][lb];
}

const char *nearest(const char *s, const char *const *names, size_t n)
{
	size_t len = strnlen(s, NAME_MAX_LEN + 1);
	size_t limit = (len + 1) / 3;
	const char *best = NULL;

	if (len > NAME_MAX_LEN)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t name_len = strlen(names[i]);
		size_t d;

		if (name_len > NAME_MAX_LEN)
			continue;
		d = edit_distance(s, len, names[i], name_len);
		if (d > limit || (best && d == limit))
			continue;
		best = names[i];
		limit = d;
	}
	return best;
}

int shown_len(const char *s, size_t max)
{
	size_t len = strnlen(s, max + 1);

	if (len <= max)
		return (int)len;
	for (len = max; len && (s[len] & 0xc0) == 0x80; len--)
		;
	return (int)len;
}

/* Append to the string in @buf as far as it fits; @pos is its length, then the new one. */
static size_t append(char *buf, size_t size, size_t pos, const char *s)
{
	if (pos < size)
		snprintf(buf + pos, size - pos, "%s", s);
	return pos + strlen(s);
}

char *describe_unknown(char *buf, size_t size, const char *word, const struct name_list *list)
{
	const char *guess = nearest(word, list->names, list->nr);
	size_t pos;

	pos = (size_t)snprintf(buf, size, "unknown %s '%.*s', expected one of", list->what,
			       shown_len(word, WORD_SHOWN), word);
	for (size_t i = 0; i < list->nr; i++) {
		pos = append(buf, size, pos, i ? ", " : " ");
		pos = append(buf, size, pos, list->names[i]);
	}
	if (guess) {
		pos = append(buf, size, pos, " (did you mean '");
		pos = append(buf, size, pos, guess);
		append(buf, size, pos, "'?)");
	}
	return buf;
}
