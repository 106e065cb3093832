#!/usr/bin/env python3
"""bench/file_to_file.py COMMAND [OPTION...]: one process from a graph file to a matrix file.

Generates the graph, keeps it in the page cache, runs COMMAND (a built tilewright) several times on
each device and folder, and prints what the clock on the wall said beside the command's own report.
The last run of each pair is verified. JSON goes to --json FILE.
"""
import argparse
import json
import os
import subprocess
import sys
import time


def run_once(command, graph, out, device, verify):
    if os.path.exists(out):
        os.remove(out)
    words = [command, "apsp", graph, out, "--device", device, "--json", "--quiet"]
    words += ["--verify=8"] if verify else []
    began = time.perf_counter()
    done = subprocess.run(words, stdout=subprocess.PIPE, check=False)
    wall = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(f"file_to_file: {' '.join(words)} ended with {done.returncode}")
    return wall, json.loads(done.stdout)


def file_system(folder):
    words = ["stat", "-f", "-c", "%T", folder]
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def measure(args, folder, device):
    out = os.path.join(folder, "tilewright-bench.raw")
    runs = []
    for i in range(args.repeat + 1):
        last = i == args.repeat
        wall, report = run_once(args.command, args.graph, out, device, last)
        if last:
            assert report["verified"], report
        else:
            runs.append({"wall": wall, "seconds": report["seconds"]})
    os.remove(out)
    runs.sort(key=lambda run: run["wall"])
    middle = runs[len(runs) // 2]
    parts = " ".join(f"{k} {v:.3f}" for k, v in middle["seconds"].items() if k != "verify")
    print(f"{report['device']:6} {file_system(folder):10} best {runs[0]['wall']:.3f} s, "
          f"median {middle['wall']:.3f} s: {parts}", flush=True)
    return {"device": report["device"], "asked": device, "file_system": file_system(folder),
            "working_type": report["working_type"], "graph": report["graph"],
            "verified_rows": report["verified_rows"], "median_wall": middle["wall"],
            "best_wall": runs[0]["wall"], "runs": runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("--vertices", type=int, default=20000)
    parser.add_argument("--degree", type=float, default=280)
    parser.add_argument("--weights", default="0:1000")
    parser.add_argument("--devices", default="cuda", help="separated by semicolons")
    parser.add_argument("--folders", nargs="+", default=["/dev/shm", "."])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json")
    args = parser.parse_args()
    args.graph = os.path.join(args.folders[0], "tilewright-bench.bin")
    subprocess.run([args.command, "generate", "graph", "sparse", args.graph, "-n",
                    str(args.vertices), "--degree", str(args.degree), "--weights", args.weights,
                    "--quiet"], check=True)
    cases = [measure(args, folder, device)
             for device in args.devices.split(";") for folder in args.folders]
    os.remove(args.graph)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"bench": "file to file", "cases": cases}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
