#!/usr/bin/env bash
# Installs what the system lacks: a C linker for Rust, Python's pip, which fetches the code
# runtime, a Chromium with fonts for Chinese, strace, with which the tests watch what the
# browser does, bubblewrap, which contains agents and foreign servers, and the programs behind the
# tools for media: ffmpeg for sound and video,
# poppler for pages without text, tesseract for the text in pictures, libheif for pictures
# of phones. Does nothing where all are there.
set -euo pipefail
has() { command -v "$1" >/dev/null 2>&1; }
# Debian's Chromium is a program. Ubuntu's is a snap, or a script that asks for one: it sees
# no directory of ours, so it does not count.
has_browser() {
  local name found
  [ -n "${WILDGYM_CHROMIUM:-}" ] && return 0
  for name in chromium chromium-browser google-chrome google-chrome-stable chrome-headless-shell; do
    found=$(command -v "$name") || continue
    found=$(readlink -f "$found")
    case $found in /snap/*|*/snap) continue ;; esac
    grep -qs /snap/bin/chromium "$found" || return 0
  done
  return 1
}
want=()
has cc || want+=(build-essential)
python3 -m pip --version >/dev/null 2>&1 || want+=(python3 python3-pip)
has strace || want+=(strace)
has bwrap || want+=(bubblewrap)
has_browser || want+=(chromium)
{ has ffmpeg && has ffprobe; } || want+=(ffmpeg)
has pdftoppm || want+=(poppler-utils)
has heif-convert || want+=(libheif-examples)
languages=$(tesseract --list-langs 2>/dev/null || true)
for language in eng chi_sim; do
  grep -qx "$language" <<<"$languages" || want+=(tesseract-ocr "tesseract-ocr-${language/_/-}")
done
has fc-list || want+=(fontconfig)
{ has fc-list && [ -n "$(fc-list :lang=zh family)" ]; } || want+=(fonts-noto-cjk)
[ ${#want[@]} -eq 0 ] && exit 0
if ! has apt-get; then
  echo "missing: ${want[*]}; install them with your system's package manager" >&2
  exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -qq
if [[ " ${want[*]} " == *" chromium "* ]] && grep -qs '^ID=ubuntu' /etc/os-release; then
  echo "note: Ubuntu's Chromium is a snap, which cannot see our directories; install a .deb of" \
    "Chrome or Chromium, or set WILDGYM_CHROMIUM; until then tasks with pages cannot run" >&2
  for index in "${!want[@]}"; do
    if [ "${want[index]}" = chromium ]; then unset "want[index]"; fi
  done
  [ ${#want[@]} -eq 0 ] && exit 0
fi
echo "installing: ${want[*]}" >&2
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${want[@]}" >&2
