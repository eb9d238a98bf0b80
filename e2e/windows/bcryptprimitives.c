/* The one function of bcryptprimitives.dll that Rust's standard library calls. Wine before 9 has no such
   library. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    return RtlGenRandom(data, (ULONG)length);
}
