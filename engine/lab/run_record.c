#include "lab/run_record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mm/internal.h"

static char *workload_text(const struct workload *w)
{
	char *text = NULL, line[256];
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (size_t i = 0; w && i < w->nr; i++)
		if (workload_format_op(&w->ops[i], line, sizeof(line)) > 0)
			fprintf(f, "%s\n", line);
	return fclose(f) ? NULL : text;
}

static void describe_machine(const struct machine *m, struct recording_info *info)
{
	snprintf(info->kernel, sizeof(info->kernel), "%s", m->kernel);
	info->page_size = m->page_size;
	info->memory = (u64)m->max_pfn << m->page_shift;
	info->seed = m->seed;
	info->cpus = m->nr_cpus;
	info->knobs = KNOB_NR;
	for (unsigned int o = 0; o <= m->max_page_order; o++)
		info->free[o] = hbitmap_count(&m->mm->zone.free_area[o]);
}

int run_recording_info(const struct run *run, const struct workload *w, struct recording_info *info)
{
	const struct super_block *sb = run->sb;

	memset(info, 0, sizeof(*info));
	describe_machine(run->machine, info);
	snprintf(info->fs, sizeof(info->fs), "%s", run->config.fs);
	snprintf(info->disk, sizeof(info->disk), "%s",
		 run->config.disk   ? run->config.disk
		 : run->config.file ? "host"
				    : "hole");
	snprintf(info->file, sizeof(info->file), "%s", run->config.file ? run->config.file : "");
	info->size = run->inode->i_size;
	info->block_size = 1u << sb->s_blocksize_bits;
	info->ra_pages = sb->s_bdi->ra_pages;
	info->io_pages = sb->s_bdi->io_pages;
	info->dev = sb->s_dev;
	info->workload = workload_text(w);
	return info->workload ? 0 : -ENOMEM;
}
