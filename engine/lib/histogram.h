/*
 * lib/histogram.h - a log-linear histogram of 64 bit values.
 *
 * Mirrors    nothing in the kernel; the layout is HdrHistogram's.
 * Invariant  sum over counts[] == count; values below 64 have a bucket each, above them every
 *            power of two is cut into 32 equal buckets, so a bucket is at most 1/32 as wide
 *            as its lowest value.
 * Owner      the caller owns the struct (about 15 KiB), it holds no pointers and may be copied.
 * Errors     none; sum wraps at 2^64.
 */
#ifndef FL_LIB_HISTOGRAM_H
#define FL_LIB_HISTOGRAM_H

#include "lib/types.h"

#define HISTOGRAM_EXACT	  64u /* values below have a bucket of their own */
#define HISTOGRAM_SUB	  32u /* buckets a power of two from there on */
#define HISTOGRAM_BUCKETS (HISTOGRAM_EXACT + 58u * HISTOGRAM_SUB)

struct histogram {
	u64 count;		       /* samples */
	u64 sum;		       /* of all samples, modulo 2^64 */
	u64 min;		       /* smallest sample; ~0 while empty, see histogram_min() */
	u64 max;		       /* largest sample; 0 while empty */
	u64 counts[HISTOGRAM_BUCKETS]; /* samples of each bucket */
};

/* Make @h empty. */
void histogram_init(struct histogram *h);

/* Number of the bucket that holds @v. */
static inline unsigned int histogram_bucket(u64 v)
{
	unsigned int top;

	if (v < HISTOGRAM_EXACT)
		return v;
	top = ilog2(v);
	return HISTOGRAM_EXACT + (top - 6) * HISTOGRAM_SUB + (v >> (top - 5)) - HISTOGRAM_SUB;
}

/* Add @n samples of value @v; @n == 0 changes nothing. */
static inline void histogram_add_n(struct histogram *h, u64 v, u64 n)
{
	if (!n)
		return;
	h->counts[histogram_bucket(v)] += n;
	h->count += n;
	h->sum += v * n;
	if (v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
}

/* Add one sample of value @v. */
static inline void histogram_add(struct histogram *h, u64 v)
{
	histogram_add_n(h, v, 1);
}

/* Smallest sample, 0 for an empty histogram. */
static inline u64 histogram_min(const struct histogram *h)
{
	return h->count ? h->min : 0;
}

/* Add all samples of @from to @to; @from stays as it is. They may be the same. */
void histogram_merge(struct histogram *to, const struct histogram *from);

/* Smallest and largest value that go into bucket @bucket (< HISTOGRAM_BUCKETS). */
u64 histogram_bucket_low(unsigned int bucket);
u64 histogram_bucket_high(unsigned int bucket);

/*
 * The quantile @per_thousand / 1000 (500: median; values above 1000 count as 1000): the highest
 * value of the bucket that holds sample number max(1, ceil(q * count)) in ascending order, but
 * never more than max. So the answer is at most 1/32 above the true sample and never below it.
 * 0 for an empty histogram.
 */
u64 histogram_quantile(const struct histogram *h, unsigned int per_thousand);

/* Samples v with v in {0, 1} (@bucket 0) or 2^@bucket <= v < 2^(@bucket + 1); 0 from 64 on. */
u64 histogram_log2(const struct histogram *h, unsigned int bucket);

#endif
