//! A class: the hand-ins of several students, question by question.

use super::HandIn;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

/// Hand-ins side by side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Class {
    /// Version of the format.
    pub format: u32,
    /// The questions, lab after lab.
    pub questions: Vec<ClassQuestion>,
}

/// A question with the answers of all students.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClassQuestion {
    /// The lab's name.
    pub lab: String,
    /// Its title.
    pub title: String,
    /// The question's name.
    pub key: String,
    /// The question.
    pub asks: String,
    /// One row for each student.
    pub rows: Vec<ClassRow>,
}

/// The answer of one student.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClassRow {
    /// The student.
    pub student: String,
    /// The machine.
    pub machine: String,
    /// The answer.
    pub answer: super::Answered,
}

impl Class {
    /// The hand-ins by lab and question; students in the order of their names.
    pub fn new(hand_ins: &[HandIn]) -> Self {
        let mut sorted: Vec<&HandIn> = hand_ins.iter().collect();
        sorted.sort_by(|one, other| {
            (&one.lab, &one.student.name).cmp(&(&other.lab, &other.student.name))
        });
        let mut questions: Vec<ClassQuestion> = Vec::new();
        for hand_in in sorted {
            for answer in &hand_in.answers {
                let row = ClassRow {
                    student: hand_in.student.name.clone(),
                    machine: hand_in.student.machine.clone(),
                    answer: answer.clone(),
                };
                let is_same = |it: &&mut ClassQuestion| {
                    it.lab == hand_in.lab && it.key == answer.key && it.asks == answer.asks
                };
                match questions.iter_mut().find(is_same) {
                    Some(question) => question.rows.push(row),
                    None => questions.push(ClassQuestion {
                        lab: hand_in.lab.clone(),
                        title: hand_in.title.clone(),
                        key: answer.key.clone(),
                        asks: answer.asks.clone(),
                        rows: vec![row],
                    }),
                }
            }
        }
        Self {
            format: crate::json::FORMAT,
            questions,
        }
    }

    /// The schema of the document.
    pub fn schema() -> Schema {
        schema_for!(Self)
    }
}
