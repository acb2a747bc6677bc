#!/bin/sh
# Every fuzz target for a short time, from its seeds: `fuzz/smoke.sh [SECONDS]`, 10 seconds each by default.
# Without nightly or cargo-fuzz nothing is fuzzed, and that is said loudly: it is not a pass.
set -eu

seconds=${1:-10}
cd "$(dirname "$0")/.."

if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "SKIPPED: fuzz smoke: needs a nightly toolchain and cargo-fuzz (cargo install cargo-fuzz)" >&2
    exit 0
fi

for target in $(cargo +nightly fuzz list); do
    echo "fuzz smoke: $target, $seconds s" >&2
    mkdir -p "fuzz/corpus/$target"
    set -- "-max_total_time=$seconds" "-rss_limit_mb=2048"
    if [ -f "fuzz/$target.dict" ]; then
        set -- "$@" "-dict=fuzz/$target.dict"
    fi
    cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- "$@"
done
