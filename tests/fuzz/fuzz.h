/*
 * tests/fuzz/fuzz.h - what every fuzz target is: a function that is given any bytes.
 *
 * A target fuzz_NAME is the file fuzz_NAME.c and a line here; what once meant trouble and inputs
 * that reach as much code as possible are in corpus/NAME/. The same functions are called by
 *   - test_corpus.c (any compiler): replays the corpora, mutates them, runs files that are named;
 *   - libfuzzer.c (clang): one libFuzzer program a target, `make fuzz`.
 *
 * Invariant  a target returns for every input, soon, with everything released; what must hold of
 *            the results is checked with fuzz_require().
 */
#ifndef FL_TESTS_FUZZ_H
#define FL_TESTS_FUZZ_H

#include <stdio.h>

#include "lib/error.h"
#include "lib/types.h"

#define FUZZ_TARGETS(X)                                                                            \
	X(workload)   /* the text of a workload: parsed, written, played */                        \
	X(recording)  /* a recording: loaded, drawn, exported */                                   \
	X(golden)     /* runs recorded on real kernels: read, played, compared */                  \
	X(lab)	      /* lab.lua: opened, its first step run */                                    \
	X(submission) /* a student's answers.lua, judged */                                        \
	X(script)     /* a Lua workload */                                                         \
	X(import)     /* ftrace text */                                                            \
	X(kernel)     /* --kernel PROFILE+KNOB-KNOB */                                             \
	X(btf)	      /* types of a kernel */                                                      \
	X(attach)     /* what a server says to a view */                                           \
	X(serve)      /* what a view says to a server */

#define X(name) void fuzz_##name(const u8 *data, size_t size);
FUZZ_TARGETS(X)
#undef X

/* Ends the program with a message unless @cond holds. */
#define fuzz_require(cond)                                                                         \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fuzz_broken(__FILE__, __LINE__, #cond);                                    \
	} while (0)
void fuzz_broken(const char *file, int line, const char *what) __attribute__((noreturn));

/* @err is what a person may read: a code and one line. */
void fuzz_require_error(int ret, const struct fl_error *err);

/* The bytes as a file in memory: a descriptor, and in @path (of 40 bytes) its name. */
int fuzz_file(const u8 *data, size_t size, char *path);

/* A stream that takes everything and keeps nothing; to be closed. */
FILE *fuzz_nowhere(void);

#endif
