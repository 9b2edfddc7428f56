/*
 * cli/lab_page.h - a lab's texts, questions and right answers, for a page on a course's site.
 *
 * Invariant  the same lab and student give the same bytes; answers are computed, as in a session.
 * Owner      the text is malloc()ed for the caller.
 * Errors     negative errno with struct fl_error: the lab is broken, or unknown.
 */
#ifndef FL_CLI_LAB_PAGE_H
#define FL_CLI_LAB_PAGE_H

#include "lib/error.h"

/*
 * @lab: number, name or folder; @student: whose numbers. JSON as view/web/page.h takes it:
 * {"title", "steps": [{"title", "brief", "questions": [{"text", "options", "answer",
 * "explain"}]}]}.
 */
int lab_page_json(const char *lab, const char *student, char **ret, struct fl_error *err);

#endif
