/* What the name of a file says of its format. */
#ifndef TWI_IO_EXTENSION_H
#define TWI_IO_EXTENSION_H

/* What follows the last dot of the last part of the path; "" if nothing, if the name begins with
 * the dot, or if it is a number: answer.2 is the second answer, not a format. */
const char *twi_extension(const char *path);

#endif
