#include "cli/live_roots.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/strutil.h"
#include "mm/internal.h"
#include "mm/mm.h"

/* Every object once: X(name, struct, expression of @run). */
#define ROOTS(X)                                                                                   \
	X(machine, machine, run->machine)                                                          \
	X(super_block, super_block, run->sb)                                                       \
	X(inode, inode, run->inode)                                                                \
	X(mapping, address_space, run->inode->i_mapping)                                           \
	X(file, file, run_file(run))                                                               \
	X(file_ra_state, file_ra_state, run_file(run) ? &run_file(run)->f_ra : NULL)               \
	X(bdi, backing_dev_info, run->sb->s_bdi)                                                   \
	X(mm, mm_struct, run->mm)                                                                  \
	X(vma, vm_area_struct, run->vma)                                                           \
	X(zone, zone, &run->machine->mm->zone)

static const char *const names[] = {
#define X(name, type, address) #name,
	ROOTS(X)
#undef X
		"folio",
};

#define FOLIO (ARRAY_SIZE(names) - 1)

static void root_at(const struct run *run, unsigned int nr, struct live_root *ret)
{
	const struct live_root roots[] = {
#define X(name, type, address) {#name, "struct " #type, address},
		ROOTS(X)
#undef X
	};

	*ret = roots[nr];
}

static int find_folio(const struct run *run, s64 index, struct live_root *ret, struct fl_error *err)
{
	void *entry;

	if (index < 0)
		return fl_error_set(err, -EINVAL, NULL, 0,
				    "which folio? expected a page of the file, as in folio[4]");
	entry = xa_load(&run->inode->i_mapping->i_pages, index);
	if (!entry || xa_is_value(entry))
		return fl_error_set(err, -ENOENT, NULL, 0,
				    "page %" PRId64 " is not in the cache, expected one that is",
				    index);
	*ret = (struct live_root){"folio", "struct folio", entry};
	return 0;
}

static int find_root(void *ctx, const char *name, s64 index, struct live_root *ret,
		     struct fl_error *err)
{
	const struct run *run = ctx;
	const struct name_list list = {"object", names, ARRAY_SIZE(names)};
	char text[sizeof(err->text)];

	if (!strcmp(name, names[FOLIO]))
		return find_folio(run, index, ret, err);
	for (unsigned int i = 0; i < FOLIO; i++) {
		if (strcmp(name, names[i]))
			continue;
		root_at(run, i, ret);
		if (index >= 0)
			return fl_error_set(err, -EINVAL, NULL, 0,
					    "there is one %s, expected no number", name);
		return ret->address ? 0
				    : fl_error_set(err, -ENOENT, NULL, 0,
						   "there is no %s at this moment", name);
	}
	return fl_error_set(err, -ENOENT, NULL, 0, "%s",
			    describe_unknown(text, sizeof(text), name, &list));
}

/* Folios of the file by their first page. */
static bool name_folio(const struct run *run, const void *address, char *buf, size_t size)
{
	const struct folio *folio = address;

	if (folio_machine(folio) != run->machine || folio->mapping != run->inode->i_mapping ||
	    xa_load(&run->inode->i_mapping->i_pages, folio->index) != address)
		return false;
	snprintf(buf, size, "folio[%lu]", folio->index);
	return true;
}

static bool name_root(void *ctx, const char *type, const void *address, char *buf, size_t size)
{
	const struct run *run = ctx;
	struct live_root root;

	if (!strcmp(type, "folio"))
		return name_folio(run, address, buf, size);
	for (unsigned int i = 0; i < FOLIO; i++) {
		root_at(run, i, &root);
		if (root.address == address && !strcmp(root.type + strlen("struct "), type)) {
			snprintf(buf, size, "%s", root.name);
			return true;
		}
	}
	return false;
}

struct live_roots live_roots_of(const struct run *run)
{
	return (struct live_roots){
		.find = find_root, .name_of = name_root, .ctx = (struct run *)run};
}
