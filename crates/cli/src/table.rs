//! Plain tables: columns as wide as they need to be, the last one cut at the terminal's edge.

use crate::columns::{columns, cut};
use crate::wrap;
use std::fmt;
use tabmux_text::one_line;

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
        let cells = cells.map(|cell| cut(&one_line(cell, MOST_CELL), MOST_CELL));
        self.rows.push(cells);
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| columns(&row[column]));
            cells.max().unwrap_or(0)
        };
        let widths: [usize; N] = std::array::from_fn(width);
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                line.push_str(cell);
                if column + 1 < N {
                    line.extend(std::iter::repeat_n(' ', widths[column] - columns(cell) + 2));
                }
            }
            if number > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&cut(line.trim_end(), self.width))?;
        }
        Ok(())
    }
}

/// The widest cell, in columns.
const MOST_CELL: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(width: usize) -> Table<3> {
        let mut table = Table::new(["TAB", "TITLE", "URL"]);
        table.width = width;
        table.row(["1", "日本語のニュース", "https://news.example/"]);
        table.row(["2", "🦀 Rust", "https://rust.example/"]);
        table.row(["3", "Cafe\u{301}", "https://cafe.example/日本"]);
        table
    }

    #[test]
    fn columns_line_up_behind_cjk_and_emoji_titles() {
        let text = titles(usize::MAX).to_string();
        let begins = |line: &str| columns(&line[..line.find("https").unwrap()]);
        let addresses: Vec<usize> = text.lines().skip(1).map(begins).collect();
        assert_eq!(addresses, [23, 23, 23], "{text}");
        assert!(text.starts_with("TAB  TITLE             URL\n"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 10..50 {
            let text = titles(width).to_string();
            assert!(text.lines().all(|line| columns(line) <= width), "{text}");
        }
        assert_eq!(
            titles(10).to_string(),
            "TAB  TITL…\n1    日本…\n2    🦀 R…\n3    Cafe\u{301}…"
        );
    }

    #[test]
    fn a_long_cell_is_cut_at_its_columns() {
        let mut table = Table::new(["TITLE"]);
        table.width = usize::MAX;
        table.row([&"語".repeat(200)]);
        table.row([&"x".repeat(200)]);
        let widths: Vec<usize> = table.to_string().lines().map(columns).collect();
        assert_eq!(widths, [5, 119, 120]);
    }
}
