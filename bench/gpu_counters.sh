#!/usr/bin/env bash
# bench/gpu_counters.sh: hardware counters of the update kernel at n = 8192 in i32, 16 bits and f32,
# as JSON on stdout; run from the repository root after bench/gpu.sh, whose build it uses. Needs ncu.
set -euo pipefail

build=build/gpu-here
stalls=(barrier branch_resolving dispatch_stall drain lg_throttle long_scoreboard math_pipe_throttle
    membar mio_throttle no_instruction not_selected selected short_scoreboard sleeping wait)
metrics=gpu__time_duration.sum,smsp__issue_active.avg.pct_of_peak_sustained_active
metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed
metrics+=,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
for pipe in alu fma fmaheavy lsu; do
    metrics+=,sm__inst_executed_pipe_$pipe.sum.pct_of_peak_sustained_active
done
for stall in "${stalls[@]}"; do
    metrics+=,smsp__average_warps_issue_stalled_${stall}_per_issue_active.ratio
done
for type in i32 u16 f32; do
    ncu --clock-control none -k regex:update -s 3 -c 1 --csv --page raw --print-units base \
        --metrics "$metrics" "$build/gpu" counters $type 2>/dev/null |
        python3 -c '
import csv, json, sys
rows = list(csv.reader(line for line in sys.stdin if line.startswith("\"")))
if len(rows) < 3:
    sys.exit("ncu measured no kernel")
all = dict(zip(rows[0], rows[-1]))
found = {name: float(all[name].replace(",", "")) for name in sys.argv[2].split(",") if name in all}
print(json.dumps({"kernel": "update", "type": sys.argv[1], "n": 8192, "counters": found}))
' $type "$metrics"
done
