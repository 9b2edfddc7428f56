/*
 * lab/lab_find.h - where labs, solutions and a student's files are.
 *
 * Labs: $FOLIOLAB_LABS, the source tree the binary was built in, or the installed data folder.
 * A student's files: $XDG_STATE_HOME/foliolab, one folder a lab.
 *
 * Owner      results are written to the caller's buffers of LAB_PATH bytes.
 * Errors     -ENOENT and what was expected; errno of folders.
 */
#ifndef FL_LAB_LAB_FIND_H
#define FL_LAB_LAB_FIND_H

#include "lib/error.h"
#include "lib/types.h"

#define LAB_PATH 400
#define LABS_MAX 128

/* The folder with all labs. */
int lab_find_root(char *root, struct fl_error *err);

struct lab_list {
	char names[LABS_MAX][64]; /* sorted */
	unsigned int nr;
};

/* Every NN-name folder with a lab.lua. */
int lab_find_all(const char *root, struct lab_list *ret, struct fl_error *err);
/* A lab by number, name or path of its folder. */
int lab_find(const char *what, char *dir, struct fl_error *err);
/* The instructor's solution; -ENOENT names where one was expected. */
int lab_find_solution(const char *dir, char *path, struct fl_error *err);
/* The student's folder for the lab called @name, made if @make. */
int lab_state_dir(const char *name, bool make, char *dir, struct fl_error *err);

/* "a/b" into a buffer of LAB_PATH; false when it does not fit. */
bool lab_join(char *to, const char *a, const char *b);

#endif
