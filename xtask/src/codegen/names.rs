//! Names: the protocol's camelCase to Rust's cases.

/// `frameId`, `DOMNode`, `nodeIDs` → `frame_id`, `dom_node`, `node_ids`.
pub(crate) fn snake_case(name: &str) -> String {
    words(name).join("_")
}

/// `mousePressed`, `no-sniff` → `MOUSE_PRESSED`, `NO_SNIFF`; a leading digit gets an underscore before it.
pub(crate) fn constant_case(name: &str) -> String {
    let name = words(name).join("_").to_uppercase();
    match name.chars().next() {
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
        None => "EMPTY".to_owned(),
    }
}

/// `frameNavigated` → `FrameNavigated`; a final `ID` becomes `Id`, as Rust writes it.
pub(crate) fn type_case(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    let name: String = first.into_iter().chain(characters).collect();
    match name.strip_suffix("ID") {
        Some(stem) if !stem.is_empty() => format!("{stem}Id"),
        _ => name,
    }
}

/// What serde's `rename_all = "camelCase"` makes of a snake_case name.
pub(crate) fn serde_camel_case(name: &str) -> String {
    let mut camel = String::new();
    for (index, word) in name.split('_').enumerate() {
        let mut characters = word.chars();
        match characters.next() {
            Some(first) if index > 0 => camel.push(first.to_ascii_uppercase()),
            Some(first) => camel.push(first),
            None => {}
        }
        camel.extend(characters);
    }
    camel
}

/// The name, escaped if it is a keyword.
pub(crate) fn escape(name: &str) -> String {
    if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// Lower-case words. A new one begins at an upper-case letter after a lower-case one, at the last upper-case letter of a
/// run that a lower-case one follows (`DOMNode`), and after anything other than a letter or digit.
fn words(name: &str) -> Vec<String> {
    let name = name.replace("IDs", "Ids").replace("URLs", "Urls");
    let characters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (index, &character) in characters.iter().enumerate() {
        if !character.is_ascii_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = index
            .checked_sub(1)
            .and_then(|before| characters.get(before));
        let after = characters.get(index + 1);
        let starts = character.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(character.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

const KEYWORDS: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct",
    "trait", "true", "try", "type", "typeof", "union", "unsafe", "use", "virtual", "where",
    "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_read_as_rust() {
        for (name, expected) in [
            ("frameId", "frame_id"),
            ("backendDOMNodeId", "backend_dom_node_id"),
            ("url", "url"),
            ("WebMCP", "web_mcp"),
            ("DOMDebugger", "dom_debugger"),
            ("IO", "io"),
            ("nodeIDs", "node_ids"),
            ("usedJSHeapSize", "used_js_heap_size"),
            ("x1", "x1"),
        ] {
            assert_eq!(snake_case(name), expected);
        }
    }

    #[test]
    fn constants_read_as_rust() {
        for (name, expected) in [
            ("mousePressed", "MOUSE_PRESSED"),
            ("same-origin", "SAME_ORIGIN"),
            ("2g", "_2G"),
            ("", "EMPTY"),
            ("H2C", "H2_C"),
        ] {
            assert_eq!(constant_case(name), expected);
        }
    }

    #[test]
    fn types_read_as_rust() {
        assert_eq!(type_case("frameNavigated"), "FrameNavigated");
        assert_eq!(type_case("SessionID"), "SessionId");
    }

    #[test]
    fn serde_restores_the_name_or_it_is_renamed() {
        assert_eq!(serde_camel_case(&snake_case("frameId")), "frameId");
        assert_ne!(
            serde_camel_case(&snake_case("backendDOMNodeId")),
            "backendDOMNodeId"
        );
    }

    #[test]
    fn keywords_are_escaped() {
        assert_eq!(escape("type"), "r#type");
        assert_eq!(escape("kind"), "kind");
    }
}
