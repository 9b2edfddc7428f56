/*
 * lib/encode.h - bytes as text that other formats take.
 *
 * Owner      nothing is kept.
 * Errors     -ENOMEM; write errors are the stream's.
 */
#ifndef FL_LIB_ENCODE_H
#define FL_LIB_ENCODE_H

#include <stdio.h>

#include "lib/types.h"

/* @text with & < > and " as entities: for XML and HTML. */
void encode_entities(FILE *f, const char *text);
/* @n bytes as base64, without line ends. 0, -ENOMEM. */
int encode_base64(FILE *f, const void *bytes, size_t n);

#endif
