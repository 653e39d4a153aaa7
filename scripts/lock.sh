#!/bin/sh
# Writes both lock files: exact versions with hashes, for every platform, without the address of any package index.
# lock.sh PYTHON [--upgrade]
set -eu
python=$1
shift
export UV_CUSTOM_COMPILE_COMMAND="make lock"

compile() {
    "$python" -m uv pip compile --quiet --system-certs --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-emit-package outlast-client --no-emit-package outlast-sandbox \
        --extra providers --extra pydantic-ai --group build "$@" pyproject.toml
}

compile --output-file requirements.lock "$@"
compile --output-file requirements-dev.lock --constraint requirements.lock --extra e2b --extra deno --group dev "$@"
