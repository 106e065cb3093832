/* The run-time compiler and what it makes: see rtc.h. Its functions and those of the driver are
 * found by name, so that the library links against neither. Errors of CUDA's driver have the
 * numbers of the runtime's. */
#include "gpu/rtc.h"

#include "base/memory.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------ the compiler */

#if defined(TWI_HIP)
#define COMPILER "hiprtc"
#define PREFIX "hiprtc"
#define CODE "Code"
#define INSTALL "install ROCm's hiprtc (libhiprtc.so)"
static const char *const library_names[] = {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5",
                                            "libhiprtc.so", "libamdhip64.so"};
static const char *const library_folders[] = {"", "/opt/rocm/lib/"};
static const char *const home_variables[] = {"ROCM_PATH", "HIP_PATH"};
static const char *const options[] = {"-O3", "-ffp-contract=off"};
#else
#define COMPILER "NVRTC"
#define PREFIX "nvrtc"
#define CODE "CUBIN"
#define INSTALL "install CUDA's NVRTC (libnvrtc.so, of the CUDA toolkit)"
static const char *const library_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                            "libnvrtc.so"};
static const char *const library_folders[] = {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"};
static const char *const home_variables[] = {"CUDA_HOME", "CUDA_PATH"};
static const char *const options[] = {"--std=c++17", "--fmad=false", "--prec-div=true",
                                      "--prec-sqrt=true", "--ftz=false"};
#endif
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

typedef struct rtc_compiler {
    void *library;
    const char *(*error)(int);
    int (*version)(int *, int *);
    int (*create)(void **, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*log_size)(void *, size_t *);
    int (*log)(void *, char *);
    int (*code_size)(void *, size_t *);
    int (*code)(void *, char *);
    int (*destroy)(void **);
} rtc_compiler;

static rtc_compiler compiler; /* library NULL: not open yet */
static pthread_mutex_t compiler_lock = PTHREAD_MUTEX_INITIALIZER;

/* The next file in the order of preference, or NULL: each name in the loader's folders, then in
 * those where toolkits are put. */
static void *open_anywhere(void)
{
    const char *given = getenv("TW_RTC");
    if (given != NULL) {
        return dlopen(given, RTLD_NOW | RTLD_LOCAL);
    }
    for (int n = 0; n < COUNT(library_names); n++) {
        char path[512];
        void *found = NULL;
        for (int h = 0; h < COUNT(home_variables) && found == NULL; h++) {
            const char *home = getenv(home_variables[h]);
            for (int wide = 1; home != NULL && wide >= 0 && found == NULL; wide--) {
                snprintf(path, sizeof path, "%s/%s/%s", home, wide ? "lib64" : "lib",
                         library_names[n]);
                found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            }
        }
        for (int f = 0; f < COUNT(library_folders) && found == NULL; f++) {
            snprintf(path, sizeof path, "%s%s", library_folders[f], library_names[n]);
            found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

static bool find_functions(rtc_compiler *c)
{
    struct {
        void *place;
        const char *name;
    } functions[] = {
        {&c->error, PREFIX "GetErrorString"},       {&c->version, PREFIX "Version"},
        {&c->create, PREFIX "CreateProgram"},       {&c->compile, PREFIX "CompileProgram"},
        {&c->log_size, PREFIX "GetProgramLogSize"}, {&c->log, PREFIX "GetProgramLog"},
        {&c->code_size, PREFIX "Get" CODE "Size"},  {&c->code, PREFIX "Get" CODE},
        {&c->destroy, PREFIX "DestroyProgram"},
    };
    for (int i = 0; i < COUNT(functions); i++) {
        void *function = dlsym(c->library, functions[i].name);
        if (function == NULL) {
            return false;
        }
        memcpy(functions[i].place, &function, sizeof function);
    }
    return true;
}

static tw_status open_compiler(tw_context *ctx)
{
    tw_status status = TW_OK;
    pthread_mutex_lock(&compiler_lock);
    if (compiler.library == NULL) {
        rtc_compiler found = {.library = open_anywhere()};
        if (found.library == NULL) {
            const char *given = getenv("TW_RTC");
            status =
                tw_fail(ctx, TW_ERR_UNSUPPORTED, "%s%s%s: " INSTALL ", or use the device 'cpu'",
                        "expressions are compiled for a GPU by " COMPILER ", which was not "
                        "found",
                        given != NULL ? " where TW_RTC points: " : "", given != NULL ? given : "");
        } else if (!find_functions(&found)) {
            dlclose(found.library);
            status = tw_fail(ctx, TW_ERR_UNSUPPORTED,
                             "the " COMPILER " of this machine is too old: " INSTALL
                             " 11.2 or later, or use the device 'cpu'");
        } else {
            compiler = found; /* stays open: code of it may be running to the end */
        }
    }
    pthread_mutex_unlock(&compiler_lock);
    return status;
}

tw_status twi_rtc_version(tw_context *ctx, char out[32])
{
    int major = 0;
    int minor = 0;
    tw_status status = open_compiler(ctx);
    if (status == TW_OK && compiler.version(&major, &minor) != 0) {
        status = tw_fail(ctx, TW_ERR_UNSUPPORTED, COMPILER " does not say its version");
    }
    snprintf(out, 32, COMPILER " %d.%d", major, minor);
    return status;
}

void twi_rtc_options(char out[256])
{
    size_t length = 0;
    for (int i = 0; i < COUNT(options); i++) {
        length += (size_t)snprintf(out + length, 256 - length, i > 0 ? " %s" : "%s", options[i]);
    }
}

/* The sentence of a compilation that failed, with the beginning of the compiler's own words. */
static tw_status fail_compilation(tw_context *ctx, void *program, int error)
{
    char *log = NULL;
    size_t size = 0;
    if (compiler.log_size(program, &size) == 0 && size > 1 && size < (1U << 24)) {
        log = twi_try_alloc(ctx, size + 1, 1);
    }
    if (log != NULL && compiler.log(program, log) == 0) {
        log[size] = '\0';
    } else if (log != NULL) {
        log[0] = '\0';
    }
    tw_status status =
        tw_fail(ctx, TW_ERR_UNSUPPORTED,
                COMPILER " could not compile the kernel (%s); if this device is newer than "
                         "it, update it: %.600s",
                compiler.error(error), log != NULL ? log : "");
    twi_free(log);
    return status;
}

tw_status twi_rtc_compile(tw_context *ctx, twi_rtc_code *out, const char *source,
                          const char *architecture)
{
    void *program = NULL;
    char target[64];
    const char *all[COUNT(options) + 1];
    size_t bytes = 0;
    *out = (twi_rtc_code){0};
    tw_status status = open_compiler(ctx);
    if (status != TW_OK) {
        return status;
    }
    memcpy(all, options, sizeof options);
    snprintf(target, sizeof target, "--gpu-architecture=%s", architecture);
    all[COUNT(options)] = target;
    int error = compiler.create(&program, source, "kernel.cu", 0, NULL, NULL);
    if (error != 0) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED, COMPILER ": %s", compiler.error(error));
    }
    error = compiler.compile(program, COUNT(all), all);
    if (error == 0) {
        error = compiler.code_size(program, &bytes);
    }
    if (error != 0) {
        status = fail_compilation(ctx, program, error);
        goto done;
    }
    status = twi_alloc(ctx, &out->data, bytes, 1, "compiled device code");
    if (status != TW_OK) {
        goto done;
    }
    out->bytes = bytes;
    error = compiler.code(program, out->data);
    if (error != 0) {
        twi_rtc_code_clear(out);
        status = tw_fail(ctx, TW_ERR_UNSUPPORTED, COMPILER ": %s", compiler.error(error));
    }
done:
    (void)compiler.destroy(&program);
    return status;
}

void twi_rtc_code_clear(twi_rtc_code *code)
{
    twi_free(code->data);
    *code = (twi_rtc_code){0};
}

/* ---------------------------------------------------------------------------------- the driver */

#if defined(TWI_HIP)
#define load_module(out, image) hipModuleLoadData((hipModule_t *)(out), image)
#define find_function(out, module, name) \
    hipModuleGetFunction((hipFunction_t *)(out), (hipModule_t)(module), name)
#define unload_module(module) hipModuleUnload((hipModule_t)(module))
#define launch(f, gx, gy, gz, bx, by, bz, stream, arguments) \
    hipModuleLaunchKernel((hipFunction_t)(f), gx, gy, gz, bx, by, bz, 0, stream, arguments, NULL)
static tw_status find_driver(tw_context *ctx)
{
    (void)ctx;
    return TW_OK;
}
#else
typedef struct cuda_driver {
    int (*load)(void **, const void *);
    int (*function)(void **, void *, const char *);
    int (*unload)(void *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
} cuda_driver;

static cuda_driver driver;
static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;
#define load_module(out, image) driver.load(out, image)
#define find_function(out, module, name) driver.function(out, module, name)
#define unload_module(module) driver.unload(module)
#define launch(f, gx, gy, gz, bx, by, bz, stream, arguments) \
    driver.launch(f, gx, gy, gz, bx, by, bz, 0, stream, arguments, NULL)

static cudaError_t driver_function(void *place, const char *name)
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &function, 11020, cudaEnableDefault, &found);
#elif CUDART_VERSION >= 12000
    cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#else
    cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault);
    found = function != NULL ? cudaDriverEntryPointSuccess : found;
#endif
    memcpy(place, &function, sizeof function);
    return error == cudaSuccess && found != cudaDriverEntryPointSuccess
               ? cudaErrorInsufficientDriver
               : error;
}

static tw_status find_driver(tw_context *ctx)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&driver_lock);
    if (driver.launch == NULL) {
        cuda_driver found = {0};
        error = driver_function(&found.load, "cuModuleLoadData");
        if (error == cudaSuccess) {
            error = driver_function(&found.function, "cuModuleGetFunction");
        }
        if (error == cudaSuccess) {
            error = driver_function(&found.unload, "cuModuleUnload");
        }
        if (error == cudaSuccess) {
            error = driver_function(&found.launch, "cuLaunchKernel");
        }
        if (error == cudaSuccess) {
            driver = found;
        }
    }
    pthread_mutex_unlock(&driver_lock);
    return twi_gpu_check(ctx, (int)error, "looking for the driver's functions");
}
#endif

tw_status twi_rtc_architecture(tw_context *ctx, int32_t device, char out[32])
{
#if defined(TWI_HIP)
    struct cudaDeviceProp properties;
    tw_status status = twi_gpu_check(ctx, (int)cudaGetDeviceProperties(&properties, device),
                                     "querying the architecture");
    if (status == TW_OK) {
        snprintf(out, 32, "%.31s", properties.gcnArchName);
    }
    return status;
#else
    int major = 0;
    int minor = 0;
    cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess) {
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    }
    snprintf(out, 32, "sm_%d%d", major, minor);
    return twi_gpu_check(ctx, (int)error, "querying the architecture");
#endif
}

tw_status twi_rtc_load(tw_context *ctx, twi_rtc_kernel *out, const twi_rtc_code *code,
                       const char *name)
{
    *out = (twi_rtc_kernel){0};
    /* The driver's own calls want a context to be there already: this makes it. */
    tw_status status = twi_gpu_check(ctx, (int)cudaFree(NULL), "starting the device");
    if (status == TW_OK) {
        status = find_driver(ctx);
    }
    if (status == TW_OK) {
        status =
            twi_gpu_check(ctx, (int)load_module(&out->module, code->data), "loading compiled code");
    }
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)find_function(&out->function, out->module, name),
                               "looking for a kernel");
        if (status != TW_OK) {
            twi_rtc_unload(out);
        }
    }
    return status;
}

void twi_rtc_unload(twi_rtc_kernel *kernel)
{
    if (kernel->module != NULL) {
        (void)unload_module(kernel->module);
    }
    *kernel = (twi_rtc_kernel){0};
}

tw_status twi_rtc_launch(tw_context *ctx, const twi_rtc_kernel *kernel, const uint32_t grid[3],
                         const uint32_t block[3], void *argument, void *stream)
{
    void *arguments[] = {argument};
    return twi_gpu_check(ctx,
                         (int)launch(kernel->function, grid[0], grid[1], grid[2], block[0],
                                     block[1], block[2], stream, arguments),
                         "starting a kernel");
}
