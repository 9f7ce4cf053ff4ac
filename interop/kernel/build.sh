#!/usr/bin/env bash
# Builds a Linux kernel with DCCP as a program (user-mode Linux), from Debian's package of the
# kernel's sources, and prints its path. What is built stays in the user's cache, under a hash of
# this script and the configuration, so that every later call is immediate.
#
# usage: kernel/build.sh            print the path, build first where it is not in the cache
#        kernel/build.sh --cached   print the path, or exit with 77 where it would have to be built
#
# Exit code 77: it cannot be had here; the reason is on the standard error.
# Environment: UDCCP_KERNEL        a user-mode Linux to use instead
#              UDCCP_KERNEL_SOURCE a linux-source-*.tar.xz to use instead of the package's
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
package=linux-source-6.1
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/udccp

say() { echo "kernel: $*" >&2; }
skip() {
  say "$*"
  exit 77
}

if [[ -n ${UDCCP_KERNEL:-} ]]; then
  [[ -x $UDCCP_KERNEL ]] || skip "UDCCP_KERNEL=$UDCCP_KERNEL is no program"
  echo "$UDCCP_KERNEL"
  exit 0
fi
[[ $(uname -m) == x86_64 ]] || skip "user-mode Linux runs on x86-64 only, this is $(uname -m)"

hash=$(cat "$here/build.sh" "$here/dccp.config" | sha256sum | cut -c1-16)
place=$cache/kernel-$hash
kernel=$place/linux
if [[ -x $kernel ]]; then
  echo "$kernel"
  exit 0
fi
[[ ${1:-} != --cached ]] || skip "no kernel in $cache yet; 'interop/kernel/build.sh' builds it in about 5 minutes"

for tool in gcc make flex bison bc xz tar flock perl; do
  command -v "$tool" >/dev/null ||
    skip "cannot build a kernel without $tool (packages: gcc make flex bison bc xz-utils perl)"
done
mkdir -p "$cache"
exec 9>"$cache/kernel-$hash.lock"
flock 9
if [[ -x $kernel ]]; then
  echo "$kernel"
  exit 0
fi

work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
free_mib=$(df --output=avail -m "$cache" | tail -n 1)
((free_mib > 4000)) || skip "a kernel build needs 4 GB in $cache, there are $free_mib MB"

# The sources: given, installed, or fetched as a package without installing it.
archive=${UDCCP_KERNEL_SOURCE:-/usr/src/$package.tar.xz}
if [[ ! -e $archive ]]; then
  [[ -z ${UDCCP_KERNEL_SOURCE:-} ]] || skip "UDCCP_KERNEL_SOURCE: no $archive"
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
    skip "not a Debian system: set UDCCP_KERNEL_SOURCE to a $package.tar.xz"
  say "fetching $package (139 MB)"
  if ! (cd "$work" && apt-get -qq download "$package") >"$work/apt.log" 2>&1; then
    ((EUID == 0)) && apt-get -qq update >>"$work/apt.log" 2>&1 || true
    (cd "$work" && apt-get -qq download "$package") >>"$work/apt.log" 2>&1 ||
      skip "the package $package cannot be had: $(tail -n 1 "$work/apt.log")"
  fi
  dpkg-deb --fsys-tarfile "$work/$package"_*.deb | tar -C "$work" -xf - "./usr/src/$package.tar.xz"
  rm -f "$work/$package"_*.deb
  archive=$work/usr/src/$package.tar.xz
fi

say "building a kernel in $place, this takes about 5 minutes"
mkdir "$work/source" "$work/out"
# The largest headers of the sources belong to graphics cards.
tar -C "$work/source" --strip-components 1 --exclude '*/drivers/gpu/drm/amd/include/*' -xf "$archive"
rm -rf "$work/usr"
# User-mode Linux has a fixed timer of 100 Hz; the kernel's CCIDs count in its ticks.
perl -0pi -e 's/(config HZ\n(?:.*\n)*?\s+default )100\b/${1}1000/' "$work/source/arch/um/Kconfig"

build() {
  local into=(make -C "$work/source" O="$work/out" ARCH=um)
  "${into[@]}" tinyconfig
  "$work/source/scripts/kconfig/merge_config.sh" -m -O "$work/out" "$work/out/.config" \
    "$here/dccp.config"
  "${into[@]}" olddefconfig
  "${into[@]}" -j "${UDCCP_JOBS:-$(nproc)}" linux
}
if ! build >"$work/build.log" 2>&1; then
  cp "$work/build.log" "$cache/kernel-$hash.log"
  tail -n 15 "$work/build.log" >&2
  skip "the kernel does not build; all of it in $cache/kernel-$hash.log"
fi
for setting in $(grep -o '^CONFIG_[A-Z0-9_]*=y' "$here/dccp.config") CONFIG_HZ=1000; do
  grep -qx "$setting" "$work/out/.config" || say "note: $setting did not take"
done
mkdir -p "$work/place"
strip -o "$work/place/linux" "$work/out/linux"
cp "$work/out/.config" "$work/place/config"
cp "$work/build.log" "$work/place/build.log"
rm -rf "$place"
mv "$work/place" "$place"
echo "$kernel"
