//! Lab `inversion`.

use crate::lab::{At, Lab, Measure, Question, Reading, Step};

pub(super) const LAB: Lab = Lab {
    name: "inversion",
    title: "Priority inversion",
    about: "Thread C has low priority and holds a lock. Thread A has high priority and wants it. Thread B, of middle priority, wants no lock; it computes.",
    steps: &[Step {
        experiment: "threads.inversion",
        at: &[],
        seconds: 30,
    }],
    questions: &[
        Question {
            key: "none",
            asks: "Without a remedy, which of the three ends first?",
            measured: Measure::Lowest(&[
                (
                    "A",
                    Reading {
                        experiment: "threads.inversion",
                        metric: "high_ends",
                        at: &[("protocol", At::Choice("none"))],
                    },
                ),
                (
                    "B",
                    Reading {
                        experiment: "threads.inversion",
                        metric: "middle_ends",
                        at: &[("protocol", At::Choice("none"))],
                    },
                ),
                (
                    "C",
                    Reading {
                        experiment: "threads.inversion",
                        metric: "low_ends",
                        at: &[("protocol", At::Choice("none"))],
                    },
                ),
            ]),
            reported: &[],
            found_there: &[],
            why: "Who keeps the thread of the highest priority from running, and for how long could this go on?",
        },
        Question {
            key: "inheritance",
            asks: "With priority inheritance, which of A and B ends first?",
            measured: Measure::Lowest(&[
                (
                    "A",
                    Reading {
                        experiment: "threads.inversion",
                        metric: "high_ends",
                        at: &[("protocol", At::Choice("inheritance"))],
                    },
                ),
                (
                    "B",
                    Reading {
                        experiment: "threads.inversion",
                        metric: "middle_ends",
                        at: &[("protocol", At::Choice("inheritance"))],
                    },
                ),
            ]),
            reported: &[],
            found_there: &[],
            why: "Whose priority does C have while A waits?",
        },
        Question {
            key: "ceiling",
            asks: "With a priority ceiling, which of A and B ends first?",
            measured: Measure::Lowest(&[
                (
                    "A",
                    Reading {
                        experiment: "threads.inversion",
                        metric: "high_ends",
                        at: &[("protocol", At::Choice("ceiling"))],
                    },
                ),
                (
                    "B",
                    Reading {
                        experiment: "threads.inversion",
                        metric: "middle_ends",
                        at: &[("protocol", At::Choice("ceiling"))],
                    },
                ),
            ]),
            reported: &[],
            found_there: &[
                "Report D, Priority Inversion: with what it calls priority ceiling the order is C, A, B",
            ],
            why: "How does the ceiling differ from inheritance before A asks for the lock?",
        },
        Question {
            key: "gain",
            asks: "How many times as long does A take to its end without a remedy as with inheritance?",
            measured: Measure::Ratio(
                Reading {
                    experiment: "threads.inversion",
                    metric: "high_ends",
                    at: &[("protocol", At::Choice("none"))],
                },
                Reading {
                    experiment: "threads.inversion",
                    metric: "high_ends",
                    at: &[("protocol", At::Choice("inheritance"))],
                },
            ),
            reported: &[],
            found_there: &[],
            why: "On what does this factor depend?",
        },
    ],
};
