/*
 * lab/script.h - a Lua workload: `foliolab run FILE.lua`.
 *
 * lab_script_run() is for the locked-in child; programs ask lab/lab_remote.h.
 *
 * Errors     -EINVAL with the script's file and line, errno of figures.
 */
#ifndef FL_LAB_SCRIPT_H
#define FL_LAB_SCRIPT_H

#include "lab/lab_wire.h"

struct lab_script {
	const char *path; /* for messages */
	const char *text;
	size_t len;
	const struct run_config *defaults; /* of fl.machine{}; its seed starts rng */
	FILE *out;			   /* where it prints */
	void (*figure)(void *ctx, const char *name, const char *svg);
	void *ctx;
	struct lab_played *played; /* or NULL */
	struct lab_stream *stream; /* or NULL */
};

/* Run it. @limit: the one that was hit, if one was. */
int lab_script_run(const struct lab_script *script, u32 *limit, struct fl_error *err);

/* Write @svg to @dir/@name.svg, making the folder. 0 or -errno with @err. */
int lab_save_figure(const char *dir, const char *name, const char *svg, struct fl_error *err);

#endif
