/* The table of the rungs of entropy on a GPU that have it as an array of each thread. */
#ifndef LAB_LADDERS_ENTROPY_LOGARITHMS_H
#define LAB_LADDERS_ENTROPY_LOGARITHMS_H

/* log 0 ... log 25 with 0 for the first, found by the compiler. */
#define LAB_LOGARITHMS(type)                                                                     \
    {                                                                                            \
        (type)0, (type)log(1.0), (type)log(2.0), (type)log(3.0), (type)log(4.0), (type)log(5.0), \
            (type)log(6.0), (type)log(7.0), (type)log(8.0), (type)log(9.0), (type)log(10.0),     \
            (type)log(11.0), (type)log(12.0), (type)log(13.0), (type)log(14.0), (type)log(15.0), \
            (type)log(16.0), (type)log(17.0), (type)log(18.0), (type)log(19.0), (type)log(20.0), \
            (type)log(21.0), (type)log(22.0), (type)log(23.0), (type)log(24.0), (type)log(25.0)  \
    }

#endif
