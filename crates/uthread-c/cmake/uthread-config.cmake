# find_package(uthread) gives uthread::uthread (the shared library) and uthread::static. A preemptive program in C++
# links uthread::cxx or uthread::cxx-static instead, which bring these along.
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

if(NOT TARGET uthread::cxx)
  add_library(uthread::cxx SHARED IMPORTED)
  set_target_properties(uthread::cxx PROPERTIES
    IMPORTED_LOCATION "${uthread_prefix}/lib/libuthread-cxx.so"
    IMPORTED_SONAME "libuthread-cxx.so.0"
    INTERFACE_LINK_LIBRARIES "uthread::uthread")
endif()

if(NOT TARGET uthread::cxx-static)
  add_library(uthread::cxx-static STATIC IMPORTED)
  set_target_properties(uthread::cxx-static PROPERTIES
    IMPORTED_LOCATION "${uthread_prefix}/lib/libuthread-cxx.a"
    INTERFACE_LINK_LIBRARIES "uthread::static")
endif()
