#!/bin/sh
# Write the pages that the slides frame into views/, each one file that needs no server: `npm run pack`.
# The list of pages stands in index.html, how they are framed in deck.js.  PYTHON= names another Python.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
pages=$(sed -n 's/.*data-page="\([a-z-]*\)".*/\1/p' index.html)
framed=$(sed -n "s/^const FRAMED = '\(.*\)'.*/\1/p" deck.js)
cd ../..
for page in $pages; do
  "${PYTHON:-.venv/bin/python}" -m app.export "$page" --state "$framed" --out "$here/views/$page.html"
done
