# fish completion for foliolab, read off the program's own --help.

# The words of `foliolab help`: the commands, each with what it does.
function __foliolab_commands
    foliolab help 2>/dev/null | awk '/^Commands:/ { inside = 1; next } inside && !NF { exit }
        inside { name = $1; sub(/^ *[^ ]+ +/, ""); print name "\t" $0 }'
end

# The options of the command on the line.
function __foliolab_options
    set -l words (commandline -opc)
    set -l call $words[2]
    test "$call" = host; and set call $words[2..3]
    foliolab $call --help 2>/dev/null | awk '
        /^Options:/ { inside = 1; next }
        inside && !NF { exit }
        inside && /^  (-|    -)/ {
            for (i = 1; i <= 2; i++)
                if ($i ~ /^-/) { sub(/,$/, "", $i); print $i }
        }'
end

function __foliolab_kernels
    foliolab kernels 2>/dev/null | awk 'NF { print $1 }'
end

complete -c foliolab -n __fish_use_subcommand -f -a '(__foliolab_commands)'
complete -c foliolab -n 'not __fish_use_subcommand' -a '(__foliolab_options)'
complete -c foliolab -n 'string match -q -- --kernel (commandline -opc)[-1]' -f -a '(__foliolab_kernels)'
complete -c foliolab -n '__fish_seen_subcommand_from lab' -f -a "(foliolab lab --help | awk '!NF { exit } { print \$(NR == 1 ? 4 : 1) }')"
complete -c foliolab -n '__fish_seen_subcommand_from host' -f -a "(foliolab host --help | awk '/^  host / { print \$2 }')"
