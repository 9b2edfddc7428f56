#include "lib/printable.h"

#include <string.h>

/* Bytes of the UTF-8 sequence at @s with its code in @code, 0 if it is none. */
static unsigned int utf8_sequence(const unsigned char *s, u32 *code)
{
	static const u32 smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;

	if (!n || *s > 0xf4)
		return 0;
	*code = n == 1 ? *s : *s & (0x7f >> n);
	for (unsigned int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < smallest[n] || (*code >= 0xd800 && *code < 0xe000) || *code > 0x10ffff)
		return 0;
	return n;
}

/* Controls, what turns the reading direction, what XML forbids. */
static bool is_unfit(u32 c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
	       (c & 0xfffe) == 0xfffe;
}

void make_printable(char *s)
{
	char *to = s;

	while (*s) {
		u32 code = 0;
		unsigned int n = utf8_sequence((unsigned char *)s, &code);

		if (!n || is_unfit(code)) {
			*to++ = *s == '\n' || *s == '\t' ? ' ' : '?';
			s += max(1u, n);
			continue;
		}
		memmove(to, s, n);
		to += n;
		s += n;
	}
	*to = 0;
}

bool is_printable(const char *s)
{
	while (*s) {
		u32 code = 0;
		unsigned int n = utf8_sequence((const unsigned char *)s, &code);

		if (!n || is_unfit(code))
			return false;
		s += n;
	}
	return true;
}
