/* record.h - files of framed records (TFRecord), which event logs and datasets use. */
#ifndef MS_FORMAT_RECORD_H
#define MS_FORMAT_RECORD_H
#include "core/error.h"

/* CRC-32C (Castagnoli, iSCSI: RFC 3720), continued from `crc` (0 at the start). */
uint32_t ms__crc32c(uint32_t crc, const void *src, size_t n);
/* The form in which a frame stores it: a checksum of data that holds checksums would be weak. */
uint32_t ms__crc32c_masked(const void *src, size_t n);

/* Appends one record: length, its checksum, data, their checksum. The file is made when it is not there. */
MsStatus ms__record_append(const char *path, const void *src, size_t n);

#endif
