# find_package(uthread) gives uthread::uthread (the shared library) and uthread::static.
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
