#include "debuginfo/dwarf_types.h"

#include <errno.h>
#include <string.h>

static struct dwarf_file *file_of(struct types *types)
{
	return container_of(types, struct dwarf_types, types)->file;
}

static int damaged(struct types *types)
{
	struct dwarf_file *d = file_of(types);

	return types_damaged(types, *d->error ? d->error : "a type that is none");
}

/* ---- one type ---- */

/* The type DW_AT_type names, or NULL for void. */
static int target_of(struct types *types, Dwarf_Die die, struct type **ret)
{
	u64 offset;

	*ret = NULL;
	if (!dwarf_reference(file_of(types), die, DW_AT_type, &offset))
		return 0;
	return type_get(types, offset, ret);
}

static void load_base(struct types *types, Dwarf_Die die, struct type *t)
{
	s64 encoding = 0;

	dwarf_number(file_of(types), die, DW_AT_encoding, &encoding);
	t->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	if (encoding == DW_ATE_boolean)
		t->kind = TYPE_BOOL;
	else if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float)
		t->kind = TYPE_FLOAT;
	else
		t->kind = TYPE_INT;
}

/*
 * One node for each dimension: int a[2][3] is an array of 2 arrays of 3. The inner ones have no
 * DIE of their own, so they are no nodes of the table.
 */
static int load_array(struct types *types, Dwarf_Die die, struct type *t)
{
	struct dwarf_file *d = file_of(types);
	struct type *element, *outer = NULL;
	Dwarf_Die child, next;
	int ret = target_of(types, die, &element), got;

	if (ret)
		return ret;
	got = dwarf_first_child(d, die, &child);
	while (got > 0 && !ret) {
		s64 n = 0;

		if (dwarf_die_tag(d, child) == DW_TAG_subrange_type) {
			struct type *dim = outer ? types_alloc(types, sizeof(*dim)) : t;

			if (!dim)
				ret = -ENOMEM;
			else {
				dim->kind = TYPE_ARRAY;
				dim->name = "";
				if (dwarf_number(d, child, DW_AT_count, &n))
					dim->count = n;
				else if (dwarf_number(d, child, DW_AT_upper_bound, &n))
					dim->count = n + 1;
				else
					dim->flexible = true;
				if (outer)
					outer->target = dim;
				outer = dim;
			}
		}
		got = dwarf_next_sibling(d, child, &next);
		dwarf_dealloc_die(child);
		child = next;
	}
	if (got > 0)
		dwarf_dealloc_die(child);
	if (!outer)
		t->kind = TYPE_ARRAY, t->flexible = true, outer = t;
	outer->target = element;
	return ret ? ret : got;
}

static enum type_kind wrapper_kind(Dwarf_Half tag)
{
	switch (tag) {
	case DW_TAG_pointer_type:
		return TYPE_POINTER;
	case DW_TAG_typedef:
		return TYPE_TYPEDEF;
	case DW_TAG_const_type:
		return TYPE_CONST;
	case DW_TAG_volatile_type:
		return TYPE_VOLATILE;
	case DW_TAG_restrict_type:
		return TYPE_RESTRICT;
	case DW_TAG_atomic_type:
		return TYPE_ATOMIC;
	case DW_TAG_structure_type:
		return TYPE_STRUCT;
	case DW_TAG_union_type:
		return TYPE_UNION;
	case DW_TAG_enumeration_type:
		return TYPE_ENUM;
	case DW_TAG_subroutine_type:
		return TYPE_FUNCTION;
	default:
		return TYPE_VOID;
	}
}

static int load_function(struct types *types, Dwarf_Die die, struct type *t);

static int load_die(struct types *types, Dwarf_Die die, struct type *t)
{
	struct dwarf_file *d = file_of(types);
	Dwarf_Half tag = dwarf_die_tag(d, die);
	s64 size = 0;

	t->name = dwarf_die_name(d, die);
	if (dwarf_number(d, die, DW_AT_byte_size, &size))
		t->size = size;
	t->kind = wrapper_kind(tag);
	switch (t->kind) {
	case TYPE_VOID:
		if (tag == DW_TAG_base_type)
			load_base(types, die, t);
		else if (tag == DW_TAG_array_type)
			return load_array(types, die, t);
		else if (tag != DW_TAG_unspecified_type)
			return types_damaged(types, "a type of an unknown kind");
		return 0;
	case TYPE_STRUCT:
	case TYPE_UNION:
		t->declaration = dwarf_flag_set(d, die, DW_AT_declaration);
		return 0;
	case TYPE_ENUM:
		t->declaration = dwarf_flag_set(d, die, DW_AT_declaration);
		return 0;
	case TYPE_FUNCTION:
		return load_function(types, die, t);
	case TYPE_POINTER:
		t->size = t->size ? t->size : types->pointer_size;
		return target_of(types, die, &t->target);
	default:
		return target_of(types, die, &t->target);
	}
}

static int load(struct types *types, struct type *t)
{
	struct dwarf_file *d = file_of(types);
	Dwarf_Die die;
	int ret = dwarf_die_at(d, t->id, &die);

	if (ret <= 0)
		return damaged(types);
	ret = load_die(types, die, t);
	dwarf_dealloc_die(die);
	return ret == -EINVAL && types->err && !types->err->code ? damaged(types) : ret;
}

/* ---- members, values, parameters ---- */

/* Where a member starts and how many bits it has if it is a bit-field. */
static void place_member(struct dwarf_file *d, Dwarf_Die die, struct type_member *m)
{
	s64 at = 0, bits = 0, bit = 0, storage = 0;

	dwarf_number(d, die, DW_AT_data_member_location, &at);
	m->bit = (u64)at * 8;
	if (!dwarf_number(d, die, DW_AT_bit_size, &bits))
		return;
	m->bits = bits;
	if (dwarf_number(d, die, DW_AT_data_bit_offset, &bit)) {
		m->bit += bit;
	} else if (dwarf_number(d, die, DW_AT_bit_offset, &bit)) {
		if (!dwarf_number(d, die, DW_AT_byte_size, &storage))
			storage = type_size(m->type);
		m->bit += 8 * storage - bit - bits;
	}
}

static int take_member(struct types *types, Dwarf_Die die, struct type *t, u32 nr)
{
	struct type_member *m = &t->members[nr];
	int ret = target_of(types, die, &m->type);

	m->name = dwarf_die_name(file_of(types), die);
	if (!ret && t->kind != TYPE_FUNCTION)
		place_member(file_of(types), die, m);
	return ret;
}

static int take_value(struct types *types, Dwarf_Die die, struct type *t, u32 nr)
{
	t->values[nr].name = dwarf_die_name(file_of(types), die);
	dwarf_number(file_of(types), die, DW_AT_const_value, &t->values[nr].value);
	if (t->values[nr].value < 0)
		t->is_signed = true;
	return 0;
}

/* Call @take, if it is given, for each child of @tag; returns how many there are, or -errno. */
static s64 each_child(struct types *types, Dwarf_Die die, Dwarf_Half tag, struct type *t,
		      int (*take)(struct types *, Dwarf_Die, struct type *, u32))
{
	struct dwarf_file *d = file_of(types);
	Dwarf_Die child, next;
	int got = dwarf_first_child(d, die, &child), ret = 0;
	u32 nr = 0;

	while (got > 0 && !ret) {
		if (dwarf_die_tag(d, child) == tag) {
			ret = take ? take(types, child, t, nr) : 0;
			nr++;
		} else if (dwarf_die_tag(d, child) == DW_TAG_unspecified_parameters) {
			t->variadic = true;
		}
		got = dwarf_next_sibling(d, child, &next);
		dwarf_dealloc_die(child);
		child = next;
	}
	if (got > 0)
		dwarf_dealloc_die(child);
	if (ret)
		return ret;
	return got < 0 ? got : (s64)nr;
}

/* Count the children of @tag, make room, take them. */
static int load_children(struct types *types, Dwarf_Die die, Dwarf_Half tag, struct type *t)
{
	bool values = tag == DW_TAG_enumerator;
	s64 nr = each_child(types, die, tag, t, NULL);

	if (nr < 0)
		return nr;
	if (values)
		t->values = types_alloc(types, nr * sizeof(*t->values));
	else
		t->members = types_alloc(types, nr * sizeof(*t->members));
	if (values ? !t->values : !t->members)
		return -ENOMEM;
	nr = each_child(types, die, tag, t, values ? take_value : take_member);
	if (nr < 0)
		return nr;
	*(values ? &t->nr_values : &t->nr_members) = nr;
	return 0;
}

static int load_function(struct types *types, Dwarf_Die die, struct type *t)
{
	int ret = target_of(types, die, &t->target);

	return ret ? ret : load_children(types, die, DW_TAG_formal_parameter, t);
}

static int body(struct types *types, struct type *t)
{
	struct dwarf_file *d = file_of(types);
	Dwarf_Die die;
	int ret = dwarf_die_at(d, t->id, &die);

	if (ret <= 0)
		return damaged(types);
	ret = load_children(types, die, t->kind == TYPE_ENUM ? DW_TAG_enumerator : DW_TAG_member,
			    t);
	dwarf_dealloc_die(die);
	return ret == -EINVAL && types->err && !types->err->code ? damaged(types) : ret;
}

/* ---- names ---- */

/* Structs, unions and enums are sorted before typedefs. */
static int find(struct types *types, const char *name, u32 nr, u64 *id)
{
	const struct dwarf_index *x = container_of(types, struct dwarf_types, types)->index;
	u32 at = dwarf_index_find(x, name);

	if (at >= x->nr || nr >= x->nr - at || strcmp(dwarf_index_name(x, at + nr), name) ||
	    x->entries[at + nr].kind == DWARF_FUNCTION)
		return 0;
	*id = x->entries[at + nr].die;
	return 1;
}

static int next(struct types *types, u32 *pos, u64 *id)
{
	const struct dwarf_index *x = container_of(types, struct dwarf_types, types)->index;

	while (*pos < x->nr) {
		const struct dwarf_entry *e = &x->entries[(*pos)++];

		if (e->kind <= DWARF_ENUM) {
			*id = e->die;
			return 1;
		}
	}
	return 0;
}

static const struct types_ops dwarf_types_ops = {
	.load = load, .body = body, .find = find, .next = next};

int dwarf_types_init(struct dwarf_types *t, struct dwarf_file *file, struct dwarf_index *index)
{
	memset(t, 0, sizeof(*t));
	t->file = file;
	t->index = index;
	return types_init(&t->types, &dwarf_types_ops, file->elf.path);
}
