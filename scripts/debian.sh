#!/bin/sh
# Installs missing Debian packages: debian.sh required|optional PACKAGE...
# Without root it prints the exact command; then `required` fails, `optional` continues.
set -eu
need=$1
shift

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "setup: dpkg is not available. Install these packages with your system's package manager: $*" >&2
    exit 0
fi

missing=""
for package; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true) in
        *" installed") ;;
        *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

refuse() {
    echo "setup: $1" >&2
    echo "       Run:  $2" >&2
    [ "$need" = optional ] || exit 1
    echo "       Continuing without them. Run \`outlast doctor\` later to see what is missing." >&2
    exit 0
}

command="apt-get update && apt-get install --yes --no-install-recommends$missing"
if [ "$(id -u)" != 0 ]; then
    refuse "these Debian packages are missing, and only root can install them:$missing" "sudo sh -c '$command'"
fi

echo "Installing Debian packages:$missing ..."
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if apt-get -o DPkg::Lock::Timeout=120 update >"$log" 2>&1 \
    && apt-get -o DPkg::Lock::Timeout=120 install --yes --no-install-recommends $missing >>"$log" 2>&1; then
    exit 0
fi
tail -n 15 "$log" >&2
refuse "apt-get could not install:$missing (see its output above)" "$command"
