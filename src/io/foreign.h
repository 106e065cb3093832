/* Files of other programs, told by their first bytes, which no format here begins with. */
#ifndef TWI_IO_FOREIGN_H
#define TWI_IO_FOREIGN_H

#include <stdint.h>

/* "Parquet", "HDF5", "SQLite", or NULL. */
const char *twi_foreign_name(const void *bytes, uint64_t size);

#endif
