#!/bin/sh
# Installs the real MCP clients that `e2e/tests/clients.rs` drives, at pinned versions.
#
# Belongs here: what must be installed, and where. Does not belong here: what the clients do.
# Writes only below `.test-env/` of the repository (ignored by git). Safe to run again: what is
# there at the pinned version is left alone.
#
# Needs: python 3.10 or later with `venv`, node 20 or later with `npm`, and their registries.
set -eu

PYTHON_MCP_1="1.30.0"
PYTHON_MCP_2="2.3.0"
TYPESCRIPT_SDK_1="1.32.2"
TYPESCRIPT_CLIENT_2="2.4.0"

root=$(cd "$(dirname "$0")/../.." && pwd)
environment="$root/.test-env"
mkdir -p "$environment"

# `python_client FOLDER VERSION`: one venv with one version of PyPI `mcp`.
python_client() {
    folder="$environment/$1"
    if [ "$(cat "$folder/installed" 2>/dev/null)" = "mcp==$2" ]; then
        return
    fi
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "mcp==$2"
    printf 'mcp==%s\n' "$2" >"$folder/installed"
}

# `node_client FOLDER PACKAGE VERSION`: one folder with one version of one npm package.
node_client() {
    folder="$environment/$1"
    if [ "$(cat "$folder/installed" 2>/dev/null)" = "$2@$3" ]; then
        return
    fi
    rm -rf "$folder"
    mkdir -p "$folder"
    printf '{"private":true,"type":"module"}\n' >"$folder/package.json"
    npm install --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts "$2@$3"
    printf '%s@%s\n' "$2" "$3" >"$folder/installed"
}

python_client python-mcp-1 "$PYTHON_MCP_1"
python_client python-mcp-2 "$PYTHON_MCP_2"
node_client typescript-sdk-1 @modelcontextprotocol/sdk "$TYPESCRIPT_SDK_1"
node_client typescript-client-2 @modelcontextprotocol/client "$TYPESCRIPT_CLIENT_2"
echo "clients: mcp $PYTHON_MCP_1 and $PYTHON_MCP_2, sdk $TYPESCRIPT_SDK_1, client $TYPESCRIPT_CLIENT_2 in $environment"
