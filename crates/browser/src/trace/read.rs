//! Reads the events of a trace one by one and keeps the relevant ones.

use super::{Interaction, Largest, Request, Shift, Task, Trace};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufReader, Read};
use tabmux_text::one_line;

pub(super) fn read(reader: impl Read, frame: &str) -> Result<Trace, String> {
    let mut collector = Collector {
        frame: frame.to_owned(),
        ..Collector::default()
    };
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(reader));
    TraceFile(&mut collector)
        .deserialize(&mut json)
        .map_err(|error| one_line(&error.to_string(), 200))?;
    Ok(collector.finish())
}

/// One event of the file.
#[derive(Deserialize)]
#[serde(default)]
struct Event {
    name: String,
    ph: String,
    ts: f64,
    dur: f64,
    pid: u64,
    tid: u64,
    args: Option<Box<RawValue>>,
}

impl Default for Event {
    fn default() -> Self {
        Self {
            name: String::new(),
            ph: String::new(),
            ts: 0.0,
            dur: 0.0,
            pid: 0,
            tid: 0,
            args: None,
        }
    }
}

impl Event {
    fn args(&self) -> Value {
        let args = self.args.as_deref().map(RawValue::get);
        args.and_then(|args| serde_json::from_str(args).ok())
            .unwrap_or_default()
    }
}

/// The state of the reader. Which process and frame belong to the page is known only at the end.
#[derive(Default)]
struct Collector {
    frame: String,
    /// The process and the page of that frame when the trace began.
    process: Option<u64>,
    url: String,
    navigations: Vec<(f64, u64, String, String)>,
    /// Chrome's ids of navigations, by the bits of their start time.
    ids: HashMap<u64, String>,
    first_paints: Vec<(f64, String)>,
    largest: Vec<(String, Largest)>,
    images: HashMap<i64, String>,
    loads: Vec<(f64, String)>,
    shifts: Vec<(Shift, bool)>,
    acts: HashMap<i64, InputEvents>,
    tasks: Vec<(u64, u64, Task)>,
    calls: Vec<(u64, u64, f64, f64, String)>,
    main_threads: HashMap<u64, u64>,
    requests: HashMap<String, (u64, Request)>,
    order: Vec<String>,
    fonts: HashMap<String, String>,
    unsized_images: usize,
    causes: Vec<(f64, String)>,
    first: Option<f64>,
    cut: bool,
}

impl Collector {
    fn take(&mut self, event: &Event) {
        if event.ts > 0.0 {
            self.first = Some(self.first.map_or(event.ts, |first| first.min(event.ts)));
        }
        match event.name.as_str() {
            "RunTask" if event.dur >= LONG_TASK => {
                let task = Task {
                    at: event.ts,
                    long: event.dur / 1_000.0,
                    calls: Vec::new(),
                };
                self.keep(|it| &mut it.tasks, (event.pid, event.tid, task));
            }
            "FunctionCall" | "EvaluateScript" | "v8.evaluateModule" | "Layout"
            | "UpdateLayoutTree" | "ParseHTML" | "MajorGC" | "MinorGC" | "v8.compile"
                if event.dur >= WORTH_NAMING =>
            {
                let words = call_words(&event.name, &event.args()["data"]);
                let call = (event.pid, event.tid, event.ts, event.dur / 1_000.0, words);
                self.keep(|it| &mut it.calls, call);
            }
            "thread_name" if event.args()["name"] == "CrRendererMain" => {
                self.main_threads.insert(event.pid, event.tid);
            }
            "TracingStartedInBrowser" => {
                let args = event.args();
                let frames = args["data"]["frames"].as_array();
                let mut frames = frames.into_iter().flatten();
                let ours = frames.find(|frame| frame["frame"] == self.frame.as_str());
                if let Some(ours) = ours {
                    self.process = ours["processId"].as_u64();
                    self.url = text(&ours["url"]);
                }
            }
            "navigationStart" => self.navigation(event),
            "firstContentfulPaint" => {
                let navigation = text(&event.args()["data"]["navigationId"]);
                self.keep(|it| &mut it.first_paints, (event.ts, navigation));
            }
            "MarkLoad" | "loadEventEnd" => {
                let args = event.args();
                let frame = match &args["data"]["frame"] {
                    Value::Null => text(&args["frame"]),
                    frame => text(frame),
                };
                self.keep(|it| &mut it.loads, (event.ts, frame));
            }
            "largestContentfulPaint::Candidate" => {
                let args = event.args();
                let data = &args["data"];
                let id = data["nodeId"]
                    .as_i64()
                    .or_else(|| data["DOMNodeId"].as_i64());
                let largest = Largest {
                    at: event.ts,
                    element: text(&data["nodeName"]),
                    image: (data["type"] == "image")
                        .then(|| id.and_then(|id| self.images.get(&id)).cloned())
                        .flatten(),
                    lazy: data["loadingAttr"] == "lazy",
                };
                let navigation = text(&data["navigationId"]);
                self.keep(|it| &mut it.largest, (navigation, largest));
            }
            "LargestImagePaint::Candidate" => {
                let args = event.args();
                let data = &args["data"];
                if let Some(id) = data["DOMNodeId"].as_i64()
                    && self.images.len() < MAX_ENTRIES
                {
                    self.images.insert(id, text(&data["imageUrl"]));
                }
            }
            "LayoutShift" => self.shift(event),
            "EventTiming" if event.ph == "b" || event.ph == "n" || event.ph == "X" => {
                self.interaction(event);
            }
            "LayoutImageUnsized" => {
                self.unsized_images += 1;
                let cause = "an image without width and height".into();
                self.keep(|it| &mut it.causes, (event.ts, cause));
            }
            "BeginRemoteFontLoad" => {
                let args = event.args();
                let url = text(&args["url"]);
                if self.fonts.len() < MAX_ENTRIES {
                    self.fonts.insert(url, text(&args["display"]));
                }
            }
            "RemoteFontLoaded" => {
                let url = one_line(&text(&event.args()["url"]), 200);
                let cause = format!("the font {url}");
                self.keep(|it| &mut it.causes, (event.ts, cause));
            }
            name if name.starts_with("Resource") => self.resource(event),
            _ => {}
        }
    }

    fn navigation(&mut self, event: &Event) {
        let args = event.args();
        let data = &args["data"];
        let url = text(&data["documentLoaderURL"]);
        let main = data["isOutermostMainFrame"] == true || data["isLoadingMainFrame"] == true;
        if main && !url.is_empty() {
            let id = text(&data["navigationId"]);
            let navigation = (event.ts, event.pid, text(&args["frame"]), url);
            self.ids.insert(event.ts.to_bits(), id);
            self.keep(|it| &mut it.navigations, navigation);
        }
    }

    fn shift(&mut self, event: &Event) {
        let args = event.args();
        let data = &args["data"];
        // A shift right after user input is expected, and does not count.
        if data["had_recent_input"] == true {
            return;
        }
        let nodes = data["impacted_nodes"].as_array();
        let moved = nodes.into_iter().flatten().take(5).map(|node| {
            let (old, new) = (&node["old_rect"], &node["new_rect"]);
            let by = new[1].as_f64().unwrap_or(0.0) - old[1].as_f64().unwrap_or(0.0);
            (node["node_id"].as_i64().unwrap_or(0), by)
        });
        let score = data["weighted_score_delta"].as_f64();
        let shift = Shift {
            at: event.ts,
            score: score.or_else(|| data["score"].as_f64()).unwrap_or(0.0),
            moved: moved.collect(),
        };
        let main = data["is_main_frame"] != false;
        self.keep(|it| &mut it.shifts, (shift, main));
    }

    fn interaction(&mut self, event: &Event) {
        let args = event.args();
        let data = &args["data"];
        if data["frame"]
            .as_str()
            .is_some_and(|frame| frame != self.frame)
        {
            return;
        }
        let Some(id) = data["interactionId"].as_i64().filter(|id| *id > 0) else {
            return;
        };
        let number = |name: &str| data[name].as_f64().unwrap_or(0.0);
        let begun = number("timeStamp");
        let act = InputEvents {
            kind: text(&data["type"]),
            at: event.ts,
            begun,
            handled: number("processingStart"),
            done: number("processingEnd"),
            shown: begun + number("duration"),
        };
        if self.acts.len() >= MAX_ENTRIES {
            self.cut = true;
            return;
        }
        // Pointer down, pointer up and click are one interaction.
        match self.acts.get_mut(&id) {
            Some(known) => known.join(act),
            None => drop(self.acts.insert(id, act)),
        }
    }

    fn resource(&mut self, event: &Event) {
        let args = event.args();
        let data = &args["data"];
        let id = text(&data["requestId"]);
        if id.is_empty() || self.requests.len() >= MAX_ENTRIES && !self.requests.contains_key(&id) {
            self.cut |= !id.is_empty();
            return;
        }
        if !self.requests.contains_key(&id) {
            self.order.push(id.clone());
        }
        let (pid, request) = self.requests.entry(id.clone()).or_default();
        request.id = id;
        match event.name.as_str() {
            "ResourceWillSendRequest" if request.sent == 0.0 => request.sent = event.ts,
            "ResourceSendRequest" => {
                *pid = event.pid;
                if !request.url.is_empty() {
                    request.redirects += 1;
                } else {
                    request.sent = event.ts;
                }
                request.url = one_line(&text(&data["url"]), 2_000);
                request.kind = text(&data["resourceType"]);
                request.priority = text(&data["priority"]);
                let blocking = text(&data["renderBlocking"]);
                request.blocking =
                    matches!(blocking.as_str(), "blocking" | "in_body_parser_blocking");
                request.initiator = data["initiator"]["url"]
                    .as_str()
                    .or_else(|| data["stackTrace"][0]["url"].as_str())
                    .map(|url| one_line(url, 2_000));
            }
            "ResourceReceiveResponse" => {
                request.answered = Some(event.ts);
                request.status = data["statusCode"].as_i64().unwrap_or(0);
                request.mime_type = text(&data["mimeType"]);
                let headers = data["headers"].as_array();
                request.compressed = headers.into_iter().flatten().any(|header| {
                    let name = header["name"].as_str().unwrap_or_default();
                    name.eq_ignore_ascii_case("content-encoding")
                });
            }
            "ResourceFinish" => {
                request.ended = Some(event.ts);
                let number = |name: &str| data[name].as_f64().unwrap_or(0.0);
                request.bytes = number("encodedDataLength");
                request.decoded = number("decodedBodyLength");
            }
            _ => {}
        }
    }

    fn keep<T>(&mut self, list: impl FnOnce(&mut Self) -> &mut Vec<T>, item: T) {
        let list = list(self);
        match list.len() < MAX_ENTRIES {
            true => list.push(item),
            false => self.cut = true,
        }
    }

    fn finish(mut self) -> Trace {
        // The last navigation of the tab counts.
        let mut navigations = self
            .navigations
            .iter()
            .filter(|(.., url)| url != "about:blank");
        let navigation = navigations.rfind(|(_, _, of, _)| *of == self.frame);
        let navigation = navigation.cloned();
        let mut trace = Trace {
            start: self.first.unwrap_or(0.0),
            unsized_images: self.unsized_images,
            cut: self.cut,
            ..Trace::default()
        };
        if let Some((start, process, frame, url)) = navigation {
            (trace.start, trace.process) = (start, process);
            (trace.frame, trace.url) = (frame, one_line(&url, 500));
            trace.navigated = true;
        } else {
            // Through the extension, Chrome traces the page's process only, and does not name it.
            let only = self.main_threads.keys().next().copied();
            let only = only.filter(|_| self.main_threads.len() == 1);
            trace.process = self.process.or(only).unwrap_or_default();
            (trace.frame, trace.url) = (self.frame.clone(), self.url.clone());
        }
        let (start, frame) = (trace.start, trace.frame.clone());
        let here = |of: &str| frame.is_empty() || of.is_empty() || of == frame;
        // Without a navigation these have no start time.
        if trace.navigated {
            let mut paints = self.first_paints.iter();
            // The previous page may still be painted after the navigation began.
            let id = self.ids.remove(&start.to_bits()).unwrap_or_default();
            let paint = paints.find(|(at, of)| *at >= start && *of == id);
            trace.first_paint = paint.map(|it| it.0);
            let mut loads = self.loads.iter();
            let load = loads.find(|(at, of)| *at >= start && here(of));
            trace.loaded = load.map(|it| it.0);
            let mut candidates = self.largest.into_iter();
            trace.largest = candidates
                .rfind(|(of, largest)| largest.at >= start && *of == id)
                .map(|(_, largest)| largest);
        }
        let shifts = self.shifts.into_iter();
        trace.shifts = shifts
            .filter(|(shift, main)| *main && shift.at >= start)
            .map(|(shift, _)| shift)
            .collect();
        trace.interactions = self.acts.into_values().map(InputEvents::finish).collect();
        trace.interactions.sort_by(|a, b| a.at.total_cmp(&b.at));
        trace.fonts = self.fonts;
        trace.causes = self.causes;
        let process = trace.process;
        let main = self.main_threads.get(&process).copied();
        let on_main = |pid: u64, tid: u64| pid == process && main.is_none_or(|main| main == tid);
        for (pid, tid, mut task) in self.tasks {
            if on_main(pid, tid) && task.at >= start {
                let end = task.at + task.long * 1_000.0;
                let inside = self.calls.iter().filter(|(of, thread, at, ..)| {
                    on_main(*of, *thread) && (task.at..=end).contains(at)
                });
                task.calls = inside.map(|it| (it.4.clone(), it.3)).collect();
                task.calls.sort_by(|a, b| b.1.total_cmp(&a.1));
                task.calls.truncate(3);
                trace.tasks.push(task);
            }
        }
        for id in &self.order {
            if let Some((pid, request)) = self.requests.remove(id)
                && pid == process
                && request.sent >= start - 1_000.0
            {
                trace.requests.push(request);
            }
        }
        trace
    }
}

/// Events of one interaction, in milliseconds on a separate clock: only differences matter.
#[derive(Clone, Debug)]
struct InputEvents {
    kind: String,
    at: f64,
    begun: f64,
    handled: f64,
    done: f64,
    shown: f64,
}

impl InputEvents {
    fn join(&mut self, other: Self) {
        if other.done - other.handled > self.done - self.handled {
            self.kind = other.kind;
        }
        self.at = self.at.min(other.at);
        self.begun = self.begun.min(other.begun);
        self.handled = self.handled.min(other.handled);
        self.done = self.done.max(other.done);
        self.shown = self.shown.max(other.shown);
    }

    fn finish(self) -> Interaction {
        Interaction {
            kind: self.kind,
            at: self.at,
            wait: (self.handled - self.begun).max(0.0),
            handling: (self.done - self.handled).max(0.0),
            showing: (self.shown - self.done).max(0.0),
        }
    }
}

fn call_words(name: &str, data: &Value) -> String {
    let url = one_line(data["url"].as_str().unwrap_or_default(), 150);
    match name {
        "FunctionCall" => {
            let function = one_line(data["functionName"].as_str().unwrap_or_default(), 60);
            let function = if function.is_empty() {
                "(anonymous)"
            } else {
                &function
            };
            let line = data["lineNumber"].as_i64().unwrap_or(0);
            format!("{function} ({url}:{line})")
        }
        "EvaluateScript" | "v8.evaluateModule" => format!("script {url}"),
        "v8.compile" => "compiling scripts".into(),
        "Layout" => "layout".into(),
        "UpdateLayoutTree" => "styles".into(),
        "ParseHTML" => "parsing HTML".into(),
        _ => "garbage collection".into(),
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map(|text| one_line(text, 2_000))
        .unwrap_or_default()
}

/// The whole file: an object with a list of events, or only the list.
struct TraceFile<'a>(&'a mut Collector);

impl<'de> DeserializeSeed<'de> for TraceFile<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TraceFile<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "traceEvents" {
                map.next_value_seed(TraceFile(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        while let Some(event) = events.next_element::<Event>()? {
            self.0.take(&event);
        }
        Ok(())
    }
}

/// The limit of each kind of entry.
const MAX_ENTRIES: usize = 5_000;
/// In microseconds. A longer task delays user input.
const LONG_TASK: f64 = 50_000.0;
const WORTH_NAMING: f64 = 5_000.0;
