//! Source maps: from a position in the running script to the position in its source.

use serde::Deserialize;

/// The map of one script.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SourceMap {
    sources: Vec<Option<String>>,
    names: Vec<String>,
    source_root: Option<String>,
    mappings: String,
}

/// A position in a source; line and column count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) source: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) name: Option<String>,
}

impl SourceMap {
    /// Parses a map; `None` if it is invalid or of an unsupported kind.
    pub(crate) fn parse(json: &str) -> Option<Self> {
        // Servers may add a first line that prevents scripts from reading it.
        let json = match json.strip_prefix(")]}") {
            Some(rest) => rest.split_once('\n')?.1,
            None => json,
        };
        let map: Self = serde_json::from_str(json).ok()?;
        (!map.mappings.is_empty()).then_some(map)
    }

    /// Where positions in the script come from. The map is read once for all positions.
    pub(crate) fn origins(&self, places: &[(u32, u32)]) -> Vec<Option<Origin>> {
        let mut best: Vec<Option<Segment>> = vec![None; places.len()];
        let last = places.iter().map(|(line, _)| *line).max().unwrap_or(0);
        let mut running = [0_i64; 4];
        for (number, line) in self.mappings.split(';').enumerate() {
            let Ok(number) = u32::try_from(number) else {
                break;
            };
            if number > last {
                break;
            }
            let mut column = 0_i64;
            for fields in line.split(',').filter(|fields| !fields.is_empty()) {
                let Some(values) = decode(fields) else {
                    continue;
                };
                let mut values = values.into_iter();
                column += values.next().unwrap_or(0);
                let mut count = 0;
                for (sum, value) in running.iter_mut().zip(values) {
                    *sum += value;
                    count += 1;
                }
                if count < 3 {
                    continue;
                }
                for (found, place) in best.iter_mut().zip(places) {
                    if place.0 == number && column <= i64::from(place.1) {
                        *found = Some(Segment {
                            at: running,
                            named: count == 4,
                        });
                    }
                }
            }
        }
        best.into_iter()
            .map(|segment| self.origin(segment?))
            .collect()
    }

    fn origin(&self, segment: Segment) -> Option<Origin> {
        let [source, line, column, name] = segment.at;
        let source = self.sources.get(usize::try_from(source).ok()?)?.as_ref()?;
        let root = self.source_root.as_deref().unwrap_or_default();
        let name = usize::try_from(name).ok().filter(|_| segment.named);
        Some(Origin {
            source: format!("{root}{source}"),
            line: u32::try_from(line).ok()?,
            column: u32::try_from(column).ok()?,
            name: name.and_then(|name| self.names.get(name)).cloned(),
        })
    }
}

/// Source, line, column and name of one segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    at: [i64; 4],
    named: bool,
}

/// The numbers of one segment: base 64, five bits a digit, the lowest bit is the sign.
fn decode(fields: &str) -> Option<Vec<i64>> {
    let mut values = Vec::with_capacity(5);
    let (mut value, mut shift) = (0_i64, 0_u32);
    for byte in fields.bytes() {
        let digit = i64::try_from(DIGITS.iter().position(|it| *it == byte)?).ok()?;
        value |= (digit & 31).checked_shl(shift)?;
        shift += 5;
        if shift > 40 {
            return None;
        }
        if digit & 32 == 0 {
            values.push(if value & 1 == 1 {
                -(value >> 1)
            } else {
                value >> 1
            });
            (value, shift) = (0, 0);
        }
    }
    Some(values)
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The address of a script's map, named on one of its last lines.
pub(crate) fn named_in(script: &str) -> Option<&str> {
    let tail = script.lines().rev().take(5);
    let mut urls = tail.filter_map(|line| {
        let line = line.trim();
        let rest = line
            .strip_prefix("//# sourceMappingURL=")
            .or_else(|| line.strip_prefix("//@ sourceMappingURL="))?;
        rest.split_whitespace().next()
    });
    urls.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_format_says() {
        assert_eq!(decode("AAAA"), Some(vec![0, 0, 0, 0]));
        assert_eq!(decode("gBD"), Some(vec![16, -1]));
        assert_eq!(decode("!"), None);
        assert_eq!(decode("ggggggggggggggg"), None);
    }

    #[test]
    fn a_position_maps_to_its_source() {
        // Two lines: (0,0) is a.ts 0:0, (0,8) is a.ts 2:4 under a name; (1,0) is b.ts 5:0.
        let json = r#"{"version":3,"sources":["a.ts","b.ts"],"names":["greet"],"sourceRoot":"src/",
                       "mappings":"AAAA,QAEIA;ACGJ"}"#;
        let map = SourceMap::parse(json).unwrap();
        let found = map.origins(&[(0, 3), (0, 20), (1, 7), (9, 0)]);
        let place = |source: &str, line, column, name: Option<&str>| {
            Some(Origin {
                source: source.into(),
                line,
                column,
                name: name.map(Into::into),
            })
        };
        assert_eq!(found[0], place("src/a.ts", 0, 0, None));
        assert_eq!(found[1], place("src/a.ts", 2, 4, Some("greet")));
        assert_eq!(found[2], place("src/b.ts", 5, 0, None));
        assert_eq!(found[3], None);
    }

    #[test]
    fn hostile_maps_give_no_result() {
        for json in [
            "",
            "[]",
            "{}",
            r#"{"mappings":"////////////////"}"#,
            r#"{"mappings":"AAAA","sources":[]}"#,
            r#"{"mappings":"ADDD","sources":["a"]}"#,
        ] {
            let found = SourceMap::parse(json).map(|map| map.origins(&[(0, 0)]));
            assert!(found.is_none_or(|found| found == [None]), "{json}");
        }
    }

    #[test]
    fn a_script_names_its_map_at_its_end() {
        assert_eq!(
            named_in("a()\n//# sourceMappingURL=a.js.map\n"),
            Some("a.js.map")
        );
        assert_eq!(named_in("a()\n"), None);
    }
}
