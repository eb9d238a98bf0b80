//! Lab `clocks`.

use crate::lab::{At, Lab, Measure, Printed, Question, Reading, Step};

pub(super) const LAB: Lab = Lab {
    name: "clocks",
    title: "Threads and clocks",
    about: "Several threads read a file together and add up its words. Wall time is what a clock on the wall shows; processor time adds up what each thread used. A report found that threads make reading slower. Which clock did it look at?",
    steps: &[Step {
        experiment: "file.sum",
        at: &[
            "state=warm",
            "method=pread",
            "block_size=1MiB",
            "threads=1",
            "threads=4",
        ],
        seconds: 25,
    }],
    questions: &[
        Question {
            key: "wall",
            asks: "By wall time: how many times as fast are four threads as one, for a file in memory?",
            measured: Measure::Ratio(
                Reading {
                    experiment: "file.sum",
                    metric: "throughput",
                    at: &[
                        ("state", At::Choice("warm")),
                        ("method", At::Choice("pread")),
                        ("block_size", At::Number(1 << 20)),
                        ("threads", At::Number(4)),
                    ],
                },
                Reading {
                    experiment: "file.sum",
                    metric: "throughput",
                    at: &[
                        ("state", At::Choice("warm")),
                        ("method", At::Choice("pread")),
                        ("block_size", At::Number(1 << 20)),
                        ("threads", At::Number(1)),
                    ],
                },
            ),
            reported: &[Printed {
                table: "b_sum_text",
                what: "16 threads over 1",
                series: "times as fast",
            }],
            found_there: &[],
            why: "How many processors does the machine have, and why is the factor not that number?",
        },
        Question {
            key: "processor",
            asks: "By processor time: how many times as fast do four threads seem?",
            measured: Measure::Ratio(
                Reading {
                    experiment: "file.sum",
                    metric: "by_cpu",
                    at: &[
                        ("state", At::Choice("warm")),
                        ("method", At::Choice("pread")),
                        ("block_size", At::Number(1 << 20)),
                        ("threads", At::Number(4)),
                    ],
                },
                Reading {
                    experiment: "file.sum",
                    metric: "by_cpu",
                    at: &[
                        ("state", At::Choice("warm")),
                        ("method", At::Choice("pread")),
                        ("block_size", At::Number(1 << 20)),
                        ("threads", At::Number(1)),
                    ],
                },
            ),
            reported: &[
                Printed {
                    table: "a_sum",
                    what: "without threads",
                    series: "Speed (MiB/s)",
                },
                Printed {
                    table: "a_sum",
                    what: "3 threads",
                    series: "Speed (MiB/s)",
                },
            ],
            found_there: &[
                "Report A, section 6: its program takes processor time, which adds up over threads",
            ],
            why: "When does processor time grow with the number of threads, though the work stays the same?",
        },
        Question {
            key: "clock",
            asks: "A file has to be summed as soon as possible. How many threads should do it?",
            measured: Measure::Highest(&[
                (
                    "one",
                    Reading {
                        experiment: "file.sum",
                        metric: "throughput",
                        at: &[
                            ("state", At::Choice("warm")),
                            ("method", At::Choice("pread")),
                            ("block_size", At::Number(1 << 20)),
                            ("threads", At::Number(1)),
                        ],
                    },
                ),
                (
                    "four",
                    Reading {
                        experiment: "file.sum",
                        metric: "throughput",
                        at: &[
                            ("state", At::Choice("warm")),
                            ("method", At::Choice("pread")),
                            ("block_size", At::Number(1 << 20)),
                            ("threads", At::Number(4)),
                        ],
                    },
                ),
            ]),
            reported: &[],
            found_there: &[],
            why: "Report A advises one thread. Which question does its clock answer instead?",
        },
    ],
};
