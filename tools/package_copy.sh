#!/bin/sh
# package_copy.sh DIRECTORY: copy the package to DIRECTORY/package, as it is installed, with the extension that is built in
# DIRECTORY. PYTHONPATH=DIRECTORY/package then imports this copy.
set -eu
directory=$1
rm -rf "$directory/package"
mkdir "$directory/package"
cp -r gpucoh "$directory/package"
rm -f "$directory"/package/gpucoh/_core*.so
cp "$directory"/_core*.so "$directory/package/gpucoh"
for folder in base cache controller; do
    mkdir -p "$directory/package/gpucoh/include/$folder"
    cp csrc/$folder/*.h "$directory/package/gpucoh/include/$folder"
done
cp csrc/base/*.def "$directory/package/gpucoh/include/base"
