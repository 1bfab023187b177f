//! The error of a request whose connection the server ends.

use super::*;
use crate::dial::Stream;
use crate::dial::tls_stream::tests::ended_by_the_server;

/// The connection fails before the request is written, and the request only because of that.
#[tokio::test]
async fn a_server_that_refuses_us_before_the_request_tells_why() {
    let stream = Stream::Tls(ended_by_the_server().await);
    let url = Url::parse("https://localhost/").expect("an address");
    let request = request(Method::GET, &url, &[], None).expect("a request");
    let error = exchange(stream.into_halves(), request)
        .await
        .expect_err("no response");
    assert!(DialError::in_text(&error).is_some(), "{error}");
}
