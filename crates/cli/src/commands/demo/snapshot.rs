//! Finds an element in a snapshot by its role and name, as an agent does.

/// The uid of the first element with that role and that name.
pub(super) fn uid_of<'a>(snapshot: &'a str, role: &str, name: &str) -> Option<&'a str> {
    let wanted = format!("{role} \"{name}\"");
    snapshot.lines().find_map(|line| {
        let (uid, rest) = line.trim_start().strip_prefix("uid=")?.split_once(' ')?;
        let after = rest.strip_prefix(&wanted)?;
        (after.is_empty() || after.starts_with(' ')).then_some(uid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_found_by_role_and_name() {
        let snapshot =
            "uid=3_1 main\n  uid=3_2 textbox \"Beds\" required\n  uid=3_9 button \"Beds\"";
        assert_eq!(uid_of(snapshot, "button", "Beds"), Some("3_9"));
        assert_eq!(uid_of(snapshot, "textbox", "Beds"), Some("3_2"));
        assert_eq!(uid_of(snapshot, "textbox", "Bed"), None);
        assert_eq!(uid_of(snapshot, "main", ""), None);
    }
}
