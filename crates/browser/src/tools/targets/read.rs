//! Reads named targets from the arguments of a call, and writes the uids that were found in their place.

use super::super::{BadArguments, Tool, parse, schema};
use super::{Target, resolve};
use crate::error::ToolError;
use crate::run::Page;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The arguments of a call that names elements.
#[derive(Debug)]
pub(in crate::tools) struct NamedTargets {
    arguments: Map<String, Value>,
    /// With a uid of no element in each place.
    checked: Box<RawValue>,
    targets: Vec<(TargetArgument, Target)>,
}

/// The argument that a found uid belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TargetArgument {
    /// An argument of the call itself.
    Own(&'static str),
    /// The field of this number in `elements`.
    Field(usize),
}

impl NamedTargets {
    /// The named targets of a call; `None` if it has none.
    pub(in crate::tools) fn read<T: Tool>(
        arguments: &RawValue,
    ) -> Result<Option<Self>, BadArguments> {
        if !KEYS.iter().any(|key| arguments.get().contains(key)) {
            return Ok(None);
        }
        let schema = schema::of::<T>();
        let takes = |name: &str| schema["properties"].get(name).is_some();
        if !["uid", "from_uid", "elements"].into_iter().any(takes) {
            return Ok(None);
        }
        let mut arguments: Map<String, Value> = parse(T::NAME, arguments)?;
        let bad = |detail: String| BadArguments {
            tool: T::NAME,
            detail,
        };
        let targets = take(&mut arguments, takes).map_err(bad)?;
        if targets.is_empty() {
            return Ok(None);
        }
        let nowhere = targets.iter().map(|(place, _)| (place, NO_UID.to_owned()));
        put(&mut arguments, nowhere);
        let checked = to_raw_value(&arguments).map_err(|error| bad(error.to_string()))?;
        Ok(Some(Self {
            arguments,
            checked,
            targets,
        }))
    }

    /// The arguments to check before the elements are known.
    pub(in crate::tools) fn checked(&self) -> &RawValue {
        &self.checked
    }

    /// The tool with the uids of the elements that are on the page now.
    pub(in crate::tools) async fn found<T: Tool>(mut self, page: &Page) -> Result<T, ToolError> {
        let (places, targets): (Vec<_>, Vec<_>) = self.targets.into_iter().unzip();
        let fields = T::NAME.starts_with("fill");
        let uids = resolve(page, &targets, fields).await?;
        if let [uid] = uids.as_slice() {
            page.aim_at(uid);
        }
        put(&mut self.arguments, places.iter().zip(uids));
        serde_json::from_value(Value::Object(self.arguments))
            .map_err(|error| ToolError::Arguments(error.to_string()))
    }
}

/// Whether a schema has this argument for the uid of an element.
pub(in crate::tools) fn takes_uid(name: &str) -> bool {
    matches!(name, "uid" | "from_uid" | "to_uid")
}

/// Removes the named targets from the arguments.
fn take(
    arguments: &mut Map<String, Value>,
    takes: impl Fn(&str) -> bool,
) -> Result<Vec<(TargetArgument, Target)>, String> {
    let mut targets = Vec::new();
    if takes("uid")
        && let Some(target) = target_in(arguments, "uid")?
    {
        targets.push((TargetArgument::Own("uid"), target));
    }
    if takes("from_uid") {
        for (end, uid) in [("from", "from_uid"), ("to", "to_uid")] {
            let Some(named) = arguments.remove(end) else {
                continue;
            };
            let Value::Object(mut named) = named else {
                return Err(format!(
                    "`{end}` must be an object with `role`, `name` or `near`"
                ));
            };
            if arguments.contains_key(uid) {
                return Err(format!("give either `{uid}` or `{end}`"));
            }
            let target = target_in(&mut named, uid)?;
            let target = target.ok_or_else(|| format!("`{end}` needs a `role` or a `name`"))?;
            match named.keys().next() {
                Some(other) => return Err(format!("`{end}` has no `{other}`")),
                None => targets.push((TargetArgument::Own(uid), target)),
            }
        }
    }
    if takes("elements")
        && let Some(Value::Array(fields)) = arguments.get_mut("elements")
    {
        for (number, field) in fields.iter_mut().enumerate() {
            if let Value::Object(field) = field
                && let Some(target) = target_in(field, "uid")?
            {
                targets.push((TargetArgument::Field(number), target));
            }
        }
    }
    Ok(targets)
}

/// Removes the target from these arguments, if they name one.
fn target_in(arguments: &mut Map<String, Value>, uid: &str) -> Result<Option<Target>, String> {
    let mut take = |key: &str| match arguments.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() > LONGEST => {
            Err(format!("`{key}` is longer than {LONGEST} bytes"))
        }
        Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Some(_) => Err(format!("`{key}` must be a text")),
    };
    let role = take("role")?.map(|role| role.trim().to_lowercase());
    let (name, near) = (take("name")?, take("near")?);
    if role.is_none() && name.is_none() && near.is_none() {
        return Ok(None);
    }
    if arguments.get(uid).is_some_and(|uid| !uid.is_null()) {
        return Err(format!("choose one: `{uid}`, or `role`, `name` and `near`"));
    }
    if role.is_none() && name.is_none() {
        return Err("`near` needs a `role` or a `name` beside it".into());
    }
    Ok(Some(Target { role, name, near }))
}

/// Writes uids to their places.
fn put<'a>(
    arguments: &mut Map<String, Value>,
    uids: impl Iterator<Item = (&'a TargetArgument, String)>,
) {
    for (place, uid) in uids {
        let field = match place {
            TargetArgument::Own(name) => {
                arguments.insert((*name).to_owned(), uid.into());
                continue;
            }
            TargetArgument::Field(number) => arguments
                .get_mut("elements")
                .and_then(|fields| fields.get_mut(*number)),
        };
        if let Some(Value::Object(field)) = field {
            field.insert("uid".into(), uid.into());
        }
    }
}

const KEYS: [&str; 3] = ["\"role\"", "\"name\"", "\"near\""];
const NO_UID: &str = "0_0";
const LONGEST: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::super::super::{drag::Drag, fill::FillForm, find::Find, input::Click};
    use super::*;
    use serde_json::json;

    fn read<T: Tool>(arguments: Value) -> Result<Option<String>, String> {
        let arguments = to_raw_value(&arguments).unwrap();
        let read = NamedTargets::read::<T>(&arguments).map_err(|error| error.detail)?;
        Ok(read.map(|read| {
            parse::<T>(T::NAME, read.checked()).unwrap();
            let targets = read.targets.iter();
            let targets = targets.map(|(place, target)| format!("{place:?}: {target}"));
            targets.collect::<Vec<_>>().join("; ")
        }))
    }

    #[test]
    fn targets_are_read_where_uids_are_taken() {
        let save = json!({"role": "Button", "name": "Save", "dblClick": true});
        assert_eq!(
            read::<Click>(save).unwrap().unwrap(),
            r#"Own("uid"): button "Save""#
        );
        let near = json!({"name": "Delete", "near": "Invoice 17"});
        assert_eq!(
            read::<Click>(near).unwrap().unwrap(),
            r#"Own("uid"): "Delete" near "Invoice 17""#
        );
        let form =
            json!({"elements": [{"uid": "1_2", "value": "role"}, {"name": "City", "value": "x"}]});
        assert_eq!(
            read::<FillForm>(form).unwrap().unwrap(),
            r#"Field(1): "City""#
        );
        let drag = json!({"from": {"name": "Card"}, "to": {"role": "list", "name": "Done"}});
        assert_eq!(
            read::<Drag>(drag).unwrap().unwrap(),
            r#"Own("from_uid"): "Card"; Own("to_uid"): list "Done""#
        );
        assert_eq!(read::<Find>(json!({"role": "button"})).unwrap(), None);
        assert_eq!(read::<Click>(json!({"uid": "1_2"})).unwrap(), None);
    }

    #[test]
    fn wrong_targets_are_refused_with_a_reason() {
        let both = json!({"uid": "1_2", "name": "Save"});
        let near = json!({"near": "Save"});
        let number = json!({"name": 7});
        for (arguments, why) in [
            (both, "choose one: `uid`, or `role`, `name` and `near`"),
            (near, "`near` needs a `role` or a `name` beside it"),
            (number, "`name` must be a text"),
        ] {
            assert_eq!(read::<Click>(arguments).unwrap_err(), why);
        }
        let drag = json!({"from": {"name": "Card", "x": 1}, "to_uid": "1_2"});
        assert_eq!(read::<Drag>(drag).unwrap_err(), "`from` has no `x`");
        let drag = json!({"from": {"name": "Card"}, "from_uid": "1_1", "to_uid": "1_2"});
        let why = read::<Drag>(drag).unwrap_err();
        assert_eq!(why, "give either `from_uid` or `from`");
    }
}
