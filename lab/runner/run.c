/* See run.h. */
#include "runner/run.h"

#include <stddef.h>

const lab_part lab_parts[LAB_PARTS] = {{"read", offsetof(lab_time, read)},
                                       {"upload", offsetof(lab_time, upload)},
                                       {"compute", offsetof(lab_time, compute)},
                                       {"download", offsetof(lab_time, download)},
                                       {"write", offsetof(lab_time, write)}};
