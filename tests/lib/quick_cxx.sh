#!/bin/sh
# g++ for tests that build programs for the simulator: its hip_runtime.h is most of their text, and is read from a
# precompiled header, one for each wave size and level, in the folder CU2PORT_TEST_HEADERS. A header that does not fit
# is read as text by g++ itself, so that nothing but the time differs.
wave= level= hip= source= last=
for word; do
    case $word in
    -DCU2PORT_SIM_WAVE=*) wave=${word#*=} ;;
    -O?) level=$word ;;
    -fopenmp | -fsanitize=*) hip=no ;; # of few programs
    -D__HIPCC__=1) hip=${hip:-yes} ;;
    esac
    [ "$last" = -c ] && source=$word
    last=$word
done
first=$([ -d "$CU2PORT_TEST_HEADERS" ] && [ "$hip" = yes ] && [ -n "$wave" ] && grep -E -m 1 '^[[:space:]]*#[[:space:]]*(include|define)' "$source")
case $first in
*'<hip/hip_runtime.h>'* | *'"suite.h"'*)
    header=$CU2PORT_TEST_HEADERS/$wave$level.h
    if [ ! -f "$header.gch" ]; then
        echo '#include <hip/hip_runtime.h>' >"$header.$$"
        mv "$header.$$" "$header"
        flags=
        last=
        for word; do
            case $last$word in -c* | -o* | -x* | -idirafter*) ;; -I*/src | -I*/src/*) ;; *) flags="$flags $word" ;; esac
            last=
            case $word in -c | -o | -x) last=$word ;; esac
        done
        # shellcheck disable=SC2086 - words without blanks
        g++ $flags -x c++-header "$header" -o "$header.$$" && mv "$header.$$" "$header.gch"
    fi
    set -- -include "$header" "$@"
    ;;
esac
exec g++ "$@"
