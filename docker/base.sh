#!/usr/bin/env bash
# Makes the image that our server images are put on, where no image can be pulled: the smallest system of this machine's own
# distribution, with its Java. Wants root, debootstrap and an engine; takes about a minute and 60 MB of packages, and nothing at
# all when the image is there. Prints the image's name. Where images can be pulled this is not needed: see README.md.
set -euo pipefail

engine=${ROCKETDIFF_ENGINE:-docker}
# shellcheck source=/dev/null
suite=${ROCKETDIFF_BASE_SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME:?this system names no release of Debian or Ubuntu}")}
java=${ROCKETDIFF_BASE_JAVA:-openjdk-17-jre-headless}

# All that decides what is in the image; the packages' own versions are those of the day it is made.
digest=$(cat "${BASH_SOURCE[0]}" - <<<"$suite $java $(uname -m)" | sha256sum | cut -c1-16)
name=rocketdiff/base:$suite-$digest

missing() {
  echo "expected $1 to make image $name; saw $2; try: $3" >&2
  exit 69
}

command -v "$engine" >/dev/null || missing "$engine" "no such program" "apt-get install docker.io"
"$engine" version >/dev/null 2>&1 || missing "a container engine that answers" "none" "as root: setsid dockerd &"
if "$engine" image inspect "$name" >/dev/null 2>&1; then
  "$engine" tag "$name" rocketdiff/base:latest
  echo "$name"
  exit
fi
[[ $(id -u) == 0 ]] || missing "root" "user $(id -un)" "sudo $0, or ROCKETDIFF_BASE_IMAGE=<an image with Java 17>"
command -v debootstrap >/dev/null || missing "debootstrap" "no such program" "apt-get install debootstrap"

folder=$(mktemp -d "${TMPDIR:-/tmp}/rocketdiff-base.XXXXXX")
trap 'rm -rf "$folder"' EXIT
# A package system syncs every file to the disk; the folder is thrown away, and half of the time is that.
if mount -t tmpfs -o size=1500m rocketdiff-base "$folder" 2>/dev/null; then
  trap 'umount "$folder"; rm -rf "$folder"' EXIT
fi

echo "making image $name: debootstrap of $suite with $java, about a minute" >&2
if ! debootstrap --variant=minbase --include="$java" "$suite" "$folder/root" >"$folder/log" 2>&1; then
  tail -n 5 "$folder/log" "$folder/root/debootstrap/debootstrap.log" >&2 2>/dev/null || true
  missing "packages of $suite" "debootstrap failed, see above" "look at the network; ROCKETDIFF_BASE_SUITE names another release"
fi
# Nothing here is ever installed or read again: 190 of 480 MB.
(cd "$folder/root" && rm -rf var/cache/apt var/lib/apt/lists usr/share/{doc,man,info,locale} var/log/* tmp/*)
tar -C "$folder/root" -c . | "$engine" import --change 'ENV LANG=C.UTF-8' --change 'LABEL org.rocketdiff.image=base' - "$name" >/dev/null
"$engine" tag "$name" rocketdiff/base:latest
echo "$name"
