//! Starts programs for oscope. They become children of oscope, not of this process.
//!
//! Linux counts the peak memory of a process from before its program replaces that of its parent, so
//! no peak is below the memory of the process that started it. This process has a few pages only:
//! it uses no library, and `build.rs` compiles it into a static program of some kilobytes.
//!
//! It reads requests from the socket at its standard input, and ends with that socket.

#![no_std]
#![no_main]

mod library;
mod system;

use core::panic::PanicInfo;
use core::ptr;
use system::{Descriptor, Header, Pages, Request};

/// The environment for programs without one of their own, as the kernel hands it over.
type Environment = *const *const u8;

/// Runs from the first instruction on; `stack` is where the kernel put arguments and environment.
extern "C" fn run(stack: *const usize) -> ! {
    // SAFETY: the kernel puts the number of arguments first, then the arguments and a null pointer,
    // then the environment and a null pointer.
    let environment: Environment = unsafe { stack.add(*stack + 2) }.cast();
    system::begin();
    // The programs' own standard input replaces the first one.
    let socket = system::private_copy(Descriptor::STDIN);
    while let Some(request) = system::receive(socket) {
        answer(socket, &request, environment);
    }
    system::exit(0)
}

/// Starts the program, and answers with its process id and the time of its start.
fn answer(socket: Descriptor, request: &Request, environment: Environment) {
    let Header { text_bytes, .. } = request.header;
    let Some(text) = Pages::read(socket, text_bytes as usize) else {
        // The socket has ended, or there is no memory.
        system::exit(1)
    };
    let start_ns = system::now_ns();
    let child = system::fork_sibling();
    if child == 0 {
        let error = become_program(request, &text, environment);
        // Zero is no process id.
        system::send(socket, [0, error]);
        system::exit(127)
    }
    system::send(socket, [child, start_ns]);
    request.close();
    text.free();
}

/// Replaces this process by the program. Returns only after an error, with its number.
fn become_program(request: &Request, text: &Pages, environment: Environment) -> i64 {
    let Header {
        paths,
        arguments,
        variables,
        directories,
        parent,
        ..
    } = request.header;
    system::lead_a_group();
    if !system::die_with(parent) {
        system::exit(127)
    }
    if let Some(terminal) = request.terminal() {
        system::come_to_the_foreground(terminal);
    }
    system::replace_standard_streams(request.standard());
    // The text holds the paths first, then the arguments, the variables and the directory; each ends with a zero byte.
    let (arguments, variables) = (arguments as usize, variables as usize);
    let Some(lists) = Pages::new((arguments + variables + 2) * size_of::<usize>()) else {
        return system::NO_MEMORY;
    };
    let mut next = text.start().cast_const();
    for _ in 0..paths {
        next = system::after(next);
    }
    let list: *mut *const u8 = lists.start().cast();
    next = fill(list, arguments, next);
    let mut its_environment = environment;
    if variables > 0 {
        // SAFETY: behind the arguments and a null pointer there is room for the variables and another.
        let others = unsafe { list.add(arguments + 1) };
        next = fill(others, variables, next);
        its_environment = others.cast_const();
    }
    if directories > 0 {
        let error = system::change_directory(next);
        if error != 0 {
            return error;
        }
    }
    let mut path = text.start().cast_const();
    let mut denied = None;
    let mut error = system::NOT_THERE;
    for _ in 0..paths {
        error = system::execute(path, list, its_environment);
        match error {
            // As execvp(3), the search goes on, and a missing right is the error to report.
            system::DENIED => denied = Some(error),
            system::NOT_THERE | system::NO_DIRECTORY => {}
            _ => break,
        }
        path = system::after(path);
    }
    denied.unwrap_or(error)
}

/// Fills `list` with `count` texts from `next` on, and a null pointer behind them; returns what follows them. The
/// caller has room for all.
fn fill(list: *mut *const u8, count: usize, mut next: *const u8) -> *const u8 {
    for index in 0..count {
        // SAFETY: there is room.
        unsafe { *list.add(index) = next };
        next = system::after(next);
    }
    // SAFETY: as above.
    unsafe { *list.add(count) = ptr::null() };
    next
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    system::exit(1)
}
