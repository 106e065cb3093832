/*
 * Copies of pageable memory to the card and back, as the rungs of entropy-gpu have them: 419 MB of
 * floats each way, from and to memory that one thread has touched first. What such a copy takes is
 * the work of the host's thread that calls it, so: how long it takes from each of the processors
 * that the program may run on, from any of them again and again with the processor told, and beside
 * threads that stream memory.
 *
 *   nvcc -O2 -o copies bench/lab_copies.cu -Xcompiler -fopenmp && ./copies
 *
 * A line is a kind, its processor, and the milliseconds up and down; medians of 3 but for "free",
 * where a chain of 4 M multiplications, a copy of a quarter within the host's memory and stolen
 * time stand behind them.
 */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <thread>
#include <vector>

enum { SIDE = 10240, REPEATS = 3, FREE = 100 };
static const size_t BYTES = (size_t)SIDE * SIDE * sizeof(float);
static float *in, *out;
static void *card;

static double now(void)
{
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static void there_and_back(double *up, double *down)
{
    double begun = now();
    cudaMemcpy(card, in, BYTES, cudaMemcpyHostToDevice);
    double there = now();
    cudaMemcpy(out, card, BYTES, cudaMemcpyDeviceToHost);
    *up = there - begun;
    *down = now() - there;
}

static void print_median(const char *kind, int cpu)
{
    std::vector<double> up(REPEATS), down(REPEATS);
    for (int i = 0; i < REPEATS; i++) {
        there_and_back(&up[i], &down[i]);
    }
    std::sort(up.begin(), up.end());
    std::sort(down.begin(), down.end());
    printf("%-10s %3d %6.1f %6.1f\n", kind, cpu, up[REPEATS / 2], down[REPEATS / 2]);
}

/* A chain of multiplications: what the processor does without memory. */
static void count_in_registers(void)
{
    static volatile unsigned kept;
    unsigned x = kept + 1;
    for (int i = 0; i < 4000000; i++) {
        x = x * 1664525u + 1013904223u;
    }
    kept = x;
}

/* Hundredths of a second that other guests of the host took from this one's processors, as it tells
 * us; -1: it does not. */
static long stolen(void)
{
    long all[8] = {0};
    FILE *file = fopen("/proc/stat", "r");
    int read = file != NULL ? fscanf(file, "cpu %ld %ld %ld %ld %ld %ld %ld %ld", &all[0], &all[1],
                                     &all[2], &all[3], &all[4], &all[5], &all[6], &all[7])
                            : 0;
    if (file != NULL) {
        fclose(file);
    }
    return read == 8 ? all[7] : -1;
}

int main()
{
    cpu_set_t all, one;
    in = (float *)malloc(BYTES);
    out = (float *)malloc(BYTES);
    if (sched_getaffinity(0, sizeof all, &all) != 0 || cudaMalloc(&card, BYTES) != cudaSuccess) {
        return 1;
    }
    memset(in, 1, BYTES);
    memset(out, 1, BYTES);
    printf("touched by %d\n", sched_getcpu());
    for (int i = 0; i < FREE; i++) { /* wherever the system lets it run */
        double up, down;
        there_and_back(&up, &down);
        double begun = now();
        count_in_registers();
        double counted = now();
        memcpy(out, in, BYTES / 4);
        double copied = now();
        printf("%-10s %3d %6.1f %6.1f  %5.2f %5.1f  %ld\n", "free", sched_getcpu(), up, down,
               counted - begun, copied - counted, stolen());
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all)) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            print_median("processor", cpu);
        }
    }
    sched_setaffinity(0, sizeof all, &all);
    for (int beside : {1, 2, 4, 8}) { /* threads that stream memory of their own */
        std::atomic<bool> stop{false};
        std::vector<std::thread> threads;
        for (int t = 0; t < beside; t++) {
            threads.emplace_back([&stop] {
                std::vector<char> a(256 << 20, 1), b(256 << 20, 2);
                while (!stop) {
                    memcpy(a.data(), b.data(), a.size());
                }
            });
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        print_median("beside", beside);
        stop = true;
        for (auto &thread : threads) {
            thread.join();
        }
    }
    return 0;
}
