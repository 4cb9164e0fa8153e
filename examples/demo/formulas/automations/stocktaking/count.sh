#!/bin/sh
# An automation runs in the city's folder. The last part of its output is stored in the record of its run.
set -eu

echo "counting the shelf"
sleep 2
echo "$(wc -l <shop/shelf.txt | tr -d ' ') things on it"
