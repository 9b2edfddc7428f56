/*
 * lib/error.h - an error a person will read.
 *
 * Inside the engine a function fails with a negative errno. Where the cause lies in something
 * a person wrote or named (an option, a workload, a recording) it fills a struct fl_error too:
 * what is wrong, what was expected, and where. Nobody below cli/ prints it or exits.
 *
 * Owner      the caller owns the struct; it holds no pointers and needs no release.
 */
#ifndef FL_LIB_ERROR_H
#define FL_LIB_ERROR_H

#include "lib/types.h"

struct fl_error {
	int code;	   /* negative errno; 0 while nothing went wrong */
	unsigned int line; /* 1-based line of the input, 0 where there is none */
	char file[256];	   /* input file or option, "" where there is none */
	char text[512];	   /* "what is wrong, expected what"; no newline */
};

/*
 * Record an error. Returns @code so that callers can write "return fl_error_set(...)".
 * @err may be NULL, @file may be NULL; @code is a negative errno. Control characters in the
 * formatted text are replaced so that hostile input cannot drive a terminal.
 */
int fl_error_set(struct fl_error *err, int code, const char *file, unsigned int line,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
