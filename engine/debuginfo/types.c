#include "debuginfo/types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strutil.h"

#define CHUNK	       (64u << 10)
#define LOAD_DEPTH_MAX 200u   /* types that need each other to be loaded */
#define NAMES_MAX      20000u /* that a wrong one is compared with */
#define BODY_SIZE_MAX  (1ull << 48)

/* ---- memory ---- */

struct types_chunk {
	struct types_chunk *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

int types_init(struct types *types, const struct types_ops *ops, const char *path)
{
	memset(types, 0, sizeof(*types));
	types->ops = ops;
	types->path = path;
	types->pointer_size = 8;
	types->buckets = calloc(TYPES_BUCKETS, sizeof(*types->buckets));
	return types->buckets ? 0 : -ENOMEM;
}

void types_fini(struct types *types)
{
	while (types->chunks) {
		struct types_chunk *c = types->chunks;

		types->chunks = c->next;
		free(c);
	}
	free(types->buckets);
	types->buckets = NULL;
}

void *types_alloc(struct types *types, size_t size)
{
	struct types_chunk *c = types->chunks;
	size_t want = round_up(max(size, (size_t)1), 16);
	void *p;

	if (!c || c->size - c->used < want) {
		size_t room = max(want, (size_t)CHUNK);

		c = calloc(1, sizeof(*c) + room);
		if (!c)
			return NULL;
		c->size = room;
		c->next = types->chunks;
		types->chunks = c;
	}
	p = c->bytes + c->used;
	c->used += want;
	return p;
}

int types_damaged(struct types *types, const char *what)
{
	return fl_error_set(types->err, -EINVAL, types->path, 0,
			    "its type information is damaged: %s", what);
}

/* ---- nodes ---- */

static struct type **bucket_of(struct types *types, u64 id)
{
	return &types->buckets[(id * 0x9e3779b97f4a7c15ull) >> 52];
}

static int load_new(struct types *types, u64 id, struct type **ret)
{
	struct type **bucket = bucket_of(types, id), *t = types_alloc(types, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	if (types->depth >= LOAD_DEPTH_MAX)
		return types_damaged(types, "types that are made of each other without end");
	t->id = id;
	t->name = "";
	t->next = *bucket;
	*bucket = t;
	types->depth++;
	err = types->ops->load(types, t);
	types->depth--;
	*ret = t;
	return err;
}

int type_get(struct types *types, u64 id, struct type **ret)
{
	for (struct type *t = *bucket_of(types, id); t; t = t->next)
		if (t->id == id) {
			*ret = t;
			return 0;
		}
	return load_new(types, id, ret);
}

int type_body(struct types *types, struct type *t, struct fl_error *err)
{
	int ret;

	if (t->body)
		return 0;
	if (t->declaration)
		return fl_error_set(err, -ENOENT, types->path, 0,
				    "only the name of %s %s is known here, expected its members",
				    type_keyword(t), t->name);
	types->err = err;
	if (t->size > BODY_SIZE_MAX)
		ret = types_damaged(types, "a struct of more than 2^48 bytes");
	else
		ret = types->ops->body(types, t);
	types->err = NULL;
	t->body = !ret;
	return ret;
}

/* What a name is without "struct ", and which kind that asks for. */
static const char *bare_name(const char *name, enum type_kind *kind)
{
	static const struct {
		const char *word;
		enum type_kind kind;
	} words[] = {{"struct ", TYPE_STRUCT}, {"union ", TYPE_UNION}, {"enum ", TYPE_ENUM}};

	*kind = TYPE_VOID;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strncmp(name, words[i].word, strlen(words[i].word))) {
			*kind = words[i].kind;
			return name + strlen(words[i].word);
		}
	return name;
}

/* The name that was probably meant, or NULL. */
static const char *near_name(struct types *types, const char *name)
{
	const char **names = calloc(NAMES_MAX, sizeof(*names)), *near = NULL;
	struct type *t;
	size_t nr = 0;
	u32 pos = 0;

	while (names && nr < NAMES_MAX && type_next(types, &pos, &t, NULL) > 0)
		names[nr++] = t->name;
	if (nr)
		near = nearest(name, names, nr);
	free(names);
	return near;
}

static int next_found(struct types *types, const char *name, u32 nr, struct type **ret)
{
	u64 id;
	int got = types->ops->find(types, name, nr, &id);

	if (got <= 0)
		return got;
	got = type_get(types, id, ret);
	return got ? got : 1;
}

static int not_found(struct types *types, const char *name, const char *bare, struct fl_error *err)
{
	const char *near = near_name(types, bare);

	return fl_error_set(err, -ENOENT, types->path, 0,
			    "no '%.80s' here, expected the name of a struct, union or enum"
			    "%s%.80s%s",
			    name, near ? " (did you mean '" : "", near ? near : "",
			    near ? "'?)" : "");
}

int type_find(struct types *types, const char *name, u32 nr, struct type **ret,
	      struct fl_error *err)
{
	enum type_kind kind;
	const char *bare = bare_name(name, &kind);
	u32 fitting = 0;
	int got;

	types->err = err;
	for (u32 i = 0; (got = next_found(types, bare, i, ret)) > 0; i++) {
		if ((kind == TYPE_VOID || (*ret)->kind == kind) && fitting++ == nr)
			break;
	}
	types->err = NULL;
	if (got > 0)
		return 0;
	if (got == -ENOMEM)
		return fl_error_set(err, got, types->path, 0, "out of memory");
	if (got < 0)
		return got;
	return nr ? -ENOENT : not_found(types, name, bare, err);
}

int type_next(struct types *types, u32 *pos, struct type **ret, struct fl_error *err)
{
	u64 id;
	int got = types->ops->next(types, pos, &id);

	if (got <= 0)
		return got;
	types->err = err;
	got = type_get(types, id, ret);
	types->err = NULL;
	return got ? got : 1;
}

static bool is_wrapper(enum type_kind kind)
{
	return kind >= TYPE_TYPEDEF && kind <= TYPE_ATOMIC;
}

const struct type *type_strip(const struct type *t)
{
	for (unsigned int i = 0; t && is_wrapper(t->kind); i++)
		t = i < TYPE_CHAIN_MAX ? t->target : NULL;
	return t;
}

u64 type_size(const struct type *t)
{
	u64 count = 1, size;

	for (unsigned int i = 0; t && i < TYPE_CHAIN_MAX; i++) {
		if (t->kind == TYPE_ARRAY) {
			if (__builtin_mul_overflow(count, t->count, &count))
				return 0;
		} else if (!is_wrapper(t->kind)) {
			return __builtin_mul_overflow(count, t->size, &size) ? 0 : size;
		}
		t = t->target;
	}
	return 0;
}

/* ---- as C writes them ---- */

const char *type_keyword(const struct type *t)
{
	switch (t->kind) {
	case TYPE_STRUCT:
		return "struct";
	case TYPE_UNION:
		return "union";
	case TYPE_ENUM:
		return "enum";
	default:
		return "";
	}
}

/* "struct folio", "const char": a type without arrays and functions. */
static void plain_text(const struct type *t, char *buf, size_t size)
{
	static const char *const qualifiers[TYPE_KIND_NR] = {
		[TYPE_CONST] = "const",
		[TYPE_VOLATILE] = "volatile",
		[TYPE_RESTRICT] = "restrict",
		[TYPE_ATOMIC] = "_Atomic",
	};
	char stars[16] = "", words[64] = "";
	unsigned int i;

	for (i = 0; t && i < TYPE_CHAIN_MAX; i++, t = t->target) {
		if (t->kind == TYPE_POINTER && strlen(stars) < sizeof(stars) - 1)
			strcat(stars, "*");
		else if (qualifiers[t->kind] && !*stars && t->target &&
			 t->target->kind == TYPE_POINTER)
			continue; /* a constant pointer: "* const" would only widen the column */
		else if (qualifiers[t->kind] &&
			 strlen(words) + strlen(qualifiers[t->kind]) + 2 < sizeof(words))
			strcat(strcat(words, qualifiers[t->kind]), " ");
		else
			break;
	}
	if (t && (t->kind == TYPE_STRUCT || t->kind == TYPE_UNION || t->kind == TYPE_ENUM))
		snprintf(buf, size, "%s%s%s%.100s%s%s", words, type_keyword(t), *t->name ? " " : "",
			 t->name, *stars ? " " : "", stars);
	else
		snprintf(buf, size, "%s%.100s%s%s", words, t ? t->name : "void", *stars ? " " : "",
			 stars);
}

/* Does a pointer, or several, lead to an array or a function? Then it needs parentheses. */
static const struct type *wrapped_target(const struct type *t)
{
	for (unsigned int i = 0; t && i < TYPE_CHAIN_MAX; i++, t = t->target)
		if (t->kind != TYPE_POINTER && t->kind != TYPE_CONST && t->kind != TYPE_VOLATILE &&
		    t->kind != TYPE_RESTRICT)
			return t->kind == TYPE_ARRAY || t->kind == TYPE_FUNCTION ? t : NULL;
	return NULL;
}

static void append(char *buf, size_t size, const char *text)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s", text);
}

static void append_parameters(const struct type *f, char *buf, size_t size)
{
	append(buf, size, "(");
	for (u32 i = 0; i < f->nr_members; i++) {
		char text[120];

		/* A parameter that takes a function itself is shown without that one's. */
		plain_text(f->members[i].type, text, sizeof(text));
		append(buf, size, i ? ", " : "");
		append(buf, size, text);
	}
	append(buf, size,
	       f->variadic ? (f->nr_members ? ", ...)" : "...)") : (f->nr_members ? ")" : "void)"));
}

void type_declare(const struct type *t, const char *name, struct type_declaration *ret)
{
	char copy[sizeof(ret->name)];

	snprintf(ret->name, sizeof(ret->name), "%s", name);
	for (unsigned int i = 0; t && i < TYPE_CHAIN_MAX; i++) {
		const struct type *inner;

		if (t->kind == TYPE_ARRAY) {
			char count[32] = "[]";

			if (!t->flexible)
				snprintf(count, sizeof(count), "[%llu]",
					 (unsigned long long)t->count);
			append(ret->name, sizeof(ret->name), count);
			t = t->target;
		} else if (t->kind == TYPE_FUNCTION) {
			append_parameters(t, ret->name, sizeof(ret->name));
			t = t->target;
		} else if (t->kind == TYPE_POINTER && (inner = wrapped_target(t))) {
			snprintf(copy, sizeof(copy), "(*%.*s)", (int)sizeof(copy) - 4, ret->name);
			strcpy(ret->name, copy);
			t = inner;
		} else {
			break;
		}
	}
	plain_text(t, ret->type, sizeof(ret->type));
}

char *type_text(const struct type *t, char *buf, size_t size)
{
	struct type_declaration d;

	type_declare(t, "", &d);
	snprintf(buf, size, "%s%s%s", d.type, *d.name ? " " : "", d.name);
	return buf;
}
