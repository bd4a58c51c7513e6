#!/bin/sh
# Bundles the sources and three.js into the one script that the package carries. Needs node and npm; users do not.
set -eu
cd "$(dirname "$0")"
test -d node_modules || npm ci
npx esbuild src/main.js --bundle --minify --format=iife --target=es2020 --charset=ascii --legal-comments=inline \
  --outfile=../src/rigidgrains/view/page/page.js
