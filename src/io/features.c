/* The optional parts that this build has: tw_features. */
#include "base/context.h"

const char *tw_features(void)
{
    static const char features[] = ""
#ifdef _OPENMP
                                   " openmp"
#endif
#ifdef TWI_HAVE_PNG
                                   " png"
#endif
#ifdef TWI_HAVE_TIFF
                                   " tiff"
#endif
#ifdef TWI_HAVE_JPEG
                                   " jpeg"
#endif
#ifdef TWI_HAVE_METIS
                                   " metis"
#endif
#ifdef TWI_HAVE_ZLIB
                                   " zlib"
#endif
#ifdef TWI_HAVE_ZSTD
                                   " zstd"
#endif
#ifdef TWI_HAVE_LZMA
                                   " lzma"
#endif
#ifdef TWI_GPU_NAME
                                   " " TWI_GPU_NAME
#endif
        ;
    return features[0] == ' ' ? features + 1 : features;
}
