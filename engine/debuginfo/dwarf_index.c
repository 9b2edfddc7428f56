#include "debuginfo/dwarf_index.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_MAGIC "FOLIODX1"

/* The start of the bytes; entries follow, then strings. */
struct index_header {
	char magic[8];
	u64 crc; /* CRC-64 of everything behind it */
	u64 strings_size;
	u32 nr;
	u32 build_id_len;
	u8 build_id[ELF_BUILD_ID_MAX];
	u8 unused[4];
};

/* ---- the walk ---- */

struct found {
	const char *name;
	u64 die, size;
	u32 line, kind;
};

struct walk {
	struct dwarf_file *d;
	const char *only; /* or NULL */
	struct found *found;
	size_t nr, room;
	u64 units;
};

static int kind_of_tag(Dwarf_Half tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return DWARF_STRUCT;
	case DW_TAG_union_type:
		return DWARF_UNION;
	case DW_TAG_enumeration_type:
		return DWARF_ENUM;
	case DW_TAG_typedef:
		return DWARF_TYPEDEF;
	case DW_TAG_subprogram:
		return DWARF_FUNCTION;
	default:
		return -1;
	}
}

/* Is it defined here? A struct that is only declared has no size. */
static bool is_definition(struct walk *w, Dwarf_Die die, int kind, s64 *size)
{
	*size = 0;
	if (kind <= DWARF_ENUM)
		return dwarf_number(w->d, die, DW_AT_byte_size, size);
	return kind == DWARF_TYPEDEF || !dwarf_has(w->d, die, DW_AT_declaration);
}

static int take_die(struct walk *w, Dwarf_Die die)
{
	int kind = kind_of_tag(dwarf_die_tag(w->d, die));
	const char *name;
	s64 size, line = 0;

	if (kind < 0)
		return 0;
	name = dwarf_die_name(w->d, die);
	if (!*name || (w->only && strcmp(name, w->only)))
		return 0;
	if (!is_definition(w, die, kind, &size))
		return 0;
	if (kind != DWARF_TYPEDEF)
		dwarf_number(w->d, die, DW_AT_decl_line, &line);
	if (w->nr == w->room) {
		size_t room = w->room ? 2 * w->room : 1024;
		struct found *more = realloc(w->found, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		w->found = more;
		w->room = room;
	}
	w->found[w->nr++] = (struct found){name, dwarf_die_offset(w->d, die), size, line, kind};
	return 0;
}

static int take_unit(void *ctx, const struct dwarf_unit *u)
{
	struct walk *w = ctx;
	Dwarf_Die die, next;
	int got, ret = 0;

	w->units++;
	got = dwarf_first_child(w->d, u->die, &die);
	while (got > 0 && !ret) {
		ret = take_die(w, die);
		got = dwarf_next_sibling(w->d, die, &next);
		dwarf_dealloc_die(die);
		die = next;
	}
	if (got > 0)
		dwarf_dealloc_die(die);
	return ret ? ret : got;
}

/* ---- sorting ---- */

static int compare_numbers(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static int compare_definitions(const struct found *a, const struct found *b)
{
	int ret = strcmp(a->name, b->name);

	if (!ret)
		ret = compare_numbers(a->kind, b->kind);
	if (!ret)
		ret = compare_numbers(a->size, b->size);
	return ret ? ret : compare_numbers(a->line, b->line);
}

static int compare_found(const void *pa, const void *pb)
{
	const struct found *a = pa, *b = pb;
	int ret = compare_definitions(a, b);

	return ret ? ret : compare_numbers(a->die, b->die);
}

/* Equal definitions once; returns how many are left, and the bytes of their names. */
static size_t drop_equal(struct found *f, size_t nr, u64 *strings)
{
	size_t kept = 0;

	*strings = 0;
	for (size_t i = 0; i < nr; i++) {
		if (kept && !compare_definitions(&f[kept - 1], &f[i]))
			continue;
		if (!kept || strcmp(f[kept - 1].name, f[i].name))
			*strings += strlen(f[i].name) + 1;
		f[kept++] = f[i];
	}
	return kept;
}

/* ---- the bytes ---- */

static void point_into(struct dwarf_index *x, void *bytes, u64 size)
{
	struct index_header *h = bytes;

	x->bytes = bytes;
	x->size = size;
	x->nr = h->nr;
	x->entries = (const struct dwarf_entry *)(h + 1);
	x->strings = (const char *)(x->entries + h->nr);
	x->strings_size = h->strings_size;
}

static void fill_entries(const struct found *f, size_t nr, struct dwarf_entry *e, char *strings)
{
	u32 at = 0, last = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!i || strcmp(f[i - 1].name, f[i].name)) {
			last = at;
			strcpy(strings + at, f[i].name);
			at += strlen(f[i].name) + 1;
		}
		e[i] = (struct dwarf_entry){.die = f[i].die,
					    .size = f[i].size,
					    .name = last,
					    .line = f[i].line,
					    .kind = f[i].kind};
	}
}

static int pack(struct dwarf_index *x, const struct walk *w, size_t nr, u64 strings)
{
	const struct elf_file *e = &w->d->elf;
	u64 size = sizeof(struct index_header) + nr * sizeof(struct dwarf_entry) + strings;
	struct index_header *h;

	if (nr > UINT32_MAX || strings > UINT32_MAX)
		return -ENOMEM;
	h = calloc(1, size);
	if (!h)
		return -ENOMEM;
	memcpy(h->magic, INDEX_MAGIC, sizeof(h->magic));
	h->nr = nr;
	h->strings_size = strings;
	h->build_id_len = e->build_id_len;
	memcpy(h->build_id, e->build_id, sizeof(h->build_id));
	point_into(x, h, size);
	x->owned = true;
	fill_entries(w->found, nr, (struct dwarf_entry *)x->entries, (char *)x->strings);
	h->crc = lzma_crc64((u8 *)h + 16, size - 16, 0);
	return 0;
}

int dwarf_index_build(struct dwarf_index *x, struct dwarf_file *d, const char *only,
		      struct fl_error *err)
{
	struct walk w = {.d = d, .only = only};
	u64 strings;
	int ret;

	memset(x, 0, sizeof(*x));
	ret = dwarf_each_unit(d, take_unit, &w);
	if (!ret && !w.units)
		ret = fl_error_set(err, -ENODATA, d->elf.path, 0,
				   "no debug information (stripped?), expected a file built "
				   "with -g");
	else if (ret == -EINVAL)
		dwarf_damaged(d, err);
	if (!ret) {
		if (w.nr)
			qsort(w.found, w.nr, sizeof(*w.found), compare_found);
		w.nr = drop_equal(w.found, w.nr, &strings);
		ret = pack(x, &w, w.nr, strings);
	}
	if (ret == -ENOMEM)
		fl_error_set(err, ret, d->elf.path, 0, "out of memory");
	free(w.found);
	return ret;
}

void dwarf_index_fini(struct dwarf_index *x)
{
	if (x->owned)
		free(x->bytes);
	memset(x, 0, sizeof(*x));
}

int dwarf_index_take(struct dwarf_index *x, void *bytes, u64 size, const struct elf_file *e)
{
	struct index_header *h = bytes;
	u64 entries;

	memset(x, 0, sizeof(*x));
	if (size < sizeof(*h) || memcmp(h->magic, INDEX_MAGIC, sizeof(h->magic)))
		return -EINVAL;
	entries = (u64)h->nr * sizeof(struct dwarf_entry);
	if (size - sizeof(*h) < entries || size - sizeof(*h) - entries != h->strings_size ||
	    h->build_id_len != e->build_id_len ||
	    memcmp(h->build_id, e->build_id, sizeof(h->build_id)) ||
	    h->crc != lzma_crc64((u8 *)h + 16, size - 16, 0))
		return -EINVAL;
	point_into(x, bytes, size);
	if (x->nr && (!x->strings_size || x->strings[x->strings_size - 1]))
		return -EINVAL;
	for (u32 i = 0; i < x->nr; i++)
		if (x->entries[i].name >= x->strings_size || x->entries[i].kind >= DWARF_KIND_NR)
			return -EINVAL;
	return 0;
}

/* ---- looking up ---- */

const char *dwarf_index_name(const struct dwarf_index *x, u32 nr)
{
	return x->strings + x->entries[nr].name;
}

u32 dwarf_index_find(const struct dwarf_index *x, const char *name)
{
	u32 low = 0, high = x->nr;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (strcmp(dwarf_index_name(x, mid), name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < x->nr && !strcmp(dwarf_index_name(x, low), name) ? low : x->nr;
}
