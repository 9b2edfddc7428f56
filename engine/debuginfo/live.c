#include "debuginfo/live.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define ARRAY_SHOWN 8	/* elements of an array of numbers */
#define WORD_MAX    100 /* bytes of a name in an expression */

/* Numbers whose bits an enum names: bit number or value. */
static const struct {
	const char *in, *field, *names;
	bool bit_numbers;
} flag_fields[] = {
	{"folio", "flags", "pageflags", true},
	{"buffer_head", "b_state", "bh_state_bits", true},
};

/* ---- memory and functions ---- */

static int read_memory(u64 address, void *buf, size_t size)
{
	struct iovec to = {buf, size}, from = {(void *)(uintptr_t)address, size};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static int first_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(u64 *)ctx = info->dlpi_addr;
	return 1;
}

static int compare_symbols(const void *pa, const void *pb)
{
	const struct elf_symbol *a = pa, *b = pb;

	return a->value < b->value ? -1 : a->value > b->value;
}

static int list_functions(struct live *l)
{
	struct elf_symbol s;
	u64 pos = 0;
	size_t room = 0;

	while (elf_next_symbol(&l->own.file.elf, &pos, &s)) {
		if (!s.function || !s.value)
			continue;
		if (l->nr_functions == room) {
			struct elf_symbol *more;

			room = room ? 2 * room : 4096;
			more = realloc(l->functions, room * sizeof(*more));
			if (!more)
				return -ENOMEM;
			l->functions = more;
		}
		l->functions[l->nr_functions++] = s;
	}
	if (l->nr_functions)
		qsort(l->functions, l->nr_functions, sizeof(*l->functions), compare_symbols);
	return 0;
}

int live_init(struct live *l, struct fl_error *err)
{
	int ret;

	memset(l, 0, sizeof(*l));
	ret = dwarf_source_own(&l->own, NULL, err);
	if (ret)
		return ret;
	dl_iterate_phdr(first_object, &l->base);
	if (!list_functions(l))
		return 0;
	live_fini(l);
	return fl_error_set(err, -ENOMEM, NULL, 0, "out of memory");
}

void live_fini(struct live *l)
{
	free(l->functions);
	dwarf_source_close(&l->own);
	memset(l, 0, sizeof(*l));
}

/* The function that starts at @address, or NULL. */
static const char *function_at(const struct live *l, u64 address)
{
	const struct elf_symbol key = {.value = address - l->base}, *s;

	if (!l->nr_functions)
		return NULL;
	s = bsearch(&key, l->functions, l->nr_functions, sizeof(key), compare_symbols);
	return s ? s->name : NULL;
}

/* ---- expressions ---- */

struct parser {
	struct live *l;
	const char *all, *at;
	struct fl_error *err;
};

static int bad(struct parser *p, const char *what)
{
	return fl_error_set(p->err, -EINVAL, NULL, 0, "'%.100s': %s at '%.40s'", p->all, what,
			    p->at);
}

static int parse_word(struct parser *p, char *word)
{
	size_t len = 0;

	while (isalnum((unsigned char)p->at[len]) || p->at[len] == '_')
		len++;
	if (!len || len >= WORD_MAX)
		return bad(p, "no name");
	memcpy(word, p->at, len);
	word[len] = 0;
	p->at += len;
	return 0;
}

/* "[12]"; -1 where there is none. */
static int parse_index(struct parser *p, s64 *ret)
{
	char *end;

	*ret = -1;
	if (*p->at != '[')
		return 0;
	if (!isdigit((unsigned char)p->at[1]))
		return bad(p, "no number");
	errno = 0;
	*ret = strtoll(p->at + 1, &end, 10);
	if (*end != ']' || errno)
		return bad(p, "no number");
	p->at = end + 1;
	return 0;
}

/* A pointer to what is it? NULL if it is none. */
static struct type *pointee(const struct type *t)
{
	t = type_strip(t);
	return t && t->kind == TYPE_POINTER ? (struct type *)type_strip(t->target) : NULL;
}

/* @o becomes what it points to; untouched if it is no pointer. */
static int follow(struct parser *p, struct live_object *o)
{
	struct type *target = pointee(o->type);
	u64 address;

	if (!target)
		return 0;
	if (read_memory(o->address, &address, sizeof(address)))
		return bad(p, "a pointer that cannot be read");
	if (!address)
		return bad(p, "a NULL pointer");
	*o = (struct live_object){.type = target, .address = address};
	return 0;
}

/* Finds a direct member, those of unnamed structs included. */
struct member_search {
	const char *in, *name;
	struct live_object *o;
	bool found;
};

static int match_member(void *ctx, const struct layout_field *f)
{
	struct member_search *s = ctx;

	if (strcmp(f->name, s->name))
		return 0;
	s->o->type = (struct type *)f->type;
	s->o->address += f->bit / 8;
	s->o->bit = f->bit % 8;
	s->o->bits = f->bit_field ? f->bits : 0;
	s->o->in = s->in;
	snprintf(s->o->field, sizeof(s->o->field), "%s", s->name);
	s->found = true;
	return 1;
}

static int take_member(struct parser *p, struct live_object *o)
{
	char word[WORD_MAX];
	struct member_search s = {.name = word, .o = o};
	struct type *t;
	int ret;

	p->at += *p->at == '.' ? 1 : 2;
	ret = follow(p, o);
	if (!ret)
		ret = parse_word(p, word);
	if (ret)
		return ret;
	t = (struct type *)type_strip(o->type);
	if (!t || (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION))
		return bad(p, "no struct");
	s.in = t->name;
	ret = layout_each_field(&p->l->own.types.types, t, 0, match_member, &s, p->err);
	if (ret < 0)
		return ret;
	return s.found ? 0
		       : fl_error_set(p->err, -ENOENT, NULL, 0,
				      "struct %s has no '%.60s', expected one that 'foliolab "
				      "struct %s' lists",
				      t->name, word, t->name);
}

static int take_element(struct parser *p, struct live_object *o)
{
	const struct type *t = type_strip(o->type);
	s64 index;
	int ret;

	ret = parse_index(p, &index);
	if (ret)
		return ret;
	if (!t || t->kind != TYPE_ARRAY || (!t->flexible && (u64)index >= t->count))
		return bad(p, t && t->kind == TYPE_ARRAY ? "an index outside the array"
							 : "an index of what is no array");
	*o = (struct live_object){.type = t->target,
				  .address = o->address + index * type_size(t->target)};
	return o->type ? 0 : bad(p, "nothing");
}

static int take_root(struct parser *p, const struct live_roots *roots, struct live_object *o)
{
	struct live_root root;
	char word[WORD_MAX];
	s64 index = -1;
	int ret = parse_word(p, word);

	if (!ret)
		ret = parse_index(p, &index);
	if (!ret)
		ret = roots->find(roots->ctx, word, index, &root, p->err);
	if (!ret)
		ret = type_find(&p->l->own.types.types, root.type, 0, &o->type, p->err);
	if (!ret)
		o->address = (uintptr_t)root.address;
	return ret;
}

int live_evaluate(struct live *l, const struct live_roots *roots, const char *expression,
		  struct live_object *ret, struct fl_error *err)
{
	struct parser p = {.l = l, .all = expression, .at = expression, .err = err};
	struct type *target;
	int error;

	memset(ret, 0, sizeof(*ret));
	error = take_root(&p, roots, ret);
	while (*p.at && !error) {
		if (*p.at == '.' || !strncmp(p.at, "->", 2))
			error = take_member(&p, ret);
		else if (*p.at == '[')
			error = take_element(&p, ret);
		else
			error = bad(&p, "something else than .NAME, ->NAME or [N]");
	}
	if (error)
		return error;
	target = pointee(ret->type);
	if (target && (target->kind == TYPE_STRUCT || target->kind == TYPE_UNION))
		error = follow(&p, ret);
	return error;
}

/* ---- values ---- */

struct showing {
	struct live *l;
	const struct live_roots *roots;
	const struct live_object *o;
	const char *in; /* name of the struct */
	int (*fn)(void *ctx, const struct live_field *f);
	void *ctx;
};

static void append(char *buf, size_t size, const char *separator, const char *text)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s%s", len ? separator : "", text);
}

/* The names of the bits that are set in @value; what has none is left as a number. */
static void flag_names(struct live *l, const char *names, bool bit_numbers, u64 value, char *buf,
		       size_t size)
{
	struct type *t;
	char rest[24];

	if (type_find(&l->own.types.types, names, 0, &t, NULL) ||
	    type_body(&l->own.types.types, t, NULL))
		return;
	for (u32 i = 0; i < t->nr_values; i++) {
		u64 bit = bit_numbers ? 1ull << (t->values[i].value & 63) : (u64)t->values[i].value;

		if (bit && (value & bit) == bit) {
			append(buf, size, "|", t->values[i].name);
			value &= ~bit;
		}
	}
	if (value) {
		snprintf(rest, sizeof(rest), "0x%" PRIx64, value);
		append(buf, size, "|", rest);
	}
}

static void pointer_text(struct showing *s, const struct type *t, u64 value, char *buf, size_t size)
{
	const struct type *target = type_strip(t->target);
	const char *function = function_at(s->l, value);

	if (!value)
		snprintf(buf, size, "NULL");
	else if (function)
		snprintf(buf, size, "%.190s", function);
	else if (target && *type_keyword(target) &&
		 !s->roots->name_of(s->roots->ctx, target->name, (void *)(uintptr_t)value, buf,
				    size))
		snprintf(buf, size, "-> %s %.150s", type_keyword(target), target->name);
	else if (!target || !*type_keyword(target))
		snprintf(buf, size, "-> memory");
}

static void enum_text(struct showing *s, const struct type *t, s64 value, char *buf, size_t size)
{
	if (!type_body(&s->l->own.types.types, (struct type *)t, NULL))
		for (u32 i = 0; i < t->nr_values; i++)
			if (t->values[i].value == value) {
				snprintf(buf, size, "%.190s", t->values[i].name);
				return;
			}
	snprintf(buf, size, "%" PRId64, value);
}

/* The number in @bits bits from bit @from of @bytes. */
static s64 number_of(const u8 *bytes, u64 from, u64 bits, bool is_signed)
{
	u64 value = 0;

	memcpy(&value, bytes, sizeof(value));
	value >>= from;
	if (bits < 64)
		value &= (1ull << bits) - 1;
	if (is_signed && bits < 64 && value >> (bits - 1))
		value |= ~0ull << bits;
	return value;
}

static void scalar_text(struct showing *s, const char *field, const struct type *t, s64 value,
			char *buf, size_t size)
{
	*buf = 0;
	for (size_t i = 0; i < ARRAY_SIZE(flag_fields) && s->in; i++)
		if (!strcmp(flag_fields[i].in, s->in) && !strcmp(flag_fields[i].field, field)) {
			flag_names(s->l, flag_fields[i].names, flag_fields[i].bit_numbers, value,
				   buf, size);
			if (!*buf)
				snprintf(buf, size, "0");
			return;
		}
	if (t->kind == TYPE_POINTER)
		pointer_text(s, t, value, buf, size);
	else if (t->kind == TYPE_ENUM)
		enum_text(s, t, value, buf, size);
	else if (t->kind == TYPE_BOOL)
		snprintf(buf, size, "%s", value ? "true" : "false");
	else
		snprintf(buf, size, t->is_signed ? "%" PRId64 : "%" PRIu64, value);
}

static void string_text(u64 address, u64 count, char *buf, size_t size)
{
	char text[64] = "";
	size_t len = min_t(u64, count, sizeof(text) - 1);

	if (read_memory(address, text, len))
		return;
	for (size_t i = 0; text[i]; i++)
		if ((u8)text[i] < 0x20 || (u8)text[i] > 0x7e)
			text[i] = '?';
	snprintf(buf, size, "\"%s\"", text);
}

static void array_text(struct showing *s, const char *field, const struct type *t, u64 address,
		       char *buf, size_t size)
{
	const struct type *element = type_strip(t->target);
	u64 each = type_size(t->target), count = t->flexible ? 0 : t->count;
	char one[200];
	u8 bytes[8];

	if (element && element->kind == TYPE_INT && each == 1) {
		string_text(address, count, buf, size);
		return;
	}
	snprintf(buf, size, "{");
	for (u64 i = 0; i < min_t(u64, count, ARRAY_SHOWN) && each && each <= 8; i++) {
		memset(bytes, 0, sizeof(bytes));
		if (!element || element->kind == TYPE_ARRAY ||
		    read_memory(address + i * each, bytes, each))
			break;
		scalar_text(s, field, element, number_of(bytes, 0, 8 * each, element->is_signed),
			    one, sizeof(one));
		append(buf, size, i ? ", " : "", one);
	}
	append(buf, size, "", !each || each > 8 || count > ARRAY_SHOWN ? "...}" : "}");
}

static void value_text(struct showing *s, const struct layout_field *f, char *buf, size_t size)
{
	const struct type *t = type_strip(f->type);
	u64 address = s->o->address + f->bit / 8;
	u8 bytes[8] = {0};

	snprintf(buf, size, "cannot be read");
	if (!t)
		return;
	if (t->kind == TYPE_ARRAY) {
		array_text(s, f->name, t, address, buf, size);
		return;
	}
	if (*type_keyword(t) && t->kind != TYPE_ENUM) {
		snprintf(buf, size, "{}");
		return;
	}
	if (f->bits > 64 || read_memory(address, bytes, DIV_ROUND_UP(f->bit % 8 + f->bits, 8)))
		return;
	scalar_text(s, f->name, t, number_of(bytes, f->bit % 8, f->bits, t->is_signed), buf, size);
}

static int show_field(void *ctx, const struct layout_field *f)
{
	struct showing *s = ctx;
	struct live_field field = {.type = f->type};

	if (f->bits > 64 + 7 && type_strip(f->type) && type_strip(f->type)->kind != TYPE_ARRAY)
		return 0;
	snprintf(field.name, sizeof(field.name), "%s", f->name);
	value_text(s, f, field.value, sizeof(field.value));
	return s->fn(s->ctx, &field);
}

int live_each_field(struct live *l, const struct live_roots *roots, const struct live_object *o,
		    int (*fn)(void *ctx, const struct live_field *f), void *ctx,
		    struct fl_error *err)
{
	struct type *t = (struct type *)type_strip(o->type);
	struct showing s = {.l = l, .roots = roots, .o = o, .fn = fn, .ctx = ctx};
	struct layout_field one = {.type = o->type,
				   .bit = o->bit,
				   .bits = o->bits ? o->bits : 8 * type_size(o->type),
				   .bit_field = o->bits != 0};

	snprintf(one.name, sizeof(one.name), "%s", o->field);
	s.in = o->in;
	if (!t || (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION))
		return show_field(&s, &one);
	s.in = t->name;
	return layout_each_field(&l->own.types.types, t, LAYOUT_EXPAND, show_field, &s, err);
}
