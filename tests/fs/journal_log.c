#include "fs/journal_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mm/internal.h"

static void log_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct journal_log *log = container_of(sink, struct journal_log, sink);

	switch (ev->id) {
	case EV_jbd2_handle_start:
		assert_true(log->nr_handles < LOG_MAX);
		log->handles[log->nr_handles].type = ev->a;
		/* A reserved handle starts without the extra block. */
		log->handles[log->nr_handles++].credits = ev->b - (ev->a != EXT4_HT_EXT_CONVERT);
		break;
	case EV_jbd2_handle_extend:
		log->nr_extends++;
		break;
	case EV_jbd2_handle_restart:
		log->nr_restarts++;
		break;
	case EV_jbd2_end_commit:
		log->nr_commits++;
		break;
	case EV_ext4_da_write_pages_extent:
		assert_true(log->nr_extents < LOG_MAX);
		log->extents[log->nr_extents].lblk = ev->index;
		log->extents[log->nr_extents++].len = ev->a;
		break;
	case EV_ext4_ext_map_blocks_exit:
		assert_true(log->nr_maps < LOG_MAX);
		log->wanted[log->nr_maps++] = ev->a;
		break;
	case EV_fl_bio_write_folio:
		log->nr_folios++;
		break;
	default:
		break;
	}
}

void journal_log_begin(struct journal_log *log, struct run *run)
{
	memset(log, 0, sizeof(*log));
	log->sink.event = log_event;
	trace_add_sink(&run->machine->trace, &log->sink);
}

void journal_log_end(struct journal_log *log, struct run *run)
{
	trace_remove_sink(&run->machine->trace, &log->sink);
}

void journal_log_ops(struct journal_log *log, struct run *run, const char *ops)
{
	run->machine->clock_ps += 4000000000; /* a jiffy of its own */
	journal_log_begin(log, run);
	scene_play(run, ops);
	journal_log_end(log, run);
}

const char *journal_log_credits(struct journal_log *log, enum ext4_handle_type type)
{
	u32 credits = 0;
	unsigned int nr = 0;
	size_t len = 0;

	log->text[0] = 0;
	for (unsigned int i = 0; i <= log->nr_handles; i++) {
		if (i < log->nr_handles && log->handles[i].type != type)
			continue;
		if (i < log->nr_handles && nr && log->handles[i].credits == credits) {
			nr++;
			continue;
		}
		if (nr)
			len += snprintf(log->text + len, sizeof(log->text) - len,
					nr > 1 ? "%s%u*%u" : "%s%u", len ? " " : "", credits, nr);
		assert_true(len < sizeof(log->text));
		if (i < log->nr_handles)
			credits = log->handles[i].credits;
		nr = 1;
	}
	return log->text;
}

const char *journal_log_extents(struct journal_log *log)
{
	size_t len = 0;

	log->text[0] = 0;
	for (unsigned int i = 0; i < log->nr_extents; i++) {
		len += snprintf(log->text + len, sizeof(log->text) - len, "%s%" PRIu64 "+%u",
				len ? " " : "", log->extents[i].lblk, log->extents[i].len);
		assert_true(len < sizeof(log->text));
	}
	return log->text;
}
