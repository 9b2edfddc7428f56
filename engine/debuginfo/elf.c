#include "debuginfo/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define SECTIONS_MAX 100000u
#define ZLIB_RATIO   1032u /* deflate cannot pack tighter */

static int bad(const struct elf_file *e, struct fl_error *err, const char *what)
{
	return fl_error_set(err, -EINVAL, e->path, 0,
			    "%s, expected a 64-bit little-endian ELF file", what);
}

static bool inside(const struct elf_file *e, u64 offset, u64 size)
{
	return offset <= e->size && size <= e->size - offset;
}

/* ---- opening ---- */

static int map_file(struct elf_file *e, struct fl_error *err)
{
	int fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int ret = 0;

	if (fd < 0 || fstat(fd, &st)) {
		ret = fl_error_set(err, -errno, e->path, 0, "%s, expected an ELF file",
				   strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		ret = bad(e, err, "not a regular file");
	} else if (st.st_size < (off_t)sizeof(Elf64_Ehdr)) {
		ret = bad(e, err, st.st_size ? "the file is too short" : "the file is empty");
	} else {
		e->size = st.st_size;
		e->map = mmap(NULL, e->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		if (e->map == MAP_FAILED) {
			e->map = NULL;
			ret = fl_error_set(err, -errno, e->path, 0, "cannot be mapped: %s",
					   strerror(errno));
		}
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

static int check_header(struct elf_file *e, Elf64_Ehdr *h, struct fl_error *err)
{
	memcpy(h, e->map, sizeof(*h));
	if (memcmp(h->e_ident, ELFMAG, SELFMAG))
		return bad(e, err, "no ELF file");
	if (h->e_ident[EI_CLASS] != ELFCLASS64)
		return bad(e, err, "a 32-bit ELF file");
	if (h->e_ident[EI_DATA] != ELFDATA2LSB)
		return bad(e, err, "a big-endian ELF file");
	if (!h->e_shoff || h->e_shentsize != sizeof(Elf64_Shdr))
		return bad(e, err, "no section table");
	e->type = h->e_type;
	e->machine = h->e_machine;
	return 0;
}

static Elf64_Shdr section_header(const struct elf_file *e, const Elf64_Ehdr *h, u32 i)
{
	Elf64_Shdr s;

	memcpy(&s, e->map + h->e_shoff + (u64)i * sizeof(s), sizeof(s));
	return s;
}

/* A name that ends inside its section, or "". */
static const char *string_at(const u8 *table, u64 size, u64 offset)
{
	if (!table || offset >= size || !memchr(table + offset, 0, size - offset))
		return "";
	return (const char *)table + offset;
}

static int take_section(struct elf_file *e, const Elf64_Shdr *s, struct elf_section *ret,
			struct fl_error *err)
{
	ret->type = s->sh_type;
	ret->flags = s->sh_flags;
	ret->addr = s->sh_addr;
	ret->size = ret->file_size = s->sh_size;
	ret->link = s->sh_link;
	ret->info = s->sh_info;
	if (s->sh_type == SHT_NULL || s->sh_type == SHT_NOBITS)
		return 0;
	if (!inside(e, s->sh_offset, s->sh_size))
		return bad(e, err, "a section lies outside the file: cut off or damaged");
	ret->data = e->map + s->sh_offset;
	return 0;
}

static int read_sections(struct elf_file *e, struct fl_error *err)
{
	Elf64_Shdr names;
	Elf64_Ehdr h;
	u32 names_nr;
	int ret = check_header(e, &h, err);

	if (ret)
		return ret;
	if (!inside(e, h.e_shoff, sizeof(Elf64_Shdr)))
		return bad(e, err, "the section table lies outside the file: cut off or damaged");
	names = section_header(e, &h, 0);
	e->nr = h.e_shnum ? h.e_shnum : min_t(u64, names.sh_size, SECTIONS_MAX);
	names_nr = h.e_shstrndx == SHN_XINDEX ? names.sh_link : h.e_shstrndx;
	if (!e->nr || !inside(e, h.e_shoff, (u64)e->nr * sizeof(Elf64_Shdr)) || names_nr >= e->nr)
		return bad(e, err, "the section table is cut off or damaged");
	e->sections = calloc(e->nr, sizeof(*e->sections));
	if (!e->sections)
		return fl_error_set(err, -ENOMEM, e->path, 0, "out of memory");
	names = section_header(e, &h, names_nr);
	if (!inside(e, names.sh_offset, names.sh_size))
		return bad(e, err, "the section names lie outside the file: cut off or damaged");
	for (u32 i = 0; i < e->nr && !ret; i++) {
		Elf64_Shdr s = section_header(e, &h, i);

		e->sections[i].name = string_at(e->map + names.sh_offset, names.sh_size, s.sh_name);
		ret = take_section(e, &s, &e->sections[i], err);
	}
	return ret;
}

/* The NT_GNU_BUILD_ID among the notes of @s. */
static void take_build_id(struct elf_file *e, const struct elf_section *s)
{
	u64 at = 0;

	while (s->size - at >= sizeof(Elf64_Nhdr)) {
		u64 name_at = at + sizeof(Elf64_Nhdr), data_at;
		Elf64_Nhdr n;

		memcpy(&n, s->data + at, sizeof(n));
		data_at = name_at + round_up((u64)n.n_namesz, 4);
		if (data_at > s->size || n.n_descsz > s->size - data_at)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(s->data + name_at, "GNU", 4)) {
			e->build_id_len = min_t(u32, n.n_descsz, ELF_BUILD_ID_MAX);
			memcpy(e->build_id, s->data + data_at, e->build_id_len);
			return;
		}
		at = data_at + round_up((u64)n.n_descsz, 4);
		if (at > s->size)
			return;
	}
}

int elf_open(struct elf_file *e, const char *path, struct fl_error *err)
{
	int ret;

	memset(e, 0, sizeof(*e));
	snprintf(e->path, sizeof(e->path), "%s", path);
	ret = map_file(e, err);
	if (!ret)
		ret = read_sections(e, err);
	if (ret) {
		elf_close(e);
		return ret;
	}
	for (u32 i = 0; i < e->nr && !e->build_id_len; i++)
		if (e->sections[i].type == SHT_NOTE && e->sections[i].data)
			take_build_id(e, &e->sections[i]);
	return 0;
}

void elf_close(struct elf_file *e)
{
	for (u32 i = 0; e->sections && i < e->nr; i++)
		free(e->sections[i].unpacked);
	free(e->sections);
	if (e->map)
		munmap(e->map, e->size);
	memset(e, 0, sizeof(*e));
}

struct elf_section *elf_section(const struct elf_file *e, const char *name)
{
	for (u32 i = 0; i < e->nr; i++)
		if (e->sections[i].data && !strcmp(e->sections[i].name, name))
			return &e->sections[i];
	return NULL;
}

char *elf_build_id(const struct elf_file *e, char *buf)
{
	buf[0] = 0;
	for (u32 i = 0; i < e->build_id_len; i++)
		sprintf(buf + 2 * i, "%02x", e->build_id[i]);
	return buf;
}

/* ---- bytes ---- */

static int unpack(struct elf_section *s)
{
	Elf64_Chdr h;
	uLongf len;

	if (s->file_size < sizeof(h))
		return -EINVAL;
	memcpy(&h, s->data, sizeof(h));
	if (h.ch_type != ELFCOMPRESS_ZLIB)
		return -ENOTSUP;
	if (h.ch_size / ZLIB_RATIO > s->file_size)
		return -EINVAL;
	s->unpacked = malloc(h.ch_size + 1);
	if (!s->unpacked)
		return -ENOMEM;
	len = h.ch_size;
	if (uncompress(s->unpacked, &len, s->data + sizeof(h), s->file_size - sizeof(h)) != Z_OK ||
	    len != h.ch_size) {
		free(s->unpacked);
		s->unpacked = NULL;
		return -EINVAL;
	}
	s->data = s->unpacked;
	s->size = h.ch_size;
	return 0;
}

/* Bytes an absolute relocation writes: 8, 4, 0 for none, -ENOTSUP for another kind. */
static int relocation_width(const struct elf_file *e, u32 type)
{
	static const struct {
		u16 machine;
		u8 width;
		u32 type;
	} kinds[] = {
		{EM_X86_64, 0, R_X86_64_NONE},	  {EM_X86_64, 8, R_X86_64_64},
		{EM_X86_64, 4, R_X86_64_32},	  {EM_X86_64, 4, R_X86_64_32S},
		{EM_AARCH64, 0, R_AARCH64_NONE},  {EM_AARCH64, 8, R_AARCH64_ABS64},
		{EM_AARCH64, 4, R_AARCH64_ABS32},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].machine == e->machine && kinds[i].type == type)
			return kinds[i].width;
	return -ENOTSUP;
}

static int relocate_one(const struct elf_file *e, struct elf_section *s,
			const struct elf_section *symbols, const Elf64_Rela *r)
{
	u64 nr = ELF64_R_SYM(r->r_info), value;
	int width = relocation_width(e, ELF64_R_TYPE(r->r_info));
	Elf64_Sym sym;

	if (width <= 0)
		return width;
	if (nr >= symbols->size / sizeof(sym) || s->size < 8 || r->r_offset > s->size - width)
		return -EINVAL;
	memcpy(&sym, symbols->data + nr * sizeof(sym), sizeof(sym));
	value = sym.st_value + r->r_addend;
	memcpy(s->data + r->r_offset, &value, width);
	return 0;
}

static int relocate(struct elf_file *e, struct elf_section *s)
{
	u32 number = s - e->sections;
	int ret = 0;

	for (u32 i = 0; i < e->nr && !ret; i++) {
		const struct elf_section *rela = &e->sections[i];
		Elf64_Rela r;

		if (rela->type != SHT_RELA || !rela->data || rela->info != number)
			continue;
		if (rela->link >= e->nr || !e->sections[rela->link].data)
			return -EINVAL;
		for (u64 at = 0; rela->size - at >= sizeof(r) && !ret; at += sizeof(r)) {
			memcpy(&r, rela->data + at, sizeof(r));
			ret = relocate_one(e, s, &e->sections[rela->link], &r);
		}
	}
	return ret;
}

int elf_section_data(struct elf_file *e, struct elf_section *s)
{
	int ret = 0;

	if (s->relocated)
		return 0;
	if (s->flags & SHF_COMPRESSED && !s->unpacked)
		ret = unpack(s);
	if (!ret && e->type == ET_REL)
		ret = relocate(e, s);
	s->relocated = !ret;
	return ret;
}

bool elf_next_symbol(struct elf_file *e, u64 *pos, struct elf_symbol *ret)
{
	const struct elf_section *s = elf_section(e, ".symtab"), *names;
	Elf64_Sym sym;

	if (!s || s->link >= e->nr)
		return false;
	names = &e->sections[s->link];
	while (*pos < s->size / sizeof(sym)) {
		memcpy(&sym, s->data + (*pos)++ * sizeof(sym), sizeof(sym));
		ret->name = string_at(names->data, names->size, sym.st_name);
		ret->value = sym.st_value;
		ret->size = sym.st_size;
		ret->function = ELF64_ST_TYPE(sym.st_info) == STT_FUNC;
		if (*ret->name)
			return true;
	}
	return false;
}
