//! Lab `locks`.

use crate::lab::{At, Lab, Measure, Printed, Question, Reading, Step};

pub(super) const LAB: Lab = Lab {
    name: "locks",
    title: "Locks: to spin or to block",
    about: "Ten threads take turns on one processor and enter a section under a lock, once each. A thread that finds the lock taken can sleep until it is free (Lock), or keep checking (SpinLock).",
    steps: &[Step {
        experiment: "threads.lock",
        at: &[
            "body=simple",
            "body=simple yield",
            "lock=Lock",
            "lock=SpinLock",
            "threads=10",
        ],
        seconds: 25,
    }],
    questions: &[
        Question {
            key: "short",
            asks: "The section adds 1 to a variable. Which lock lets all ten threads pass sooner?",
            measured: Measure::Lowest(&[
                (
                    "Lock",
                    Reading {
                        experiment: "threads.lock",
                        metric: "run",
                        at: &[
                            ("body", At::Choice("simple")),
                            ("lock", At::Choice("Lock")),
                            ("threads", At::Number(10)),
                        ],
                    },
                ),
                (
                    "SpinLock",
                    Reading {
                        experiment: "threads.lock",
                        metric: "run",
                        at: &[
                            ("body", At::Choice("simple")),
                            ("lock", At::Choice("SpinLock")),
                            ("threads", At::Number(10)),
                        ],
                    },
                ),
            ]),
            reported: &[
                Printed {
                    table: "d_locks",
                    what: "10 threads",
                    series: "Simple Lock",
                },
                Printed {
                    table: "d_locks",
                    what: "10 threads",
                    series: "Simple SpinLock",
                },
            ],
            found_there: &[],
            why: "How often is the lock taken when a thread wants it?",
        },
        Question {
            key: "yields",
            asks: "The same, but each thread yields the processor while it has the lock. Which lock is better now?",
            measured: Measure::Lowest(&[
                (
                    "Lock",
                    Reading {
                        experiment: "threads.lock",
                        metric: "run",
                        at: &[
                            ("body", At::Choice("simple yield")),
                            ("lock", At::Choice("Lock")),
                            ("threads", At::Number(10)),
                        ],
                    },
                ),
                (
                    "SpinLock",
                    Reading {
                        experiment: "threads.lock",
                        metric: "run",
                        at: &[
                            ("body", At::Choice("simple yield")),
                            ("lock", At::Choice("SpinLock")),
                            ("threads", At::Number(10)),
                        ],
                    },
                ),
            ]),
            reported: &[
                Printed {
                    table: "d_locks",
                    what: "10 threads",
                    series: "Simple_yield Lock",
                },
                Printed {
                    table: "d_locks",
                    what: "10 threads",
                    series: "Simple_yield SpinLock",
                },
            ],
            found_there: &[],
            why: "What does a thread that spins do with its slice of time?",
        },
        Question {
            key: "factor",
            asks: "In the second case: how many times as long does the spin lock take as the one that blocks?",
            measured: Measure::Ratio(
                Reading {
                    experiment: "threads.lock",
                    metric: "run",
                    at: &[
                        ("body", At::Choice("simple yield")),
                        ("lock", At::Choice("SpinLock")),
                        ("threads", At::Number(10)),
                    ],
                },
                Reading {
                    experiment: "threads.lock",
                    metric: "run",
                    at: &[
                        ("body", At::Choice("simple yield")),
                        ("lock", At::Choice("Lock")),
                        ("threads", At::Number(10)),
                    ],
                },
            ),
            reported: &[
                Printed {
                    table: "d_locks",
                    what: "10 threads",
                    series: "Simple_yield Lock",
                },
                Printed {
                    table: "d_locks",
                    what: "10 threads",
                    series: "Simple_yield SpinLock",
                },
            ],
            found_there: &[
                "Report D, Table 1: its times are n(n - 1)/2 slices of 16 ms; here a slice is 50 µs",
            ],
            why: "Derive the number of slices that n threads waste.",
        },
    ],
};
