#include "lib/histogram.h"

#include <string.h>

void histogram_init(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min = ~(u64)0;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	to->min = min(to->min, from->min);
	to->max = max(to->max, from->max);
	to->count += from->count;
	to->sum += from->sum;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->counts[i] += from->counts[i];
}

u64 histogram_bucket_low(unsigned int bucket)
{
	unsigned int i;

	if (bucket < HISTOGRAM_EXACT)
		return bucket;
	i = bucket - HISTOGRAM_EXACT;
	return (u64)(HISTOGRAM_SUB + i % HISTOGRAM_SUB) << (i / HISTOGRAM_SUB + 1);
}

u64 histogram_bucket_high(unsigned int bucket)
{
	if (bucket < HISTOGRAM_EXACT)
		return bucket;
	return histogram_bucket_low(bucket) +
	       ((1ULL << ((bucket - HISTOGRAM_EXACT) / HISTOGRAM_SUB + 1)) - 1);
}

/* ceil(count * per_thousand / 1000), at least 1, without overflow. */
static u64 quantile_rank(u64 count, unsigned int per_thousand)
{
	unsigned int q = min(per_thousand, 1000u);
	u64 rank = count / 1000 * q + DIV_ROUND_UP(count % 1000 * q, 1000);

	return max(rank, (u64)1);
}

u64 histogram_quantile(const struct histogram *h, unsigned int per_thousand)
{
	u64 rank = quantile_rank(h->count, per_thousand), seen = 0;

	if (!h->count)
		return 0;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->counts[i];
		if (seen >= rank)
			return min(histogram_bucket_high(i), h->max);
	}
	return h->max;
}

u64 histogram_log2(const struct histogram *h, unsigned int bucket)
{
	unsigned int first, last;
	u64 n = 0;

	if (bucket > 63)
		return 0;
	first = bucket ? histogram_bucket(1ULL << bucket) : 0;
	last = histogram_bucket((1ULL << bucket) - 1 + (1ULL << bucket));
	for (unsigned int i = first; i <= last; i++)
		n += h->counts[i];
	return n;
}
