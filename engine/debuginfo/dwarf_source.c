#include "debuginfo/dwarf_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the kept index ---- */

/* The folder, without making it; false where there is no home. */
static bool cache_folder(char *buf, size_t size)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (xdg && *xdg == '/')
		return snprintf(buf, size, "%s/foliolab", xdg) < (int)size;
	return home && *home == '/' && snprintf(buf, size, "%s/.cache/foliolab", home) < (int)size;
}

static bool cache_path(const struct elf_file *e, const char *suffix, char *buf, size_t size)
{
	char folder[400], id[2 * ELF_BUILD_ID_MAX + 1];

	return e->build_id_len && cache_folder(folder, sizeof(folder)) &&
	       snprintf(buf, size, "%s/%s.index%s", folder, elf_build_id(e, id), suffix) <
		       (int)size;
}

static void map_cache(struct dwarf_source *s)
{
	char path[512];
	struct stat st;
	int fd;

	if (!cache_path(&s->file.elf, "", path, sizeof(path)))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size) {
		s->cache_size = st.st_size;
		s->cache = mmap(NULL, s->cache_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (s->cache == MAP_FAILED)
			s->cache = NULL;
	}
	close(fd);
}

/* Make every folder of @path. */
static void make_folders(const char *path)
{
	char part[512];

	snprintf(part, sizeof(part), "%s", path);
	for (char *p = part + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		(void)!mkdir(part, 0755);
		*p = '/';
	}
}

void dwarf_source_keep(const struct dwarf_source *s, const void *bytes, u64 size)
{
	char path[512], tmp[512], suffix[32];
	bool whole;
	FILE *f;

	snprintf(suffix, sizeof(suffix), ".%d", (int)getpid());
	if (!cache_path(&s->file.elf, "", path, sizeof(path)) ||
	    !cache_path(&s->file.elf, suffix, tmp, sizeof(tmp)))
		return;
	make_folders(path);
	f = fopen(tmp, "wxe");
	if (!f)
		return;
	whole = fwrite(bytes, size, 1, f) == 1;
	if (fclose(f) || !whole || rename(tmp, path))
		unlink(tmp);
}

/* ---- opening ---- */

int dwarf_source_map(struct dwarf_source *s, const char *path, struct fl_error *err)
{
	int ret;

	memset(s, 0, sizeof(*s));
	ret = dwarf_file_map(&s->file, path, err);
	if (!ret)
		map_cache(s);
	return ret;
}

static int build(struct dwarf_source *s, const char *only, struct fl_error *err)
{
	int ret = dwarf_index_build(&s->index, &s->file, only, err);

	if (!ret && only && !s->index.nr) {
		dwarf_index_fini(&s->index);
		ret = dwarf_index_build(&s->index, &s->file, NULL, err);
	}
	s->built = !ret;
	return ret;
}

static int start(struct dwarf_source *s, const char *only, struct fl_error *err)
{
	int ret = dwarf_file_start(&s->file, err);

	if (!ret &&
	    (!s->cache || dwarf_index_take(&s->index, s->cache, s->cache_size, &s->file.elf)))
		ret = build(s, only, err);
	if (!ret)
		ret = dwarf_types_init(&s->types, &s->file, &s->index);
	return ret;
}

int dwarf_source_start(struct dwarf_source *s, struct fl_error *err)
{
	return start(s, NULL, err);
}

void dwarf_source_close(struct dwarf_source *s)
{
	types_fini(&s->types.types);
	dwarf_index_fini(&s->index);
	dwarf_file_close(&s->file);
	if (s->cache)
		munmap(s->cache, s->cache_size);
	memset(s, 0, sizeof(*s));
}

int dwarf_source_own(struct dwarf_source *s, const char *only, struct fl_error *err)
{
	int ret;

	memset(s, 0, sizeof(*s));
	ret = dwarf_file_map_own(&s->file, err);
	if (!ret)
		ret = start(s, only, err);
	if (ret)
		dwarf_source_close(s);
	return ret;
}
