#!/bin/sh
# Installs the real MCP clients that `e2e/tests/clients.rs` drives, the test runners that
# `e2e/tests/adapters.rs` runs the adapters with, and the SSH client of `e2e/tests/recorders.rs`, at pinned versions.
#
# Belongs here: what must be installed, and where. Does not belong here: what they do.
# Writes only below `.test-env/` of the repository (ignored by git). Safe to run again: what is
# there at the pinned version is left alone.
#
# Needs: python 3.10 or later with `venv`, node 20 or later with `npm`, and their registries.
set -eu

PYTHON_MCP_1="1.30.0"
PYTHON_MCP_2="2.3.0"
TYPESCRIPT_SDK_1="1.32.2"
TYPESCRIPT_CLIENT_2="2.4.0"
PYTEST="9.2.0"
MYPY="2.4.1"
TYPESCRIPT="7.0.2"
NODE_TYPES="20.19.43"
SSH2="1.17.0"

root=$(cd "$(dirname "$0")/../.." && pwd)
environment="$root/.test-env"
mkdir -p "$environment"

# `python_packages FOLDER REQUIREMENT...`: one venv with these; a folder is installed as it is (editable).
python_packages() {
    folder="$environment/$1"
    shift
    if [ "$(cat "$folder/installed" 2>/dev/null)" = "$*" ]; then
        return
    fi
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
    printf '%s\n' "$*" >"$folder/installed"
}

# `node_packages FOLDER PACKAGE@VERSION...`: one folder with these npm packages.
node_packages() {
    folder="$environment/$1"
    shift
    if [ "$(cat "$folder/installed" 2>/dev/null)" = "$*" ]; then
        return
    fi
    rm -rf "$folder"
    mkdir -p "$folder"
    printf '{"private":true,"type":"module"}\n' >"$folder/package.json"
    npm install --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts "$@"
    printf '%s\n' "$*" >"$folder/installed"
}

python_packages python-mcp-1 "mcp==$PYTHON_MCP_1"
python_packages python-mcp-2 "mcp==$PYTHON_MCP_2"
node_packages typescript-sdk-1 "@modelcontextprotocol/sdk@$TYPESCRIPT_SDK_1"
node_packages typescript-client-2 "@modelcontextprotocol/client@$TYPESCRIPT_CLIENT_2"
python_packages python-adapter "pytest==$PYTEST" "mypy==$MYPY" -e "$root/adapters/python"
node_packages node-adapter "typescript@$TYPESCRIPT" "@types/node@$NODE_TYPES"
node_packages ssh2 "ssh2@$SSH2"
echo "clients: mcp $PYTHON_MCP_1 and $PYTHON_MCP_2, sdk $TYPESCRIPT_SDK_1, client $TYPESCRIPT_CLIENT_2, pytest $PYTEST, ssh2 $SSH2 in $environment"
