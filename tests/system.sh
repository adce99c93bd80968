#!/usr/bin/env bash
# Installs what the system lacks: a C linker for Rust and Python's pip, which fetches
# the code runtime. Does nothing where both are there.
set -euo pipefail
want=()
command -v cc >/dev/null || want+=(build-essential)
python3 -m pip --version >/dev/null 2>&1 || want+=(python3 python3-pip)
[ ${#want[@]} -eq 0 ] && exit 0
if ! command -v apt-get >/dev/null; then
  echo "missing: ${want[*]}; install them with your system's package manager" >&2
  exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "installing: ${want[*]}" >&2
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${want[@]}" >&2
