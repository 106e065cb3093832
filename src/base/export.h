/* Names that leave the shared library without being part of the interface. */
#ifndef TWI_BASE_EXPORT_H
#define TWI_BASE_EXPORT_H

/* What libtilewright-mpi calls. It is exported under a symbol version of its own
 * (cmake/exports.map.in, which lists the names), so that only a library of the very same version
 * finds it. */
#define TWI_SHARED __attribute__((visibility("default")))

#endif
