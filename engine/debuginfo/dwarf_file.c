#include "debuginfo/dwarf_file.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- the sections libdwarf asks for; number 0 is none, as in an ELF file ---- */

static int section_info(void *obj, dwarf_section_nr nr, dwarf_section *ret, int *error)
{
	struct dwarf_file *d = obj;

	memset(ret, 0, sizeof(*ret));
	ret->DWARF_SECTION(name) = "";
	if (nr > d->nr_shown) {
		*error = 0;
		return DW_DLV_NO_ENTRY;
	}
	if (nr) {
		ret->DWARF_SECTION(name) = d->shown[nr - 1]->name;
		ret->DWARF_SECTION(type) = SHT_PROGBITS;
		ret->DWARF_SECTION(size) = d->shown[nr - 1]->size;
	}
	return DW_DLV_OK;
}

static dwarf_byte_order byte_order(void *obj)
{
	(void)obj;
	return DWARF_LITTLE_ENDIAN;
}

static Dwarf_Small length_size(void *obj)
{
	(void)obj;
	return 4;
}

static Dwarf_Small pointer_size(void *obj)
{
	(void)obj;
	return 8;
}

static Dwarf_Unsigned __attribute__((unused)) file_size(void *obj)
{
	struct dwarf_file *d = obj;

	return d->elf.size;
}

static Dwarf_Unsigned section_count(void *obj)
{
	struct dwarf_file *d = obj;

	return d->nr_shown + 1;
}

static int load_section(void *obj, dwarf_section_nr nr, Dwarf_Small **ret, int *error)
{
	struct dwarf_file *d = obj;

	*error = 0;
	if (!nr || nr > d->nr_shown)
		return DW_DLV_NO_ENTRY;
	*ret = d->shown[nr - 1]->data;
	return DW_DLV_OK;
}

DWARF_METHODS(section_methods);

static const char *const wanted[] = {
	".debug_info",	 ".debug_abbrev",   ".debug_str",  ".debug_line",  ".debug_line_str",
	".debug_ranges", ".debug_rnglists", ".debug_addr", ".debug_types", ".debug_str_offsets",
};

static int show_sections(struct dwarf_file *d, struct fl_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct elf_section *s = elf_section(&d->elf, wanted[i]);
		int ret = s ? elf_section_data(&d->elf, s) : 0;

		if (ret == -ENOTSUP)
			return fl_error_set(err, ret, d->elf.path, 0,
					    "%s is packed or relocated in a way that is not "
					    "supported, expected zlib, x86-64 or aarch64",
					    wanted[i]);
		if (ret)
			return fl_error_set(err, ret, d->elf.path, 0,
					    "%s cannot be unpacked: cut off or damaged", wanted[i]);
		if (s && s->size)
			d->shown[d->nr_shown++] = s;
	}
	return 0;
}

/* ---- opening ---- */

static int open_debug(struct dwarf_file *d, struct fl_error *err)
{
	Dwarf_Error error = NULL;
	int ret;

	/* We let go of everything ourselves: libdwarf need not remember what it gave. */
	dwarf_set_de_alloc_flag(0);
	d->access = (dwarf_access)DWARF_ACCESS(d, section_methods);
	ret = dwarf_result(
		d, dwarf_object_init_b(&d->access, NULL, NULL, DW_GROUPNUMBER_ANY, &d->dbg, &error),
		error);
	if (ret > 0)
		return 0;
	d->dbg = NULL;
	return dwarf_damaged(d, err);
}

int dwarf_file_map(struct dwarf_file *d, const char *path, struct fl_error *err)
{
	int ret;

	memset(d, 0, sizeof(*d));
	ret = elf_open(&d->elf, path, err);
	if (!ret &&
	    (!elf_section(&d->elf, ".debug_info") || !elf_section(&d->elf, ".debug_abbrev")))
		ret = fl_error_set(err, -ENODATA, path, 0,
				   "no debug information (stripped?), expected a file built "
				   "with -g");
	if (ret)
		dwarf_file_close(d);
	return ret;
}

int dwarf_file_map_own(struct dwarf_file *d, struct fl_error *err)
{
	int ret = dwarf_file_map(d, "/proc/self/exe", err);

	if (!ret)
		snprintf(d->elf.path, sizeof(d->elf.path), "this program");
	return ret;
}

int dwarf_file_start(struct dwarf_file *d, struct fl_error *err)
{
	int ret = show_sections(d, err);

	return ret ? ret : open_debug(d, err);
}

void dwarf_file_close(struct dwarf_file *d)
{
	if (d->dbg)
		dwarf_object_close(d->dbg);
	d->dbg = NULL;
	elf_close(&d->elf);
}

int dwarf_damaged(const struct dwarf_file *d, struct fl_error *err)
{
	return fl_error_set(err, -EINVAL, d->elf.path, 0, "its debug information is damaged%s%s",
			    *d->error ? ": " : "", d->error);
}

int dwarf_result(struct dwarf_file *d, int res, Dwarf_Error error)
{
	if (res == DW_DLV_OK)
		return 1;
	if (res == DW_DLV_NO_ENTRY)
		return 0;
	snprintf(d->error, sizeof(d->error), "%s", error ? dwarf_errmsg(error) : "");
	if (error && d->dbg)
		dwarf_dealloc_error(d->dbg, error);
	return -EINVAL;
}

/* ---- walking ---- */

static int next_unit(struct dwarf_file *d, struct dwarf_unit *u)
{
	Dwarf_Unsigned length, type_offset, next;
	Dwarf_Half address, offset, extension, kind;
	Dwarf_Error error = NULL;
	Dwarf_Off abbrev;
	Dwarf_Sig8 sig;
	int ret;

	ret = dwarf_result(d,
			   dwarf_next_cu_header_d(d->dbg, 1, &length, &u->version, &abbrev,
						  &address, &offset, &extension, &sig, &type_offset,
						  &next, &kind, &error),
			   error);
	if (ret <= 0)
		return ret;
	error = NULL;
	ret = dwarf_result(d, dwarf_siblingof_b(d->dbg, NULL, 1, &u->die, &error), error);
	if (ret > 0)
		u->offset = dwarf_die_offset(d, u->die);
	return ret ? ret : -EINVAL;
}

int dwarf_each_unit(struct dwarf_file *d, int (*fn)(void *ctx, const struct dwarf_unit *u),
		    void *ctx)
{
	struct dwarf_unit u;
	int ret, said = 0;

	/* To the end even when nobody wants the rest: libdwarf goes on where it was left. */
	while ((ret = next_unit(d, &u)) > 0) {
		if (!said)
			said = fn(ctx, &u);
		dwarf_dealloc_die(u.die);
	}
	return said ? said : ret;
}

int dwarf_first_child(struct dwarf_file *d, Dwarf_Die die, Dwarf_Die *ret)
{
	Dwarf_Error error = NULL;

	return dwarf_result(d, dwarf_child(die, ret, &error), error);
}

int dwarf_next_sibling(struct dwarf_file *d, Dwarf_Die die, Dwarf_Die *ret)
{
	Dwarf_Error error = NULL;

	return dwarf_result(d, dwarf_siblingof_b(d->dbg, die, 1, ret, &error), error);
}

int dwarf_die_at(struct dwarf_file *d, u64 offset, Dwarf_Die *ret)
{
	Dwarf_Error error = NULL;

	return dwarf_result(d, dwarf_offdie_b(d->dbg, offset, 1, ret, &error), error);
}

/* ---- attributes ---- */

static bool get_attr(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr, Dwarf_Attribute *ret)
{
	Dwarf_Error error = NULL;

	return dwarf_result(d, dwarf_attr(die, attr, ret, &error), error) > 0;
}

bool dwarf_has(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr)
{
	Dwarf_Error error = NULL;
	Dwarf_Bool has = 0;

	return dwarf_result(d, dwarf_hasattr(die, attr, &has, &error), error) > 0 && has;
}

/* dwarf_formudata() refuses implicit constants, dwarf_formsdata() misreads large data1. */
static int form_number(struct dwarf_file *d, Dwarf_Attribute a, s64 *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Half form = 0;
	Dwarf_Unsigned u = 0;
	Dwarf_Signed s = 0;
	int got;

	got = dwarf_result(d, dwarf_whatform(a, &form, &error), error);
	if (got <= 0)
		return got;
	error = NULL;
	if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
		got = dwarf_result(d, dwarf_formsdata(a, &s, &error), error);
		*ret = s;
	} else {
		got = dwarf_result(d, dwarf_formudata(a, &u, &error), error);
		*ret = u;
	}
	return got;
}

bool dwarf_number(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr, s64 *ret)
{
	Dwarf_Attribute a;
	int got;

	if (!get_attr(d, die, attr, &a))
		return false;
	got = form_number(d, a, ret);
	dwarf_dealloc_attribute(a);
	return got > 0;
}

bool dwarf_reference(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr, u64 *ret)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute a;
	Dwarf_Off offset;
	int got;

	if (!get_attr(d, die, attr, &a))
		return false;
	got = dwarf_result(d, dwarf_global_formref(a, &offset, &error), error);
	dwarf_dealloc_attribute(a);
	*ret = offset;
	return got > 0;
}

bool dwarf_flag_set(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute a;
	Dwarf_Bool flag = 0;
	int got;

	if (!get_attr(d, die, attr, &a))
		return false;
	got = dwarf_result(d, dwarf_formflag(a, &flag, &error), error);
	dwarf_dealloc_attribute(a);
	return got > 0 && flag;
}

const char *dwarf_string(struct dwarf_file *d, Dwarf_Die die, Dwarf_Half attr)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute a;
	char *text = NULL;
	int got;

	if (!get_attr(d, die, attr, &a))
		return "";
	got = dwarf_result(d, dwarf_formstring(a, &text, &error), error);
	dwarf_dealloc_attribute(a);
	return got > 0 && text ? text : "";
}

const char *dwarf_die_name(struct dwarf_file *d, Dwarf_Die die)
{
	Dwarf_Error error = NULL;
	char *name = NULL;

	return dwarf_result(d, dwarf_diename(die, &name, &error), error) > 0 && name ? name : "";
}

Dwarf_Half dwarf_die_tag(struct dwarf_file *d, Dwarf_Die die)
{
	Dwarf_Error error = NULL;
	Dwarf_Half tag = 0;

	dwarf_result(d, dwarf_tag(die, &tag, &error), error);
	return tag;
}

u64 dwarf_die_offset(struct dwarf_file *d, Dwarf_Die die)
{
	Dwarf_Error error = NULL;
	Dwarf_Off offset = 0;

	dwarf_result(d, dwarf_dieoffset(die, &offset, &error), error);
	return offset;
}
