//! Lab `cold-warm`.

use crate::lab::{At, Lab, Measure, Printed, Question, Reading, Step};

pub(super) const LAB: Lab = Lab {
    name: "cold-warm",
    title: "Cold and warm",
    about: "The kernel uses free memory to keep data that was read from files: the page cache. A file is warm if it is there, and cold if it has to come from storage.",
    steps: &[Step {
        experiment: "file.cold_warm",
        at: &[
            "block_size=512",
            "block_size=4KiB",
            "block_size=64KiB",
            "block_size=1MiB",
        ],
        seconds: 40,
    }],
    questions: &[
        Question {
            key: "ratio",
            asks: "How many times as fast is a warm file read as a cold one, in blocks of 1 MiB?",
            measured: Measure::Ratio(
                Reading {
                    experiment: "file.cold_warm",
                    metric: "warm",
                    at: &[("block_size", At::Number(1 << 20))],
                },
                Reading {
                    experiment: "file.cold_warm",
                    metric: "cold",
                    at: &[("block_size", At::Number(1 << 20))],
                },
            ),
            reported: &[
                Printed {
                    table: "b_sum",
                    what: "cold",
                    series: "Runtime per MiB",
                },
                Printed {
                    table: "b_sum",
                    what: "warm",
                    series: "Runtime per MiB",
                },
            ],
            found_there: &[],
            why: "Which part of the machine is the slowest in each of the two cases?",
        },
        Question {
            key: "race",
            asks: "Which is faster: a cold file in blocks of 1 MiB, or a warm one in blocks of 512 bytes?",
            measured: Measure::Highest(&[
                (
                    "cold, 1 MiB",
                    Reading {
                        experiment: "file.cold_warm",
                        metric: "cold",
                        at: &[("block_size", At::Number(1 << 20))],
                    },
                ),
                (
                    "warm, 512 B",
                    Reading {
                        experiment: "file.cold_warm",
                        metric: "warm",
                        at: &[("block_size", At::Number(512))],
                    },
                ),
            ]),
            reported: &[],
            found_there: &[],
            why: "When can a small block cost more than a disk?",
        },
        Question {
            key: "stable",
            asks: "From which block size on is reading a warm file as fast as it gets?",
            measured: Measure::Plateau(
                Reading {
                    experiment: "file.cold_warm",
                    metric: "warm",
                    at: &[],
                },
                "block_size",
            ),
            reported: &[Printed {
                table: "b_caching",
                what: "second over first reading",
                series: "stable from",
            }],
            found_there: &[],
            why: "Why does the block size matter less to a cold file? Think of read-ahead.",
        },
    ],
};
