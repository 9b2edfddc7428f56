#include "debuginfo/btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debuginfo/elf.h"

#define BTF_MAGIC    0xeb9f
#define BTF_SIZE_MAX (256ull << 20)
#define READ_CHUNK   (1u << 20)

/* The file's own structs, as Documentation/bpf/btf.rst has them. */
struct btf_header {
	u16 magic;
	u8 version, flags;
	u32 hdr_len, type_off, type_len, str_off, str_len;
};

struct btf_type {
	u32 name_off;
	u32 info; /* vlen 0-15, kind 24-28, kind_flag 31 */
	u32 size_or_type;
};

struct btf_array {
	u32 type, index_type, nelems;
};

struct btf_member {
	u32 name_off, type, offset;
};

struct btf_enum {
	u32 name_off, val;
};

struct btf_enum64 {
	u32 name_off, low, high;
};

struct btf_param {
	u32 name_off, type;
};

enum btf_kind {
	BTF_INT = 1,
	BTF_PTR,
	BTF_ARRAY,
	BTF_STRUCT,
	BTF_UNION,
	BTF_ENUM,
	BTF_FWD,
	BTF_TYPEDEF,
	BTF_VOLATILE,
	BTF_CONST,
	BTF_RESTRICT,
	BTF_FUNC,
	BTF_FUNC_PROTO,
	BTF_VAR,
	BTF_DATASEC,
	BTF_FLOAT,
	BTF_DECL_TAG,
	BTF_TYPE_TAG,
	BTF_ENUM64,
	BTF_KIND_NR,
};

/* Bytes behind struct btf_type: once, and for each of vlen. And does size_or_type name a type? */
static const struct {
	u8 once, each;
	bool names_type;
} kinds[BTF_KIND_NR] = {
	[BTF_INT] = {4, 0, false},
	[BTF_PTR] = {0, 0, true},
	[BTF_ARRAY] = {sizeof(struct btf_array), 0, false},
	[BTF_STRUCT] = {0, sizeof(struct btf_member), false},
	[BTF_UNION] = {0, sizeof(struct btf_member), false},
	[BTF_ENUM] = {0, sizeof(struct btf_enum), false},
	[BTF_FWD] = {0, 0, false},
	[BTF_TYPEDEF] = {0, 0, true},
	[BTF_VOLATILE] = {0, 0, true},
	[BTF_CONST] = {0, 0, true},
	[BTF_RESTRICT] = {0, 0, true},
	[BTF_FUNC] = {0, 0, true},
	[BTF_FUNC_PROTO] = {0, sizeof(struct btf_param), true},
	[BTF_VAR] = {4, 0, true},
	[BTF_DATASEC] = {0, 12, false},
	[BTF_FLOAT] = {0, 0, false},
	[BTF_DECL_TAG] = {4, 0, true},
	[BTF_TYPE_TAG] = {0, 0, true},
	[BTF_ENUM64] = {0, sizeof(struct btf_enum64), false},
};

static struct btf_type head_of(const u8 *record)
{
	struct btf_type h;

	memcpy(&h, record, sizeof(h));
	return h;
}

static u32 kind_of(u32 info)
{
	return info >> 24 & 31;
}

static u32 vlen_of(u32 info)
{
	return info & 0xffff;
}

/* ---- opening ---- */

static int bad(const struct btf_file *b, struct fl_error *err, const char *what)
{
	return fl_error_set(err, -EINVAL, b->path, 0,
			    "%s, expected BTF (such as " BTF_RUNNING_KERNEL ") or an ELF file "
			    "with it",
			    what);
}

/* To the end, whatever stat() says: sysfs and pipes do not know their size. */
static int read_file(struct btf_file *b, int fd)
{
	u64 room = 0;
	ssize_t n;

	do {
		if (room - b->size < READ_CHUNK) {
			u8 *more = realloc(b->bytes, room += room / 2 + READ_CHUNK);

			if (!more)
				return -ENOMEM;
			b->bytes = more;
		}
		n = read(fd, b->bytes + b->size, READ_CHUNK);
		if (n < 0)
			return -errno;
		b->size += n;
	} while (n && b->size <= BTF_SIZE_MAX);
	return n ? -EFBIG : 0;
}

static int read_raw(struct btf_file *b, struct fl_error *err)
{
	int fd = open(b->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;

	ret = fd < 0 ? -errno : read_file(b, fd);
	if (fd >= 0)
		close(fd);
	return ret ? fl_error_set(err, ret, b->path, 0, "%s, expected BTF", strerror(-ret)) : 0;
}

static int read_elf(struct btf_file *b, struct fl_error *err)
{
	struct elf_section *s;
	struct elf_file e;
	int ret = elf_open(&e, b->path, err);

	if (ret)
		return ret;
	s = elf_section(&e, ".BTF");
	if (!s || s->file_size > BTF_SIZE_MAX) {
		ret = bad(b, err, "no section .BTF");
	} else {
		b->bytes = malloc(s->file_size + 1);
		b->size = s->file_size;
		if (b->bytes)
			memcpy(b->bytes, s->data, s->file_size);
		else
			ret = fl_error_set(err, -ENOMEM, b->path, 0, "out of memory");
	}
	elf_close(&e);
	return ret;
}

/* An ELF file is mapped for its one section, everything else read. */
static int read_bytes(struct btf_file *b, struct fl_error *err)
{
	int fd = open(b->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char magic[4] = "";
	bool elf;

	elf = fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic) &&
	      !memcmp(magic, "\177ELF", sizeof(magic));
	if (fd >= 0)
		close(fd);
	return elf ? read_elf(b, err) : read_raw(b, err);
}

static bool part_inside(const struct btf_file *b, const struct btf_header *h, u32 off, u32 len)
{
	return h->hdr_len <= b->size && off <= b->size - h->hdr_len &&
	       len <= b->size - h->hdr_len - off;
}

/* Record @r takes how many bytes? 0 if it does not fit into @left. */
static u64 record_size(const u8 *r, u64 left)
{
	struct btf_type h;
	u64 size;

	if (left < sizeof(h))
		return 0;
	h = head_of(r);
	if (!kind_of(h.info) || kind_of(h.info) >= BTF_KIND_NR)
		return 0;
	size = sizeof(h) + kinds[kind_of(h.info)].once +
	       (u64)vlen_of(h.info) * kinds[kind_of(h.info)].each;
	return size <= left ? size : 0;
}

static int list_records(struct btf_file *b, const u8 *types, u32 len, struct fl_error *err)
{
	u64 room = len / sizeof(struct btf_type) + 2;

	b->records = calloc(room, sizeof(*b->records));
	if (!b->records)
		return fl_error_set(err, -ENOMEM, b->path, 0, "out of memory");
	b->nr = 1;
	for (u64 at = 0; at < len;) {
		u64 size = record_size(types + at, len - at);

		if (!size)
			return bad(b, err, "a type is cut off or damaged");
		b->records[b->nr++] = types + at;
		at += size;
	}
	return 0;
}

static bool good_refs(const struct btf_file *b, u32 name, u32 type)
{
	return name < b->strings_size && type < b->nr;
}

/* What follows the head of @r: names and types of members, values, parameters. */
static bool good_parts(const struct btf_file *b, const u8 *r, u32 kind, u32 vlen)
{
	const u8 *p = r + sizeof(struct btf_type);
	struct btf_array a;
	u32 word[2];

	if (kind == BTF_ARRAY) {
		memcpy(&a, p, sizeof(a));
		return a.type < b->nr && a.index_type < b->nr;
	}
	for (u32 i = 0; i < vlen; i++, p += kinds[kind].each) {
		memcpy(word, p, sizeof(word));
		if (kind == BTF_DATASEC ? word[0] >= b->nr
		    : kind == BTF_ENUM || kind == BTF_ENUM64
			    ? !good_refs(b, word[0], 0)
			    : kinds[kind].each && !good_refs(b, word[0], word[1]))
			return false;
	}
	return true;
}

static int check_records(const struct btf_file *b, struct fl_error *err)
{
	for (u32 i = 1; i < b->nr; i++) {
		struct btf_type h = head_of(b->records[i]);
		u32 kind = kind_of(h.info);

		if (!good_refs(b, h.name_off, kinds[kind].names_type ? h.size_or_type : 0) ||
		    !good_parts(b, b->records[i], kind, vlen_of(h.info)))
			return bad(b, err, "damaged, or a module's that needs the kernel's");
	}
	return 0;
}

static int parse(struct btf_file *b, struct fl_error *err)
{
	struct btf_header h;
	int ret;

	if (b->size < sizeof(h))
		return bad(b, err, b->size ? "the file is too short" : "the file is empty");
	memcpy(&h, b->bytes, sizeof(h));
	if (h.magic != BTF_MAGIC)
		return bad(b, err, h.magic == 0x9feb ? "big-endian BTF" : "no BTF");
	if (h.version != 1 || h.hdr_len < sizeof(h) ||
	    !part_inside(b, &h, h.type_off, h.type_len) ||
	    !part_inside(b, &h, h.str_off, h.str_len) || !h.str_len)
		return bad(b, err, "cut off or damaged");
	b->strings = (const char *)b->bytes + h.hdr_len + h.str_off;
	b->strings_size = h.str_len;
	if (b->strings[h.str_len - 1])
		return bad(b, err, "its strings are damaged");
	ret = list_records(b, b->bytes + h.hdr_len + h.type_off, h.type_len, err);
	return ret ? ret : check_records(b, err);
}

/* ---- nodes ---- */

static struct btf_file *file_of(struct types *types)
{
	return container_of(types, struct btf_file, types);
}

/* Id 0 is void, for which there is no node. */
static int get(struct types *types, u32 id, struct type **ret)
{
	*ret = NULL;
	return id ? type_get(types, id, ret) : 0;
}

static void load_int(const u8 *r, struct type *t)
{
	u32 data;

	memcpy(&data, r + sizeof(struct btf_type), sizeof(data));
	t->is_signed = data >> 24 & 1;
	t->kind = data >> 24 & 4 ? TYPE_BOOL : TYPE_INT;
}

static int load_array(struct types *types, const u8 *r, struct type *t)
{
	struct btf_array a;

	memcpy(&a, r + sizeof(struct btf_type), sizeof(a));
	t->kind = TYPE_ARRAY;
	t->count = a.nelems;
	t->flexible = !a.nelems;
	return get(types, a.type, &t->target);
}

static int load_function(struct types *types, const u8 *r, struct type *t)
{
	struct btf_type h = head_of(r);
	u32 nr = vlen_of(h.info);
	int ret = get(types, h.size_or_type, &t->target);

	t->kind = TYPE_FUNCTION;
	t->members = types_alloc(types, nr * sizeof(*t->members));
	if (!t->members)
		return -ENOMEM;
	for (u32 i = 0; i < nr && !ret; i++) {
		struct btf_param p;

		memcpy(&p, r + sizeof(h) + i * sizeof(p), sizeof(p));
		if (i == nr - 1 && !p.type) {
			t->variadic = true;
			break;
		}
		t->members[i].name = "";
		ret = get(types, p.type, &t->members[i].type);
		t->nr_members = i + 1;
	}
	return ret;
}

static int load_wrapper(struct types *types, const struct btf_type *h, struct type *t)
{
	static const enum type_kind wrappers[BTF_KIND_NR] = {
		[BTF_PTR] = TYPE_POINTER,	[BTF_TYPEDEF] = TYPE_TYPEDEF,
		[BTF_VOLATILE] = TYPE_VOLATILE, [BTF_CONST] = TYPE_CONST,
		[BTF_RESTRICT] = TYPE_RESTRICT,
	};

	t->kind = wrappers[kind_of(h->info)];
	if (t->kind == TYPE_POINTER)
		t->size = types->pointer_size;
	return get(types, h->size_or_type, &t->target);
}

/* A tag (__user, __rcu) stands for what it is put on. */
static int load_tagged(struct types *types, u32 id, struct type *t)
{
	struct type *target;
	u64 own = t->id;
	struct type *next = t->next;
	int ret = get(types, id, &target);

	if (ret || !target)
		return ret;
	*t = *target;
	t->id = own;
	t->next = next;
	return 0;
}

static int load(struct types *types, struct type *t)
{
	struct btf_file *b = file_of(types);
	const u8 *r = b->records[t->id];
	struct btf_type h = head_of(r);

	t->name = b->strings + h.name_off;
	switch (kind_of(h.info)) {
	case BTF_INT:
		t->size = h.size_or_type;
		load_int(r, t);
		return 0;
	case BTF_FLOAT:
		t->kind = TYPE_FLOAT;
		t->size = h.size_or_type;
		return 0;
	case BTF_ARRAY:
		return load_array(types, r, t);
	case BTF_STRUCT:
	case BTF_UNION:
		t->kind = kind_of(h.info) == BTF_STRUCT ? TYPE_STRUCT : TYPE_UNION;
		t->size = h.size_or_type;
		return 0;
	case BTF_FWD:
		t->kind = h.info >> 31 ? TYPE_UNION : TYPE_STRUCT;
		t->declaration = true;
		return 0;
	case BTF_ENUM:
	case BTF_ENUM64:
		t->kind = TYPE_ENUM;
		t->size = h.size_or_type;
		t->is_signed = h.info >> 31;
		return 0;
	case BTF_FUNC_PROTO:
		return load_function(types, r, t);
	case BTF_TYPE_TAG:
		return load_tagged(types, h.size_or_type, t);
	case BTF_PTR:
	case BTF_TYPEDEF:
	case BTF_VOLATILE:
	case BTF_CONST:
	case BTF_RESTRICT:
		return load_wrapper(types, &h, t);
	default:
		return types_damaged(types, "a member whose type is none");
	}
}

/* Before kind_flag bit-fields were integers of fewer bits, and may still be. */
static void place_member(const struct btf_file *b, const struct btf_member *raw, bool flag,
			 struct type_member *m)
{
	const struct type *t = type_strip(m->type);
	u32 data;

	m->bit = flag ? raw->offset & 0xffffff : raw->offset;
	m->bits = flag ? raw->offset >> 24 : 0;
	if (flag || !t || t->kind != TYPE_INT ||
	    kind_of(head_of(b->records[t->id]).info) != BTF_INT)
		return;
	memcpy(&data, b->records[t->id] + sizeof(struct btf_type), sizeof(data));
	if ((data & 0xff) != 8 * t->size) {
		m->bit += data >> 16 & 0xff;
		m->bits = data & 0xff;
	}
}

static int load_members(struct types *types, const u8 *r, struct type *t)
{
	struct btf_file *b = file_of(types);
	struct btf_type h = head_of(r);
	u32 nr = vlen_of(h.info);
	int ret = 0;

	t->members = types_alloc(types, nr * sizeof(*t->members));
	if (!t->members)
		return -ENOMEM;
	for (u32 i = 0; i < nr && !ret; i++) {
		struct btf_member raw;

		memcpy(&raw, r + sizeof(h) + i * sizeof(raw), sizeof(raw));
		t->members[i].name = b->strings + raw.name_off;
		ret = get(types, raw.type, &t->members[i].type);
		if (!ret)
			place_member(b, &raw, h.info >> 31, &t->members[i]);
	}
	t->nr_members = ret ? 0 : nr;
	return ret;
}

static int load_values(struct types *types, const u8 *r, struct type *t)
{
	struct btf_file *b = file_of(types);
	struct btf_type h = head_of(r);
	bool wide = kind_of(h.info) == BTF_ENUM64;

	t->nr_values = vlen_of(h.info);
	t->values = types_alloc(types, t->nr_values * sizeof(*t->values));
	if (!t->values)
		return -ENOMEM;
	for (u32 i = 0; i < t->nr_values; i++) {
		struct btf_enum64 v = {0};

		memcpy(&v, r + sizeof(h) + i * kinds[kind_of(h.info)].each,
		       kinds[kind_of(h.info)].each);
		t->values[i].name = b->strings + v.name_off;
		if (wide)
			t->values[i].value = (u64)v.high << 32 | v.low;
		else
			t->values[i].value = t->is_signed ? (s64)(s32)v.low : (s64)v.low;
	}
	return 0;
}

static int body(struct types *types, struct type *t)
{
	const u8 *r = file_of(types)->records[t->id];

	while (kind_of(head_of(r).info) == BTF_TYPE_TAG)
		r = file_of(types)->records[head_of(r).size_or_type];
	return t->kind == TYPE_ENUM ? load_values(types, r, t) : load_members(types, r, t);
}

/* ---- names ---- */

static bool has_body(u32 kind)
{
	return kind == BTF_STRUCT || kind == BTF_UNION || kind == BTF_ENUM || kind == BTF_ENUM64;
}

static int find(struct types *types, const char *name, u32 nr, u64 *id)
{
	const struct btf_file *b = file_of(types);

	/* Structs, unions and enums go before typedefs. */
	for (int typedefs = 0; typedefs < 2; typedefs++)
		for (u32 i = 1; i < b->nr; i++) {
			struct btf_type h = head_of(b->records[i]);
			u32 kind = kind_of(h.info);

			if (!(typedefs ? kind == BTF_TYPEDEF : has_body(kind)) ||
			    strcmp(b->strings + h.name_off, name) || nr--)
				continue;
			*id = i;
			return 1;
		}
	return 0;
}

static int next(struct types *types, u32 *pos, u64 *id)
{
	const struct btf_file *b = file_of(types);

	for (u32 i = max(*pos, 1u); i < b->nr; i++) {
		struct btf_type h = head_of(b->records[i]);

		if (has_body(kind_of(h.info)) && b->strings[h.name_off]) {
			*pos = i + 1;
			*id = i;
			return 1;
		}
	}
	return 0;
}

const char *btf_next_function(const struct btf_file *b, u32 *pos)
{
	for (u32 i = max(*pos, 1u); i < b->nr; i++) {
		struct btf_type h = head_of(b->records[i]);

		if (kind_of(h.info) == BTF_FUNC) {
			*pos = i + 1;
			return b->strings + h.name_off;
		}
	}
	return NULL;
}

static const struct types_ops btf_ops = {.load = load, .body = body, .find = find, .next = next};

int btf_open(struct btf_file *b, const char *path, struct fl_error *err)
{
	int ret;

	memset(b, 0, sizeof(*b));
	snprintf(b->path, sizeof(b->path), "%s", path);
	ret = types_init(&b->types, &btf_ops, b->path);
	if (!ret)
		ret = read_bytes(b, err);
	if (!ret)
		ret = parse(b, err);
	if (ret)
		btf_close(b);
	return ret;
}

void btf_close(struct btf_file *b)
{
	types_fini(&b->types);
	free(b->records);
	free(b->bytes);
	memset(b, 0, sizeof(*b));
}
