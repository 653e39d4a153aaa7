#!/bin/sh
# Makes the virtual environment named by $1 with the first Python >= 3.11 it finds. PYTHON=... chooses another.
set -eu
venv=$1

suits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

python=""
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if suits "$candidate"; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
    echo "setup: Outlast needs Python 3.11 or newer, and none was found (looked for: ${PYTHON:-python3, python3.11 to 3.14})." >&2
    echo "       Debian 12, Ubuntu 24.04 and newer: apt-get install python3 python3-venv; then repeat, or PYTHON=/path/to/python make setup" >&2
    exit 1
fi

# Debian ships Python without venv and ensurepip.
if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    sh "$(dirname "$0")/debian.sh" required "python$version-venv"
fi

echo "Creating $venv with $("$python" --version) ..."
# Built in a temporary folder that the last step moves into place, so that an interrupted run starts over.
rm -rf "$venv"
"$python" -m venv "$venv" || { rm -rf "$venv"; exit 1; }
