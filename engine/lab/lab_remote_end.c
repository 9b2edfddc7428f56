/* What is said of a child that ended in the middle of its work. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "lab/lab_remote_internal.h"

void lab_remote_last(const struct lab_remote *r, char *buf, size_t n)
{
	struct lab_played played = *r->played; /* the child writes it */
	const struct trace_event_info *info = trace_event_info(played.last);
	char op[160];

	if (!played.any || !info || workload_format_op(&played.op, op, sizeof(op)) < 0)
		snprintf(buf, n, "before any event");
	else if (!played.events)
		snprintf(buf, n, "before the first event, in '%s'", op);
	else
		snprintf(buf, n, "after event %llu (%s), in '%s'",
			 (unsigned long long)played.events, info->name, op);
}

/* Why a child ended in the middle of its work. */
static enum lab_limit reason_of_death(const struct lab_remote *r, int status, char *why, size_t n)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (r->killed == LAB_TIME && r->silent) {
		snprintf(why, n, "not a word for %u s", r->config.wall_seconds);
		return LAB_TIME;
	}
	if (r->killed == LAB_TIME || sig == SIGXCPU) {
		snprintf(why, n, "more than %u s", r->config.cpu_seconds);
		return LAB_TIME;
	}
	if (r->killed == LAB_MEMORY) {
		snprintf(why, n, "more than %u MiB", r->config.rss_mib);
		return LAB_MEMORY;
	}
	if (r->killed == LAB_CANCELLED) {
		snprintf(why, n, "on request");
		return LAB_CANCELLED;
	}
	if (sig == SIGSYS) {
		snprintf(why, n, "one that is forbidden here");
		return LAB_SYSTEM_CALL;
	}
	if (sig && !r->killed)
		snprintf(why, n, "ended by signal %d (%s)", sig, strsignal(sig));
	else
		snprintf(why, n, "ended without an answer");
	return LAB_CRASH;
}

void remote_take_death(struct lab_remote *r, int status)
{
	struct lab_reply *reply = &r->reply;
	char last[240];

	memset(reply, 0, sizeof(*reply));
	r->answered = r->last = true;
	if (WIFEXITED(status) && WEXITSTATUS(status) == WIRE_NO_JAIL) {
		reply->error = fl_error_set(&reply->err, -EPERM, NULL, 0,
					    "Lua cannot be locked in here (seccomp or limits "
					    "refused), expected a kernel that can");
		return;
	}
	reply->died = true;
	reply->limit = reason_of_death(r, status, reply->detail, sizeof(reply->detail));
	lab_remote_last(r, last, sizeof(last));
	reply->error = fl_error_set(
		&reply->err, -EINTR,
		r->asked == LAB_ASK_ANSWERS || r->asked == LAB_ASK_WHO ? "" : r->path, 0,
		"limit %s: %s, %s", lab_limit_name(reply->limit), reply->detail, last);
	if (r->asked != LAB_ASK_JUDGE || reply->limit == LAB_CANCELLED)
		return;
	/* What is judged has done it: it is wrong, nothing else is. */
	reply->error = 0;
	reply->given = true;
	snprintf(reply->verdict.why, sizeof(reply->verdict.why), "%.500s", reply->err.text);
}
