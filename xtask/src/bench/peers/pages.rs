//! The pages that all servers work on.

use tabmux_testkit::{FixtureServer, Response};

/// Serves them on loopback.
pub(super) fn serve() -> FixtureServer {
    let pages = FixtureServer::start();
    pages.route("/small", Response::html(format!("{SMALL}{COUNTER}")));
    pages.route("/busy", Response::html(format!("{BUSY}{COUNTER}")));
    pages.route("/form", Response::html(form()));
    pages
}

/// How many fields the form has.
pub(super) const FIELDS: usize = 20;

/// An expression for how often the button was pressed.
pub(super) const PRESSED: &str = "'pressed ' + document.getElementById('count').textContent";

/// An expression for how many fields hold their own name and `stamp`.
pub(super) fn filled(stamp: usize) -> String {
    format!(
        "'filled ' + [...document.querySelectorAll('input')]\
         .filter(field => field.value === field.name + '-{stamp}').length"
    )
}

fn form() -> String {
    let fields = (1..=FIELDS)
        .map(|n| format!("<p><label>Field {n} <input name=f{n}></label></p>"))
        .collect::<String>();
    format!("<!doctype html><title>Form</title><form>{fields}</form>")
}

const SMALL: &str = "<!doctype html><title>Small</title><h1>A small page</h1><p>With a few words.</p>\
    <form><label>Name <input></label><button type=button>Press</button></form><a href=#x>A link</a>";

/// Changes every 20 ms.
const BUSY: &str = "<!doctype html><title>Busy</title><button>Press</button><p id=out></p>\
    <script>let n = 0; setInterval(() => { const line = document.createElement('i'); \
    line.textContent = ++n; document.getElementById('out').replaceChildren(line) }, 20)</script>";

const COUNTER: &str = "<output id=count>0</output><script>\
    const count = document.getElementById('count'); \
    document.querySelector('button').onclick = () => { count.textContent = +count.textContent + 1 }\
    </script>";
