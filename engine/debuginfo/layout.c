#include "debuginfo/layout.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int too_many(struct types *types, struct fl_error *err)
{
	return fl_error_set(err, -E2BIG, types->path, 0,
			    "a struct of more than %u fields, expected fewer", LAYOUT_FIELDS_MAX);
}

static int too_deep(struct types *types, struct fl_error *err)
{
	return fl_error_set(err, -EINVAL, types->path, 0,
			    "its type information is damaged: a struct inside itself");
}

/* The struct or union behind @t that is a member by value, or NULL. */
static struct type *aggregate(const struct type *t)
{
	t = type_strip(t);
	return t && (t->kind == TYPE_STRUCT || t->kind == TYPE_UNION) ? (struct type *)t : NULL;
}

/* The one to unfold in place of @m, or NULL: what has no name could not be looked up. */
static struct type *unfolded(const struct type_member *m, unsigned int flags)
{
	struct type *inner = m->type ? aggregate(m->type) : NULL;

	if (!inner || inner->declaration)
		return NULL;
	if (flags & LAYOUT_EXPAND || !*m->name)
		return inner;
	return inner == m->type && !*inner->name ? inner : NULL;
}

/* In text what an array is made of or a pointer leads to is unfolded too if it has no name. */
static struct type *unfolded_text(const struct type_member *m, unsigned int flags)
{
	struct type *inner = unfolded(m, flags), *t = m->type;

	if (inner)
		return inner;
	for (unsigned int i = 0; t && i < TYPE_CHAIN_MAX; i++, t = t->target)
		if (t->kind != TYPE_ARRAY && t->kind != TYPE_POINTER)
			break;
	if (!t || (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION) || *t->name || t->declaration)
		return NULL;
	return t;
}

/* ---- the fields, flat ---- */

struct field_walk {
	struct types *types;
	unsigned int flags, depth;
	int (*fn)(void *ctx, const struct layout_field *f);
	void *ctx;
	struct fl_error *err;
	u32 *nr;	/* fields so far */
	u64 bit;	/* where the struct being walked starts */
	const char *in; /* what its fields' names begin with: "lru." */
};

static int walk_fields(struct field_walk *w, struct type *t);

/* The fields of @inner, which is member @m of the struct being walked. */
static int walk_inner(struct field_walk *w, const struct type_member *m, struct type *inner)
{
	struct field_walk in = *w;
	char prefix[200];

	snprintf(prefix, sizeof(prefix), "%s%.80s%s", w->in, m->name, *m->name ? "." : "");
	in.bit += m->bit;
	in.in = prefix;
	in.depth++;
	return walk_fields(&in, inner);
}

static int tell_field(struct field_walk *w, const struct type_member *m)
{
	struct layout_field f = {
		.type = m->type,
		.bit = w->bit + m->bit,
		.bits = m->bits ? m->bits : 8 * type_size(m->type),
		.bit_field = m->bits != 0,
	};

	snprintf(f.name, sizeof(f.name), "%s%.100s", w->in, m->name);
	return w->fn(w->ctx, &f);
}

static int walk_fields(struct field_walk *w, struct type *t)
{
	int ret;

	if (w->depth >= LAYOUT_DEPTH_MAX)
		return too_deep(w->types, w->err);
	ret = type_body(w->types, t, w->err);
	for (u32 i = 0; i < t->nr_members && !ret; i++) {
		struct type *inner = unfolded(&t->members[i], w->flags);

		if (++*w->nr > LAYOUT_FIELDS_MAX)
			return too_many(w->types, w->err);
		ret = inner ? walk_inner(w, &t->members[i], inner) : tell_field(w, &t->members[i]);
	}
	return ret;
}

int layout_each_field(struct types *types, struct type *t, unsigned int flags,
		      int (*fn)(void *ctx, const struct layout_field *f), void *ctx,
		      struct fl_error *err)
{
	u32 nr = 0;
	struct field_walk w = {.nr = &nr,
			       .types = types,
			       .flags = flags,
			       .fn = fn,
			       .ctx = ctx,
			       .err = err,
			       .in = ""};

	return walk_fields(&w, t);
}

/* ---- holes ---- */

/* Bits of @m, as far as it is used. */
static u64 member_bits(const struct type_member *m)
{
	return m->bits ? m->bits : 8 * type_size(m->type);
}

/* What is unused between the bits @end and @start: bytes, and bits of a byte begun. */
struct gap {
	u64 bits, bytes;
};

static struct gap gap_between(u64 end, u64 start)
{
	struct gap g = {0, 0};
	u64 byte = min(round_up(end, 8), start);

	if (start <= end)
		return g;
	/* What is left of a byte or storage unit that a bit-field began, then whole bytes. */
	g.bits = byte - end;
	g.bytes = (start - byte) / 8;
	g.bits += (start - byte) % 8;
	return g;
}

int layout_sums(struct types *types, struct type *t, struct layout_sums *ret, struct fl_error *err)
{
	u64 end = 0;
	int error = type_body(types, t, err);
	struct gap g;

	memset(ret, 0, sizeof(*ret));
	if (error)
		return error;
	ret->members = t->nr_members;
	for (u32 i = 0; i < t->nr_members && t->kind == TYPE_STRUCT; i++) {
		const struct type_member *m = &t->members[i];

		g = gap_between(end, m->bit);
		ret->holes += g.bytes != 0;
		ret->hole_bytes += g.bytes;
		ret->bit_holes += g.bits != 0;
		ret->bit_hole_bits += g.bits;
		end = max(end, m->bit + member_bits(m));
	}
	for (u32 i = 0; i < t->nr_members && t->kind == TYPE_UNION; i++)
		end = max(end, member_bits(&t->members[i]));
	g = gap_between(end, 8 * t->size);
	ret->padding = g.bytes;
	ret->padding_bits = g.bits;
	return 0;
}

/* ---- text ---- */

#define TYPE_COLUMNS 26
#define PLACE_COLUMN 48

struct printing {
	FILE *f;
	struct types *types;
	unsigned int flags;
	struct fl_error *err;
	u32 nr;	  /* fields so far */
	u64 line; /* the next cache line that was not announced yet */
};

static void indent(struct printing *p, unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++)
		fputc('\t', p->f);
}

/* In pahole's words, XXX included: its output and ours are compared line by line. */
static void print_gap(struct printing *p, u64 end, u64 start, unsigned int depth)
{
	struct gap g = gap_between(end, start);

	if (!g.bits && !g.bytes)
		return;
	fputc('\n', p->f);
	if (g.bits) {
		indent(p, depth);
		fprintf(p->f, "/* XXX %" PRIu64 " bit%s hole */\n", g.bits, g.bits > 1 ? "s" : "");
	}
	if (g.bytes) {
		indent(p, depth);
		fprintf(p->f, "/* XXX %" PRIu64 " byte%s hole */\n", g.bytes,
			g.bytes > 1 ? "s" : "");
	}
	fputc('\n', p->f);
}

/* A mark before the first member that starts in a new cache line of the outermost struct. */
static void print_line(struct printing *p, u64 byte, unsigned int depth)
{
	u64 line = byte / LAYOUT_CACHELINE, over = byte % LAYOUT_CACHELINE;

	if (line < p->line)
		return;
	p->line = line + 1;
	indent(p, depth);
	if (over)
		fprintf(p->f,
			"/* --- cacheline %" PRIu64 " boundary (%" PRIu64 " bytes) was %" PRIu64
			" bytes ago --- */\n",
			line, line * LAYOUT_CACHELINE, over);
	else
		fprintf(p->f, "/* --- cacheline %" PRIu64 " boundary (%" PRIu64 " bytes) --- */\n",
			line, line * LAYOUT_CACHELINE);
}

/* Where a bit-field's storage starts and its bit in it: pahole's "offset:bit". */
static void split_bits(const struct type_member *m, u64 bit, u64 *byte, u64 *in)
{
	u64 unit = max(8 * type_size(m->type), (u64)8);

	*byte = bit / unit * unit / 8;
	*in = bit % unit;
}

/* @used columns of the line are taken. */
static void print_place(struct printing *p, const struct type_member *m, u64 base, int used,
			unsigned int depth)
{
	u64 byte, in;

	fprintf(p->f, "%*s ", max(PLACE_COLUMN - used - 8 * ((int)depth - 1), 0), "");

	if (m->bits) {
		split_bits(m, base + m->bit, &byte, &in);
		fprintf(p->f, "/* %5" PRIu64 ":%2" PRIu64 " %2" PRIu64 " */\n", byte, in,
			type_size(m->type));
	} else {
		fprintf(p->f, "/* %5" PRIu64 " %5" PRIu64 " */\n", (base + m->bit) / 8,
			type_size(m->type));
	}
}

static void print_plain(struct printing *p, const struct type_member *m, u64 base,
			unsigned int depth)
{
	struct type_declaration d;
	int used;

	type_declare(m->type, m->name, &d);
	if (m->bits) {
		size_t len = strlen(d.name);

		snprintf(d.name + len, sizeof(d.name) - len, ":%u", m->bits);
	}
	indent(p, depth);
	used = fprintf(p->f, "%-*s %s;", max(TYPE_COLUMNS - 8 * ((int)depth - 1), 0), d.type,
		       d.name);
	print_place(p, m, base, used, depth);
}

static int print_members(struct printing *p, struct type *t, u64 base, unsigned int depth);

static int print_inner(struct printing *p, const struct type_member *m, struct type *inner,
		       u64 base, unsigned int depth)
{
	struct type_declaration d;
	const char *stars;
	bool pointer;
	int ret, used;

	indent(p, depth);
	fprintf(p->f, "%s%s%s {\n", type_keyword(inner), *inner->name ? " " : "", inner->name);
	/* What a pointer leads to starts anew. */
	pointer = m->type->kind == TYPE_POINTER;
	ret = print_members(p, inner, pointer ? 0 : base + m->bit, depth + 1);
	if (ret)
		return ret;
	indent(p, depth);
	type_declare(m->type, m->name, &d);
	stars = strchr(d.type, '*');
	used = fprintf(p->f, "}%s%s%s;", *d.name ? " " : "", stars ? stars : "", d.name);
	print_place(p, m, base, used, depth);
	return 0;
}

static int print_members(struct printing *p, struct type *t, u64 base, unsigned int depth)
{
	u64 end = 0;
	int ret;

	if (depth >= LAYOUT_DEPTH_MAX)
		return too_deep(p->types, p->err);
	ret = type_body(p->types, t, p->err);
	for (u32 i = 0; i < t->nr_members && !ret; i++) {
		const struct type_member *m = &t->members[i];
		struct type *inner = unfolded_text(m, p->flags);

		if (++p->nr > LAYOUT_FIELDS_MAX)
			return too_many(p->types, p->err);
		if (t->kind == TYPE_STRUCT)
			print_gap(p, end, m->bit, depth);
		end = max(end, m->bit + member_bits(m));
		print_line(p, (base + m->bit) / 8, depth);
		if (inner)
			ret = print_inner(p, m, inner, base, depth);
		else
			print_plain(p, m, base, depth);
	}
	return ret;
}

static void print_end(struct printing *p, const struct type *t, const struct layout_sums *s)
{
	FILE *f = p->f;

	fprintf(f, "\n\t/* size: %" PRIu64 ", cachelines: %" PRIu64 ", members: %u */\n", t->size,
		DIV_ROUND_UP(t->size, (u64)LAYOUT_CACHELINE), s->members);
	if (s->holes)
		fprintf(f, "\t/* holes: %u, sum holes: %" PRIu64 " */\n", s->holes, s->hole_bytes);
	if (s->bit_holes)
		fprintf(f, "\t/* bit holes: %u, sum bit holes: %" PRIu64 " bits */\n", s->bit_holes,
			s->bit_hole_bits);
	if (s->padding)
		fprintf(f, "\t/* padding: %" PRIu64 " */\n", s->padding);
	if (s->padding_bits)
		fprintf(f, "\t/* bit_padding: %" PRIu64 " bits */\n", s->padding_bits);
	if (t->size % LAYOUT_CACHELINE)
		fprintf(f, "\t/* last cacheline: %" PRIu64 " bytes */\n",
			t->size % LAYOUT_CACHELINE);
}

/* Do the values look like flags: several, each one bit, or 0? */
static bool are_flags(const struct type *t)
{
	u32 bits = 0;

	for (u32 i = 0; i < t->nr_values; i++) {
		u64 v = t->values[i].value;

		if (v & (v - 1) && v)
			return false;
		bits += v > 2;
	}
	return bits >= 1 && t->nr_values > 2;
}

static void print_values(FILE *f, const struct type *t)
{
	const char *format = are_flags(t) ? "\t%s = 0x%" PRIx64 ",\n" : "\t%s = %" PRId64 ",\n";

	for (u32 i = 0; i < t->nr_values; i++)
		fprintf(f, format, t->values[i].name, t->values[i].value);
}

int layout_print(FILE *f, struct types *types, struct type *t, unsigned int flags,
		 struct fl_error *err)
{
	struct printing p = {.f = f, .types = types, .flags = flags, .err = err, .line = 1};
	struct layout_sums sums;
	int ret = layout_sums(types, t, &sums, err);

	if (ret)
		return ret;
	fprintf(f, "%s %s {\n", type_keyword(t), t->name);
	if (t->kind == TYPE_ENUM) {
		print_values(f, t);
		fprintf(f, "\n\t/* size: %" PRIu64 ", values: %u */\n", t->size, t->nr_values);
	} else {
		ret = print_members(&p, t, 0, 1);
		if (!ret)
			print_end(&p, t, &sums);
	}
	if (!ret)
		fprintf(f, "};\n");
	return ret;
}

/* ---- JSON ---- */

static int add_field(void *ctx, const struct layout_field *f)
{
	cJSON *obj = cJSON_CreateObject();
	char text[400];
	u64 byte = f->bit / 8, bit = 0;
	int ret = 0;

	if (!obj)
		return -ENOMEM;
	cJSON_AddItemToArray(ctx, obj);
	if (f->bit_field) {
		u64 unit = max(8 * type_size(f->type), (u64)8);

		byte = f->bit / unit * unit / 8;
		bit = f->bit % unit;
	}
	if (!cJSON_AddStringToObject(obj, "name", f->name) ||
	    !cJSON_AddStringToObject(obj, "type", type_text(f->type, text, sizeof(text))))
		ret = -ENOMEM;
	if (!ret)
		ret = json_add_u64(obj, "offset", byte);
	if (!ret)
		ret = json_add_u64(obj, "size", type_size(f->type));
	if (!ret)
		ret = json_add_u64(obj, "bit_offset", bit);
	if (!ret)
		ret = json_add_u64(obj, "bit_size", f->bit_field ? f->bits : 0);
	return ret;
}

static int add_values(cJSON *list, const struct type *t)
{
	for (u32 i = 0; i < t->nr_values; i++) {
		cJSON *obj = cJSON_CreateObject();
		char number[32];

		snprintf(number, sizeof(number), "%" PRId64, t->values[i].value);
		cJSON_AddItemToArray(list, obj);
		if (!cJSON_AddStringToObject(obj, "name", t->values[i].name) ||
		    !cJSON_AddRawToObject(obj, "value", number))
			return -ENOMEM;
	}
	return 0;
}

cJSON *layout_json(struct types *types, struct type *t, unsigned int flags, struct fl_error *err)
{
	bool is_enum = t->kind == TYPE_ENUM;
	cJSON *obj = cJSON_CreateObject(), *list;
	int ret = type_body(types, t, err);

	if (!ret &&
	    (!cJSON_AddStringToObject(obj, "name", t->name) || json_add_u64(obj, "size", t->size)))
		ret = -ENOMEM;
	list = ret ? NULL : cJSON_AddArrayToObject(obj, is_enum ? "values" : "members");
	if (!ret && !list)
		ret = -ENOMEM;
	if (!ret)
		ret = is_enum ? add_values(list, t)
			      : layout_each_field(types, t, flags, add_field, list, err);
	if (!ret)
		return obj;
	if (ret == -ENOMEM)
		fl_error_set(err, ret, types->path, 0, "out of memory");
	cJSON_Delete(obj);
	return NULL;
}
