//! Lab `mmap`.

use crate::lab::{At, Lab, Measure, Printed, Question, Reading, Step};

pub(super) const LAB: Lab = Lab {
    name: "mmap",
    title: "mmap, and a listing that never moves on",
    about: "A file can be read by calls, or mapped into memory. Report E found mapping seventeen times as fast. Its listing maps offset 0 of the file each time and then calls lseek(), which a mapping does not follow. This lab runs the listing as printed beside what was meant.",
    steps: &[
        Step {
            experiment: "file.rewrite_passes",
            at: &[
                "chunk_size=64KiB",
                "way=fread, fwrite",
                "way=mmap, msync",
                "way=mmap of offset 0, as printed",
            ],
            seconds: 35,
        },
        Step {
            experiment: "file.phases",
            at: &["buffer_size=64KiB"],
            seconds: 20,
        },
    ],
    questions: &[
        Question {
            key: "fastest",
            asks: "Which takes the least time for a KiB of a cold file?",
            measured: Measure::Lowest(&[
                (
                    "fread",
                    Reading {
                        experiment: "file.rewrite_passes",
                        metric: "read",
                        at: &[
                            ("way", At::Choice("fread, fwrite")),
                            ("chunk_size", At::Number(64 << 10)),
                        ],
                    },
                ),
                (
                    "mmap",
                    Reading {
                        experiment: "file.rewrite_passes",
                        metric: "read",
                        at: &[
                            ("way", At::Choice("mmap, msync")),
                            ("chunk_size", At::Number(64 << 10)),
                        ],
                    },
                ),
                (
                    "the listing as printed",
                    Reading {
                        experiment: "file.rewrite_passes",
                        metric: "read",
                        at: &[
                            ("way", At::Choice("mmap of offset 0, as printed")),
                            ("chunk_size", At::Number(64 << 10)),
                        ],
                    },
                ),
            ]),
            reported: &[
                Printed {
                    table: "e_fread",
                    what: "fread, Linux",
                    series: "time of a KiB",
                },
                Printed {
                    table: "e_mmap",
                    what: "mmap, as printed",
                    series: "time of a KiB",
                },
            ],
            found_there: &[
                "Report E, section 4.1.3: 2.579 µs for a KiB is 397 MB/s, which no disk of 2003 gave",
            ],
            why: "How could the authors have noticed that the whole file was never read?",
        },
        Question {
            key: "reading",
            asks: "How many times as long does mapping take that moves on through the file as the listing as printed?",
            measured: Measure::Ratio(
                Reading {
                    experiment: "file.rewrite_passes",
                    metric: "read",
                    at: &[
                        ("way", At::Choice("mmap, msync")),
                        ("chunk_size", At::Number(64 << 10)),
                    ],
                },
                Reading {
                    experiment: "file.rewrite_passes",
                    metric: "read",
                    at: &[
                        ("way", At::Choice("mmap of offset 0, as printed")),
                        ("chunk_size", At::Number(64 << 10)),
                    ],
                },
            ),
            reported: &[Printed {
                table: "e_mmap",
                what: "mmap, as printed",
                series: "time of a KiB",
            }],
            found_there: &[],
            why: "Where does the listing get its bytes from, after the first chunk?",
        },
        Question {
            key: "changing",
            asks: "Every byte of a file in memory is changed in place. How many times as long does that take by mapping that moves on as by the listing as printed?",
            measured: Measure::Ratio(
                Reading {
                    experiment: "file.phases",
                    metric: "map_total",
                    at: &[("buffer_size", At::Number(64 << 10))],
                },
                Reading {
                    experiment: "file.phases",
                    metric: "start_total",
                    at: &[("buffer_size", At::Number(64 << 10))],
                },
            ),
            reported: &[
                Printed {
                    table: "e_phases",
                    what: "64 KB",
                    series: "MMAP Total",
                },
                Printed {
                    table: "e_phases",
                    what: "64 KB",
                    series: "RW Total",
                },
            ],
            found_there: &[],
            why: "Which of the costs of mapping does the listing still pay, and which does it avoid?",
        },
        Question {
            key: "fair",
            asks: "And without the mistake, which changes the file in less time?",
            measured: Measure::Lowest(&[
                (
                    "mmap",
                    Reading {
                        experiment: "file.phases",
                        metric: "map_total",
                        at: &[("buffer_size", At::Number(64 << 10))],
                    },
                ),
                (
                    "read and write",
                    Reading {
                        experiment: "file.phases",
                        metric: "total",
                        at: &[("buffer_size", At::Number(64 << 10))],
                    },
                ),
            ]),
            reported: &[
                Printed {
                    table: "e_phases",
                    what: "64 KB",
                    series: "MMAP Total",
                },
                Printed {
                    table: "e_phases",
                    what: "64 KB",
                    series: "RW Total",
                },
            ],
            found_there: &[],
            why: "What does each of the two ways do for every page that the other does not?",
        },
    ],
};
