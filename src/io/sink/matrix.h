/* The caller's matrix behind a sink, for whoever can put rows there himself. */
#ifndef TWI_IO_SINK_MATRIX_H
#define TWI_IO_SINK_MATRIX_H

#include "tilewright.h"

/* The matrix of a sink that tw_sink_to_matrix has made; NULL of any other. Rows of it that are
 * handed to the sink are already where they belong, and are not copied. */
const tw_matrix *twi_sink_matrix(const tw_sink *sink);

#endif
