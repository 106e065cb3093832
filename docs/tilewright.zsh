#compdef tilewright
# zsh completion for tilewright, printed by 'tilewright --completion=zsh'.
_tilewright()
{
    local -a commands
    commands=(
        'apsp:compute shortest paths between all pairs of vertices of a graph'
        'path:show one shortest path, hop by hop'
        'summary:summarise a matrix of distances\: diameter, radius, closeness, ...'
        'reach:find which vertices of a graph can be reached from which'
        'entropy:compute local entropy\: how varied each part of an array or image is'
        'map:evaluate an expression at every element of arrays or images'
        'convert:write a graph or a matrix in another format'
        'compare:find where two matrices, arrays or images differ'
        'generate:make a graph (complete, dense, sparse, grid, ...) or an image'
        'devices:show what this machine has, and its peak rates'
        'selftest:check every method, type and instruction set on this machine'
        'bench:measure the speed, and compare it with this machine'\''s peak'
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
            '--long[Write OUT, a .csv or '\''-'\'', as lines from,to,distance below a header instead of a matrix\: with names, without pairs that have no path and without the distance of a vertex to itself]' \
            '--labels[Also write the vertices of the rows and columns of OUT, one per line, in quotes where a .csv needs them\: for d.npy into d.rows.txt and d.cols.txt]' \
            '--summary[Print the summary of the distances even if OUT is given]' \
            '--verify=-[Check K rows (16 if no number is given, 0\: all) against an independent search before OUT appears]::K: ' \
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
            '--explain[Explain the plan\: the candidates, their estimated time and memory, and the choice]' \
            '--method=[closure (blocked Floyd-Warshall), dijkstra (a search from each source; on a GPU from many at once, by label correction), bfs (equal weights), sweep (elimination, then all sources at once\: roads, grids, meshes), reference (slow and simple)]:NAME:(auto closure dijkstra bfs sweep reference)' \
            '--work-type=[The type the closure or the sweep computes in\: u8, u16, i32, f32, f64, or auto (the default)\: the narrowest that gives an exact result]:TYPE:(auto u8 u16 i32 f32 f64)' \
            '--block=[The pivot width of the closure]:B: ' \
            '--no-cache[Neither read nor write the elimination orders kept in $XDG_CACHE_HOME/tilewright or ~/.cache/tilewright]' \
            '--checkpoint=[Compute by the closure, on the CPU or on GPUs, and write its state to FILE every so often]:FILE:_files' \
            '--every=[The time from one checkpoint to the next, such as 30s, 10m or 1h]:TIME: ' \
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of the host'\''s memory, and no more than that on a GPU either]:SIZE: ' \
            '--device-memory=[Use at most SIZE on each GPU, whatever --memory says]:SIZE: ' \
            '--device=[Where to compute\: cpu]:DEVICE: ' \
            '--isa=[Force an instruction set\: scalar, neon, avx2 or avx512]:NAME: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    path)
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
            '--type=[The type of a DIST that does not store it]:TYPE:(auto u8 u16 i16 i32 f32 f64)' \
            '--dist-format=[The format of DIST\: raw, npy or csv]:FORMAT: ' \
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of memory]:SIZE: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    summary)
        _arguments -s -S \
            '--type=[The type of a raw file, which stores none\: u8, u16, i16, i32 (the default), f32 or f64]:TYPE:(auto u8 u16 i16 i32 f32 f64)' \
            '--in-format=[raw, npy or csv]:FORMAT: ' \
            '--labels[Name vertices as in the files that '\''tilewright apsp --labels'\'' wrote beside DIST\: for d.npy d.rows.txt and d.cols.txt]' \
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
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of memory]:SIZE: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    reach)
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
            '--sources=[Compute only these rows\: vertices such as 0,5,7-9, names such as Bern,"Boston, MA", or @FILE with a list, one name per line]:LIST: ' \
            '--bits[Write eight vertices to a byte, vertex v in bit v % 8 of byte v / 8\: an eighth of the size]' \
            '(--output)-o+[The same as OUT]:OUT:_files' \
            '(-o)--output=[The same as OUT]:OUT:_files' \
            '--out-format=[The format of OUT\: raw, npy or csv]:FORMAT: ' \
            '--counts=[Write to FILE how many vertices each row'\''s vertex reaches, itself not counted (.csv or '\''-'\''\: one per line, after the name of the vertex if the graph has names; .npy\: one column)]:FILE:_files' \
            '--components=[Write the strongly connected component of each vertex to FILE, in the same way]:FILE:_files' \
            '--condensation=[Write the graph of components to FILE, in the graph format of its extension\: vertex c is component c, and every arc weighs 1]:FILE:_files' \
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of the host'\''s memory, and no more than that on a GPU either]:SIZE: ' \
            '--device-memory=[Use at most SIZE on each GPU, whatever --memory says]:SIZE: ' \
            '--device=[Where to compute\: cpu]:DEVICE: ' \
            '--isa=[Force an instruction set\: scalar, neon, avx2 or avx512]:NAME: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    entropy)
        _arguments -s -S \
            '(--window)-w+[The window\: K x K elements, or COLSxROWS such as 7x3]:K: ' \
            '(-w)--window=[The window\: K x K elements, or COLSxROWS such as 7x3]:K: ' \
            '--radius=[Use a disk instead\: all elements within a distance of R from the centre]:R: ' \
            '--footprint=[Use any shape instead\: the nonzero elements of FILE, a u8 image]:FILE:_files' \
            '--anchor=[The element of the footprint that lies on the centre, counted from 0]:ROW,COL: ' \
            '--border=[crop (only elements inside count; the default), reflect, symmetric, clamp, wrap, or valid (only windows that lie inside; the result is smaller)]:BORDER: ' \
            '(--levels)-l+[Values are levels 0 to N-1, N from 2 to 65536]:N: ' \
            '(-l)--levels=[Values are levels 0 to N-1, N from 2 to 65536]:N: ' \
            '--range=[Put values from LO to HI into N equal bins, HI itself into the last]:LO:HI: ' \
            '--mask=[Ignore elements where FILE, a u8 image of the same size, is 0]:FILE:_files' \
            '--no-data=[Ignore elements equal to VALUE]:VALUE: ' \
            '--skip-nan[Ignore NaN, in addition to --no-data]' \
            '--base=[Base of the logarithm\: e (the default), 2, 10, or levels, which gives values from 0 to 1]:BASE: ' \
            '--type=[The type of the result\: f32 (the default), within 1 ulp of the exact entropy, or f64, within 2, which takes several times as long and goes into npy, raw and csv]:TYPE:(f32 f64)' \
            '--plane=[Take only plane P, counted from 0\: a colour, band, page or record]:P: ' \
            '--grey[Take the luminance of a colour image, 0.2126 red + 0.7152 green + 0.0722 blue, rounded if its elements are integers, instead of each colour]' \
            '(--output)-o+[The same as OUT, but replaces whatever is there]:OUT:_files' \
            '(-o)--output=[The same as OUT, but replaces whatever is there]:OUT:_files' \
            '--out-dir=[Take all operands as inputs, and write their results into FOLDER under the same names, with the extension of --out-format if given]:FOLDER:_files' \
            '--compression=[How hard a .png or .tif is compressed\: 0 (not at all) to 9 (smallest)]:LEVEL: ' \
            '--tiff=[How a .tif is stored, as words separated by commas\: none (the default), deflate, lzw or zstd]:WORDS: ' \
            '--out-type=[The type of OUT'\''s elements\: f32 (the default), f16, or u8 or u16, scaled so that the largest possible entropy is 255 or 65535]:TYPE:(auto u8 u16 f16 f32)' \
            '--verify=-[Recompute K elements of each plane (1000 if no number is given, 0\: all) from the definition]::K: ' \
            '--explain[Explain the method, the memory needed and the expected rate]' \
            '--preview=[Also draw the result as an image, a .png, .ppm or .tif, dark where it is 0 and bright at the maximum]:FILE:_files' \
            '--in-format=[npy, pnm, pfm, png, tiff, jpeg or records]:FORMAT: ' \
            '--out-format=[npy, raw or csv for one plane, pnm and pfm for one or three, png for one to four, tiff (bands or pages) and records (text, five decimals) for any number]:FORMAT: ' \
            '--device=[Where to compute\: cpu]:DEVICE: ' \
            '--isa=[Force an instruction set\: scalar, neon, avx2 or avx512]:NAME: ' \
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of the host'\''s memory, and no more than that on a GPU either]:SIZE: ' \
            '--device-memory=[Use at most SIZE on each GPU, whatever --memory says]:SIZE: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    map)
        _arguments -s -S \
            '*-s+[A constant for the expression]:NAME=VALUE: ' \
            '*--set=[A constant for the expression]:NAME=VALUE: ' \
            '(--repeat)-r+[Apply the expression N times, x being the previous result\: the same bits as N runs, but reading and writing once]:N: ' \
            '(-r)--repeat=[Apply the expression N times, x being the previous result\: the same bits as N runs, but reading and writing once]:N: ' \
            '--no-data=[Where an input is VALUE (a number or nan) the result is VALUE too]:VALUE: ' \
            '--plane=[Take only plane P, counted from 0\: a colour, band, page or record]:P: ' \
            '--grey[Take the luminance of colour images, 0.2126 red + 0.7152 green + 0.0722 blue, rounded if their elements are integers, instead of each colour]' \
            '(--out-type)-t+[u8, u16, i16, i32, f32 or f64]:TYPE:(auto u8 u16 i16 i32 f32 f64)' \
            '(-t)--out-type=[u8, u16, i16, i32, f32 or f64]:TYPE:(auto u8 u16 i16 i32 f32 f64)' \
            '--compute=[f32 or f64]:TYPE:(auto f32 f64)' \
            '--fast[Functions within 3.5 units in the last place instead of 1]' \
            '--verify=-[Recompute K random elements (1000 by default, 0\: all) in interval arithmetic before OUT appears]::K: ' \
            '--explain[Show the program, its specialisation, bytes and operations per element, the memory, and a lower bound on the time]' \
            '(--output)-o+[The same as OUT]:OUT:_files' \
            '(-o)--output=[The same as OUT]:OUT:_files' \
            '--out-dir=[Take all files without NAME= as x, one after the other, and write their results into FOLDER under the same names, with the extension of --out-format if given]:FOLDER:_files' \
            '--compression=[How hard a .png or .tif is compressed\: 0 (not at all) to 9 (smallest)]:LEVEL: ' \
            '--tiff=[How a .tif is stored, as words separated by commas\: none (the default), deflate, lzw or zstd]:WORDS: ' \
            '--in-format=[npy, pnm, pfm, png, tiff, jpeg or records, for all inputs]:FORMAT: ' \
            '--out-format=[npy, tiff and records for any number of planes, pnm and pfm for one or three, png for one to four, raw and csv for one]:FORMAT: ' \
            '--device=[Where to compute\: cpu]:DEVICE: ' \
            '--isa=[Force an instruction set\: scalar, neon, avx2 or avx512]:NAME: ' \
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of the host'\''s memory, and no more than that on a GPU either]:SIZE: ' \
            '--device-memory=[Use at most SIZE on each GPU, whatever --memory says]:SIZE: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    convert)
        _arguments -s -S \
            '--graph[IN is a graph]' \
            '--matrix[IN is a matrix of distances]' \
            '(--output)-o+[The same as OUT]:OUT:_files' \
            '(-o)--output=[The same as OUT]:OUT:_files' \
            '--out-format=[Graphs\: triples, gr, mtx, edges, metis or npy]:FORMAT: ' \
            '--labels[Write the names of a matrix'\''s rows and columns beside OUT, one per line\: for d.npy d.rows.txt and d.cols.txt]' \
            '--type=[The element type of a matrix OUT\: u8, u16, i32, f32 or f64]:TYPE:(auto u8 u16 i32 f32 f64)' \
            '--raw-type=[The type of a raw IN, which stores none\: u8, u16, i16, i32 (the default), f32 or f64]:TYPE:(auto u8 u16 i16 i32 f32 f64)' \
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
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of memory]:SIZE: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    compare)
        _arguments -s -S \
            '--tolerance=[Numbers that differ by no more than T count as equal]:T: ' \
            '--numbers[The numbers are not distances\: 255 in u8, 65535 in u16 and 1073741823 in i32 are what they are, and do not mean '\''no path'\'']' \
            '--type=[The type of raw files, which store none\: u8, u16, i16, i32 (the default), f32 or f64]:TYPE:(auto u8 u16 i16 i32 f32 f64)' \
            '--in-format=[raw, npy or csv, or one of an image, for both]:FORMAT: ' \
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of memory]:SIZE: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    generate)
        _arguments -s -S \
            '(--vertices)-n+[Number of vertices (default\: 1000)]:N: ' \
            '(-n)--vertices=[Number of vertices (default\: 1000)]:N: ' \
            '--degree=[sparse, rmat\: D * N arcs]:D: ' \
            '--density=[dense\: the probability of each arc, 0.5 by default]:P: ' \
            '--rows=[grid\: rows of the lattice]:R: ' \
            '--cols=[grid\: columns of the lattice]:C: ' \
            '--levels=[Images\: values from 0 to L-1, stored as u8 up to 256 levels, else as u16]:L: ' \
            '--directed[Make a directed graph]' \
            '--undirected[Make an undirected graph]' \
            '--weights=[Weights between LO and HI, both included]:LO:HI: ' \
            '--weight-type=[i32 (whole numbers, the default), f32 or f64]:TYPE:(i32 f32 f64)' \
            '--seed=[Seed of the random numbers]:S: ' \
            '(--output)-o+[The same as OUT]:OUT:_files' \
            '(-o)--output=[The same as OUT]:OUT:_files' \
            '--out-format=[Graphs\: triples, gr, mtx, edges, metis or npy]:FORMAT: ' \
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of memory]:SIZE: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    devices)
        _arguments -s -S \
            '--no-measure[List only]' \
            '--threads=[Measure one thread and N]:N: ' \
            '--device=[Where to compute\: cpu]:DEVICE: ' \
            '--isa=[Force an instruction set\: scalar, neon, avx2 or avx512]:NAME: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    selftest)
        _arguments -s -S \
            '(--verbose)-v[List every case, not only failures]' \
            '(-v)--verbose[List every case, not only failures]' \
            '--seed=[Seed of the random cases]:S: ' \
            '--device=[Where to compute\: auto, cpu, or a GPU, such as cuda, which is then tested also as several devices and out of core]:DEVICE: ' \
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of the host'\''s memory, and no more than that on a GPU either]:SIZE: ' \
            '--device-memory=[Use at most SIZE on each GPU, whatever --memory says]:SIZE: ' \
            '--json[Print a report as JSON to standard output (to standard error if the result goes to standard output)]' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    bench)
        _arguments -s -S \
            '(--n)-n+[Numbers of vertices, such as 1000,4096]:LIST: ' \
            '(-n)--n=[Numbers of vertices, such as 1000,4096]:LIST: ' \
            '--types=[Working types\: u8,u16,i32,f32,f64]:LIST: ' \
            '--threads=[Numbers of threads, such as 1,2,4]:LIST: ' \
            '--undirected[Use undirected graphs, which need half the work]' \
            '--repeat=[Run each case R times (default\: 3)]:R: ' \
            '--memory=[Use at most SIZE, such as 8G or 8Gi, of the host'\''s memory, and no more on a GPU]:SIZE: ' \
            '--device-memory=[Use at most SIZE on each GPU, whatever --memory says]:SIZE: ' \
            '--device=[Where to compute\: cpu]:DEVICE: ' \
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
if [[ $funcstack[1] == _tilewright ]]; then
    _tilewright "$@"
else
    compdef _tilewright tilewright
fi
