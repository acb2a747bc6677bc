#!/bin/sh
# Provides the real programs that tests ask for and that are no package of a language: nginx for `e2e/tests/http.rs`,
# OpenSSH's client for the SSH recorder's tests (`e2e/tests/recorders.rs`, `crates/bench`), strace for those of the observer
# that it is (`e2e/tests/blindness.rs`, `crates/bench`).
#
# Belongs here: that they are there, and where. Does not belong here: their configuration, their start and
# their end, which are the harness's (`e2e/src/server.rs`).
# Writes only below `.test-env/` of the repository (ignored by git): packages are unpacked there and
# not installed, so no service starts and nothing else changes. Safe to run again.
#
# Needs: the programs on the PATH, or `apt-get` and `dpkg-deb`. Without them the tests that need one say so.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
environment="$root/.test-env"

# `unpack FOLDER FILE PACKAGE`: fetches and unpacks one Debian package; fails if there is none or it lacks the file.
unpack() {
    rm -rf "$1"
    mkdir -p "$1"
    (cd "$1" && apt-get download --quiet --quiet "$3") || return 1
    for archive in "$1"/*.deb; do
        dpkg-deb --extract "$archive" "$1" || return 1
    done
    [ -x "$1/$2" ]
}

# `fetch FOLDER FILE PACKAGE...`: unpacks the first of the packages that there is and that holds the file.
fetch() {
    folder=$1
    file=$2
    shift 2
    for package in "$@"; do
        if unpack "$folder" "$file" "$package"; then
            return
        fi
    done
    return 1
}

# `provide PROGRAM VERSION_OPTION FILE PACKAGE...`: the program on the PATH, or FILE of one of the packages.
provide() {
    program=$1
    version=$2
    file=$3
    shift 3
    folder="$environment/$program"
    if command -v "$program" >/dev/null 2>&1; then
        echo "servers: $program from the PATH"
        return
    fi
    if [ ! -x "$folder/$file" ]; then
        if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-deb >/dev/null 2>&1; then
            echo "SKIPPED: there is no $program on the PATH and no apt-get to fetch one; its tests do not run" >&2
            return
        fi
        if [ "$(id -u)" = 0 ] && ! apt-cache show "$1" >/dev/null 2>&1; then
            apt-get update --quiet --quiet
        fi
        if ! fetch "$folder" "$file" "$@"; then
            rm -rf "$folder"
            echo "SKIPPED: $program could not be fetched; its tests do not run" >&2
            return
        fi
    fi
    if ! "$folder/$file" "$version" 2>/dev/null; then
        rm -rf "$folder"
        echo "SKIPPED: the $program that was fetched does not run here; its tests do not run" >&2
        return
    fi
    echo "servers: $program in $folder"
}

# Where `nginx` holds no program itself, it stands for one of the others.
provide nginx -v usr/sbin/nginx nginx nginx-core nginx-light
provide ssh -V usr/bin/ssh openssh-client
provide strace -V usr/bin/strace strace
