#!/usr/bin/env bash
# bench/mpi_gpu.sh [ARGUMENT...]: build for the GPU of this machine and for the MPI whose mpicc is found, then
# bench/mpi_gpu.py with these arguments; run from the repository root. Needs nvcc, cmake, an MPI and a GPU.
set -euo pipefail

build=build/gpu-here
mkdir -p build
cmake -S . -B $build -DTW_GPU=CUDA -DTW_MPI=ON -DTW_TESTS=OFF -DTW_LAB=OFF \
    -DMPI_C_COMPILER="$(command -v mpicc)" -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-90-real}" >$build.log 2>&1 ||
    { tail -20 $build.log; exit 1; }
cmake --build $build -j "$(nproc)" --target tilewright tilewright-mpi >>$build.log 2>&1 ||
    { grep -A5 error $build.log; exit 1; }
exec python3 bench/mpi_gpu.py "$@"
