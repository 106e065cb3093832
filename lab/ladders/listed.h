/*
 * A ladder that needs a GPU is listed, shown and explained in a build without one, too. There its
 * file is compiled for its tables alone (LAB_LISTED_ONLY): the code between the includes and the
 * tables is left out, and what the tables have of it is NULL. Such a ladder is never run.
 *
 * A test that has the kernels and no GPU wants of the tables what each rung runs, too
 * (LAB_LISTED_WITH_CODE).
 */
#ifndef LAB_LADDERS_LISTED_H
#define LAB_LADDERS_LISTED_H

#ifdef LAB_LISTED_ONLY
#define LAB_ON_GPU(code) NULL
#else
#define LAB_ON_GPU(code) (code)
#endif
#if defined(LAB_LISTED_ONLY) && !defined(LAB_LISTED_WITH_CODE)
#define LAB_CODE(recipe) NULL
#else
#define LAB_CODE(recipe) (recipe)
#endif

#endif
