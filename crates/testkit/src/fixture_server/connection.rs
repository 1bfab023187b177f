//! The server's thread: accepts connections and responds to one request at a time.

use super::{
    http::{Request, Response},
    routes::{Route, Routes},
};
use std::{future::Future, io, net::TcpListener, sync::Arc};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufStream},
    net::TcpStream,
    sync::watch,
};

pub(super) fn run(
    listeners: Vec<TcpListener>,
    routes: Arc<Routes>,
    mut ended: watch::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime for the fixture server");
    runtime.block_on(async {
        for listener in listeners {
            tokio::spawn(accept(listener, Arc::clone(&routes)));
        }
        // Ends when the server's handle is dropped; the runtime drops all connections.
        let _ = ended.changed().await;
    });
}

async fn accept(listener: TcpListener, routes: Arc<Routes>) {
    listener
        .set_nonblocking(true)
        .expect("a listener that can be awaited");
    let listener = tokio::net::TcpListener::from_std(listener).expect("a tokio listener");
    while let Ok((stream, _)) = listener.accept().await {
        // A browser may reset a connection at any moment; a test does not care.
        let routes = Arc::clone(&routes);
        tokio::spawn(async move { serve(stream, &routes).await });
    }
}

async fn serve(stream: TcpStream, routes: &Routes) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufStream::new(stream);
    while let Some(request) = Request::read(&mut stream).await? {
        match routes.resolve(&request) {
            Route::Answer(answer) => send(&mut stream, &request, &answer(&request)).await?,
            Route::Held(gate, response) => {
                unless_abandoned(&mut stream, routes, &request, gate.passed()).await?;
                send(&mut stream, &request, &response).await?;
            }
            Route::HeldBody(gate, response, sent) => {
                let (first, rest) = response.body.split_at(sent.min(response.body.len()));
                stream.write_all(&response.head()).await?;
                stream.write_all(first).await?;
                stream.flush().await?;
                unless_abandoned(&mut stream, routes, &request, gate.passed()).await?;
                stream.write_all(rest).await?;
                stream.flush().await?;
            }
            Route::Hang => {
                unless_abandoned(&mut stream, routes, &request, std::future::pending()).await?;
            }
            Route::HangUp => return Ok(()),
        }
        if request.header("connection") == Some("close") {
            return Ok(());
        }
    }
    Ok(())
}

async fn send(
    stream: &mut BufStream<TcpStream>,
    request: &Request,
    response: &Response,
) -> io::Result<()> {
    stream.write_all(&response.head()).await?;
    if request.method != "HEAD" {
        stream.write_all(&response.body).await?;
    }
    stream.flush().await
}

/// Waits for `event`, or fails (and logs it) when the other side closes the connection first.
async fn unless_abandoned(
    stream: &mut BufStream<TcpStream>,
    routes: &Routes,
    request: &Request,
    event: impl Future<Output = ()>,
) -> io::Result<()> {
    let closed = async {
        let next_request_came_early =
            matches!(stream.fill_buf().await, Ok(bytes) if !bytes.is_empty());
        if next_request_came_early {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = event => Ok(()),
        () = closed => {
            routes.abandon(&request.path);
            Err(io::ErrorKind::ConnectionAborted.into())
        }
    }
}
