//! Hand-ins and classes as Markdown.

use super::{Class, HandIn};
use crate::comparison::escaped;
use std::fmt::Write as _;

/// A hand-in. `graphs` are titles and file names of pictures.
pub fn hand_in_markdown(hand_in: &HandIn, graphs: &[(String, String)]) -> String {
    let student = &hand_in.student;
    let mut text = format!(
        "# Lab {}: {}\n\n",
        escaped(&hand_in.lab),
        escaped(&hand_in.title)
    );
    let (right, judged) = hand_in.score();
    let _ = writeln!(
        text,
        "{}, {}. Measured {} on {}.",
        escaped(&student.name),
        format_args!("{right} of {judged} predictions right"),
        escaped(&student.measured),
        escaped(&student.machine)
    );
    if let Some(first) = &student.first_machine {
        let _ = writeln!(text, "Compared with {}.", escaped(first));
    }
    for (index, answer) in hand_in.answers.iter().enumerate() {
        let _ = writeln!(text, "\n## {}. {}\n", index + 1, escaped(&answer.asks));
        text += "| predicted | measured | |\n| --- | --- | --- |\n";
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            escaped(&answer.predicted()),
            escaped(&answer.found()),
            escaped(&answer.verdict())
        );
        for reported in &answer.reported {
            let _ = writeln!(
                text,
                "\n{}: {}",
                escaped(&reported.place),
                escaped(&reported.says)
            );
        }
        let _ = writeln!(
            text,
            "\n**{}** {}",
            escaped(&answer.why_asked),
            escaped(answer.why.as_deref().unwrap_or("(not answered)"))
        );
    }
    for (title, file) in graphs {
        let _ = writeln!(text, "\n![{}]({file})", escaped(title));
    }
    let _ = writeln!(
        text,
        "\nRuns: {}. Made by oscope {}.",
        escaped(&student.runs.join(", ")),
        escaped(&hand_in.version)
    );
    text
}

/// A class: a table for each question.
pub fn class_markdown(class: &Class) -> String {
    let mut text = "# The class\n".to_owned();
    let mut lab = "";
    for question in &class.questions {
        if question.lab != lab {
            lab = &question.lab;
            let _ = writeln!(
                text,
                "\n## Lab {}: {}",
                escaped(lab),
                escaped(&question.title)
            );
        }
        let _ = writeln!(text, "\n### {}\n", escaped(&question.asks));
        text += "| student | machine | predicted | measured | |\n| --- | --- | --- | --- | --- |\n";
        for row in &question.rows {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                escaped(&row.student),
                escaped(&row.machine),
                escaped(&row.answer.predicted()),
                escaped(&row.answer.found()),
                escaped(&row.answer.verdict())
            );
        }
    }
    text
}
