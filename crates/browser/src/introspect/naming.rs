//! Tool and argument names, made from the texts that users read on a page.

/// Text as `snake_case`: ASCII letters and digits only, accents dropped, at most `most_words`
/// words.
pub(crate) fn snake(text: &str, most_words: usize) -> String {
    let words = words_of(text);
    let mut name = String::new();
    for word in words.iter().take(most_words) {
        if name.len() + word.len() + 1 > MAX_LENGTH {
            break;
        }
        if !name.is_empty() {
            name.push('_');
        }
        name.push_str(word);
    }
    name
}

/// Text as `camelCase`, for arguments.
pub(crate) fn camel(text: &str) -> String {
    let mut name = String::new();
    for word in words_of(text).iter().take(MAX_WORDS_IN_ARGUMENT) {
        if name.len() + word.len() > MAX_LENGTH {
            break;
        }
        match name.is_empty() {
            true => name.push_str(word),
            false => {
                let mut letters = word.chars();
                name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
                name.push_str(letters.as_str());
            }
        }
    }
    match name.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("field{name}"),
        false => name,
    }
}

/// "search results" becomes "search result".
pub(crate) fn singular(name: &str) -> String {
    let (before, word) = name.rsplit_once('_').map_or(("", name), |(a, b)| (a, b));
    let word = match word {
        "news" | "series" | "status" | "address" | "access" => word.to_owned(),
        _ if word.len() > 4 && word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        _ if ["sses", "xes", "ches", "shes"]
            .iter()
            .any(|end| word.ends_with(end)) =>
        {
            word[..word.len() - 2].to_owned()
        }
        _ if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") => {
            word[..word.len() - 1].to_owned()
        }
        _ => word.to_owned(),
    };
    match before {
        "" => word,
        _ => format!("{before}_{word}"),
    }
}

pub(crate) fn plural(name: &str) -> String {
    match name {
        _ if name.ends_with('y')
            && !name.ends_with(['a', 'e', 'o', 'u'])
            && !ends_in_vowel_y(name) =>
        {
            format!("{}ies", &name[..name.len() - 1])
        }
        _ if ["s", "x", "ch", "sh"].iter().any(|end| name.ends_with(end)) => format!("{name}es"),
        _ => format!("{name}s"),
    }
}

fn ends_in_vowel_y(name: &str) -> bool {
    ["ay", "ey", "oy", "uy"]
        .iter()
        .any(|end| name.ends_with(end))
}

fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    // `newTodo` is two words, `GitHub` is one.
    let is_identifier = text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.contains(' ');
    for c in text.chars().take(400) {
        if c == '\'' || c == '’' {
            continue;
        }
        let starts = is_identifier && c.is_uppercase() && before.is_lowercase();
        let folded = fold(c);
        if (folded.is_empty() || starts) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.push_str(&folded);
        before = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// A letter or digit in ASCII; empty for everything else.
fn fold(c: char) -> String {
    if c.is_ascii() {
        return match c.is_ascii_alphanumeric() {
            true => c.to_ascii_lowercase().to_string(),
            false => String::new(),
        };
    }
    let lower = c.to_lowercase().next().unwrap_or(c);
    let plain = match lower {
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ā' | 'ă' | 'ą' => "a",
        'ä' | 'æ' => "ae",
        'ç' | 'ć' | 'č' | 'ĉ' | 'ċ' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'ğ' | 'ģ' | 'ĝ' => "g",
        'ì' | 'í' | 'î' | 'ï' | 'ī' | 'į' | 'ı' => "i",
        'ķ' => "k",
        'ł' | 'ļ' | 'ľ' | 'ĺ' => "l",
        'ñ' | 'ń' | 'ň' | 'ņ' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ø' | 'ō' | 'ő' => "o",
        'ö' | 'œ' => "oe",
        'ř' | 'ŕ' => "r",
        'ś' | 'š' | 'ş' | 'ș' => "s",
        'ß' => "ss",
        'ť' | 'ţ' | 'ț' => "t",
        'ù' | 'ú' | 'û' | 'ū' | 'ů' | 'ű' | 'ų' => "u",
        'ü' => "ue",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        'þ' => "th",
        _ => "",
    };
    plain.to_owned()
}

/// Leaves space for a number at the end.
const MAX_LENGTH: usize = 48;
const MAX_WORDS_IN_ARGUMENT: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_a_person_would_say() {
        assert_eq!(snake("Add to cart!", 6), "add_to_cart");
        assert_eq!(snake("What's new?", 6), "whats_new");
        assert_eq!(snake("Größe ändern", 6), "groesse_aendern");
        assert_eq!(snake("newTodo", 6), "new_todo");
        assert_eq!(snake("GitHub", 6), "github");
        assert_eq!(snake("検索", 6), "");
        assert_eq!(snake("one two three", 2), "one_two");
        assert_eq!(camel("Departure date (local)"), "departureDateLocal");
        assert_eq!(camel("2nd name"), "field2ndName");
    }

    #[test]
    fn one_and_many() {
        for (many, one) in [
            ("todos", "todo"),
            ("categories", "category"),
            ("boxes", "box"),
            ("search_results", "search_result"),
            ("news", "news"),
            ("inbox", "inbox"),
        ] {
            assert_eq!(singular(many), one);
        }
        assert_eq!(plural("category"), "categories");
        assert_eq!(plural("day"), "days");
        assert_eq!(plural("box"), "boxes");
    }
}
