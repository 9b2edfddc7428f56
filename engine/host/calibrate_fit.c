#include "host/calibrate_fit.h"

#define SWEEPS	    2000
#define PULL	    0.002 /* towards the default: a tenth of a 15 % error's weight a row */
#define SCALE_LEAST 0.05
#define SCALE_MOST  50.0

static const enum cost_id copy_group[] = {COST_COPY_BYTE, COST_NR};
static const enum cost_id call_group[] = {COST_SYSCALL, COST_VFS_READ, COST_GET_PAGES, COST_NR};
static const enum cost_id turn_group[] = {COST_READ_BATCH, COST_COPY_FOLIO, COST_MARK_ACCESSED,
					  COST_NR};
static const enum cost_id folio_group[] = {COST_ALLOC_FOLIO, COST_ADD_FOLIO, COST_LRU_ADD,
					   COST_COMPLETE_FOLIO, COST_NR};
static const enum cost_id page_group[] = {COST_ALLOC_ORDER, COST_ADD_SLOT, COST_ZERO_BYTE, COST_NR};
static const enum cost_id window_group[] = {COST_RA_DECIDE, COST_READ_PAGES, COST_NR};
static const enum cost_id drop_group[] = {COST_REMOVE_FOLIO, COST_FREE_FOLIO, COST_NR};
static const enum cost_id fault_group[] = {COST_PAGE_FAULT, COST_HANDLE_MM_FAULT, COST_FAULT_AROUND,
					   COST_FILEMAP_FAULT, COST_NR};
static const enum cost_id map_group[] = {COST_XAS_STEP,	 COST_NEXT_FOLIO, COST_SET_PTE,
					 COST_PTE_STORE, COST_STAT_MAP,	  COST_NR};
static const enum cost_id access_group[] = {COST_USER_ACCESS, COST_NR};

static const enum cost_id *const groups[] = {
	copy_group,   call_group, turn_group,  folio_group, page_group,
	window_group, drop_group, fault_group, map_group,   access_group,
};

#define NR_GROUPS ARRAY_SIZE(groups)

struct fit {
	double part[32][NR_GROUPS]; /* of a row's measured time, by the defaults */
	double rest[32];	    /* ... that no group scales */
	unsigned int rows;
	double scale[NR_GROUPS];
};

static double time_of(const struct fit_row *row, const enum cost_id *group, const u64 *cost_ps)
{
	double ps = 0;

	for (const enum cost_id *id = group; *id != COST_NR; id++)
		ps += (double)row->units[*id] * cost_ps[*id];
	return ps / 1000;
}

static void add_row(struct fit *f, const struct fit_row *row, const u64 *cost_ps)
{
	unsigned int i = f->rows++;
	double all = 0, grouped = 0;

	for (unsigned int id = 0; id < COST_NR; id++)
		all += (double)row->units[id] * cost_ps[id] / 1000;
	for (unsigned int g = 0; g < NR_GROUPS; g++) {
		double ns = time_of(row, groups[g], cost_ps);

		grouped += ns;
		f->part[i][g] = ns / row->measured_ns;
	}
	f->rest[i] = (all - grouped) / row->measured_ns;
}

/* The best scale of one group while the others stay. */
static double best_scale(const struct fit *f, unsigned int g)
{
	double over = PULL, under = PULL;

	for (unsigned int i = 0; i < f->rows; i++) {
		double left = 1 - f->rest[i];

		for (unsigned int h = 0; h < NR_GROUPS; h++)
			left -= h == g ? 0 : f->part[i][h] * f->scale[h];
		over += f->part[i][g] * left;
		under += f->part[i][g] * f->part[i][g];
	}
	return max(SCALE_LEAST, min(SCALE_MOST, over / under));
}

void calibrate_fit(const struct fit_row *rows, unsigned int nr, u64 *cost_ps)
{
	struct fit f = {.rows = 0};

	for (unsigned int i = 0; i < nr && i < ARRAY_SIZE(f.rest); i++)
		if (rows[i].measured_ns)
			add_row(&f, &rows[i], cost_ps);
	for (unsigned int g = 0; g < NR_GROUPS; g++)
		f.scale[g] = 1;
	for (unsigned int sweep = 0; sweep < SWEEPS; sweep++)
		for (unsigned int g = 0; g < NR_GROUPS; g++)
			f.scale[g] = best_scale(&f, g);
	for (unsigned int g = 0; g < NR_GROUPS; g++)
		for (const enum cost_id *id = groups[g]; *id != COST_NR; id++)
			cost_ps[*id] = max_t(u64, cost_ps[*id] * f.scale[g] + 0.5, 1);
}
