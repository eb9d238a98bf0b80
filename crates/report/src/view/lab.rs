//! Labs: the list, the hand-in of a student, and a class question by question.

use crate::document::{Blocks, Chart, Document, Piece, Table, Text, text};
use crate::lab::{
    Accuracy, Answered, Class, ClassQuestion, ClassRow, Found, HandIn, Prediction, labs as all,
};
use crate::show::Word;
use crate::show::words::{FASTER, SLOWER, UNDECIDED};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Series};
use instrument::point::Level;
use instrument::quantity::Quantity;

/// All labs, with their experiments and the time that they take.
pub fn labs() -> Document<'static> {
    let labs = all().iter().fold(Blocks::default(), |blocks, lab| {
        let experiments = lab.experiments().join(" and ");
        let (questions, seconds) = (lab.questions.len(), lab.seconds());
        let what = format!("{questions} questions, measures {experiments} for {seconds} s");
        let about = Blocks::default().say([lab.about.as_str().into(), Piece::faint(what)]);
        blocks.section(format!("{}: {}", lab.name, lab.title), about)
    });
    labs.document("")
}

/// A hand-in with the graphs of its measurements, each with the name of the file that has it as a picture.
pub fn hand_in(hand_in: &HandIn, graphs: Vec<(Figure, Option<String>)>) -> Document<'static> {
    let student = &hand_in.student;
    let (right, judged) = hand_in.score();
    let first = student.first_machine.as_ref();
    let against = first.map_or_else(String::new, |first| format!(" Compared with {first}."));
    let summary = format!(
        "{}: {right} of {judged} predictions right. Measured {} on {}.{against}",
        student.name, student.measured, student.machine
    );
    let graphs = graphs.into_iter().map(|(figure, file)| {
        let title = figure.title.clone();
        Chart::of(figure, &title, file)
    });
    let rule = format!(
        "A number is right within a factor of 1.5, a place on a curve within a factor of 2, a choice if its \
         interval is apart from the others. Bands and whiskers are 95 % confidence intervals, small dots are \
         processes. Runs: {}. Made by oscope {}.",
        student.runs.join(", "),
        hand_in.version
    );
    let answers = hand_in.answers.iter().enumerate();
    let answers = answers.fold(Blocks::default().say([summary]), |blocks, (index, it)| {
        blocks.section(format!("{}. {}", index + 1, it.asks), answer(it))
    });
    answers
        .section("Measurements", Blocks::default().charts(graphs))
        .say([Piece::faint(rule)])
        .document(format!("Lab {}: {}", hand_in.lab, hand_in.title))
}

fn answer<'a>(answer: &Answered) -> Blocks<'a> {
    let judged = [
        ("predicted", answer.prediction.show(answer.unit).into()),
        ("measured", answer.measured.show().into()),
        ("verdict", verdict(answer)),
    ];
    let reported = answer.reported.iter();
    let reported = reported.map(|it| (it.place.as_str(), it.says.as_str().into()));
    let why = answer.why.as_deref().unwrap_or("(not answered)");
    Blocks::default()
        .facts(judged.into_iter().chain(reported))
        .say([text![Piece::strong(answer.why_asked.as_str()), " ", why]])
}

/// A class: a table for each question.
pub fn class(class: &Class) -> Document<'_> {
    let labs = class.questions.chunk_by(|one, next| one.lab == next.lab);
    let labs = labs.fold(Blocks::default(), |blocks, questions| {
        let (lab, title) = (&questions[0].lab, &questions[0].title);
        let questions = questions.iter().fold(Blocks::default(), |blocks, it| {
            blocks.section(it.asks.as_str(), question(it))
        });
        blocks.section(format!("Lab {lab}: {title}"), questions)
    });
    labs.document("The class")
}

fn question<'a>(question: &ClassQuestion) -> Blocks<'a> {
    let table = Table::of(format!("answers to: {}", question.asks), &question.rows)
        .name("student", |row| row.student.as_str())
        .words("machine", |row| row.machine.as_str())
        .number("predicted", |row| {
            row.answer.prediction.show(row.answer.unit)
        })
        .words("measured", |row| row.answer.measured.show())
        .words("verdict", |row| verdict(&row.answer))
        .words("why", |row| row.answer.why.as_deref().unwrap_or(""));
    let graph = graph(question).map(|figure| Chart::of(figure, "", None));
    Blocks::default().charts(graph).table(table)
}

fn verdict(answer: &Answered) -> Text {
    let word: Word = match answer.outcome {
        Accuracy::Right => FASTER,
        Accuracy::TooHigh | Accuracy::TooLow | Accuracy::Wrong => SLOWER,
        Accuracy::Undecided => UNDECIDED,
    };
    Piece::toned(word.tone, answer.verdict()).into()
}

/// Predicted and measured numbers by student; `None` if the question asks for a choice.
fn graph(question: &ClassQuestion) -> Option<Figure> {
    let unit = question.rows.first()?.answer.unit?;
    let series = |label: &str, value: &dyn Fn(&Answered) -> Option<Quantity>| {
        let point = |(index, row): (usize, &ClassRow)| {
            Some(FigurePoint {
                x: Level::Choice(format!("{} {}", index + 1, row.student)),
                estimate: value(&row.answer)?.into(),
                doubtful: false,
            })
        };
        Series {
            label: label.to_owned(),
            points: question.rows.iter().enumerate().filter_map(point).collect(),
        }
    };
    let predicted = |answer: &Answered| match answer.prediction {
        Prediction::Number(number) => Some(Quantity::exact(number, unit)),
        Prediction::Choice(_) => None,
    };
    let measured = |answer: &Answered| match &answer.measured {
        Found::Number(found) => Some(*found),
        Found::Choice { .. } | Found::Nothing(_) => None,
    };
    Some(Figure {
        key: question.key.clone(),
        title: question.asks.clone(),
        kind: FigureKind::Bars,
        x: FigureAxis::new("student", None, FigureScale::Linear),
        // Predictions may be wrong by orders of magnitude.
        y: FigureAxis::new("", Some(unit), FigureScale::Logarithmic),
        series: vec![
            series("predicted", &predicted),
            series("measured", &measured),
        ],
        marks: Vec::new(),
    })
}
