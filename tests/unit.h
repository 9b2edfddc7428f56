/*
 * tests/unit.h - cmocka as the unit tests use it.
 *
 * A program tests/<folder>/test_<what>.c includes this, lists its tests in an array of
 * struct CMUnitTest and ends with "return cmocka_run_group_tests(tests, NULL, NULL);".
 * It starts in an empty folder of its own with FL_ROOT, TESTDATA and TMPDIR set.
 */
#ifndef FL_TESTS_UNIT_H
#define FL_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Leave the running test as skipped; the harness shows the reason, a printf format. */
#define skip_because(...)                                                                          \
	do {                                                                                       \
		print_message("# SKIP " __VA_ARGS__);                                              \
		print_message("\n");                                                               \
		skip();                                                                            \
	} while (0)

/* Runs of a random test: the full count in `make soak`, a seeded tenth in `make test`. */
static inline unsigned long soak_count(unsigned long full)
{
	unsigned long tenth = full / 10 ? full / 10 : 1;

	return getenv("FL_SOAK") ? full : tenth;
}

#endif
