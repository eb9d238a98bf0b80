//! A ring of processes or threads that pass a token on through pipes.

use super::super::placement::Sides;
use crate::prelude::*;
use kernels::InstructionSet;
use platform::memory::{Mapping, PageSize};
use platform::partner::Partner;
use platform::placement::pin_to;
use std::hint::black_box;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::thread::{self, Scope};

/// The memory that a member reads when it has the token.
pub(super) struct WorkingSet {
    memory: Option<Mapping>,
    instructions: InstructionSet,
}

impl WorkingSet {
    /// Populated memory of this size; none for 0.
    pub(super) fn new(bytes: usize) -> Result<Self, MeasureError> {
        let filled = |bytes| {
            let mut memory = Mapping::anonymous(bytes, PageSize::Base)?;
            // Without this, all pages would be the one shared page of zeros.
            memory.populate()?;
            Ok::<_, MeasureError>(memory)
        };
        Ok(Self {
            memory: (bytes > 0).then(|| filled(bytes)).transpose()?,
            instructions: InstructionSet::best(),
        })
    }

    fn read(&self) {
        if let Some(memory) = &self.memory {
            black_box(self.instructions.read(black_box(memory.as_slice())));
        }
    }
}

/// A member of the ring, with the pipe it reads the token from and the one it writes it to.
pub(super) struct Member {
    input: PipeReader,
    output: PipeWriter,
    work: WorkingSet,
}

impl Member {
    /// Takes the token, reads the working set and passes the token on; false at the end of the pipe.
    fn pass(&mut self) -> io::Result<bool> {
        let mut token = [0];
        if self.input.read(&mut token)? == 0 {
            return Ok(false);
        }
        self.work.read();
        self.output.write_all(&token)?;
        Ok(true)
    }

    /// Passes tokens on until its pipe ends.
    fn pass_on(mut self) {
        while self.pass().unwrap_or(false) {}
    }
}

/// The member that measures: it sends the token and waits for its return.
pub(super) struct First {
    member: Member,
}

impl First {
    /// Sends the token round once; each member reads its working set once.
    pub(super) fn round(&mut self) -> Result<(), MeasureError> {
        self.go_round().map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => {
                MeasureError::Unsupported("a member of the ring ended too early".into())
            }
            _ => MeasureError::system("pass the token")(error),
        })
    }

    fn go_round(&mut self) -> io::Result<()> {
        self.member.output.write_all(&[1])?;
        self.member.input.read_exact(&mut [0])?;
        self.member.work.read();
        Ok(())
    }
}

/// The members of a ring of `count`, each with a working set of its own; the first is the caller's.
pub(super) fn members(
    count: usize,
    working_set_bytes: usize,
) -> Result<(First, Vec<Member>), MeasureError> {
    let pipes: io::Result<Vec<_>> = (0..count).map(|_| io::pipe()).collect();
    let pipes = pipes.map_err(MeasureError::system("make the pipes of a ring"))?;
    let (inputs, mut outputs): (Vec<_>, Vec<_>) = pipes.into_iter().unzip();
    // A member reads from its own pipe and writes into that of the next.
    outputs.rotate_left(1.min(count));
    let members = inputs.into_iter().zip(outputs).map(|(input, output)| {
        let work = WorkingSet::new(working_set_bytes)?;
        Ok(Member {
            input,
            output,
            work,
        })
    });
    let mut members = members.collect::<Result<Vec<_>, MeasureError>>()?;
    let member = members.remove(0);
    Ok((First { member }, members))
}

/// Starts each of `members` as a process, which ends when its partner is dropped.
pub(super) fn as_processes(
    members: Vec<Member>,
    sides: Sides,
) -> Result<Vec<Partner>, MeasureError> {
    let start = |(index, member): (usize, Member)| {
        let cpu = sides.of_member(index + 1);
        Ok(Partner::start(cpu, move || member.pass_on())?)
    };
    members.into_iter().enumerate().map(start).collect()
}

/// Starts each of `members` as a thread, which ends after the first member is dropped.
pub(super) fn as_threads<'scope>(
    members: Vec<Member>,
    sides: Sides,
    scope: &'scope Scope<'scope, '_>,
) -> Result<(), MeasureError> {
    for (index, member) in members.into_iter().enumerate() {
        let cpu = sides.of_member(index + 1);
        let run = move || {
            // A thread that cannot be pinned ends, which breaks the ring; the first member reports it.
            if pin_to(&[cpu]).is_ok() {
                member.pass_on();
            }
        };
        thread::Builder::new()
            .spawn_scoped(scope, run)
            .map_err(MeasureError::system("start a thread"))?;
    }
    Ok(())
}
