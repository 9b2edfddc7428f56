#include "mm/shmem_scene.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fs/falloc.h"
#include "mm/scene.h"

const char *const six[SIX] = {"v6.1.y", "v6.12.y", "v6.16.y", "v6.17.y", "v6.18", "v7.3"};

static void count_copy(struct shmem_scene *s, u64 size)
{
	unsigned int i;

	for (i = 0; i < s->nr && s->size[i] != size; i++)
		;
	if (i == ARRAY_SIZE(s->size))
		return;
	if (i == s->nr) {
		s->size[i] = size;
		s->copies[i] = 0;
		s->nr++;
	}
	s->copies[i]++;
}

static void on_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct shmem_scene *s = container_of(sink, struct shmem_scene, sink);

	if (ev->id == EV_fl_shmem_lookup)
		s->lookups++;
	if (ev->id == EV_fl_shmem_copy)
		count_copy(s, ev->a);
	if (ev->id == EV_fl_shmem_write && ev->b)
		count_copy(s, ev->b);
	if (ev->id == EV_fl_shmem_write)
		s->asked += ev->a;
}

static void begin(struct shmem_scene *s)
{
	s->lookups = 0;
	s->asked = 0;
	s->nr = 0;
	s->slots = 0;
}

struct shmem_scene *shmem_open(const char *kernel, const char *fs, u64 memory)
{
	return shmem_open_paged(kernel, fs, memory, 4096);
}

static struct shmem_scene *open_scene(const struct run_config *config)
{
	struct shmem_scene *s = calloc(1, sizeof(*s));

	s->run = scene_open(config);
	s->sink.event = on_event;
	trace_add_sink(&s->run->machine->trace, &s->sink);
	return s;
}

struct shmem_scene *shmem_open_paged(const char *kernel, const char *fs, u64 memory,
				     unsigned int page_size)
{
	struct run_config config;

	run_config_init(&config);
	config.machine.kernel = kernel;
	config.machine.memory = memory;
	config.machine.page_size = page_size;
	config.machine.data = true;
	config.fs = fs;
	config.size = 0;
	return open_scene(&config);
}

struct shmem_scene *shmem_open_ext4(const char *kernel, u64 size)
{
	struct run_config config;
	struct shmem_scene *s;

	run_config_init(&config);
	config.machine.kernel = kernel;
	config.machine.memory = 64 << 20;
	config.machine.data = true;
	config.fs = "ext4";
	config.disk = "ram";
	config.written = true;
	config.size = size;
	s = open_scene(&config);
	mapping_set_folio_order_range(s->run->inode->i_mapping, 0, 0);
	return s;
}

static u8 page_byte(pgoff_t page)
{
	return page + 1;
}

struct shmem_scene *shmem_two_thps(const char *kernel)
{
	struct shmem_scene *s = shmem_open(kernel, "tmpfs-always", 256 << 20);
	char *buf = malloc(M2);

	for (int half = 0; half < 2; half++) {
		for (pgoff_t i = 0; i < 512; i++)
			memset(buf + i * K4, page_byte(half * 512 + i), K4);
		assert_int_equal(ksys_pwrite64(run_file(s->run), buf, M2, half * M2), M2);
	}
	free(buf);
	assert_string_equal(shmem_layout(s), "0-1023:o9");
	return s;
}

void shmem_close(struct shmem_scene *s)
{
	struct run *run = s->run;

	pipe_release(&s->pipe);
	trace_remove_sink(&run->machine->trace, &s->sink);
	if (run->vma)
		do_munmap(run->vma);
	run->vma = NULL;
	scene_check(run);
	truncate_inode_pages_final(run->inode->i_mapping);
	lru_add_drain(run->machine);
	scene_check(run);
	vm_check_nothing_left(run->machine);
	run_close(run);
	free(s);
}

ssize_t shmem_pread(struct shmem_scene *s, loff_t off, size_t len)
{
	u8 *buf = malloc(len);
	ssize_t ret;

	begin(s);
	ret = ksys_pread64(run_file(s->run), (char *)buf, len, off);
	for (ssize_t i = 0; i < ret; i++)
		if (buf[i] != page_byte((off + i) >> 12))
			fail_msg("%s: byte %lld is %u", s->run->machine->kernel, (long long)off + i,
				 buf[i]);
	free(buf);
	return ret;
}

ssize_t shmem_splice(struct shmem_scene *s, loff_t off, size_t len, unsigned int slots)
{
	struct pipe_inode_info pipe;
	ssize_t ret;

	begin(s);
	assert_int_equal(pipe_init(&pipe, slots), 0);
	ret = shmem_file_splice_read(run_file(s->run), &off, &pipe, len);
	s->slots = pipe.used;
	pipe_release(&pipe);
	return ret;
}

ssize_t shmem_pwrite(struct shmem_scene *s, loff_t off, size_t len)
{
	u8 *buf = malloc(len);
	ssize_t ret;

	begin(s);
	for (size_t i = 0; i < len; i++)
		buf[i] = page_byte((off + i) >> 12);
	ret = ksys_pwrite64(run_file(s->run), (char *)buf, len, off);
	free(buf);
	return ret;
}

int shmem_fallocate_call(struct shmem_scene *s, loff_t off, loff_t len)
{
	begin(s);
	return vfs_fallocate(run_file(s->run), 0, off, len);
}

int shmem_punch_call(struct shmem_scene *s, loff_t off, loff_t len)
{
	begin(s);
	return vfs_fallocate(run_file(s->run), FALLOC_FL_PUNCH_HOLE, off, len);
}

const char *shmem_copies(struct shmem_scene *s)
{
	static char text[1024];
	size_t len = 0;

	text[0] = 0;
	for (unsigned int i = 0; i < s->nr; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%lux%lu", i ? "+" : "",
				s->copies[i], (unsigned long)s->size[i]);
	return s->nr ? text : "0";
}

int shmem_poison(struct shmem_scene *s, pgoff_t page)
{
	struct run *run = s->run;

	if (!run->vma)
		assert_int_equal(do_mmap(run->mm, run_file(run), 0, i_size_read(run->inode),
					 VM_READ | VM_WRITE, 0, &run->vma),
				 0);
	return do_madvise(run->vma, run->vma->vm_start + page * K4,
			  run->vma->vm_start + (page + 1) * K4, MADV_HWPOISON_);
}

unsigned long shmem_pfn(struct shmem_scene *s, pgoff_t page)
{
	struct folio *folio = filemap_get_folio(s->run->inode->i_mapping, page);
	unsigned long pfn;

	assert_non_null(folio);
	pfn = folio->_pfn + (page - folio->index);
	folio_put(folio);
	return pfn;
}

/* One run of folios of the same order, next to each other. */
static size_t put_run(char *text, size_t room, pgoff_t first, pgoff_t end, unsigned int order)
{
	const char *blank = room < 16384 ? " " : "";

	if (end - first == 1)
		return snprintf(text, room, "%s%lu:o%u", blank, first, order);
	return snprintf(text, room, "%s%lu-%lu:o%u", blank, first, end - 1, order);
}

const char *shmem_layout(struct shmem_scene *s)
{
	static char text[16384];
	XA_STATE(xas, &s->run->inode->i_mapping->i_pages, 0);
	pgoff_t first = 0, end = 0;
	unsigned int order = 0;
	struct folio *folio;
	size_t len = 0;

	text[0] = 0;
	xas_for_each(&xas, folio, ~0UL) {
		if (end && (folio->index != end || folio->_order != order)) {
			len += put_run(text + len, sizeof(text) - len, first, end, order);
			end = 0;
		}
		if (!end)
			first = folio->index;
		order = folio->_order;
		end = folio_next_index(folio);
	}
	if (end)
		put_run(text + len, sizeof(text) - len, first, end, order);
	return text;
}
