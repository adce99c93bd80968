#!/usr/bin/env bash
# Fetches the pages of MiniWoB++ (the Python package `miniwob`, MIT) into the cache, for the
# test that solves them. Does nothing where they are; where they cannot be fetched, the test
# says that it was skipped.
set -euo pipefail
folder=${WILDGYM_MINIWOB:-${WILDGYM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wildgym}/miniwob}
[ -d "$folder/miniwob/html" ] && exit 0
draft=$(mktemp -d)
trap 'rm -rf "$draft"' EXIT
if ! python3 -m pip download --quiet --no-deps --dest "$draft" miniwob==1.1.0 >&2; then
  echo "note: the pages of MiniWoB++ cannot be fetched; their test will be skipped" >&2
  exit 0
fi
python3 -m zipfile -e "$draft"/miniwob-*.whl "$draft/pages"
mkdir -p "$(dirname "$folder")"
# In one step, so that an interrupted fetch leaves nothing half done.
mv -T "$draft/pages" "$folder"
