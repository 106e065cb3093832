#compdef tilewright-mpi
# zsh completion for tilewright-mpi, printed by 'tilewright-mpi --completion=zsh'.
_tilewright_mpi()
{
    local -a commands
    commands=(
        'apsp:compute shortest paths between all pairs of vertices, over MPI'
        'help:explain a command'
    )
    if ((CURRENT == 2)); then
        if [[ $PREFIX == -* ]]; then
            compadd -- --help --version --man --completion
        else
            _describe -t commands command commands
        fi
        return
    fi
    shift words
    ((CURRENT--))
    case $words[1] in
    apsp)
        _arguments -s -S \
            '--in-format=[The format of the graph\: triples, gr, mtx, edges, metis, npy or npz]:FORMAT: ' \
            '--directed[Treat edges as directed, whatever the file says]' \
            '--undirected[Treat edges as undirected, whatever the file says]' \
            '--unweighted[Ignore weights\: each edge counts 1]' \
            '--from=[The column of an edge list that holds the source of an edge, by number from 1 or by its name in the header]:COLUMN: ' \
            '--to=[The column that holds the target]:COLUMN: ' \
            '--weight=[The column that holds the weight]:COLUMN: ' \
            '--ids[Vertices of an edge list have names, which are used in input and output]' \
            '--header[The first line of an edge list names its columns]' \
            '--no-header[The first line of an edge list is an edge, even if it looks like a header]' \
            '--no-edge=[The entry of an .npy matrix that means '\''no edge'\'', besides infinity\: a number, or nan]:VALUE: ' \
            '--type=[The type of the distances\: u8, u16, i32, f32 or f64]:TYPE:(auto u8 u16 i32 f32 f64)' \
            '--sources=[Compute only these rows\: vertices such as 0,5,7-9, names such as Bern,"Boston, MA", or @FILE with a list, one name per line]:LIST: ' \
            '--targets=[Compute only these columns, given in the same way]:LIST: ' \
            '--cutoff=[Treat distances above D as unreachable]:D: ' \
            '--predecessors=[Also write the vertex before each target on its shortest path, as int32 of the same shape]:FILE:_files' \
            '(--output)-o+[The same as OUT]:OUT:_files' \
            '(-o)--output=[The same as OUT]:OUT:_files' \
            '--out-format=[The format of OUT\: raw, npy or csv]:FORMAT: ' \
            '--long[Write OUT, a .csv, as lines from,to,distance below a header instead of a matrix\: with names, without pairs that have no path and without the distance of a vertex to itself]' \
            '--labels[Also write the vertices of the rows and columns of OUT, one per line, in quotes where a .csv needs them\: for d.npy into d.rows.txt and d.cols.txt]' \
            '--verify=-[Check K rows (16 if no number is given, 0\: all) against an independent search before OUT appears]::K: ' \
            '--summary[Print the summary of the distances even if OUT is given]' \
            '--histogram=-[Also print a histogram of the distances with BINS equal bins (default\: 20; at most 32768)]::BINS: ' \
            '--plot=[Draw the histogram, of 20 bins or as --histogram says, into FILE, an .svg or .png]:FILE:_files' \
            '--eccentricity=[Write the largest distance of each row to FILE (.csv\: one per line, after the name of the vertex if the graph has names; .npy\: one column)]:FILE:_files' \
            '--closeness=[Write the closeness centrality of each row to FILE, in the same way]:FILE:_files' \
            '--closeness-as=[How closeness is scaled, from r vertices reached and the sum s of their distances\: networkx, the default, is r/s * r/(n-1), 0 if nothing is reached or s <= 0]:NAME: ' \
            '--harmonic=[Write the harmonic centrality of each row, the sum of 1/d over the vertices it reaches at distances d other than 0, to FILE]:FILE:_files' \
            '--sum=[Write the sum of the distances of each row to FILE]:FILE:_files' \
            '--reached=[Write how many vertices each row reaches, itself not counted, to FILE]:FILE:_files' \
            '--nearest=[Write the nearest vertices of each row to FILE, a .csv of source,target,distance]:FILE:_files' \
            '--farthest=[Write the farthest vertices of each row to FILE, in the same way]:FILE:_files' \
            '--count=[How many nearest or farthest vertices, at most all of them]:K: ' \
            '--method=[auto (the default\: what tilewright apsp would choose), closure (blocked Floyd-Warshall; each process holds a share of the matrix), dijkstra, bfs (equal weights only) or sweep (elimination, then a sweep over blocks of sources)]:NAME:(auto closure dijkstra bfs sweep)' \
            '--work-type=[The type the closure or sweep computes in\: u8, u16, i32, f32, f64, or auto (the default)\: the narrowest that gives an exact result]:TYPE:(auto u8 u16 i32 f32 f64)' \
            '--block=[The pivot width of the closure and the side of the tiles that ranks hold]:B: ' \
            '--no-cache[Neither read nor write the elimination orders kept in $XDG_CACHE_HOME/tilewright or ~/.cache/tilewright of the first process]' \
            '--checkpoint=[Write the state of the closure to FILE, in a folder that all processes see, every so often]:FILE:_files' \
            '--every=[The time from one checkpoint to the next, such as 30s, 10m or 1h]:TIME: ' \
            '--explain[Explain the plan\: the grid of processes, the memory of each, and the time of each part, from rates measured here and now]' \
            '--ranks=[With --explain\: predict a closure on these numbers of processes, such as 64,256,4096, of a cluster described by the options below]:LIST: ' \
            '--vertices=[With --ranks, in place of GRAPH\: a dense graph of N vertices]:N: ' \
            '--rate=[With --ranks\: the rate of one process, in 10^9 relaxations per second]:G: ' \
            '--link=[With --ranks\: the bandwidth of one process]:GB/s: ' \
            '--latency=[With --ranks\: the latency of a message in microseconds]:US: ' \
            '--threads=[Use N threads in each process]:N: ' \
            '--memory=[Hold at most SIZE, such as 8G (10^9) or 8Gi (2^30), of memory in each process]:SIZE: ' \
            '--device-memory=[Hold at most SIZE on its GPU in each process, whatever --memory says]:SIZE: ' \
            '--device=[Where a closure computes\: cpu (the default), or in a build with GPU code cuda (or hip)\: each process takes one of its machine'\''s GPUs, in turn]:DEVICE: ' \
            '--isa=[Force an instruction set\: scalar, neon, avx2 or avx512]:NAME: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    help) _describe -t commands command commands ;;
    *) _files ;;
    esac
}
# The body of a function when found in $fpath; otherwise read by eval or source.
if [[ $funcstack[1] == _tilewright_mpi ]]; then
    _tilewright_mpi "$@"
else
    compdef _tilewright_mpi tilewright-mpi
fi
