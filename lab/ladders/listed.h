/*
 * A ladder that needs a GPU is listed, shown and explained in a build without one, too. There its
 * file is compiled for its tables alone (LAB_LISTED_ONLY): the code between the includes and the
 * tables is left out, and what the tables have of it is NULL. Such a ladder is never run.
 */
#ifndef LAB_LADDERS_LISTED_H
#define LAB_LADDERS_LISTED_H

#ifdef LAB_LISTED_ONLY
#define LAB_ON_GPU(code) NULL
#else
#define LAB_ON_GPU(code) (code)
#endif

#endif
