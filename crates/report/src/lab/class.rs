//! A class: the hand-ins of several students, question by question.

use super::HandIn;
use crate::lists::by_key;
use schemars::JsonSchema;
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
        let answers = sorted.into_iter();
        let answers =
            answers.flat_map(|hand_in| hand_in.answers.iter().map(move |it| (hand_in, it)));
        let questions = by_key(answers.map(|(hand_in, answer)| {
            let question = (&hand_in.lab, &answer.key, &answer.asks);
            (question, (hand_in, answer))
        }));
        let questions = questions
            .into_iter()
            .map(|((lab, key, asks), answers)| ClassQuestion {
                lab: lab.clone(),
                title: answers[0].0.title.clone(),
                key: key.clone(),
                asks: asks.clone(),
                rows: answers
                    .into_iter()
                    .map(|(hand_in, answer)| ClassRow {
                        student: hand_in.student.name.clone(),
                        machine: hand_in.student.machine.clone(),
                        answer: answer.clone(),
                    })
                    .collect(),
            });
        Self {
            format: crate::json::FORMAT,
            questions: questions.collect(),
        }
    }
}
