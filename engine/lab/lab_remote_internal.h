/*
 * lab/lab_remote_internal.h - what the files of the parent's side share.
 *
 * Owner      struct lab_remote owns its child, buffers and machines.
 */
#ifndef FL_LAB_LAB_REMOTE_INTERNAL_H
#define FL_LAB_LAB_REMOTE_INTERNAL_H

#include <sys/types.h>

#include "lab/lab_wire.h"

struct bytes {
	char *p;
	size_t len, cap;
};

/* What a fresh child is told before the ask under way, in this order. */
enum stage { STAGE_ANSWERS, STAGE_START, STAGE_RUN, STAGE_ASK };

struct lab_remote {
	struct lab_remote_config config;
	char dir[400], student[128], path[448]; /* path: of the source */
	u32 seed; /* of the student; also: OpenSSL is set up before the child cannot */
	char *source;
	size_t source_len;
	struct lab_images images;  /* of the lab's folder */
	struct lab_played *played; /* shared with the child */

	pid_t child; /* 0: none */
	int fd;	     /* -1 without child */
	enum lab_limit killed;
	bool silent;		      /* killed for saying nothing */
	double cpu_start, wall_start; /* of the ask or the last word */
	struct bytes in;	      /* a record as far as it has arrived */
	struct bytes out;	      /* not sent yet */

	struct lab *lab; /* the shape, or NULL */

	/* ---- the ask under way ---- */
	bool busy, answered;
	bool last; /* the child ends after this answer */
	enum stage stage;
	enum lab_ask_type asked; /* at this stage */
	struct lab_ask ask;
	struct bytes ask_record; /* as it is sent */
	struct lab_reply reply;
	char *texts; /* of the reply */

	/* ---- where a fresh child is brought to ---- */
	struct bytes answers; /* the record, len 0: none */
	bool started, ran;
	unsigned int step;

	struct lab_remote_machine *machines; /* LAB_REMOTE_MACHINES, or NULL */
	unsigned int nr_machines;
};

/* Append; false without memory. */
bool bytes_add(struct bytes *b, const void *p, size_t len);
void bytes_fini(struct bytes *b);

/* Forget the machines. */
void remote_forget_machines(struct lab_remote *r);

/*
 * One whole record of the child. False for nonsense. REPLY fills r->reply and sets r->answered.
 */
bool remote_take_record(struct lab_remote *r, u32 type, const char *data, size_t len);

/* Answer an OPEN. False when the child cannot be told. */
bool remote_open_file(struct lab_remote *r, const char *data, size_t len);

/* The child ended with @status before it answered: fill r->reply and set r->answered. */
void remote_take_death(struct lab_remote *r, int status);

#endif
