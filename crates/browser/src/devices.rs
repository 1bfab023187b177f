//! Presets of well-known devices, under Playwright's names.

use crate::tab::Viewport;

/// A device as pages see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    preset: &'static Preset,
    /// The size of its pages, in CSS pixels.
    size: (u32, u32),
    landscape: bool,
    /// Whether the browser keeps its own user agent.
    own_user_agent: bool,
}

/// A device in the table.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Preset {
    name: &'static str,
    /// The size of its pages in portrait.
    size: (u32, u32),
    /// Device pixels for 1,000 CSS pixels.
    density: u32,
    system: System,
}

/// What runs on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum System {
    /// Safari on this version of iOS.
    IPhone(&'static str),
    /// Safari on this version of iPadOS.
    IPad(&'static str),
    /// Chrome on this version of Android and this model.
    Phone(&'static str, &'static str),
    /// The same on a tablet.
    Tablet(&'static str, &'static str),
    /// The browser itself, with a mouse.
    Desktop,
    /// Safari on a Mac.
    Mac,
}

impl Device {
    /// The device of this name, in upper or lower case; the suffix ` landscape` swaps width and height.
    ///
    /// # Errors
    /// If there is no such device: a sentence with similar names.
    pub fn named(name: &str) -> Result<Self, String> {
        let wanted = name.trim().to_lowercase();
        let upright = wanted.strip_suffix(" landscape");
        let known = |name: &str| {
            let preset = DEVICES.iter().find(|it| it.name.to_lowercase() == name)?;
            Some(Self {
                preset,
                size: preset.size,
                landscape: false,
                own_user_agent: false,
            })
        };
        if let Some(device) = known(&wanted) {
            return Ok(device);
        }
        match upright.and_then(known).filter(Self::is_mobile) {
            Some(device) => Ok(Self {
                size: (device.size.1, device.size.0),
                landscape: true,
                ..device
            }),
            None => Err(format!(
                "There is no device {}. Similar names: {}.",
                tabmux_text::one_line(name, 60),
                similar(&wanted).join(", ")
            )),
        }
    }

    /// The same with pages of another size.
    #[must_use]
    pub fn sized(self, size: (u32, u32)) -> Self {
        Self { size, ..self }
    }

    /// The same with the browser's own user agent.
    #[must_use]
    pub fn without_user_agent(self) -> Self {
        Self {
            own_user_agent: true,
            ..self
        }
    }

    pub(crate) fn viewport(&self) -> Viewport {
        Viewport {
            width: self.size.0,
            height: self.size.1,
            density: f64::from(self.preset.density) / 1_000.0,
            mobile: self.is_mobile(),
            touch: self.is_mobile(),
            landscape: self.landscape,
        }
    }

    /// Its user agent, unless the browser keeps its own.
    pub(crate) fn user_agent(&self) -> Option<String> {
        let safari = |device: &str, version: &str| {
            let number = version.replace('_', ".");
            format!(
                "Mozilla/5.0 ({device} {version} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/{number} Mobile/15E148 Safari/604.1"
            )
        };
        let chrome = |version: &str, model: &str, mobile: &str| {
            format!(
                "Mozilla/5.0 (Linux; Android {version}; {model}) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/{CHROME} {mobile}Safari/537.36"
            )
        };
        let text = match self.preset.system {
            IPhone(version) => safari("iPhone; CPU iPhone OS", version),
            IPad(version) => safari("iPad; CPU OS", version),
            Phone(version, model) => chrome(version, model, "Mobile "),
            Tablet(version, model) => chrome(version, model, ""),
            Mac => "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 \
                            (KHTML, like Gecko) Version/18.5 Safari/605.1.15"
                .to_owned(),
            Desktop => return None,
        };
        Some(text).filter(|_| !self.own_user_agent)
    }

    fn is_mobile(&self) -> bool {
        !matches!(self.preset.system, Desktop | Mac)
    }
}

/// The names with the smallest edit distance.
fn similar(wanted: &str) -> Vec<&'static str> {
    let letters = |name: &str| -> Vec<char> {
        let name = name.to_lowercase();
        name.chars().filter(|it| it.is_alphanumeric()).collect()
    };
    let wanted: Vec<char> = letters(wanted).into_iter().take(LONGEST).collect();
    let mut names: Vec<_> = DEVICES.iter().map(|device| device.name).collect();
    names.sort_by_key(|name| distance(&letters(name), &wanted));
    names.truncate(MAX_SIMILAR);
    names
}

/// The edit distance: how many letters to add, remove, replace or swap with the next one.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(from != to);
            let mut least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *from == b[j - 1] && a[i - 1] == *to {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

const fn device(name: &'static str, size: (u32, u32), density: u32, system: System) -> Preset {
    Preset {
        name,
        size,
        density,
        system,
    }
}

/// The version of Chrome in the user agents of phones and tablets.
const CHROME: &str = "156.0.0.0";
const MAX_SIMILAR: usize = 5;
/// Longer than any name.
const LONGEST: usize = 40;

use System::{Desktop, IPad, IPhone, Mac, Phone, Tablet};

static DEVICES: [Preset; 42] = [
    device("iPhone SE", (320, 568), 2_000, IPhone("15_8")),
    device("iPhone SE (3rd gen)", (375, 667), 2_000, IPhone("17_5")),
    device("iPhone 8", (375, 667), 2_000, IPhone("16_7")),
    device("iPhone X", (375, 812), 3_000, IPhone("16_7")),
    device("iPhone XR", (414, 896), 2_000, IPhone("17_5")),
    device("iPhone 11", (414, 715), 2_000, IPhone("17_5")),
    device("iPhone 11 Pro", (375, 635), 3_000, IPhone("17_5")),
    device("iPhone 11 Pro Max", (414, 715), 3_000, IPhone("17_5")),
    device("iPhone 12", (390, 664), 3_000, IPhone("17_5")),
    device("iPhone 12 Pro", (390, 664), 3_000, IPhone("17_5")),
    device("iPhone 12 Pro Max", (428, 746), 3_000, IPhone("17_5")),
    device("iPhone 12 Mini", (375, 629), 3_000, IPhone("17_5")),
    device("iPhone 13", (390, 664), 3_000, IPhone("17_5")),
    device("iPhone 13 Pro", (390, 664), 3_000, IPhone("17_5")),
    device("iPhone 13 Pro Max", (428, 746), 3_000, IPhone("17_5")),
    device("iPhone 13 Mini", (375, 629), 3_000, IPhone("17_5")),
    device("iPhone 14", (390, 664), 3_000, IPhone("17_5")),
    device("iPhone 14 Plus", (428, 746), 3_000, IPhone("17_5")),
    device("iPhone 14 Pro", (393, 660), 3_000, IPhone("17_5")),
    device("iPhone 14 Pro Max", (430, 740), 3_000, IPhone("17_5")),
    device("iPhone 15", (393, 659), 3_000, IPhone("17_5")),
    device("iPhone 15 Plus", (430, 739), 3_000, IPhone("17_5")),
    device("iPhone 15 Pro", (393, 659), 3_000, IPhone("17_5")),
    device("iPhone 15 Pro Max", (430, 739), 3_000, IPhone("17_5")),
    device("iPad Mini", (768, 1_024), 2_000, IPad("17_5")),
    device("iPad (gen 7)", (810, 1_080), 2_000, IPad("17_5")),
    device("iPad Pro 11", (834, 1_194), 2_000, IPad("17_5")),
    device("Pixel 2", (411, 731), 2_625, Phone("11", "Pixel 2")),
    device("Pixel 3", (393, 786), 2_750, Phone("12", "Pixel 3")),
    device("Pixel 4", (353, 745), 3_000, Phone("13", "Pixel 4")),
    device("Pixel 5", (393, 727), 2_750, Phone("14", "Pixel 5")),
    device("Pixel 7", (412, 839), 2_625, Phone("14", "Pixel 7")),
    device("Galaxy S8", (360, 740), 3_000, Phone("9", "SM-G950U")),
    device("Galaxy S9+", (320, 658), 4_500, Phone("10", "SM-G965U")),
    device("Galaxy S24", (360, 780), 3_000, Phone("14", "SM-S921U")),
    device("Galaxy A55", (480, 1_040), 2_250, Phone("14", "SM-A556B")),
    device(
        "Galaxy Tab S4",
        (712, 1_138),
        2_250,
        Tablet("10", "SM-T837A"),
    ),
    device(
        "Galaxy Tab S9",
        (640, 1_024),
        2_500,
        Tablet("14", "SM-X710"),
    ),
    device("Nexus 5", (360, 640), 3_000, Phone("6.0", "Nexus 5")),
    device("Desktop Chrome", (1_280, 720), 1_000, Desktop),
    device("Desktop Chrome HiDPI", (1_280, 720), 2_000, Desktop),
    device("Desktop Safari", (1_280, 720), 2_000, Mac),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_found_by_its_name_in_any_case() {
        let phone = Device::named("iphone 15").unwrap();
        assert_eq!(phone.viewport().to_string(), "393x659x3,mobile,touch");
        let agent = phone.user_agent().unwrap();
        assert!(agent.contains("iPhone; CPU iPhone OS 17_5") && agent.contains("Version/17.5"));
        let turned = Device::named("Pixel 7 landscape").unwrap();
        let viewport = turned.viewport().to_string();
        assert_eq!(viewport, "839x412x2.625,mobile,touch,landscape");
        assert!(turned.user_agent().unwrap().contains("Pixel 7) "));
        let desk = Device::named("Desktop Chrome").unwrap();
        assert_eq!(desk.viewport().to_string(), "1280x720x1");
        assert_eq!(desk.user_agent(), None);
        assert_eq!(phone.without_user_agent().user_agent(), None);
        assert_eq!(phone.sized((1, 2)).viewport().width, 1);
    }

    #[test]
    fn an_unknown_name_is_refused_with_similar_names() {
        let told = Device::named("iPhone 99 Pro").unwrap_err();
        assert!(
            told.starts_with("There is no device iPhone 99 Pro. Similar names: iPhone 11 Pro, "),
            "{told}"
        );
        let told = Device::named("Pixel").unwrap_err();
        assert!(told.contains("Similar names: Pixel 2, Pixel 3, "), "{told}");
        let told = Device::named("iPhone51").unwrap_err();
        assert!(told.contains("iPhone 11, iPhone 15, "), "{told}");
        assert!(Device::named("Desktop Chrome landscape").is_err());
        assert!(Device::named("").is_err());
    }

    #[test]
    fn no_two_devices_have_one_name() {
        let names = DEVICES.iter().map(|device| device.name.to_lowercase());
        let names: std::collections::HashSet<_> = names.collect();
        assert_eq!(names.len(), DEVICES.len());
    }
}
