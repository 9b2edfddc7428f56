/*
 * lib/strutil.h - sizes as people write them, and names they meant to write.
 *
 * Invariant  a size is 0..2^63-1; format_size() writes what parse_size() reads back.
 * Owner      nothing is allocated; what nearest() returns belongs to the caller's table.
 * Errors     0 or -errno; messages are the caller's business, except describe_unknown().
 */
#ifndef FL_LIB_STRUTIL_H
#define FL_LIB_STRUTIL_H

#include "lib/types.h"

/* A set of names one of which was expected. */
struct name_list {
	const char *what;	  /* "operation", "kernel": what the names are names of */
	const char *const *names; /* @nr strings */
	size_t nr;
};

/*
 * Read a size: decimal or 0x-hexadecimal digits, then at most one of k m g t (either case, powers
 * of 1024). No sign, no blanks, nothing after it. @ret is written on success only.
 * Returns 0, -EINVAL when @s is no size, -ERANGE when it is past 2^63-1.
 */
int parse_size(const char *s, s64 *ret);

/*
 * Write @size the shortest exact way, with the largest suffix that divides it (4096 is "4k",
 * 4097 is "4097"). Returns @buf; 24 bytes hold any value.
 */
char *format_size(u64 size, char *buf, size_t n);

/*
 * The name @s was probably meant to be, out of @n @names: the smallest number of inserted,
 * deleted, replaced or swapped letters (case is free), the first of several. NULL when every
 * name is further away than a third of the length of @s plus 1.
 */
const char *nearest(const char *s, const char *const *names, size_t n);

/*
 * Write "unknown operation 'reed', expected one of read, pread (did you mean 'read'?)" to @buf,
 * cut to @size bytes. A long @word is shortened. Returns @buf.
 */
char *describe_unknown(char *buf, size_t size, const char *word, const struct name_list *list);

/*
 * How many bytes of @s fit into @max without cutting a UTF-8 sequence: a precision for "%.*s".
 */
int shown_len(const char *s, size_t max);

#endif
