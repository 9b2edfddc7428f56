#include "fs/boot.h"

#include <errno.h>

#include "block/blkdev.h"
#include "mm/internal.h"

int machine_boot(const struct machine_config *config, struct machine **ret, struct fl_error *err)
{
	u64 pages = config->page_size ? config->memory / config->page_size : 0;
	struct machine *m;
	int error = machine_alloc(config, mm_span_wanted(pages), &m, err);

	*ret = NULL;
	if (error)
		return error;
	error = blk_init(m);
	if (!error)
		error = mm_init(m);
	if (error) {
		machine_shutdown(m);
		return fl_error_set(err, error, NULL, 0, "not enough host memory for a machine");
	}
	*ret = m;
	return 0;
}

void machine_shutdown(struct machine *m)
{
	if (!m)
		return;
	mm_exit(m);
	blk_exit(m);
	machine_free(m);
}
