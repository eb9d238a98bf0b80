# find_package(uthread) gives uthread::uthread (the shared library) and uthread::static. uthread::cxx and
# uthread::pthread bring it along, uthread::cxx-static and uthread::pthread-static the static one. A preemptive program
# in C++ links the former.
get_filename_component(uthread_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET uthread::uthread)
  add_library(uthread::uthread SHARED IMPORTED)
  set_target_properties(uthread::uthread PROPERTIES
    IMPORTED_LOCATION "${uthread_prefix}/lib/libuthread.so"
    IMPORTED_SONAME "libuthread.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${uthread_prefix}/include")
endif()

if(NOT TARGET uthread::static)
  add_library(uthread::static STATIC IMPORTED)
  set_target_properties(uthread::static PROPERTIES
    IMPORTED_LOCATION "${uthread_prefix}/lib/libuthread.a"
    INTERFACE_INCLUDE_DIRECTORIES "${uthread_prefix}/include"
    INTERFACE_LINK_LIBRARIES "gcc_s;pthread;dl;m")
endif()

foreach(uthread_name cxx pthread)
  if(NOT TARGET uthread::${uthread_name} AND EXISTS "${uthread_prefix}/lib/libuthread-${uthread_name}.so")
    add_library(uthread::${uthread_name} SHARED IMPORTED)
    set_target_properties(uthread::${uthread_name} PROPERTIES
      IMPORTED_LOCATION "${uthread_prefix}/lib/libuthread-${uthread_name}.so"
      IMPORTED_SONAME "libuthread-${uthread_name}.so.0"
      INTERFACE_LINK_LIBRARIES "uthread::uthread"
      # A program needs the library for the code of other shared libraries as well, which as-needed does not count.
      INTERFACE_LINK_OPTIONS
        "LINKER:--push-state,--no-as-needed,${uthread_prefix}/lib/libuthread-${uthread_name}.so,--pop-state")
  endif()

  if(NOT TARGET uthread::${uthread_name}-static AND EXISTS "${uthread_prefix}/lib/libuthread-${uthread_name}.a")
    add_library(uthread::${uthread_name}-static STATIC IMPORTED)
    set_target_properties(uthread::${uthread_name}-static PROPERTIES
      IMPORTED_LOCATION "${uthread_prefix}/lib/libuthread-${uthread_name}.a"
      INTERFACE_LINK_LIBRARIES "uthread::static")
  endif()
endforeach()
