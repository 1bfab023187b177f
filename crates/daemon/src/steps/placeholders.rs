//! Placeholders in the arguments of steps, `{{item.x}}`, replaced by the values of an item.

use serde_json::Value;
use tabmux_text::one_line;

/// How many bytes of arguments may still be made.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MOST_BYTES)
    }
}

impl Room {
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), String> {
        let left = self.0.checked_sub(bytes + EACH_VALUE);
        self.0 = left.ok_or(TOO_LARGE)?;
        Ok(())
    }
}

/// The value with its placeholders replaced. A text that is one placeholder becomes the item's value itself.
pub(super) fn filled(
    value: &Value,
    item: Option<&Value>,
    room: &mut Room,
) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => filled_text(text, item, room)?,
        Value::Array(list) => {
            let list = list.iter().map(|value| filled(value, item, room));
            Value::Array(list.collect::<Result<_, _>>()?)
        }
        Value::Object(map) => {
            let map = map.iter().map(|(key, value)| {
                room.take(key.len())?;
                Ok((key.clone(), filled(value, item, room)?))
            });
            Value::Object(map.collect::<Result<_, String>>()?)
        }
        other => {
            room.take(0)?;
            other.clone()
        }
    })
}

fn filled_text(text: &str, item: Option<&Value>, room: &mut Room) -> Result<Value, String> {
    room.take(text.len())?;
    let mut rest = text;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once("{{item") {
        let Some((path, after)) = after.split_once("}}") else {
            return Err(format!("`{{{{item{}` has no end", one_line(after, 40)));
        };
        let value = item_value(path, item)?;
        if before.is_empty() && out.is_empty() && after.is_empty() {
            room.take(value.to_string().len())?;
            return Ok(value.clone());
        }
        out.push_str(before);
        match value {
            Value::String(text) => {
                room.take(text.len())?;
                out.push_str(text);
            }
            Value::Number(_) | Value::Bool(_) => out.push_str(&value.to_string()),
            _ => return Err(format!("{{{{item{path}}}}} is neither a text nor a number")),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(Value::String(out))
}

/// The value of `.x.y` in an item.
fn item_value<'a>(path: &str, item: Option<&'a Value>) -> Result<&'a Value, String> {
    let shown = format!("{{{{item{}}}}}", one_line(path, 60));
    let item = item.ok_or_else(|| format!("{shown} needs a `forEach`"))?;
    let mut keys = path.split('.');
    if keys.next() != Some("") {
        return Err(format!(
            "{shown} is not a placeholder; write {{{{item.name}}}}"
        ));
    }
    keys.try_fold(item, |value, key| value.get(key))
        .ok_or_else(|| format!("an item has nothing for {shown}"))
}

/// The most bytes of arguments of all steps, with the values of items in them.
pub(super) const MOST_BYTES: usize = 4 << 20;
/// What a value costs besides its text.
const EACH_VALUE: usize = 32;
const TOO_LARGE: &str =
    "with the values of `forEach` the arguments have more than 4 MB. Make several calls of it";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn placeholders_keep_the_type_of_whole_values() {
        let item = json!({"n": 7, "name": "Ann", "deep": {"list": [1]}});
        for (text, value) in [
            ("{{item.n}}", json!(7)),
            ("no. {{item.n}}: {{item.name}}!", json!("no. 7: Ann!")),
            ("{{item.deep.list}}", json!([1])),
            ("{{item}}", item.clone()),
            ("{{secret:PASSWORD}}", json!("{{secret:PASSWORD}}")),
            ("plain", json!("plain")),
        ] {
            assert_eq!(
                filled_text(text, Some(&item), &mut Room::default()).unwrap(),
                value,
                "{text}"
            );
        }
        for text in ["{{item.n", "x{{item.deep}}", "{{items}}"] {
            assert!(
                filled_text(text, Some(&item), &mut Room::default()).is_err(),
                "{text}"
            );
        }
    }
}
