/*
 * lab/markdown.h - Markdown as text for people: wrapped, with colour where there is some.
 *
 * Owner      nothing is kept.
 * Errors     -ENOMEM; a failed write is the stream's.
 * Differs    images are their text; HTML is printed as it stands.
 */
#ifndef FL_LAB_MARKDOWN_H
#define FL_LAB_MARKDOWN_H

#include <stdio.h>

#include "lib/types.h"

/* Write @text to @f, at most @columns wide (code and tables as wide as they are). */
int markdown_print(FILE *f, const char *text, unsigned int columns, bool colour);

#endif
