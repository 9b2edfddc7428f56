/*
 * tests/view/views.h - recorded runs for the tests of views.
 *
 * Owner      views_end() releases what views_record() made; index @i is 0 or 1.
 */
#ifndef FL_TESTS_VIEW_VIEWS_H
#define FL_TESTS_VIEW_VIEWS_H

#include "trace/recording.h"
#include "view/tui/tui.h"

/* Play @ops on @kernel, on a disk called @disk (NULL: hole), and keep its events. */
void views_record(unsigned int i, const char *kernel, const char *disk, const char *ops);
const struct tape *views_tape(unsigned int i);
const struct recording_info *views_info(unsigned int i);
/* Both runs as what views take. */
const struct tui_machine *views_machines(void);
void views_end(void);

#endif
