#include "lib/error.h"

#include <stdarg.h>
#include <stdio.h>

/* Bytes of UTF-8 sequences pass, control characters do not. */
static void make_printable(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

int fl_error_set(struct fl_error *err, int code, const char *file, unsigned int line,
		 const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	err->line = line;
	snprintf(err->file, sizeof(err->file), "%s", file ? file : "");
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	make_printable(err->file);
	make_printable(err->text);
	return code;
}
