//! Forms and fields as tools, with types, limits, defaults and texts of the page.

use super::harness::PageToolsHarness;
use serde_json::json;

const FLIGHTS: &str = r#"
    <h1>Flights</h1>
    <form action="/found">
      <label>From <input name="from" required placeholder="SFO" aria-describedby="code"></label>
      <span id="code">Airport code</span>
      <label>To <input name="to" required></label>
      <label>Depart date <input type="date" name="depart" required min="2026-01-01"></label>
      <label>Return date <input type="date" name="return"></label>
      <label>Passengers <input type="number" name="passengers" value="1" min="1" max="9"></label>
      <label>Time <input type="time" name="time"></label>
      <label>Bags <input type="number" name="bags" step="0.5"></label>
      <label>Class <select name="class"><option>Economy<option>Business<option disabled>First</select></label>
      <label>Extras <select name="extras" multiple><option>Meal<option>Wifi</select></label>
      <fieldset><legend>Trip</legend>
        <label><input type="radio" name="trip" value="1" checked> One way</label>
        <label><input type="radio" name="trip" value="2"> Round trip</label></fieldset>
      <fieldset><legend>Airlines</legend>
        <label><input type="checkbox" name="air" value="a"> Alpha</label>
        <label><input type="checkbox" name="air" value="b" checked> Beta</label></fieldset>
      <label><input type="checkbox" name="direct"> Direct only</label>
      <input type="file" name="ticket" aria-label="Ticket"><input type="hidden" name="token" value="t">
      <button>Search</button>
    </form>"#;

/// Spec: dynamic-tools 51, 52.
#[tokio::test]
async fn a_form_is_one_tool_with_typed_arguments() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    harness.serve("/found", "<h1>Found</h1>");
    let tab = harness.page("/flights", FLIGHTS).await;
    harness.read(&tab).await;
    assert_eq!(harness.names(&tab), ["search_flights"]);
    let tool = harness.tool(&tab, "search_flights");
    assert_eq!(
        json!(tool.read_schema().get("required")),
        json!(["from", "to", "departDate"])
    );
    let expected = json!({
        "from": {"type": "string", "description": "From. Airport code. For example: SFO"},
        "to": {"type": "string", "description": "To"},
        "departDate": {"type": "string", "format": "date", "description": "Depart date"},
        "returnDate": {"type": "string", "format": "date", "description": "Return date"},
        "passengers": {"type": "number", "minimum": 1, "maximum": 9, "multipleOf": 1, "description": "Passengers", "default": 1},
        "time": {"type": "string", "pattern": "^\\d{2}:\\d{2}(:\\d{2})?$", "description": "Time. As 09:30"},
        "bags": {"type": "number", "description": "Bags"},
        "class": {"type": "string", "enum": ["Economy", "Business"], "description": "Class", "default": "Economy"},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["Meal", "Wifi"]}, "uniqueItems": true, "description": "Extras"},
        "trip": {"type": "string", "enum": ["One way", "Round trip"], "description": "Trip", "default": "One way"},
        "airlines": {"type": "array", "items": {"type": "string", "enum": ["Alpha", "Beta"]}, "uniqueItems": true, "description": "Airlines", "default": ["Beta"]},
        "directOnly": {"type": "boolean", "description": "Direct only"},
        "submit": {"type": "boolean", "description": "false: only fill"},
    });
    assert_eq!(json!(tool.read_schema().get("properties")), expected);

    let only = json!({"from": "SFO", "to": "NYC", "departDate": "2026-12-24", "submit": false});
    let answer = harness.does(&tab, "search_flights", only).await;
    assert!(answer.contains(" It was not submitted."), "{answer}");
    assert_eq!(
        harness.page_value(&tab, "location.pathname").await,
        "/flights"
    );

    let arguments = json!({
        "from": "SFO", "to": "NYC", "departDate": "2026-12-24", "passengers": 2, "time": "09:30", "bags": 1.5,
        "class": "Business", "extras": ["Meal", "Wifi"], "trip": "Round trip", "airlines": ["Alpha"], "directOnly": true,
    });
    let answer = harness.does(&tab, "search_flights", arguments).await;
    assert!(
        answer.starts_with("Filled \"From\" with \"SFO\", \"To\" with \"NYC\", "),
        "{answer}"
    );
    let query = "from=SFO&to=NYC&depart=2026-12-24&return=&passengers=2&time=09%3A30&bags=1.5&class=Business\
                 &extras=Meal&extras=Wifi&trip=2&air=a&direct=on";
    assert!(
        answer.contains("Pressed \"Search\".\nThe page navigated to http://HOST/found?"),
        "{answer}"
    );
    assert!(answer.contains(query), "{answer}");
}

#[tokio::test]
async fn a_form_that_its_page_refuses_is_not_sent() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = r#"<form onsubmit="document.title = 'sent'; return false">
        <label>Email <input type="email" name="email" required></label>
        <label>Age <input type="number" name="age" min="18"></label><button>Join</button></form>"#;
    let tab = harness.page("/join", body).await;
    harness.read(&tab).await;
    let error = harness
        .refuses(&tab, "join", json!({ "email": "nobody" }))
        .await;
    assert!(
        error.contains("It was not submitted, because the page's form rejects it: \"Email\": "),
        "{error}"
    );
    assert!(
        error.ends_with("Call the tool again with valid values."),
        "{error}"
    );
    assert_eq!(harness.page_value(&tab, "document.title").await, "A page");
    let answer = harness
        .does(&tab, "join", json!({ "email": "a@b.c", "age": 20 }))
        .await;
    assert_eq!(
        answer,
        "Filled \"Email\" with \"a@b.c\", \"Age\" with \"20\". Pressed \"Join\".\nThe page is still at http://HOST/join"
    );
    assert_eq!(harness.page_value(&tab, "document.title").await, "sent");
    let error = harness
        .refuses(&tab, "join", json!({ "colour": "red" }))
        .await;
    assert_eq!(
        error,
        "There is no argument `colour`. Call list_page_tools to see its arguments."
    );
}

/// Spec: dynamic-tools 52.
#[tokio::test]
async fn search_boxes_are_named_by_what_they_search() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = r#"<div role="search"><input type="search" placeholder="Search inbox" oninput="seen = this.value"
        onkeydown="if (event.key === 'Enter') document.title = this.value"></div>
        <input aria-label="Filter" onkeydown="if (event.key === 'Enter') filter = this.value">
        <script>var seen, filter</script>"#;
    let tab = harness.page("/inbox", body).await;
    harness.read(&tab).await;
    assert_eq!(harness.names(&tab), ["search_inbox", "enter_filter"]);
    assert_eq!(
        harness.tool(&tab, "search_inbox").read_schema(),
        json!({"type": "object", "properties": {"query": {"type": "string", "description": "Search inbox"}}, "required": ["query"]})
    );
    harness
        .does(&tab, "search_inbox", json!({ "query": "invoices" }))
        .await;
    assert_eq!(
        harness.page_value(&tab, "[document.title, seen]").await,
        json!(["invoices", "invoices"])
    );
    harness
        .does(&tab, "enter_filter", json!({ "text": "new" }))
        .await;
    assert_eq!(harness.page_value(&tab, "filter").await, "new");
}

#[tokio::test]
async fn fields_without_a_form_go_with_the_button_next_to_them() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = r#"<h2>Newsletter</h2><div><p><input aria-label="Your email"></p><p><button onclick="got = document.querySelector('input').value">Subscribe</button> <button onclick="got = 'nothing'">Cancel</button></p></div>
        <h2>Settings</h2>
        <p><label><input type="checkbox" id="dark"> Dark mode</label></p>
        <p><label>Size <select id="size"><option>Small<option>Large</select></label></p>
        <script>var got</script>"#;
    let tab = harness.page("/settings", body).await;
    harness.read(&tab).await;
    assert_eq!(
        harness.names(&tab),
        ["subscribe_newsletter", "fill_settings"]
    );
    harness
        .does(
            &tab,
            "subscribe_newsletter",
            json!({ "yourEmail": "a@b.c" }),
        )
        .await;
    assert_eq!(harness.page_value(&tab, "got").await, "a@b.c");
    harness
        .does(
            &tab,
            "fill_settings",
            json!({ "darkMode": true, "size": "Large" }),
        )
        .await;
    assert_eq!(
        harness.page_value(&tab, "[dark.checked, size.value]").await,
        json!([true, "Large"])
    );
}

const WIDGETS: &str = r#"
    <form onsubmit="event.preventDefault(); document.title = [size.textContent, colour.textContent, volume.getAttribute('aria-valuenow')]">
      <span id="l1">Size</span>
      <div id="size" role="combobox" tabindex="0" aria-labelledby="l1" aria-expanded="false">none</div>
      <span id="l2">Colour</span>
      <div id="colour" role="combobox" tabindex="0" aria-labelledby="l2" aria-expanded="false">none</div>
      <div id="volume" role="slider" tabindex="0" aria-label="Volume" aria-valuemin="0" aria-valuemax="10" aria-valuenow="5">=</div>
      <div id="stuck" role="slider" tabindex="0" aria-label="Stuck" aria-valuemin="0" aria-valuemax="10" aria-valuenow="5">=</div>
      <div role="slider" tabindex="0" aria-label="Mute">=</div>
      <button>Save</button></form>
    <script>
    const list = (box, texts, related) => box.addEventListener("click", () => {
      const popup = document.body.appendChild(Object.assign(document.createElement("div"), {role: "listbox", id: box.id + "-list"}));
      if (related) box.setAttribute("aria-controls", popup.id);
      for (const text of texts) {
        const option = popup.appendChild(Object.assign(document.createElement("div"), {role: "option", textContent: text}));
        option.addEventListener("click", () => { box.textContent = text; popup.remove(); });
      }
    });
    list(size, ["Small", "Large"], true);
    list(colour, ["Red", "Blue"], false);
    volume.addEventListener("keydown", (event) => {
      const step = {ArrowRight: 2, ArrowLeft: -2}[event.key] ?? 0;
      const now = Math.min(10, Math.max(0, Number(volume.getAttribute("aria-valuenow")) + step));
      requestAnimationFrame(() => volume.setAttribute("aria-valuenow", now));
    });
    </script>"#;

#[tokio::test]
async fn lists_and_sliders_that_the_page_draws_itself_are_opened_and_moved() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let tab = harness.page("/widgets", WIDGETS).await;
    harness.read(&tab).await;
    let names = harness.names(&tab);
    assert_eq!(names.len(), 1, "{names:?}");
    let name = names[0].as_str();
    let volume = json!({"type": "number", "minimum": 0, "maximum": 10, "description": "Volume", "default": 5});
    assert_eq!(harness.argument(&tab, name, "volume"), volume);
    let arguments = harness.tool(&tab, name);
    let arguments = arguments.read_schema();
    let arguments = arguments["properties"].as_object().unwrap();
    let told: Vec<_> = arguments.keys().collect();
    // A slider that does not report its position cannot be set, and is not offered.
    assert_eq!(told, ["size", "colour", "volume", "stuck", "submit"]);

    let answer = json!({"size": "Large", "colour": "blue", "volume": 9});
    let answer = harness.does(&tab, name, answer).await;
    assert!(answer.contains("\"Volume\" with \"9\""), "{answer}");
    harness
        .until(&tab, "document.title === 'Large,Blue,9'")
        .await;

    for (arguments, expected) in [
        (
            json!({"volume": 6}),
            "\"Volume\" has steps at 7 and 5, but not at 6. It is at 5 now.",
        ),
        (
            json!({"stuck": 6}),
            "\"Stuck\" is at 5, and the arrow keys do not move it. Use drag.",
        ),
        (
            json!({"colour": "Green"}),
            "There is no \"Green\". The choices are \"Red\", \"Blue\".",
        ),
    ] {
        let error = harness.refuses(&tab, name, arguments).await;
        assert!(error.contains(expected), "{error}");
    }
}
