//! Lab `blocks`.

use crate::lab::{At, Lab, Measure, Printed, Question, Reading, Step};

pub(super) const LAB: Lab = Lab {
    name: "blocks",
    title: "Files and blocks",
    about: "A program reads a file by calls that take a block each. Every call has a fixed cost, and every byte has to be copied. This lab asks which of the two matters, and when.",
    steps: &[
        Step {
            experiment: "file.block_size",
            at: &["pass=read warm"],
            seconds: 20,
        },
        Step {
            experiment: "file.call",
            at: &["file_size=4MiB"],
            seconds: 15,
        },
    ],
    questions: &[
        Question {
            key: "call",
            asks: "How many times a second can a program call read() for one byte of a file in memory?",
            measured: Measure::Value(Reading {
                experiment: "file.call",
                metric: "rate",
                at: &[("call", At::Choice("read 1 byte"))],
            }),
            reported: &[
                Printed {
                    table: "b_calls",
                    what: "read",
                    series: "per second",
                },
                Printed {
                    table: "a_calls",
                    what: "281873817 B",
                    series: "READ Speed (B/s)",
                },
            ],
            found_there: &[],
            why: "The processor executes thousands of millions of instructions a second. What happens in a call?",
        },
        Question {
            key: "dearer",
            asks: "Which costs less: to read a byte, or to move the position by a byte with lseek()?",
            measured: Measure::Highest(&[
                (
                    "read",
                    Reading {
                        experiment: "file.call",
                        metric: "rate",
                        at: &[("call", At::Choice("read 1 byte"))],
                    },
                ),
                (
                    "lseek",
                    Reading {
                        experiment: "file.call",
                        metric: "rate",
                        at: &[("call", At::Choice("lseek 1 byte"))],
                    },
                ),
            ]),
            reported: &[
                Printed {
                    table: "b_calls",
                    what: "lseek",
                    series: "per second",
                },
                Printed {
                    table: "a_calls",
                    what: "281873817 B",
                    series: "LSEEK Speed (B/s)",
                },
            ],
            found_there: &[],
            why: "Both are system calls. What does the more expensive one do in addition?",
        },
        Question {
            key: "speed",
            asks: "How fast is a file in memory read in blocks of 1 MiB?",
            measured: Measure::Value(Reading {
                experiment: "file.block_size",
                metric: "throughput",
                at: &[
                    ("block_size", At::Number(1 << 20)),
                    ("pass", At::Choice("read warm")),
                ],
            }),
            reported: &[Printed {
                table: "b_plateau",
                what: "reading",
                series: "plateau",
            }],
            found_there: &[],
            why: "Nothing is read from a disk. What limits this speed?",
        },
        Question {
            key: "plateau",
            asks: "From which block size on do larger blocks gain nothing?",
            measured: Measure::Plateau(
                Reading {
                    experiment: "file.block_size",
                    metric: "throughput",
                    at: &[("pass", At::Choice("read warm"))],
                },
                "block_size",
            ),
            reported: &[
                Printed {
                    table: "a_block_size",
                    what: "reading",
                    series: "plateau",
                },
                Printed {
                    table: "b_sum_text",
                    what: "block size",
                    series: "no gain after",
                },
            ],
            found_there: &[],
            why: "Use the cost of a call and the speed of copying to compute this block size. Does it fit?",
        },
    ],
};
