//! Lab `systems`.

use crate::lab::{At, Lab, Measure, Printed, Question, Reading, Step};

pub(super) const LAB: Lab = Lab {
    name: "systems",
    title: "Two systems compared",
    about: "Report E measured a Pentium 4 of 2003. Without a second run, this lab compares your machine with it; with two (`--of FIRST --of SECOND`), it compares the second with the first. Predict how many times as many calls a second the newer one makes.",
    steps: &[Step {
        experiment: "process.calls",
        at: &[
            "call=getpid",
            "call=open+close",
            "call=malloc+free",
            "call=fork+exit+wait",
            "optimisation=3",
        ],
        seconds: 25,
    }],
    questions: &[
        Question {
            key: "getpid",
            asks: "How many times as many calls of getpid a second?",
            measured: Measure::Against(
                Reading {
                    experiment: "process.calls",
                    metric: "rate",
                    at: &[
                        ("call", At::Choice("getpid")),
                        ("optimisation", At::Number(3)),
                    ],
                },
                Printed {
                    table: "e_calls",
                    what: "Getpid",
                    series: "Linux, With Optimizations",
                },
            ),
            reported: &[Printed {
                table: "e_calls",
                what: "Getpid",
                series: "Windows, Without Optimizations (third column)",
            }],
            found_there: &[],
            why: "Clock rates grew by a factor of two. What else changed, and what made system calls more expensive since then?",
        },
        Question {
            key: "malloc",
            asks: "How many times as many pairs of malloc and free?",
            measured: Measure::Against(
                Reading {
                    experiment: "process.calls",
                    metric: "rate",
                    at: &[
                        ("call", At::Choice("malloc+free")),
                        ("optimisation", At::Number(3)),
                    ],
                },
                Printed {
                    table: "e_calls",
                    what: "Malloc Free",
                    series: "Linux, With Optimizations",
                },
            ),
            reported: &[],
            found_there: &[],
            why: "No system call is made. Compare the factor with that of getpid.",
        },
        Question {
            key: "fork",
            asks: "How many times as many processes created and waited for?",
            measured: Measure::Against(
                Reading {
                    experiment: "process.calls",
                    metric: "rate",
                    at: &[
                        ("call", At::Choice("fork+exit+wait")),
                        ("optimisation", At::Number(3)),
                    ],
                },
                Printed {
                    table: "e_calls",
                    what: "Process Fork",
                    series: "Linux, With Optimizations",
                },
            ),
            reported: &[Printed {
                table: "e_calls",
                what: "Process Fork",
                series: "Windows, Without Optimizations (third column)",
            }],
            found_there: &[],
            why: "Which part of the work of fork does not shrink with a faster processor?",
        },
        Question {
            key: "most",
            asks: "Which of these can this machine do most often a second?",
            measured: Measure::Highest(&[
                (
                    "getpid",
                    Reading {
                        experiment: "process.calls",
                        metric: "rate",
                        at: &[
                            ("call", At::Choice("getpid")),
                            ("optimisation", At::Number(3)),
                        ],
                    },
                ),
                (
                    "open and close",
                    Reading {
                        experiment: "process.calls",
                        metric: "rate",
                        at: &[
                            ("call", At::Choice("open+close")),
                            ("optimisation", At::Number(3)),
                        ],
                    },
                ),
                (
                    "malloc and free",
                    Reading {
                        experiment: "process.calls",
                        metric: "rate",
                        at: &[
                            ("call", At::Choice("malloc+free")),
                            ("optimisation", At::Number(3)),
                        ],
                    },
                ),
            ]),
            reported: &[],
            found_there: &[],
            why: "Report E answered getpid 125 million times a second on Windows. How is that possible?",
        },
    ],
};
