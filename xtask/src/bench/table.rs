//! Formats the numbers as a table.

use std::fmt;

/// Rows under headings, in the order they were measured.
#[derive(Debug, Default)]
pub(super) struct Table(Vec<Line>);

#[derive(Debug)]
enum Line {
    Heading(String),
    Row(Row),
}

#[derive(Debug)]
struct Row {
    what: String,
    number: f64,
    value: String,
    goal: Option<Goal>,
    note: String,
}

#[derive(Debug)]
struct Goal {
    text: String,
    met: bool,
}

impl Table {
    /// Begins a section of the table.
    pub(super) fn heading(&mut self, text: impl Into<String>) {
        self.0.push(Line::Heading(text.into()));
    }

    /// A number that should not be above `most`.
    pub(super) fn goal(
        &mut self,
        what: &str,
        value: f64,
        most: f64,
        unit: Unit,
        note: impl Into<String>,
    ) {
        let goal = Goal {
            text: format!("≤ {}", unit.show(most)),
            met: value <= most,
        };
        self.row(what, value, Some(goal), unit, note);
    }

    /// A number without a goal.
    pub(super) fn fact(&mut self, what: &str, value: f64, unit: Unit, note: impl Into<String>) {
        self.row(what, value, None, unit, note);
    }

    fn row(
        &mut self,
        what: &str,
        value: f64,
        goal: Option<Goal>,
        unit: Unit,
        note: impl Into<String>,
    ) {
        self.0.push(Line::Row(Row {
            what: what.to_owned(),
            number: value,
            value: unit.show(value),
            goal,
            note: note.into(),
        }));
    }

    /// Each row's heading, name and number.
    pub(super) fn numbers(&self) -> Vec<(String, f64)> {
        let mut heading = "";
        let mut numbers = Vec::new();
        for line in &self.0 {
            match line {
                Line::Heading(text) => heading = text,
                Line::Row(row) => numbers.push((format!("{heading}: {}", row.what), row.number)),
            }
        }
        numbers
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.0.iter().filter_map(|line| match line {
            Line::Row(row) => Some(row),
            Line::Heading(_) => None,
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |text: &dyn Fn(&Row) -> &str| {
            let lengths = self.rows().map(|row| text(row).chars().count());
            lengths.max().unwrap_or_default()
        };
        let goal = |row: &Row| -> String {
            row.goal
                .as_ref()
                .map_or_else(String::new, |goal| goal.text.clone())
        };
        let what = width(&|row| &row.what);
        let value = width(&|row| &row.value);
        let goals = self
            .rows()
            .map(|row| goal(row).chars().count())
            .max()
            .unwrap_or_default();
        for line in &self.0 {
            match line {
                Line::Heading(text) => writeln!(f, "\n{text}")?,
                Line::Row(row) => {
                    let sign = match &row.goal {
                        Some(Goal { met: true, .. }) => "✓",
                        Some(Goal { met: false, .. }) => "✗",
                        None => " ",
                    };
                    let shown = format!(
                        "  {sign} {:what$}  {:>value$}  {:goals$}  {}",
                        row.what,
                        row.value,
                        goal(row),
                        row.note
                    );
                    writeln!(f, "{}", shown.trim_end())?;
                }
            }
        }
        let missed: Vec<_> = self
            .rows()
            .filter(|row| row.goal.as_ref().is_some_and(|goal| !goal.met))
            .collect();
        match missed.as_slice() {
            [] => write!(f, "\nEvery goal is met."),
            missed => {
                write!(f, "\n✗ MISSED: {} of the goals:", missed.len())?;
                for row in missed {
                    write!(
                        f,
                        "\n  ✗ {}: {} instead of {}",
                        row.what,
                        row.value,
                        goal(row)
                    )?;
                }
                Ok(())
            }
        }
    }
}

/// The unit of a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    Micros,
    Millis,
    Megabytes,
    Bytes,
    Times,
    Seconds,
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::Micros if value < 10.0 => format!("{value:.2} µs"),
            Self::Micros => format!("{value:.0} µs"),
            Self::Millis if value < 10.0 && value.fract() != 0.0 => format!("{value:.2} ms"),
            Self::Millis => format!("{value:.0} ms"),
            Self::Megabytes => format!("{value:.1} MB"),
            Self::Bytes => format!("{value:.0} B"),
            Self::Times => format!("{value:.2} ×"),
            Self::Seconds => format!("{value:.2} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_that_is_missed_cannot_be_overlooked() {
        let mut table = Table::default();
        table.heading("Start");
        table.goal("answer", 4.0, 10.0, Unit::Millis, "");
        table.goal("memory", 15.5, 15.0, Unit::Megabytes, "of one process");
        table.fact("screenshots", 1.25, Unit::Seconds, "ten at once");
        let text = table.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "",
                "Start",
                "  ✓ answer          4 ms  ≤ 10 ms",
                "  ✗ memory       15.5 MB  ≤ 15.0 MB  of one process",
                "    screenshots   1.25 s             ten at once",
                "",
                "✗ MISSED: 1 of the goals:",
                "  ✗ memory: 15.5 MB instead of ≤ 15.0 MB",
            ]
        );
    }
}
