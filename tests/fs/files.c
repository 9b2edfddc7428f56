#include "fs/files.h"

#include <stdio.h>
#include <string.h>

#include "mm/internal.h"

struct run_config file_config(const char *kernel, const char *fs)
{
	struct run_config config;

	run_config_init(&config);
	config.machine.kernel = kernel;
	config.machine.memory = 1ULL << 30;
	config.fs = fs;
	config.disk = "hole";
	config.size = 0;
	return config;
}

const char *file_folios(struct run *run, pgoff_t first, pgoff_t last)
{
	static char text[32768];
	size_t len = 0;

	text[0] = 0;
	for (pgoff_t i = first; i <= last;) {
		struct folio *folio = filemap_get_folio(run->inode->i_mapping, i);

		i = folio ? folio_next_index(folio) : i + 1;
		if (!folio)
			continue;
		len += snprintf(text + len, sizeof(text) - len, "%s%lu:o%u", len ? " " : "",
				folio->index, folio->_order);
		assert_true(len < sizeof(text));
		folio_put(folio);
	}
	return text;
}

static size_t put_run(char *text, size_t len, size_t size, const char *what, unsigned int nr)
{
	if (!nr)
		return len;
	len += snprintf(text + len, size - len, "%s%u*%s", len ? " " : "", nr, what);
	assert_true(len < size);
	return len;
}

const char *file_orders(struct run *run, pgoff_t first, pgoff_t last)
{
	static char text[4096];
	unsigned int order = 0, nr = 0;
	char what[8] = "";
	size_t len = 0;

	text[0] = 0;
	for (pgoff_t i = first; i <= last;) {
		struct folio *folio = filemap_get_folio(run->inode->i_mapping, i);

		i = folio ? folio_next_index(folio) : i + 1;
		if (!folio)
			continue;
		if (nr && folio->_order != order) {
			len = put_run(text, len, sizeof(text), what, nr);
			nr = 0;
		}
		order = folio->_order;
		snprintf(what, sizeof(what), "o%u", order);
		nr++;
		folio_put(folio);
	}
	put_run(text, len, sizeof(text), what, nr);
	return text;
}

u64 cost_units(const struct run *run, enum cost_id id)
{
	u64 sum = 0;

	for (unsigned int i = 0; i < CONTEXT_NR; i++)
		sum += run->machine->cost_units[i][id];
	return sum;
}

static void bio_list_event(struct trace_sink *sink, const struct trace_event *ev)
{
	struct bio_list *b = container_of(sink, struct bio_list, sink);

	if (ev->id != EV_block_bio_queue || ev->b & 2 || !ev->a)
		return;
	assert_true(b->nr < ARRAY_SIZE(b->sectors));
	b->sectors[b->nr++] = ev->a;
}

void bio_list_begin(struct bio_list *b, struct run *run)
{
	memset(b, 0, sizeof(*b));
	b->sink.event = bio_list_event;
	trace_add_sink(&run->machine->trace, &b->sink);
}

const char *bio_list_end(struct bio_list *b, struct run *run)
{
	size_t len = 0;

	trace_remove_sink(&run->machine->trace, &b->sink);
	for (unsigned int i = 0, nr; i < b->nr; i += nr) {
		for (nr = 1; i + nr < b->nr && b->sectors[i + nr] == b->sectors[i];)
			nr++;
		len += snprintf(b->text + len, sizeof(b->text) - len, "%s%gK", len ? " " : "",
				b->sectors[i] / 2.0);
		if (nr > 1)
			len += snprintf(b->text + len, sizeof(b->text) - len, "*%u", nr);
		assert_true(len < sizeof(b->text));
	}
	return b->text;
}
