# For scripts that run oscope under Wine and read this file in the project's folder.

# Debian keeps wine64 and wineserver out of the search path.
PATH=$PATH:/usr/lib/wine

# new_prefix: makes the temporary folder $work and a prefix of Wine in it. Both go when the script ends.
new_prefix() {
    work=$(mktemp -d)
    export WINEPREFIX=$work/prefix WINEARCH=win64 WINEDEBUG=-all
    # No dialogs about programs that nothing here needs.
    export WINEDLLOVERRIDES='mscoree=;mshtml='
    trap end_prefix EXIT
    echo 'a new prefix of Wine'
    timeout 180 wine64 wineboot --init > "$work/wineboot" 2>&1 || { cat "$work/wineboot" && exit 1; }
    local system=$WINEPREFIX/drive_c/windows/system32
    [ -e "$system/bcryptprimitives.dll" ] || x86_64-w64-mingw32-gcc -shared -O2 \
        -o "$system/bcryptprimitives.dll" e2e/windows/bcryptprimitives.c -ladvapi32
}

end_prefix() {
    wineserver -k || true
    timeout 30 wineserver -w || true
    rm -rf "$work"
}
