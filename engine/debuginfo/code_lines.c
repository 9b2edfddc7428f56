/*
 * Line tables.
 *
 * libdwarf before 0.4 starts the file register of a version 5 table at 0, while gcc with gas counts
 * on 1 and sets none for code that begins in the first file: in units of a GNU producer file 0 is
 * taken for 1. clang means 0 when it says 0. (davea42/libdwarf-code#137)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debuginfo/code_internal.h"

/* ---- files ---- */

static const char *folder_of(struct dwarf_file *d, Dwarf_Line_Context lines, u64 nr)
{
	Dwarf_Error error = NULL;
	const char *name = NULL;

	/* Folder 0 is the one it was compiled in, which is where paths begin. */
	if (!nr)
		return "";
	return dwarf_result(d, dwarf_srclines_include_dir_data(lines, nr, &name, &error), error) >
				       0 &&
			       name
		       ? name
		       : "";
}

static char *file_path(struct dwarf_file *d, Dwarf_Line_Context lines, Dwarf_Signed nr)
{
	Dwarf_Unsigned folder = 0, time, length;
	Dwarf_Form_Data16 *md5;
	Dwarf_Error error = NULL;
	const char *name = NULL, *in;
	char *path;

	if (dwarf_result(d,
			 dwarf_srclines_files_data_b(lines, nr, &name, &folder, &time, &length,
						     &md5, &error),
			 error) <= 0 ||
	    !name)
		return strdup("");
	in = *name == '/' ? "" : folder_of(d, lines, folder);
	if (asprintf(&path, "%s%s%s", in, *in ? "/" : "", name) < 0)
		return NULL;
	return path;
}

static int read_files(struct dwarf_file *d, Dwarf_Line_Context lines, struct code_unit *u)
{
	Dwarf_Signed base, count, end;
	Dwarf_Error error = NULL;
	int ret = dwarf_result(d, dwarf_srclines_files_indexes(lines, &base, &count, &end, &error),
			       error);

	if (ret <= 0)
		return ret;
	if (base < 0 || end < base || end > 1 << 20)
		return -EINVAL;
	u->files = calloc(end + 1, sizeof(*u->files));
	if (!u->files)
		return -ENOMEM;
	u->nr_files = end;
	for (Dwarf_Signed i = base; i < end; i++) {
		u->files[i] = file_path(d, lines, i);
		if (!u->files[i])
			return -ENOMEM;
	}
	return 0;
}

const char *code_unit_file(const struct code_unit *u, u32 nr)
{
	if (!nr && u->files_from_1)
		nr = 1;
	return nr < u->nr_files && u->files[nr] ? u->files[nr] : "";
}

/* ---- rows ---- */

static int read_row(struct dwarf_file *d, Dwarf_Line line, struct code_row *row)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned number = 0, file = 0;
	Dwarf_Addr addr = 0;
	Dwarf_Bool end = 0;
	int ret;

	ret = dwarf_result(d, dwarf_lineaddr(line, &addr, &error), error);
	error = NULL;
	if (ret > 0)
		ret = dwarf_result(d, dwarf_lineno(line, &number, &error), error);
	error = NULL;
	if (ret > 0)
		ret = dwarf_result(d, dwarf_line_srcfileno(line, &file, &error), error);
	error = NULL;
	if (ret > 0)
		ret = dwarf_result(d, dwarf_lineendsequence(line, &end, &error), error);
	row->addr = addr;
	row->line = number;
	row->file = file;
	row->end = end;
	return ret > 0 ? 0 : -EINVAL;
}

/* The end of one sequence may be the start of the next: it goes first. */
static int compare_rows(const void *pa, const void *pb)
{
	const struct code_row *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->end != b->end)
		return a->end ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Rows at the very end of a sequence hold no code. */
static void drop_empty(struct code_unit *u, u64 end)
{
	while (u->nr_rows && !u->rows[u->nr_rows - 1].end && u->rows[u->nr_rows - 1].addr == end)
		u->nr_rows--;
}

static int read_rows(struct dwarf_file *d, Dwarf_Line_Context lines, struct code_unit *u)
{
	Dwarf_Error error = NULL;
	Dwarf_Line *rows = NULL;
	Dwarf_Signed nr = 0;
	int ret =
		dwarf_result(d, dwarf_srclines_from_linecontext(lines, &rows, &nr, &error), error);

	if (ret <= 0 || !nr)
		return ret < 0 ? ret : 0;
	u->rows = calloc(nr, sizeof(*u->rows));
	if (!u->rows)
		return -ENOMEM;
	ret = 0;
	for (Dwarf_Signed i = 0; i < nr && !ret; i++) {
		struct code_row row = {.order = i};

		ret = read_row(d, rows[i], &row);
		if (row.end)
			drop_empty(u, row.addr);
		u->rows[u->nr_rows++] = row;
	}
	qsort(u->rows, u->nr_rows, sizeof(*u->rows), compare_rows);
	return ret;
}

static bool is_gnu(struct dwarf_file *d, Dwarf_Die die)
{
	return !strncmp(dwarf_string(d, die, DW_AT_producer), "GNU", 3);
}

int code_unit_load(struct code_map *c, struct code_unit *u, Dwarf_Die die)
{
	Dwarf_Unsigned version;
	Dwarf_Small tables;
	Dwarf_Line_Context lines = NULL;
	Dwarf_Error error = NULL;
	int ret;

	if (u->loaded)
		return 0;
	u->loaded = true;
	u->files_from_1 = u->version >= 5 && is_gnu(c->d, die);
	ret = dwarf_result(c->d, dwarf_srclines_b(die, &version, &tables, &lines, &error), error);
	if (ret <= 0)
		return ret;
	ret = read_files(c->d, lines, u);
	if (!ret)
		ret = read_rows(c->d, lines, u);
	dwarf_srclines_dealloc_b(lines);
	return ret;
}

void code_unit_fini(struct code_unit *u)
{
	for (size_t i = 0; i < u->nr_files; i++)
		free(u->files[i]);
	free(u->files);
	free(u->rows);
}

void code_unit_row(const struct code_unit *u, u64 addr, u32 *file, u32 *line)
{
	size_t low = 0, high = u->nr_rows;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (u->rows[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || u->rows[low - 1].end)
		return;
	*file = u->rows[low - 1].file;
	*line = u->rows[low - 1].line;
}
