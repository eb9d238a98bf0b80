//! Lab `caches`.

use crate::lab::{At, Lab, Measure, Printed, Question, Reading, Step};

pub(super) const LAB: Lab = Lab {
    name: "caches",
    title: "What a cache is worth",
    about: "A processor keeps copies of memory in caches. The nearest is small and fast; each next one is larger and slower. This lab asks how long a program waits for one value, and how much faster it reads what fits a cache.",
    steps: &[
        Step {
            experiment: "memory.latency",
            at: &[],
            seconds: 25,
        },
        Step {
            experiment: "memory.bandwidth",
            at: &["block_size=64KiB", "block_size=256MiB"],
            seconds: 15,
        },
    ],
    questions: &[
        Question {
            key: "near",
            asks: "A program follows pointers within 16 KiB repeatedly. How long does it wait for each value?",
            measured: Measure::Value(Reading {
                experiment: "memory.latency",
                metric: "load",
                at: &[
                    ("working_set", At::Number(16 << 10)),
                    ("pages", At::Choice("4 KiB pages")),
                ],
            }),
            reported: &[],
            found_there: &[],
            why: "How many instructions could the processor have executed in this time?",
        },
        Question {
            key: "far",
            asks: "The same within 128 MiB. How long does it wait for each value?",
            measured: Measure::Value(Reading {
                experiment: "memory.latency",
                metric: "load",
                at: &[("working_set", At::Number(128 << 20))],
            }),
            reported: &[Printed {
                table: "e_page_cost",
                what: "RAM less Cache",
                series: "Linux",
            }],
            found_there: &[
                "Report E, section 3.1.2: the time is that of a whole page of 4 KiB, read in order",
            ],
            why: "Why do caches of today not make this wait much shorter than in 2003?",
        },
        Question {
            key: "read",
            asks: "How many times as fast does one core read a block of 64 KiB as one of 256 MiB, in order?",
            measured: Measure::Ratio(
                Reading {
                    experiment: "memory.bandwidth",
                    metric: "read",
                    at: &[("block_size", At::Number(64 << 10))],
                },
                Reading {
                    experiment: "memory.bandwidth",
                    metric: "read",
                    at: &[("block_size", At::Number(256 << 20))],
                },
            ),
            reported: &[Printed {
                table: "e_bandwidth_text",
                what: "read, cache over RAM",
                series: "times as fast",
            }],
            found_there: &[],
            why: "The wait for one value differs by far more than this factor. What hides it when memory is read in order?",
        },
        Question {
            key: "write",
            asks: "And how many times as fast does it write the small block?",
            measured: Measure::Ratio(
                Reading {
                    experiment: "memory.bandwidth",
                    metric: "write",
                    at: &[("block_size", At::Number(64 << 10))],
                },
                Reading {
                    experiment: "memory.bandwidth",
                    metric: "write",
                    at: &[("block_size", At::Number(256 << 20))],
                },
            ),
            reported: &[Printed {
                table: "e_bandwidth_text",
                what: "write, cache over RAM",
                series: "times as fast",
            }],
            found_there: &[],
            why: "What does a processor have to do with a cache line before it can write a part of it?",
        },
    ],
};
