//! The system calls, for 64-bit Linux.

use core::arch::asm;
use core::ptr;

use crate::library::strlen;

/// The numbers of the calls, on x86-64 and on ARM.
macro_rules! numbers {
    ($($name:ident: $x86_64:literal, $aarch64:literal;)*) => {
        mod number {
            $(pub const $name: usize = if cfg!(target_arch = "x86_64") { $x86_64 } else { $aarch64 };)*
        }
    };
}

numbers! {
    READ: 0, 63;
    WRITE: 1, 64;
    CLOSE: 3, 57;
    MMAP: 9, 222;
    MUNMAP: 11, 215;
    SIGNAL_ACTION: 13, 134;
    SIGNAL_MASK: 14, 135;
    IOCTL: 16, 29;
    RECVMSG: 47, 212;
    CLONE: 56, 220;
    EXECVE: 59, 221;
    CHDIR: 80, 49;
    FCNTL: 72, 25;
    SETPGID: 109, 154;
    GETPPID: 110, 173;
    PRCTL: 157, 167;
    CLOCK_GETTIME: 228, 113;
    EXIT_GROUP: 231, 94;
    GETPID: 39, 172;
    DUP3: 292, 24;
}

pub const NOT_THERE: i64 = 2;
pub const NO_MEMORY: i64 = 12;
pub const DENIED: i64 = 13;
pub const NO_DIRECTORY: i64 = 20;

const INTERRUPTED: isize = -4;

const SIGCHLD: usize = 17;
const SIGKILL: usize = 9;
const SIGTTOU: usize = 22;
const SIGXFSZ: usize = 25;
/// Size of a signal set.
const SET_BYTES: usize = 8;

/// Calls the system; a negative result is an error.
///
/// # Safety
/// Pointers among the arguments must be good for the call.
#[cfg(target_arch = "x86_64")]
unsafe fn call(number: usize, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result;
    // SAFETY: the kernel changes these registers only, and the memory that the caller names.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    result
}

/// Calls the system; a negative result is an error.
///
/// # Safety
/// Pointers among the arguments must be good for the call.
#[cfg(target_arch = "aarch64")]
unsafe fn call(number: usize, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result;
    // SAFETY: the kernel changes this register only, and the memory that the caller names.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
        );
    }
    result
}

/// Calls the system with arguments that are no pointers.
fn call_with_numbers(number: usize, arguments: [usize; 3]) -> isize {
    let [a, b, c] = arguments;
    // SAFETY: no argument is a pointer.
    unsafe { call(number, [a, b, c, 0, 0, 0]) }
}

/// A file descriptor.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Descriptor(i32);

impl Descriptor {
    pub const STDIN: Self = Self(0);

    const NONE: Self = Self(-1);

    const fn number(self) -> usize {
        self.0 as usize
    }
}

/// The fixed part of a request, as `linux/process/starter.rs` writes it.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Header {
    /// Size of the text that follows: paths to try, arguments, variables, and a directory; each with a zero byte.
    pub text_bytes: u64,
    pub paths: u64,
    pub arguments: u64,
    /// Zero for those of this process.
    pub variables: u64,
    /// One, or zero for that of this process.
    pub directories: u64,
    /// The process that asks, in whose life the program runs.
    pub parent: u64,
}

/// The most descriptors of a request: three standard streams and a terminal.
const MOST_DESCRIPTORS: usize = 4;

/// A request to start a program.
pub struct Request {
    pub header: Header,
    descriptors: [Descriptor; MOST_DESCRIPTORS],
}

impl Request {
    /// The files for the standard streams.
    pub fn standard(&self) -> [Descriptor; 3] {
        let [stdin, stdout, stderr, _] = self.descriptors;
        [stdin, stdout, stderr]
    }

    /// The terminal that the program gets, if any.
    pub fn terminal(&self) -> Option<Descriptor> {
        let [.., terminal] = self.descriptors;
        (terminal.0 != Descriptor::NONE.0).then_some(terminal)
    }

    pub fn close(&self) {
        for descriptor in self.descriptors {
            call_with_numbers(number::CLOSE, [descriptor.number(), 0, 0]);
        }
    }
}

#[repr(C)]
struct Piece {
    start: *mut u8,
    bytes: usize,
}

/// A `msghdr`.
#[repr(C)]
struct Message {
    name: usize,
    name_bytes: usize,
    pieces: *mut Piece,
    count: usize,
    control: *mut Control,
    control_bytes: usize,
    flags: usize,
}

/// A `cmsghdr` with descriptors.
#[repr(C)]
struct Control {
    bytes: usize,
    level: i32,
    kind: i32,
    descriptors: [Descriptor; MOST_DESCRIPTORS],
}

/// The next request; `None` at the end of the socket.
pub fn receive(socket: Descriptor) -> Option<Request> {
    const CLOSE_ON_EXEC: usize = 0x4000_0000;
    let mut header = Header::default();
    let mut piece = Piece {
        start: (&raw mut header).cast(),
        bytes: size_of::<Header>(),
    };
    let mut control = Control {
        bytes: 0,
        level: 0,
        kind: 0,
        descriptors: [Descriptor::NONE; MOST_DESCRIPTORS],
    };
    let mut message = Message {
        name: 0,
        name_bytes: 0,
        pieces: &raw mut piece,
        count: 1,
        control: &raw mut control,
        control_bytes: size_of::<Control>(),
        flags: 0,
    };
    let received = loop {
        let place = (&raw mut message) as usize;
        // SAFETY: the message names memory of this function with its sizes.
        let received = unsafe {
            call(
                number::RECVMSG,
                [socket.number(), place, CLOSE_ON_EXEC, 0, 0, 0],
            )
        };
        if received != INTERRUPTED {
            break received;
        }
    };
    (received == size_of::<Header>() as isize).then_some(Request {
        header,
        descriptors: control.descriptors,
    })
}

/// Sends two numbers.
pub fn send(socket: Descriptor, message: [i64; 2]) {
    let start = message.as_ptr() as usize;
    let bytes = size_of_val(&message);
    // SAFETY: the numbers are there. If nobody listens, SIGPIPE ends this process.
    unsafe { call(number::WRITE, [socket.number(), start, bytes, 0, 0, 0]) };
}

/// Memory from the system.
pub struct Pages {
    start: usize,
    bytes: usize,
}

impl Pages {
    /// `None` if there is too little.
    pub fn new(bytes: usize) -> Option<Self> {
        const READ_AND_WRITE: usize = 3;
        const PRIVATE_AND_ANONYMOUS: usize = 0x22;
        const NO_FILE: usize = usize::MAX;
        // SAFETY: new memory overlaps nothing.
        let start = unsafe {
            let mapping = [0, bytes, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS, NO_FILE, 0];
            call(number::MMAP, mapping)
        };
        (start > 0).then_some(Self {
            start: start as usize,
            bytes,
        })
    }

    /// New memory with the next bytes of the socket; `None` if it ends before.
    pub fn read(socket: Descriptor, bytes: usize) -> Option<Self> {
        let pages = Self::new(bytes)?;
        let mut done = 0;
        while done < bytes {
            let rest = [socket.number(), pages.start + done, bytes - done, 0, 0, 0];
            // SAFETY: the rest of the pages has room.
            match unsafe { call(number::READ, rest) } {
                INTERRUPTED => {}
                read if read > 0 => done += read as usize,
                _ => return None,
            }
        }
        Some(pages)
    }

    pub fn start(&self) -> *mut u8 {
        ptr::with_exposed_provenance_mut(self.start)
    }

    pub fn free(self) {
        // SAFETY: `self` is the only name of this memory.
        unsafe { call(number::MUNMAP, [self.start, self.bytes, 0, 0, 0, 0]) };
    }
}

/// The text after the zero byte that ends this one.
pub fn after(text: *const u8) -> *const u8 {
    // SAFETY: each text of a request ends with a zero byte.
    unsafe { text.add(strlen(text) + 1) }
}

/// Names this process, and undoes what oscope changed for itself alone: programs shall end by a write
/// beyond the limit of a file's size.
pub fn begin() {
    const SET_NAME: usize = 15;
    /// A `sigaction` of the kernel with the default action.
    const DEFAULT: [usize; 4] = [0; 4];
    // SAFETY: the name ends with a zero byte, and the action has the size that the kernel reads.
    unsafe {
        call(
            number::PRCTL,
            [SET_NAME, c"oscope-starter".as_ptr() as usize, 0, 0, 0, 0],
        );
        let action = DEFAULT.as_ptr() as usize;
        call(number::SIGNAL_ACTION, [SIGXFSZ, action, 0, SET_BYTES, 0, 0]);
    }
}

/// A copy of a descriptor that programs do not get.
pub fn private_copy(descriptor: Descriptor) -> Descriptor {
    const DUPLICATE_AND_CLOSE_ON_EXEC: usize = 1030;
    const LEAST: usize = 3;
    let arguments = [descriptor.number(), DUPLICATE_AND_CLOSE_ON_EXEC, LEAST];
    match call_with_numbers(number::FCNTL, arguments) {
        copy if copy < 0 => exit(1),
        copy => Descriptor(copy as i32),
    }
}

/// Monotonic time.
pub fn now_ns() -> i64 {
    const MONOTONIC: usize = 1;
    let mut time = [0_i64; 2];
    // SAFETY: there is room for both numbers.
    unsafe {
        call(
            number::CLOCK_GETTIME,
            [MONOTONIC, time.as_mut_ptr() as usize, 0, 0, 0, 0],
        )
    };
    let [s, ns] = time;
    s * 1_000_000_000 + ns
}

/// Copies this process; the copy is a child of this process's parent, and gets 0. Otherwise the id of
/// the copy, or the negative number of an error.
pub fn fork_sibling() -> i64 {
    const SAME_PARENT: usize = 0x8000;
    call_with_numbers(number::CLONE, [SAME_PARENT | SIGCHLD, 0, 0]) as i64
}

/// Puts this process into a new process group.
pub fn lead_a_group() {
    call_with_numbers(number::SETPGID, [0, 0, 0]);
}

/// From now on, the kernel kills this process when its parent dies; false if it is dead already.
pub fn die_with(parent: u64) -> bool {
    const SET_DEATH_SIGNAL: usize = 1;
    call_with_numbers(number::PRCTL, [SET_DEATH_SIGNAL, SIGKILL, 0]);
    call_with_numbers(number::GETPPID, [0; 3]) as u64 == parent
}

/// Makes this process's group the one that may read from the terminal.
pub fn come_to_the_foreground(terminal: Descriptor) {
    const SET_GROUP: usize = 0x5410;
    const BLOCK: usize = 0;
    const UNBLOCK: usize = 1;
    let group = call_with_numbers(number::GETPID, [0; 3]) as i32;
    let signals = 1_u64 << (SIGTTOU - 1);
    let change = |how| {
        let set = (&raw const signals) as usize;
        // SAFETY: the set has the given size.
        unsafe { call(number::SIGNAL_MASK, [how, set, 0, SET_BYTES, 0, 0]) };
    };
    // A group in the background is stopped for this, unless the signal is blocked.
    change(BLOCK);
    let place = (&raw const group) as usize;
    // SAFETY: the group is a number of the size that the kernel reads. If the terminal is gone, the
    // program finds that out by itself.
    unsafe {
        call(
            number::IOCTL,
            [terminal.number(), SET_GROUP, place, 0, 0, 0],
        )
    };
    change(UNBLOCK);
}

/// Makes these files the standard input, output and error.
pub fn replace_standard_streams(files: [Descriptor; 3]) {
    for (stream, file) in files.into_iter().enumerate() {
        call_with_numbers(number::DUP3, [file.number(), stream, 0]);
    }
}

/// Replaces this process by a program. Returns only after an error, with its number.
pub fn execute(path: *const u8, arguments: *const *const u8, environment: *const *const u8) -> i64 {
    let [path, arguments, environment] = [path as usize, arguments as usize, environment as usize];
    // SAFETY: the texts end with zero bytes, the lists with null pointers.
    -unsafe { call(number::EXECVE, [path, arguments, environment, 0, 0, 0]) } as i64
}

/// Changes the working directory. Zero, or the number of an error.
pub fn change_directory(path: *const u8) -> i64 {
    // SAFETY: the text ends with a zero byte.
    -unsafe { call(number::CHDIR, [path as usize, 0, 0, 0, 0, 0]) } as i64
}

pub fn exit(code: usize) -> ! {
    loop {
        call_with_numbers(number::EXIT_GROUP, [code, 0, 0]);
    }
}
