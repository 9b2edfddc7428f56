/*
 * lab/textfile.h - a whole text file in memory, plain or packed with xz.
 *
 * Owner      the text is the caller's, release it with free(); it ends with a NUL not counted.
 * Errors     -errno of the file, -EBADMSG for a damaged or truncated .xz, -EFBIG past @limit;
 *            always with struct fl_error.
 */
#ifndef FL_LAB_TEXTFILE_H
#define FL_LAB_TEXTFILE_H

#include "lib/error.h"
#include "lib/types.h"

/* @limit: the most bytes the text may have once unpacked. Only regular files. */
int textfile_read(const char *path, size_t limit, char **text_ret, size_t *len_ret,
		  struct fl_error *err);

#endif
