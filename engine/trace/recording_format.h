/*
 * trace/recording_format.h - numbers that writer and reader of a recording share.
 *
 * Invariant  all of it is little endian in the file; records are copied as they lie in memory,
 *            which is little endian on every machine this builds for (checked below).
 */
#ifndef FL_TRACE_RECORDING_FORMAT_H
#define FL_TRACE_RECORDING_FORMAT_H

#include "trace/recording.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are written as they lie");

#define RECORDING_MAGIC	       "FOLIOTRC"
#define RECORDING_BLOCK_MAGIC  0x314b4c42u /* "BLK1" */
#define RECORDING_END_MAGIC    0x31444e45u /* "END1" */
#define RECORDING_LZMA	       1u
#define RECORDING_BLOCK_SLOTS  4096u
#define RECORDING_BLOCK_HEADER 32u
#define RECORDING_BLOCK_BYTES  (RECORDING_BLOCK_SLOTS * (u32)sizeof(struct trace_record))
#define RECORDING_PACKED_MAX   (RECORDING_BLOCK_BYTES + 4096u)
#define RECORDING_TEXT_MAX     (64u << 20)

static inline void put_le32(u8 *p, u32 v)
{
	__builtin_memcpy(p, &v, sizeof(v));
}

static inline void put_le64(u8 *p, u64 v)
{
	__builtin_memcpy(p, &v, sizeof(v));
}

static inline u32 get_le32(const u8 *p)
{
	u32 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

static inline u64 get_le64(const u8 *p)
{
	u64 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

#endif
