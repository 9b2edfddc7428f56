/*
 * lib/types.h - the integer names and small helpers everything else is written in.
 *
 * The same   u8..s64, pgoff_t, round_up, min, max, BIT, ilog2 as in the kernel.
 * Differs    page sizes do not live here because they belong to a machine.
 */
#ifndef FL_LIB_TYPES_H
#define FL_LIB_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned long pgoff_t;
typedef unsigned int gfp_t;

#define BIT(n)				(1UL << (n))
#define ARRAY_SIZE(a)			(sizeof(a) / sizeof((a)[0]))
#define likely(x)			__builtin_expect(!!(x), 1)
#define unlikely(x)			__builtin_expect(!!(x), 0)
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* cppcheck does not know statement expressions. */
#ifdef __cppcheck__
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#else
#define min(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) a_ = (a);                                                            \
		__typeof__(b) b_ = (b);                                                            \
		a_ < b_ ? a_ : b_;                                                                 \
	})
#define max(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) a_ = (a);                                                            \
		__typeof__(b) b_ = (b);                                                            \
		a_ > b_ ? a_ : b_;                                                                 \
	})
#endif
#define min_t(t, a, b) min((t)(a), (t)(b))
#define max_t(t, a, b) max((t)(a), (t)(b))

/* Powers of two only; the type of @x decides the width. */
#define round_down(x, y)   ((x) & ~((__typeof__(x))((y)-1)))
#define round_up(x, y)	   ((((x)-1) | ((__typeof__(x))((y)-1))) + 1)
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))

/* Floor of the base-2 logarithm; @n must not be 0. */
static inline unsigned int ilog2(u64 n)
{
	return 63 - __builtin_clzll(n);
}

/* The smallest power of two not below @n; 1 for 0. */
static inline u64 roundup_pow_of_two(u64 n)
{
	return n <= 1 ? 1 : 1ULL << (ilog2(n - 1) + 1);
}

/* Number of trailing zero bits; @n must not be 0. */
static inline unsigned int __ffs(u64 n)
{
	return __builtin_ctzll(n);
}

#endif
