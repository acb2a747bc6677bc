#!/bin/sh
# Provides the real server that `e2e/tests/http.rs` asks for: nginx.
#
# Belongs here: that it is there, and where. Does not belong here: its configuration, its start and
# its end, which are the harness's (`e2e/src/server.rs`).
# Writes only below `.test-env/` of the repository (ignored by git): the package is unpacked there and
# not installed, so no service starts and nothing else changes. Safe to run again.
#
# Needs: nginx on the PATH, or `apt-get` and `dpkg-deb`. Without them the tests that need it say so.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
environment="$root/.test-env"
program="$environment/nginx/usr/sbin/nginx"

# `unpack PACKAGE`: fetches and unpacks one Debian package; fails if there is none or it lacks the program.
unpack() {
    folder="$environment/nginx"
    rm -rf "$folder"
    mkdir -p "$folder"
    (cd "$folder" && apt-get download --quiet --quiet "$1") || return 1
    for file in "$folder"/*.deb; do
        dpkg-deb --extract "$file" "$folder" || return 1
    done
    [ -x "$program" ]
}

if command -v nginx >/dev/null 2>&1; then
    echo "servers: nginx from the PATH"
    exit
fi
if [ ! -x "$program" ]; then
    if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-deb >/dev/null 2>&1; then
        echo 'SKIPPED: there is no nginx on the PATH and no apt-get to fetch one; its tests do not run' >&2
        exit
    fi
    if [ "$(id -u)" = 0 ] && ! apt-cache show nginx >/dev/null 2>&1; then
        apt-get update --quiet --quiet
    fi
    # Where `nginx` holds no program itself, it stands for one of the others.
    if ! unpack nginx && ! unpack nginx-core && ! unpack nginx-light; then
        rm -rf "$environment/nginx"
        echo 'SKIPPED: nginx could not be fetched; its tests do not run' >&2
        exit
    fi
fi
if ! "$program" -v 2>/dev/null; then
    rm -rf "$environment/nginx"
    echo 'SKIPPED: the nginx that was fetched does not run here; its tests do not run' >&2
    exit
fi
echo "servers: nginx in $environment/nginx"
