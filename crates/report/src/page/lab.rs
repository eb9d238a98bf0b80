//! The page of a hand-in, and that of a class.

use super::anchor::Anchors;
use super::chart::{Names, render};
use super::figure::scales;
use super::render::Error;
use crate::lab::{Answered, Class, ClassQuestion, Comparison, Found, HandIn, Prediction};
use askama::Template;
use instrument::figure::{Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Series};
use instrument::point::Level;
use instrument::quantity::Quantity;
use instrument::statistics::Interval;

/// The page of a hand-in with the graphs of its measurements: a complete HTML document without external
/// references.
///
/// # Errors
/// [`Error`] if a template cannot be filled. No such case is known.
pub fn hand_in(hand_in: &HandIn, graphs: &[Figure]) -> Result<String, Error> {
    let (right, judged) = hand_in.score();
    let page = HandInPage {
        title: format!("Lab {}: {}", hand_in.lab, hand_in.student.name),
        version: &hand_in.version,
        hand_in,
        score: format!("{right} of {judged} predictions right"),
        answers: hand_in.answers.iter().map(AnswerView::new).collect(),
        graphs: graphs
            .iter()
            .map(|figure| (figure.title.clone(), chart(figure)))
            .collect(),
        css: include_str!("../../assets/page.css"),
    };
    Ok(page.render()?)
}

/// The page of a class: a complete HTML document without external references.
///
/// # Errors
/// [`Error`] if a template cannot be filled. No such case is known.
pub fn class(class: &Class) -> Result<String, Error> {
    let mut anchors = Anchors::default();
    anchors.take("top");
    let mut labs: Vec<LabView> = Vec::new();
    for question in &class.questions {
        let view = QuestionView::new(question);
        match labs.iter_mut().find(|lab| lab.name == question.lab) {
            Some(lab) => lab.questions.push(view),
            None => labs.push(LabView {
                id: anchors.take(&question.lab),
                name: question.lab.clone(),
                title: question.title.clone(),
                questions: vec![view],
            }),
        }
    }
    let page = ClassPage {
        title: "The class",
        labs,
        version: env!("CARGO_PKG_VERSION"),
        css: include_str!("../../assets/page.css"),
    };
    Ok(page.render()?)
}

#[derive(Template)]
#[template(path = "hand_in.html")]
struct HandInPage<'a> {
    title: String,
    version: &'a str,
    hand_in: &'a HandIn,
    score: String,
    answers: Vec<AnswerView<'a>>,
    graphs: Vec<(String, String)>,
    css: &'static str,
}

#[derive(Template)]
#[template(path = "class.html")]
struct ClassPage {
    title: &'static str,
    labs: Vec<LabView>,
    version: &'static str,
    css: &'static str,
}

/// One answer.
struct AnswerView<'a> {
    answer: &'a Answered,
    predicted: String,
    measured: String,
    verdict: String,
    class: &'static str,
}

/// One lab of a class.
struct LabView {
    id: String,
    name: String,
    title: String,
    questions: Vec<QuestionView>,
}

/// One question of a class.
struct QuestionView {
    asks: String,
    rows: Vec<RowView>,
    /// Predictions and measurements as a chart; none for choices.
    chart: String,
}

/// The answer of one student.
struct RowView {
    student: String,
    machine: String,
    predicted: String,
    measured: String,
    verdict: String,
    class: &'static str,
    why: String,
}

impl<'a> AnswerView<'a> {
    fn new(answer: &'a Answered) -> Self {
        Self {
            answer,
            predicted: answer.predicted(),
            measured: answer.found(),
            verdict: answer.verdict(),
            class: class_of(answer.outcome),
        }
    }
}

impl QuestionView {
    fn new(question: &ClassQuestion) -> Self {
        let rows = question.rows.iter().map(|row| RowView {
            student: row.student.clone(),
            machine: row.machine.clone(),
            predicted: row.answer.predicted(),
            measured: row.answer.found(),
            verdict: row.answer.verdict(),
            class: class_of(row.answer.outcome),
            why: row.answer.why.clone().unwrap_or_default(),
        });
        let graph = graph(question);
        Self {
            asks: question.asks.clone(),
            rows: rows.collect(),
            chart: graph.as_ref().map(chart).unwrap_or_default(),
        }
    }
}

/// The CSS class of an outcome.
fn class_of(outcome: Comparison) -> &'static str {
    match outcome {
        Comparison::Right => "faster",
        Comparison::TooHigh | Comparison::TooLow | Comparison::Wrong => "slower",
        Comparison::CannotBeTold => "open",
    }
}

fn chart(figure: &Figure) -> String {
    let (scale, _) = scales(figure);
    render(figure, scale, Names::InChart)
}

/// A number with its interval.
type Drawn = (f64, Option<Interval>);

/// Predicted and measured numbers by student; `None` if the question asks for a choice.
fn graph(question: &ClassQuestion) -> Option<Figure> {
    let unit = question.rows.first()?.answer.unit?;
    let series = |label: &str, value: &dyn Fn(&Answered) -> Option<Drawn>| {
        let points = question.rows.iter().enumerate().filter_map(|(index, row)| {
            let (value, interval) = value(&row.answer)?;
            let x = format!("{} {}", index + 1, row.student);
            let quantity = Quantity {
                value,
                interval,
                unit,
            };
            Some(point(x, quantity))
        });
        Series {
            label: label.to_owned(),
            points: points.collect(),
        }
    };
    let predicted = |answer: &Answered| match answer.prediction {
        Prediction::Number(number) => Some((number, None)),
        Prediction::Choice(_) => None,
    };
    let measured = |answer: &Answered| match &answer.measured {
        Found::Number(found) => {
            let ends = found
                .interval
                .and_then(|[low, high]| Interval::new(low, high));
            Some((found.value, ends))
        }
        Found::Choice { .. } | Found::Nothing(_) => None,
    };
    Some(Figure {
        key: question.key.clone(),
        title: question.asks.clone(),
        kind: FigureKind::Bars,
        x: FigureAxis {
            title: "student".to_owned(),
            unit: None,
            scale: FigureScale::Linear,
        },
        y: FigureAxis {
            title: String::new(),
            unit: Some(unit),
            // Predictions go astray by orders of magnitude.
            scale: FigureScale::Logarithmic,
        },
        series: vec![
            series("predicted", &predicted),
            series("measured", &measured),
        ],
        marks: Vec::new(),
    })
}

fn point(x: String, quantity: Quantity) -> FigurePoint {
    FigurePoint {
        x: Level::Choice(x),
        estimate: quantity.into(),
        doubtful: false,
    }
}
