//! Plain tables: columns as wide as they need to be, the last one cut at the terminal's edge.

use crate::wrap;
use std::fmt;

/// A table with `N` columns.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
    width: usize,
}

impl<const N: usize> Table<N> {
    /// A table with these headings.
    pub(crate) fn new(headings: [&str; N]) -> Self {
        Self {
            rows: vec![headings.map(str::to_owned)],
            width: wrap::width(),
        }
    }

    /// Adds a row. Cells may come from a page, so control characters and line breaks are removed.
    pub(crate) fn row(&mut self, cells: [&str; N]) {
        self.rows
            .push(cells.map(|cell| tabmux_browser::text::one_line(cell, MOST_CELL)));
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            self.rows
                .iter()
                .map(|row| length(&row[column]))
                .max()
                .unwrap_or(0)
        };
        let widths: [usize; N] = std::array::from_fn(width);
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                line.push_str(cell);
                if column + 1 < N {
                    line.extend(std::iter::repeat_n(' ', widths[column] - length(cell) + 2));
                }
            }
            if number > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&tabmux_browser::text::shorten(
                line.trim_end(),
                self.width.saturating_sub(1),
            ))?;
        }
        Ok(())
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

const MOST_CELL: usize = 120;
