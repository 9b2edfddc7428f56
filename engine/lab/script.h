/*
 * lab/script.h - a Lua workload: `foliolab run FILE.lua`.
 *
 * Errors     -EINVAL with the script's file and line, errno of the files it reads or writes.
 */
#ifndef FL_LAB_SCRIPT_H
#define FL_LAB_SCRIPT_H

#include <stdio.h>

#include "lab/run.h"

/*
 * Run the script at @path. @defaults: of fl.machine{}; its seed starts rng. What it prints goes to
 * @out; figures to @figures (a folder, made if need be) as NAME.svg, or nowhere when NULL.
 */
int lab_script_run(const char *path, const struct run_config *defaults, FILE *out,
		   const char *figures, struct fl_error *err);

/* Write @svg to @dir/@name.svg, making the folder. 0 or -errno with @err. */
int lab_save_figure(const char *dir, const char *name, const char *svg, struct fl_error *err);

#endif
