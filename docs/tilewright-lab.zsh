#compdef tilewright-lab
# zsh completion for tilewright-lab, printed by 'tilewright-lab --completion=zsh'.
_tilewright_lab()
{
    local -a commands
    commands=(
        'list:list the ladders, or the rungs of one'
        'show:show a rung'\''s idea, its source and its inner loop'
        'diff:show how one rung differs from another, line by line'
        'run:climb a ladder\: check each rung, then time it'
        'report:make one page of tables and plots of the results in a folder'
        'compare:show what changed between two results, beyond noise'
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
    list)
        _arguments -s -S \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    show)
        _arguments -s -S \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    diff)
        _arguments -s -S \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    run)
        _arguments -s -S \
            '(--n)-n+[Sizes, such as 500,1000]:LIST: ' \
            '(-n)--n=[Sizes, such as 500,1000]:LIST: ' \
            '--rungs=[Run only these rungs, in this order]:LIST: ' \
            '--repeat=[Time each rung R times and take the median]:R: ' \
            '--budget=[Repeat a rung fewer times if it would take longer than this in all]:SECONDS: ' \
            '--turns[Repeat the rungs in turns, not one after another, so that a few slow seconds of the machine affect all of them alike]' \
            '--published[Use the sizes of the write-up, or those of them that --n names, and show its authors'\'' figures beside ours]' \
            '--counters[Add a table of what the processor counted while each rung ran, such as instructions per cycle, branch misses and page faults]' \
            '--once[For a profiler of your own\: check each rung and run it once more, timing nothing]' \
            '--seed=[Seed of the inputs]:S: ' \
            '(--out)-o+[Keep the results there, one JSON file per ladder, written after each case]:FOLDER:_files' \
            '(-o)--out=[Keep the results there, one JSON file per ladder, written after each case]:FOLDER:_files' \
            '--threads=[Use N threads]:N: ' \
            '--memory=[Use at most SIZE, such as 8G (10^9) or 8Gi (2^30), of the host'\''s memory, and no more than that on a GPU either]:SIZE: ' \
            '--device-memory=[Use at most SIZE on each GPU, whatever --memory says]:SIZE: ' \
            '(--quiet)-q[Print only errors to standard error]' \
            '(-q)--quiet[Print only errors to standard error]' \
            '--no-progress[Do not show progress]' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    report)
        _arguments -s -S \
            '(--out)-o+[Write the page there]:FOLDER:_files' \
            '(-o)--out=[Write the page there]:FOLDER:_files' \
            '--plots=[Write every plot there as well, as an SVG file of its own, dark on white]:FOLDER:_files' \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    compare)
        _arguments -s -S \
            '(--help)-h[Show this help]' \
            '(-h)--help[Show this help]' \
            '*:file:_files'
        ;;
    help) _describe -t commands command commands ;;
    *) _files ;;
    esac
}
# The body of a function when found in $fpath; otherwise read by eval or source.
if [[ $funcstack[1] == _tilewright_lab ]]; then
    _tilewright_lab "$@"
else
    compdef _tilewright_lab tilewright-lab
fi
