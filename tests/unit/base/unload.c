/*
 * A program that loads the shared library, computes and unloads it, again and again. Threads that
 * wait for the next call must not lose the code they wait in. It is not linked with OpenMP itself,
 * which would keep that code in place.
 */
#include <tilewright.h>

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS 5
#define N 64

static int compute(void *library)
{
    static int32_t a[N * N], c[N * N];
    tw_context *ctx = NULL;
    tw_status (*create)(tw_context **) =
        (tw_status(*)(tw_context **))dlsym(library, "tw_context_create");
    void (*destroy)(tw_context *) = (void (*)(tw_context *))dlsym(library, "tw_context_destroy");
    tw_status (*threads)(tw_context *, int32_t) =
        (tw_status(*)(tw_context *, int32_t))dlsym(library, "tw_set_threads");
    tw_status (*minplus)(tw_context *, tw_matrix *, const tw_matrix *, const tw_matrix *) =
        (tw_status(*)(tw_context *, tw_matrix *, const tw_matrix *, const tw_matrix *))dlsym(
            library, "tw_minplus");
    for (int i = 0; i < N * N; i++) {
        a[i] = 1;
        c[i] = TW_APSP_INF_I32;
    }
    tw_matrix left = {a, N, N, N, TW_I32};
    tw_matrix out = {c, N, N, N, TW_I32};
    int right = create(&ctx) == TW_OK && threads(ctx, 4) == TW_OK &&
                minplus(ctx, &out, &left, &left) == TW_OK && c[N * N - 1] == 2;
    destroy(ctx);
    return right;
}

int main(int argc, char **argv)
{
    const struct timespec while_they_wait = {0, 20000000};
    for (int round = 0; round < ROUNDS && argc == 2; round++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        if (!compute(library)) {
            fprintf(stderr, "round %d: wrong\n", round);
            return 1;
        }
        dlclose(library);
        nanosleep(&while_they_wait, NULL);
    }
    return argc == 2 ? 0 : 2;
}
