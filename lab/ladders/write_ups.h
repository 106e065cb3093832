/* The five public write-ups whose experiments rungs reproduce, by title. A row of a rung begins
 * with the letter of its write-up. */
#ifndef LAB_LADDERS_WRITE_UPS_H
#define LAB_LADDERS_WRITE_UPS_H

#include <stdint.h>

#define LAB_WRITE_UP_A "“Parallel Programming – Hw3 Report”"
#define LAB_WRITE_UP_B "“Parallel Programming, Homework 3: All-Pairs Shortest Path”"
#define LAB_WRITE_UP_C "“全源最短路大作业 实验报告” (all-pairs shortest paths, lab report)"
#define LAB_WRITE_UP_D "“使用 CUDA 优化二维信息熵求解” (optimising local entropy with CUDA)"
#define LAB_WRITE_UP_E "“Nvidia Assignment01: 解题思路与优化过程” (approach and optimisation)"

/* Those that some rows are of. */
typedef uint32_t lab_write_ups;

/* Adds that of `row`; NULL is a row of ours. */
void lab_add_write_up(lab_write_ups *set, const char *row);

/* One line for each, in the order of their letters. */
void lab_print_write_ups(lab_write_ups set);

#endif
