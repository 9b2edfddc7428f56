#include "debuginfo/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debuginfo/code_internal.h"

/* ---- ranges of a DIE ---- */

typedef int (*range_fn)(void *ctx, u64 low, u64 high);

/* DWARF 2 to 4: .debug_ranges. */
static int old_ranges(struct dwarf_file *d, Dwarf_Die die, u64 offset, u64 base, range_fn fn,
		      void *ctx)
{
	Dwarf_Error error = NULL;
	Dwarf_Ranges *ranges;
	Dwarf_Signed nr;
	int ret = dwarf_result(
		d, dwarf_get_ranges_b(d->dbg, offset, die, NULL, &ranges, &nr, NULL, &error),
		error);

	if (ret <= 0)
		return ret;
	ret = 0;
	for (Dwarf_Signed i = 0; i < nr && !ret; i++) {
		if (ranges[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = ranges[i].dwr_addr2;
		else if (ranges[i].dwr_type == DW_RANGES_ENTRY)
			ret = fn(ctx, base + ranges[i].dwr_addr1, base + ranges[i].dwr_addr2);
	}
	dwarf_ranges_free(d->dbg, ranges, nr);
	return ret;
}

static int new_range(struct dwarf_file *d, Dwarf_Rnglists_Head head, u64 nr, range_fn fn, void *ctx)
{
	Dwarf_Unsigned raw1, raw2, low, high;
	Dwarf_Bool unavailable = 0;
	Dwarf_Error error = NULL;
	unsigned int len, kind;
	int ret =
		dwarf_result(d,
			     dwarf_get_rnglists_entry_fields_a(head, nr, &len, &kind, &raw1, &raw2,
							       &unavailable, &low, &high, &error),
			     error);

	if (ret <= 0)
		return ret;
	if (unavailable || kind == DW_RLE_end_of_list || kind == DW_RLE_base_address ||
	    kind == DW_RLE_base_addressx)
		return 0;
	return fn(ctx, low, high);
}

/* DWARF 5: .debug_rnglists. */
static int new_ranges(struct dwarf_file *d, Dwarf_Attribute a, Dwarf_Half form, u64 value,
		      range_fn fn, void *ctx)
{
	Dwarf_Rnglists_Head head = NULL;
	Dwarf_Unsigned nr, offset;
	Dwarf_Error error = NULL;
	int ret = dwarf_result(
		d, dwarf_rnglists_get_rle_head(a, form, value, &head, &nr, &offset, &error), error);

	if (ret <= 0)
		return ret;
	ret = 0;
	for (Dwarf_Unsigned i = 0; i < nr && !ret; i++)
		ret = new_range(d, head, i, fn, ctx);
	dwarf_dealloc_rnglists_head(head);
	return ret;
}

/* DW_AT_ranges of @die, if it has them. */
static int listed_ranges(struct dwarf_file *d, Dwarf_Die die, const struct code_unit *u,
			 range_fn fn, void *ctx)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned value = 0;
	Dwarf_Attribute a;
	Dwarf_Half form = 0;
	int ret;

	ret = dwarf_result(d, dwarf_attr(die, DW_AT_ranges, &a, &error), error);
	if (ret <= 0)
		return ret;
	error = NULL;
	ret = dwarf_result(d, dwarf_whatform(a, &form, &error), error);
	error = NULL;
	if (ret > 0 && form == DW_FORM_rnglistx)
		ret = dwarf_result(d, dwarf_formudata(a, &value, &error), error);
	else if (ret > 0)
		ret = dwarf_result(d, dwarf_global_formref(a, &value, &error), error);
	if (ret > 0)
		ret = u->version >= 5 ? new_ranges(d, a, form, value, fn, ctx)
				      : old_ranges(d, die, value, u->low, fn, ctx);
	dwarf_dealloc_attribute(a);
	return ret;
}

/* Call @fn for each range of code of @die; what it returns ends the walk. */
static int each_range(struct dwarf_file *d, Dwarf_Die die, const struct code_unit *u, range_fn fn,
		      void *ctx)
{
	enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
	Dwarf_Addr low = 0, high = 0;
	Dwarf_Error error = NULL;
	Dwarf_Half form;
	int ret;

	if (dwarf_has(d, die, DW_AT_ranges))
		return listed_ranges(d, die, u, fn, ctx);
	ret = dwarf_result(d, dwarf_lowpc(die, &low, &error), error);
	error = NULL;
	if (ret > 0)
		ret = dwarf_result(d, dwarf_highpc_b(die, &high, &form, &class, &error), error);
	if (ret <= 0)
		return ret;
	return fn(ctx, low, class == DW_FORM_CLASS_CONSTANT ? low + high : high);
}

/* ---- units ---- */

struct finding {
	struct code_map *c;
	struct code_unit *unit;
	size_t room;
};

static int add_range(void *ctx, u64 low, u64 high)
{
	struct finding *f = ctx;
	struct code_map *c = f->c;

	if (high <= low)
		return 0;
	if (c->nr_ranges == c->room) {
		size_t room = c->room ? 2 * c->room : 256;
		struct code_range *more = realloc(c->ranges, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->ranges = more;
		c->room = room;
	}
	c->ranges[c->nr_ranges++] =
		(struct code_range){.low = low, .high = high, .unit = f->unit - c->units};
	return 0;
}

static int add_unit(void *ctx, const struct dwarf_unit *du)
{
	struct finding *f = ctx;
	struct code_map *c = f->c;
	Dwarf_Error error = NULL;
	Dwarf_Addr low = 0;

	if (c->nr_units == f->room) {
		size_t room = f->room ? 2 * f->room : 64;
		struct code_unit *more = realloc(c->units, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->units = more;
		f->room = room;
	}
	f->unit = &c->units[c->nr_units++];
	dwarf_result(c->d, dwarf_lowpc(du->die, &low, &error), error);
	*f->unit = (struct code_unit){.offset = du->offset, .low = low, .version = du->version};
	return each_range(c->d, du->die, f->unit, add_range, f);
}

static int compare_ranges(const void *pa, const void *pb)
{
	const struct code_range *a = pa, *b = pb;

	return a->low < b->low ? -1 : a->low > b->low;
}

static int code_error(struct code_map *c, int ret, struct fl_error *err)
{
	if (ret == -ENOMEM)
		return fl_error_set(err, ret, c->d->elf.path, 0, "out of memory");
	return dwarf_damaged(c->d, err);
}

int code_map_init(struct code_map *c, struct dwarf_file *d, struct fl_error *err)
{
	struct finding f = {.c = c};
	int ret;

	memset(c, 0, sizeof(*c));
	c->d = d;
	ret = dwarf_each_unit(d, add_unit, &f);
	if (ret) {
		code_map_fini(c);
		return code_error(c, ret, err);
	}
	if (c->nr_ranges)
		qsort(c->ranges, c->nr_ranges, sizeof(*c->ranges), compare_ranges);
	return 0;
}

void code_map_fini(struct code_map *c)
{
	for (size_t i = 0; i < c->nr_units; i++)
		code_unit_fini(&c->units[i]);
	free(c->units);
	free(c->ranges);
	c->units = NULL;
	c->ranges = NULL;
	c->nr_units = c->nr_ranges = 0;
}

/* The unit with code at @addr, or NULL; ranges of units do not overlap. */
static struct code_unit *unit_at(struct code_map *c, u64 addr)
{
	size_t low = 0, high = c->nr_ranges;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->ranges[mid].low <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr < c->ranges[low - 1].high ? &c->units[c->ranges[low - 1].unit] : NULL;
}

/* ---- functions ---- */

static int range_has(void *ctx, u64 low, u64 high)
{
	u64 addr = *(const u64 *)ctx;

	return addr >= low && addr < high;
}

/* Code of @die at @addr? 1, 0, -errno. */
static int die_has(struct code_map *c, const struct code_unit *u, Dwarf_Die die, u64 addr)
{
	return each_range(c->d, die, u, range_has, &addr);
}

/* The name of a function, perhaps of the one it is an instance of. */
static const char *function_name(struct code_map *c, Dwarf_Die die)
{
	const char *name = dwarf_die_name(c->d, die);
	u64 offset;

	for (int hops = 0; !*name && hops < 4; hops++) {
		Dwarf_Die origin;
		bool more = dwarf_reference(c->d, die, DW_AT_abstract_origin, &offset) ||
			    dwarf_reference(c->d, die, DW_AT_specification, &offset);

		if (hops)
			dwarf_dealloc_die(die);
		if (!more || dwarf_die_at(c->d, offset, &origin) <= 0)
			return "";
		name = dwarf_die_name(c->d, origin);
		die = origin;
		if (*name || hops == 3)
			dwarf_dealloc_die(origin);
	}
	return name;
}

/* The function and the calls inlined into it at one address, outermost first. */
struct nest {
	struct {
		const char *function;
		s64 call_file, call_line; /* where it is called; inlined ones only */
	} level[CODE_FRAMES_MAX];
	unsigned int nr;
};

static void enter(struct code_map *c, Dwarf_Die die, struct nest *n)
{
	s64 file = 0, line = 0;

	if (n->nr == CODE_FRAMES_MAX)
		return;
	dwarf_number(c->d, die, DW_AT_call_file, &file);
	dwarf_number(c->d, die, DW_AT_call_line, &line);
	n->level[n->nr].function = function_name(c, die);
	n->level[n->nr].call_file = file;
	n->level[n->nr++].call_line = line;
}

/* Look through the children of @die; every DIE that has @addr is entered. */
static int find_nest(struct code_map *c, const struct code_unit *u, Dwarf_Die die, u64 addr,
		     unsigned int depth, struct nest *n)
{
	Dwarf_Die child, next;
	int got = dwarf_first_child(c->d, die, &child), ret = 0;

	while (got > 0 && !ret) {
		Dwarf_Half tag = dwarf_die_tag(c->d, child);
		bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;

		if ((function || tag == DW_TAG_lexical_block) && depth < 64)
			ret = die_has(c, u, child, addr);
		if (ret > 0) {
			if (function)
				enter(c, child, n);
			ret = find_nest(c, u, child, addr, depth + 1, n);
			ret = ret ? ret : 1;
		}
		got = dwarf_next_sibling(c->d, child, &next);
		dwarf_dealloc_die(child);
		child = next;
	}
	if (got > 0)
		dwarf_dealloc_die(child);
	return ret < 0 ? ret : got < 0 ? got : ret;
}

/* ---- looking up ---- */

static int fill_frames(const struct code_unit *u, const struct nest *n, u64 addr,
		       struct code_frame *frames, unsigned int max)
{
	u32 line = 0, file = 0;
	unsigned int nr = 0;

	code_unit_row(u, addr, &file, &line);
	for (unsigned int i = n->nr; i-- > 0 && nr < max;) {
		frames[nr++] = (struct code_frame){.function = n->level[i].function,
						   .file = code_unit_file(u, file),
						   .line = line,
						   .inlined = i > 0};
		file = n->level[i].call_file;
		line = n->level[i].call_line;
	}
	if (!n->nr && line && max)
		frames[nr++] = (struct code_frame){
			.function = "", .file = code_unit_file(u, file), .line = line};
	return nr;
}

int code_lookup(struct code_map *c, u64 addr, struct code_frame *frames, unsigned int max,
		struct fl_error *err)
{
	struct code_unit *u = unit_at(c, addr);
	struct nest nest = {.nr = 0};
	Dwarf_Die die;
	int ret;

	if (!u)
		return 0;
	ret = dwarf_die_at(c->d, u->offset, &die);
	if (ret <= 0)
		return code_error(c, -EINVAL, err);
	ret = code_unit_load(c, u, die);
	if (!ret)
		ret = find_nest(c, u, die, addr, 0, &nest);
	dwarf_dealloc_die(die);
	return ret < 0 ? code_error(c, ret, err) : fill_frames(u, &nest, addr, frames, max);
}

const char *code_map_folder(struct code_map *c)
{
	const char *folder = "";
	Dwarf_Die die;

	for (size_t i = 0; i < c->nr_units && !*folder; i++) {
		if (dwarf_die_at(c->d, c->units[i].offset, &die) <= 0)
			break;
		folder = dwarf_string(c->d, die, DW_AT_comp_dir);
		dwarf_dealloc_die(die);
	}
	return *folder ? folder : ".";
}

/* ---- all functions ---- */

struct naming {
	struct code_map *c;
	const char *folder;
	const char *unit; /* the path of the one that is walked */
	int (*fn)(void *ctx, const struct code_function *f);
	void *ctx;
};

static bool is_c_file(const char *path)
{
	size_t len = strlen(path);

	return len > 2 && !strcmp(path + len - 2, ".c");
}

static int name_function(struct naming *n, const struct code_unit *u, Dwarf_Die die)
{
	struct code_function f = {.name = dwarf_die_name(n->c->d, die)};
	s64 file = 0, line = 0;

	if (!*f.name || dwarf_flag_set(n->c->d, die, DW_AT_declaration) ||
	    !dwarf_number(n->c->d, die, DW_AT_decl_file, &file))
		return 0;
	dwarf_number(n->c->d, die, DW_AT_decl_line, &line);
	f.file = code_unit_file(u, file);
	f.line = line;
	/* A .c file that another includes under other names is not what the functions are. */
	if (is_c_file(f.file) && strcmp(f.file, n->unit))
		return 0;
	return strncmp(f.file, n->folder, strlen(n->folder)) ? 0 : n->fn(n->ctx, &f);
}

static int name_functions(struct naming *n, struct code_unit *u)
{
	struct code_map *c = n->c;
	Dwarf_Die unit, die, next;
	int got, ret;

	if (dwarf_die_at(c->d, u->offset, &unit) <= 0)
		return -EINVAL;
	ret = code_unit_load(c, u, unit);
	n->unit = dwarf_die_name(c->d, unit);
	got = ret ? 0 : dwarf_first_child(c->d, unit, &die);
	while (got > 0 && !ret) {
		if (dwarf_die_tag(c->d, die) == DW_TAG_subprogram)
			ret = name_function(n, u, die);
		got = dwarf_next_sibling(c->d, die, &next);
		dwarf_dealloc_die(die);
		die = next;
	}
	if (got > 0)
		dwarf_dealloc_die(die);
	dwarf_dealloc_die(unit);
	return ret ? ret : got;
}

int code_each_function(struct code_map *c, const char *folder,
		       int (*fn)(void *ctx, const struct code_function *f), void *ctx,
		       struct fl_error *err)
{
	struct naming n = {.c = c, .folder = folder, .fn = fn, .ctx = ctx};
	int ret = 0;

	for (size_t i = 0; i < c->nr_units && !ret; i++)
		ret = name_functions(&n, &c->units[i]);
	return ret < 0 ? code_error(c, ret, err) : ret;
}
