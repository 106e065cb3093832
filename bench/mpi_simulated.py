#!/usr/bin/env python3
"""bench/mpi_simulated.py [--ranks LIST] [--vertices N] [--block B] [--rate G] [--link GB/s] [--latency US]: the closure
over MPI on a cluster that is described, and what tw_mpi_predict says of it.

The library's own code runs on ranks that SimGrid's SMPI simulates in one process (Debian: libsimgrid-dev; smpicc
compiles, smpirun runs), with its messages, rounds and looks; its kernels only let the simulated clock go on, at a rate
that is given or measured once (bench/mpi_simulated.c). Hosts stand at a switch, each by a link with that bandwidth; the
network is SimGrid's model CM02 without the window of TCP, so a message takes latency + bytes / bandwidth, and messages
share links. A broadcast of SMPI goes from its root to each rank by itself; the prediction is for such ones. What SMPI would
follow for hours on 256 ranks, exchanges of all with all, goes through the memory of the process: they are not timed, or take
next to nothing. Nothing of it is read from a clock but an unknown rate, so the figures are the same on every machine. A run
takes minutes: memory is that of the whole matrix, and what is simulated are messages."""
import argparse
import json
import os
import shutil
import subprocess
import tempfile

here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.join(here, "build", "simulated")
WRAPPED = ("twi_product twi_pack_a twi_pack_b twi_close_tile twi_mpi_closure MPI_Ibcast MPI_Iallreduce MPI_Test MPI_Wait "
           "MPI_Allreduce MPI_Alltoall MPI_Alltoallv MPI_Is_thread_main sched_yield").split()
WITHOUT = "OPENMP MPI TESTS CLI LAB PNG TIFF JPEG METIS ZLIB ZSTD LZMA".split()


def compile_program():
    """The library without threads, and the program with smpicc."""
    subprocess.run(["cmake", "--preset", "release", "-B", build, *[f"-DTW_{name}=OFF" for name in WITHOUT]], check=True,
                   cwd=here, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--target", "tilewright_static"], check=True, stdout=subprocess.DEVNULL)
    folder = os.path.join(here, "src", "mpi")
    sources = sorted(os.path.join(room, name) for room, _, names in os.walk(folder) for name in names
                     if name.endswith(".c") and not room.endswith("command"))
    program = os.path.join(build, "mpi_simulated")
    subprocess.run(["smpicc", "-O2", "-w", "-fPIC", "-std=gnu17", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64",
                    f"-I{here}/include", f"-I{here}/src", *sources, os.path.join(here, "bench", "mpi_simulated.c"),
                    os.path.join(build, "src", "libtilewright.a"), *[f"-Wl,--wrap={name}" for name in WRAPPED], "-lm",
                    "-o", program], check=True)
    return program


def simulate(program, folder, ranks, asked):
    with open(os.path.join(folder, "platform.xml"), "w", encoding="ascii") as file:
        file.write("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                   f"<platform version=\"4.1\">\n<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-{ranks - 1}\" "
                   f"speed=\"1Gf\" bw=\"{asked.link * 1e9}Bps\" lat=\"{asked.latency / 2}us\" "
                   "sharing_policy=\"SPLITDUPLEX\"/>\n</platform>\n")
    with open(os.path.join(folder, "hosts"), "w", encoding="ascii") as file:
        file.writelines(f"n{i}\n" for i in range(ranks))
    ended = subprocess.run(["smpirun", "-no-privatize", "-np", str(ranks), "-platform", f"{folder}/platform.xml",
                            "-hostfile", f"{folder}/hosts", "--cfg=smpi/cpu-threshold:-1", "--cfg=network/model:CM02",
                            "--cfg=network/TCP-gamma:0", "--cfg=smpi/test:0", "--cfg=smpi/grow-injected-times:0",
                            "--log=root.thresh:warning", program, str(asked.vertices), str(asked.block),
                            str(asked.rate * 1e9), str(asked.link * 1e9), str(asked.latency * 1e-6),
                            str(int(asked.undirected))], capture_output=True, text=True, check=False)
    lines = [line for line in ended.stdout.splitlines() if line.startswith("{")]
    if ended.returncode != 0 or not lines:
        raise SystemExit(ended.stderr or ended.stdout)
    return json.loads(lines[-1])


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    words.add_argument("--ranks", default="64,256")
    words.add_argument("--vertices", type=int, default=8192)
    words.add_argument("--block", type=int, default=256)
    words.add_argument("--rate", type=float, default=5, help="10^9 relaxations per second of a rank; 0: measured here")
    words.add_argument("--link", type=float, default=12.5)
    words.add_argument("--latency", type=float, default=2)
    words.add_argument("--undirected", action="store_true")
    asked = words.parse_args()
    if shutil.which("smpicc") is None or shutil.which("smpirun") is None:
        raise SystemExit("SimGrid is not installed (Debian: libsimgrid-dev)")
    program = compile_program()
    print(f"n = {asked.vertices} in i32, tiles of {asked.block}; {asked.link} GB/s, {asked.latency} us")
    print("| ranks | G relaxations/s each | simulated s | predicted s | ratio | of ideal |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for ranks in map(int, asked.ranks.split(",")):
            told = simulate(program, folder, ranks, asked)
            n = told["vertices"]
            ideal = n ** 3 / (ranks * told["rate"]) * (0.5 if asked.undirected else 1)
            print(f"| {ranks} | {told['rate'] / 1e9:.2f} | {told['simulated']:.4f} | {told['predicted']:.4f} | "
                  f"{told['predicted'] / told['simulated']:.2f} | {ideal / told['simulated']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
