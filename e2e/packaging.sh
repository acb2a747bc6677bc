#!/bin/sh
# The packaging gate: makes the archive that is released, and judges the program in it as an operator gets it.
#
# Belongs here: what must hold of the archive and of its program, outside this tree and without its tools.
# Does not belong here: how the archive is made (`cargo xtask dist`), what the program does in general (the tests).
#
# Everything runs in an empty temporary folder with an empty HOME and no other variable than PATH; where this is run by
# root, once more as an ordinary user. One thing that does not hold fails the gate.
set -eu

# The highest profile that there is.
PROFILE=full
# Cases mostly wait, and nothing that is right is judged by how fast it is.
UNHURRIED='--jobs 8 --timeout 60'
ORDINARY_USER=65534

cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

say() { printf 'packaging: %s\n' "$1"; }
fail() {
    printf 'packaging: FAILED: %s\n' "$1" >&2
    exit 1
}

# `clean FOLDER COMMAND...`: in this folder, with nothing of our environment; what it says is kept beside the folder.
clean() {
    folder=$1
    shift
    (cd "$folder" && env -i PATH=/usr/bin:/bin HOME="$folder/home" TMPDIR="$folder/tmp" $as_user "$@") \
        >"$folder.said" 2>&1
}

# `must WHAT COMMAND...`
must() {
    what=$1
    shift
    if ! clean "$@"; then
        cat "$1.said" >&2
        fail "$what"
    fi
    say "$what"
}

# `said WHAT FOLDER TEXT`: the last command there said this.
said() {
    grep -q -- "$3" "$2.said" || {
        cat "$2.said" >&2
        fail "$1"
    }
}

# A gateway as clients start one, and the same behind a wrapper that prints a line first.
start_script() {
    cat >"$1" <<'SCRIPT'
[ "$4" = quiet ] || echo 'Starting the gateway...'
umask 077
cat >"$1/framegate.toml" <<CONFIGURATION
version = 1
[session]
on_invalid_frame = "continue"
[limits]
max_refusals = 100000
[target.recorder]
origin = "http://127.0.0.1:$2"
allow_plain_loopback = true
[tool.probe]
description = "Send a note to the recorder"
allow = true
target = "recorder"
method = "POST"
path = "/{note}"
params.note = { type = "word" }
CONFIGURATION
exec "$3" mcp --config "$1/framegate.toml"
SCRIPT
}

# `judge WHO`: the program, in a folder of its own, by $as_user.
judge() {
    who=$1
    place=$work/$who
    mkdir "$place" "$place/home" "$place/tmp"
    tar -xzf "$archive" -C "$place" --no-same-owner
    start_script "$place/start.sh"
    [ -z "$as_user" ] || chown -R "$ORDINARY_USER" "$place"
    top=$place/$name
    program=$top/framegate

    must "$who: the program says its version" "$place" "$program" --version
    said "$who: the version is that of the archive" "$place" "^framegate $version\$"
    must "$who: the demonstration holds" "$place" "$program" demo

    must "$who: its own gateway is clean, profile $PROFILE" \
        "$place" "$program" check --profile "$PROFILE" $UNHURRIED
    said "$who: the recorder sees its calls" "$place" '^proof: .*http'
    said "$who: its system calls are seen" "$place" '^proof: .*syscalls'

    set -- $UNHURRIED --call 'probe={"note":"{marker}"}'
    target="sh $place/start.sh {effect.dir} {effect.port} $program"
    must "$who: it is clean as clients start it, and going on after refusals" \
        "$place" "$program" check "$@" -- $target quiet
    # The gate can fail: the same with one line on stdout that is no message.
    if clean "$place" "$program" check "$@" --only plain/session -- $target printing; then
        fail "$who: a wrapper that prints was not found"
    fi
    said "$who: a wrapper that prints is found for another reason" "$place" 'stdout-not-json at byte 0 of stdout'
    say "$who: a wrapper that prints is found"
}

# What lies beside the program.
judge_files() {
    for file in README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE LICENSES/third-party.txt LICENSES/glibc.txt \
        LICENSES/rust-standard-library.html; do
        [ -s "$top/$file" ] || fail "$file is not in the archive"
    done

    "$top/framegate" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | grep -v '^help$' >"$work/commands"
    [ "$(wc -l <"$work/commands")" -ge 10 ] || fail 'the help names no commands'
    while read -r command; do
        [ -s "$top/man/man1/framegate-$command.1" ] || fail "framegate $command has no manual page"
    done <"$work/commands"
    if command -v man >/dev/null; then
        for page in "$top"/man/man1/*.1; do
            complaints=$(LC_ALL=C man --warnings --local-file "$page" 2>&1 >"$work/page") || fail "$page: $complaints"
            [ -z "$complaints" ] || fail "$page: $complaints"
            grep -q framegate "$work/page" || fail "$page: nothing is shown"
        done
        say 'every command has a manual page that renders'
    else
        say 'SKIPPED: manual pages are not rendered: `man` is not here'
    fi

    must 'bash takes the completions' \
        "$place" bash -c "source $top/completions/framegate.bash && complete -p framegate"
    takes zsh _framegate
    takes fish framegate.fish
}

# `takes SHELL FILE`: the shell reads its completions without a complaint.
takes() {
    if command -v "$1" >/dev/null; then
        must "$1 takes the completions" "$place" "$1" -n "$top/completions/$2"
    else
        say "SKIPPED: completions for $1: it is not here"
    fi
}

out=$work/out
cargo xtask dist --out "$out"
cargo xtask dist --out "$work/again"
archive=$(echo "$out"/framegate-*.tar.gz)
name=$(basename "$archive" .tar.gz)
version=${name#framegate-}
version=${version%-x86_64-linux}

cmp "$archive" "$work/again/$name.tar.gz" || fail 'made again, the archive is another one'
(cd "$out" && sha256sum --check --quiet SHA256SUMS) || fail 'the checksum is not that of the archive'
tar -tzf "$archive" | grep -v "^$name/" && fail 'the archive has more than one top folder'
say 'made again, the archive is the same; its checksum is right'

as_user=
judge "$(id -un)"
judge_files
if [ "$(id -u)" = 0 ]; then
    as_user="setpriv --reuid=$ORDINARY_USER --regid=$ORDINARY_USER --clear-groups"
    judge ordinary-user
fi
say 'everything held'
