//! Reading a page as Markdown: its structure, its main content, its parts, and that a page cannot forge any of it.

use crate::harness::BrowserHarness;
use serde_json::json;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

async fn serve(harness: &BrowserHarness, page: &str) -> Tab {
    harness
        .server
        .route("/read", Response::html(format!("<title>T</title>{page}")));
    harness.open("read").await
}

/// The answer without its first line and the blank line after it.
fn body(answer: &str) -> &str {
    answer.split_once("\n\n").map_or("", |(_, body)| body)
}

#[tokio::test]
async fn a_page_is_read_as_markdown() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = serve(&harness, STRUCTURE).await;
    let read = harness.text(&tab, "read_page", json!({})).await;
    let url = harness.server.url("read");
    let start = format!("page \"T\" {url}: characters 0-");
    assert!(read.starts_with(&start), "{read}");
    let site = url.trim_end_matches("/read");
    let expected = AS_MARKDOWN.replace("SITE", site);
    assert_eq!(body(&read), expected.trim(), "\n{read}\n");
    let inline = harness
        .text(&tab, "read_page", json!({"links": "inline"}))
        .await;
    let link = format!("[the manual]({site}/docs/a%28b%29.html)");
    assert!(inline.contains(&link), "{inline}");
    let none = harness
        .text(&tab, "read_page", json!({"links": "none"}))
        .await;
    assert!(none.contains("See the manual, "), "{none}");
    assert!(!none.contains("Links"), "{none}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn text_of_a_page_cannot_forge_structure() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let hostile = "<main><p># no heading</p><p>- no item</p><p>1. no number</p><p>&gt; no quote</p><p>``` no code</p>\
                   <p>[no](http://link.example) ![no](x) [1]: no</p><p>&lt;b&gt;no tag</p><p>| no | table |<br>|---|---|</p>\
                   <p>a\u{1}b\u{2}0\u{3}c\u{202e}d</p>\
                   <table><tr><th>a|b</th><th>`c|</th></tr><tr><td>x</td><td>y<br>z</td></tr></table>\
                   <pre>```\n# code\n```</pre><p><code>a`b</code></p></main>";
    let tab = serve(&harness, hostile).await;
    let read = harness
        .text(&tab, "read_page", json!({"scope": "all"}))
        .await;
    let expected = "\\# no heading\n\n\\- no item\n\n1\\. no number\n\n\\> no quote\n\n\\`\\`\\` no code\n\n\
                    \\[no\\](http://link.example) !\\[no\\](x) \\[1\\]: no\n\n\\<b>no tag\n\n\\| no | table |\n\\|---|---|\n\n\
                    abcd\n\n| a\\|b | \\`c\\| |\n|---|---|\n| x | y z |\n\n````\n```\n# code\n```\n````\n\n``a`b``";
    let shown = body(&read).replace("ab0c", "abc");
    assert_eq!(shown, expected, "\n{read}\n");
    let outline = harness
        .text(&tab, "read_page", json!({"outline": true}))
        .await;
    assert!(outline.contains("There are no headings"), "{outline}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn main_content_is_found_by_markup_and_by_layout() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("reading-article.html").await;
    let read = harness.text(&tab, "read_page", json!({})).await;
    let heading = read.lines().next().unwrap();
    assert!(
        heading.contains("main content (scope \"all\" has "),
        "{heading}"
    );
    assert!(
        read.contains("# Norwick\n") && read.contains("## Harbour"),
        "{read}"
    );
    assert!(
        !read.contains("Create account") && !read.contains("Deutsch"),
        "{read}"
    );
    let all = harness
        .text(&tab, "read_page", json!({"scope": "all"}))
        .await;
    assert!(
        all.contains("Create account") && all.contains("Deutsch"),
        "{all}"
    );
    // Only the layout of this one shows what is a menu.
    let tab = harness.open("reading-manual.html").await;
    let read = harness.text(&tab, "read_page", json!({})).await;
    assert!(
        read.contains("# Files\n") && read.contains("## stat()"),
        "{read}"
    );
    assert!(!read.contains("harbour in Guide"), "{read}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn too_little_main_content_means_all_of_it() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let words = "Many words of a page that is not marked as its main part. ".repeat(30);
    let page = format!("<main><p>Loading</p></main><p>{words}</p>");
    let tab = serve(&harness, &page).await;
    let read = harness.text(&tab, "read_page", json!({})).await;
    assert!(
        read.contains("all content, because its main part has only 8 characters"),
        "{read}"
    );
    assert!(read.contains("Many words"), "{read}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn text_heavy_pages_cost_half_of_their_snapshot() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    for page in ["reading-article.html", "reading-manual.html", "rows.html"] {
        let tab = harness.open(page).await;
        let all = json!({"filePath": "all.txt", "overwrite": true});
        harness.text(&tab, "take_snapshot", all).await;
        let snapshot = std::fs::metadata(harness.files.path().join("all.txt")).unwrap();
        let mut bytes = 0;
        let mut offset = Some(0);
        while let Some(at) = offset {
            let arguments = json!({"offset": at, "limit": 40_000});
            let read = harness.text(&tab, "read_page", arguments).await;
            bytes += read.len();
            offset = next_offset(&read);
        }
        assert!(
            2 * bytes as u64 <= snapshot.len(),
            "{page}: {bytes} of {} bytes",
            snapshot.len()
        );
    }
    harness.browser.shut_down().await;
}

fn next_offset(read: &str) -> Option<usize> {
    let (_, next) = read.lines().next()?.split_once("more with offset ")?;
    next.parse().ok()
}

#[tokio::test]
async fn pages_of_a_long_text_join_without_gaps() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("rows.html").await;
    let mut joined = String::new();
    let mut offset = Some(0);
    while let Some(at) = offset {
        let arguments = json!({"offset": at, "limit": 20_000, "links": "none"});
        let read = harness.text(&tab, "read_page", arguments).await;
        assert!(read.len() <= 20_500, "{} bytes", read.len());
        joined.push_str(body(&read));
        joined.push('\n');
        offset = next_offset(&read);
    }
    for row in 0..1500 {
        let line = format!(
            "\n| Item {row} | {} | Buy {row} | Details |\n",
            (row * 37) % 90
        );
        assert!(joined.contains(&line), "{line}");
    }
    let beyond = harness
        .text(&tab, "read_page", json!({"offset": 9_999_999}))
        .await;
    assert!(beyond.contains("offset 9999999 is beyond them"), "{beyond}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn matches_come_with_their_headings() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let words = "Words that fill this page with text. ".repeat(10);
    let page = format!(
        "<main><h1>Top</h1><p>{words}</p><h2>Fees</h2><p>First.</p><p>Second.</p><p>The <b>price</b> is 5.</p><p>Third.</p>\
         <p>Fourth.</p><p>Fifth.</p><h2>Other</h2><p>Nothing here.</p>\
         <table><tr><th>Item</th><th>Cost</th></tr><tr><td>A</td><td>1</td></tr><tr><td>B</td><td>2</td></tr>\
         <tr><td>C</td><td>3</td></tr><tr><td>Zebra</td><td>9</td></tr></table></main><footer>Imprint</footer>"
    );
    let tab = serve(&harness, &page).await;
    let found = harness
        .text(&tab, "read_page", json!({"find": "PRICE is"}))
        .await;
    assert!(
        found.contains("1 match for \"PRICE is\" in main content"),
        "{found}"
    );
    assert!(
        found.contains("# Top") && found.contains("## Fees"),
        "{found}"
    );
    assert!(
        found.contains("Second.") && found.contains("The price is 5."),
        "{found}"
    );
    assert!(
        !found.contains("Fifth.") && !found.contains("Other"),
        "{found}"
    );
    let found = harness
        .text(&tab, "read_page", json!({"find": "zebra"}))
        .await;
    assert!(
        found.contains("| Item | Cost |") && found.contains("| Zebra | 9 |"),
        "{found}"
    );
    let found = harness
        .text(&tab, "read_page", json!({"find": "imprint"}))
        .await;
    assert!(
        found.contains("in all content, because the main content has no match")
            && found.contains("\nImprint"),
        "{found}"
    );
    let none = harness
        .text(&tab, "read_page", json!({"find": "unheard of"}))
        .await;
    assert!(none.contains("no match for \"unheard of\""), "{none}");
    let outline = harness
        .text(&tab, "read_page", json!({"outline": true}))
        .await;
    let offset = outline.split_once("## Fees (offset ").unwrap().1;
    let offset: u32 = offset.split_once(')').unwrap().0.parse().unwrap();
    let from = harness
        .text(&tab, "read_page", json!({"offset": offset}))
        .await;
    assert!(body(&from).starts_with("## Fees\n"), "{from}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn frames_and_shadow_roots_are_read_in_place() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("snapshot-frames.html").await;
    let read = harness.text(&tab, "read_page", json!({})).await;
    let places: Vec<_> = [
        "Before the frames",
        "In same-site frame",
        "In inner frame",
        "In written frame",
        "In cross-site frame",
        "After the frames",
    ]
    .iter()
    .map(|part| read.find(part).unwrap_or_else(|| panic!("{part}: {read}")))
    .collect();
    assert!(places.is_sorted(), "{read}");
    assert!(!read.contains("hidden frame"), "{read}");
    let tab = harness.open("snapshot-shadow.html").await;
    let read = harness.text(&tab, "read_page", json!({})).await;
    for part in [
        "## Slotted name",
        "Fallback",
        "In closed",
        "Deep inside",
        "Declared",
        "Secret field",
    ] {
        assert!(read.contains(part), "{part}: {read}");
    }
    assert!(!read.contains("not shown"), "{read}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn hidden_content_and_passwords_are_not_read() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<p>Seen</p><p hidden>no1</p><p style='display:none'>no2</p><p style='visibility:hidden'>no3</p>\
                <p style='position:absolute;left:-9999px'>no4</p>\
                <p style='position:absolute;width:1px;height:1px;overflow:hidden'>no5</p><details><summary>Open me</summary>no6</details>\
                <div style='content-visibility:hidden'>no7</div><script>'no8'</script>\
                <input type=password value=no9><input autocomplete=current-password value=no9><input type=hidden value=no9>\
                <div contenteditable style='-webkit-text-security: disc'>no9</div>";
    let tab = serve(&harness, page).await;
    let read = harness.text(&tab, "read_page", json!({})).await;
    assert!(read.contains("Seen") && read.contains("Open me"), "{read}");
    assert!(!body(&read).contains("no"), "{read}");
    assert_eq!(read.matches("[filled]").count(), 3, "{read}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_part_is_read_by_its_uid() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<main><p>Before</p><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table></main>";
    let tab = serve(&harness, page).await;
    let uid = harness.uid(&tab, " table").await;
    let read = harness.text(&tab, "read_page", json!({"uid": uid})).await;
    assert_eq!(body(&read), "| A | B |\n|---|---|\n| 1 | 2 |", "{read}");
    harness
        .page_value(&tab, "document.querySelector('table').remove()")
        .await;
    let error = harness.error(&tab, "read_page", json!({"uid": uid})).await;
    assert!(error.contains("no longer on the page"), "{error}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_picture_or_a_video_has_no_text() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let tab = harness.open("pixels.png").await;
    let error = harness.error(&tab, "read_page", json!({})).await;
    assert!(error.contains("a file of type image/png"), "{error}");
    assert!(error.contains("take_screenshot"), "{error}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_deep_or_endless_page_is_read_within_bounds() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<p>Start</p><script>let at = document.body;\
                for (let i = 0; i < 1000; i++) at = at.appendChild(document.createElement(i % 2 ? 'blockquote' : 'ul'));\
                at.textContent = 'Bottom';\
                const p = document.createElement('p'); p.textContent = 'word '.repeat(1000000); document.body.append(p);\
                </script>";
    let tab = serve(&harness, page).await;
    let read = harness.text(&tab, "read_page", json!({})).await;
    assert!(read.contains("Bottom"), "{read:.500}");
    assert!(read.len() < 13_000, "{} bytes", read.len());
    assert!(read.contains("more with offset"), "{read:.500}");
    harness.browser.shut_down().await;
}

#[test]
fn arguments_that_cannot_be_meant_are_refused() {
    for arguments in [
        json!({"limit": 10}),
        json!({"limit": 50_000}),
        json!({"find": " "}),
        json!({"find": "x", "outline": true}),
        json!({"scope": "body"}),
        json!({"selector": "p"}),
    ] {
        let raw = serde_json::value::to_raw_value(&arguments).unwrap();
        let tool = tabmux_browser::tools::find("read_page").unwrap();
        assert!(tool.prepare(&raw).is_err(), "{arguments}");
    }
}

const STRUCTURE: &str = "<main><h1>Title</h1><p>First line<br>second  line. See <a href='docs/a(b).html'>the manual</a>, \
    <a href='https://other.example/x'>another site</a>, <a href='/read#y'><b>bold</b> link</a> and <a href='docs/a(b).html'>it again</a>.</p>\
    <ul><li>One<ul><li>Inner</li></ul></li><li>Two <code>x = 1</code></li></ul>\
    <ol start=3><li>Three</li><li><p>Four</p><p>more of four</p></li></ol>\
    <blockquote><p>Quoted</p><p>Twice</p></blockquote>\
    <pre class='language-rust'><code>fn main() {\n    todo!()\n}</code></pre>\
    <table><caption>Cap</caption><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td rowspan=2>1</td><td>2</td></tr><tr><td>3</td></tr>\
    <tr><td colspan=2>wide</td></tr></tbody></table>\
    <h2><a href='/card'>Card</a></h2><a href='/block' style='display:block'><h3>Block link</h3><p>Its text</p></a>\
    <p><img src=a.png alt='A cat'><img src=b.png alt=''> <del>5</del> 4</p>\
    <dl><dt>Term</dt><dd>Meaning</dd></dl>\
    <form><label>Name <input value=Anna></label> <input aria-label=City value=Bonn> <label><input type=checkbox checked> Yes</label>\
    <select aria-label=Colour><option>Red<option selected>Blue</select><button>Send</button></form></main>";

const AS_MARKDOWN: &str = "# Title

First line
second line. See [the manual][1], [another site][2], [bold link][3] and [it again][1].

- One
  - Inner
- Two `x = 1`

3. Three
4. Four
   more of four

> Quoted
>
> Twice

```rust
fn main() {
    todo!()
}
```

Cap
| A | B |
|---|---|
| 1 | 2 |
|  | 3 |
| wide |  |

## [Card][4]

### [Block link][5]

Its text

![A cat] ~~5~~ 4

Term
: Meaning

Name [Anna] [City: Bonn] [x] Yes [Colour: Blue] Send

Links (/… is on SITE):
[1]: /docs/a(b).html
[2]: https://other.example/x
[3]: /read#y
[4]: /card
[5]: /block";
