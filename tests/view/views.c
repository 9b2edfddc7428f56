#include "view/views.h"

#include <string.h>

#include "lab/run_record.h"
#include "unit.h"

static struct recording_info infos[2];
static struct tape tapes[2];
static struct tui_machine machines[2];

void views_record(unsigned int i, const char *kernel, const char *disk, const char *ops)
{
	struct run_config config;
	struct workload w;
	struct run *run;
	struct fl_error err = {0};

	run_config_init(&config);
	config.machine.kernel = kernel;
	config.disk = disk;
	assert_int_equal(workload_parse(&w, "-e", ops, strlen(ops), &err), 0);
	assert_int_equal(run_open(&config, &run, &err), 0);
	assert_int_equal(run_recording_info(run, &w, &infos[i]), 0);
	assert_int_equal(tape_init(&tapes[i], 200000), 0);
	trace_add_sink(&run->machine->trace, &tapes[i].sink);
	assert_int_equal(run_workload(run, &w, &err), 0);
	trace_remove_sink(&run->machine->trace, &tapes[i].sink);
	workload_fini(&w);
	run_close(run);
	machines[i] = (struct tui_machine){.tape = &tapes[i], .info = &infos[i]};
}

const struct tape *views_tape(unsigned int i)
{
	return &tapes[i];
}

const struct recording_info *views_info(unsigned int i)
{
	return &infos[i];
}

const struct tui_machine *views_machines(void)
{
	return machines;
}

void views_end(void)
{
	for (int i = 0; i < 2; i++) {
		if (tapes[i].records)
			tape_fini(&tapes[i]);
		recording_info_fini(&infos[i]);
		tapes[i] = (struct tape){0};
		infos[i] = (struct recording_info){0};
	}
}
