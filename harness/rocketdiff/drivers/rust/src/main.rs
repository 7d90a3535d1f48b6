//! The Rust client as a subject of rocketdiff: commands as JSON lines on stdin, records on stdout, all else on stderr.
//!
//! Ends with stop, with the end of stdin (the runner is gone) or with a command that it cannot obey.

mod asynchronous;
mod client;
mod records;
mod session;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{json, Value};
use tokio::sync::mpsc;

use session::Session;

/// Unregistering from a paused broker blocks for seconds; nobody waits for it.
const SHUTDOWN: Duration = Duration::from_millis(700);

#[tokio::main]
async fn main() {
    records::put(&records::hello());
    let mut lines = commands();
    let session = Arc::new(Session::default());
    let mut status = 0;
    while let Some(line) = lines.recv().await {
        match obey(&session, &line) {
            Ok(true) => {}
            Ok(false) => break,
            Err(problem) => {
                records::put(&json!({"type": "failed", "stage": "command", "message": problem.to_string()}));
                status = 1;
                break;
            }
        }
    }
    let _ = tokio::time::timeout(SHUTDOWN, session.shutdown()).await;
    std::process::exit(status);
}

/// Lines of stdin, read by a thread of its own; the channel closes with stdin.
fn commands() -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Whether another command is awaited.
fn obey(session: &Arc<Session>, line: &str) -> Result<bool, Box<dyn std::error::Error>> {
    let command: Value = serde_json::from_str(line)?;
    match command["type"].as_str() {
        Some("plan") => session.planned(serde_json::from_value(command)?),
        Some("setup") => {
            let setup = serde_json::from_value(command)?;
            tokio::spawn(Arc::clone(session).prepare(setup));
        }
        Some("go") => {
            let start_ns = command["start_ns"].as_i64().ok_or("go without start_ns")?;
            tokio::spawn(Arc::clone(session).run(start_ns));
        }
        Some("stop") => return Ok(false),
        _ => return Err(format!("unknown command {line}").into()),
    }
    Ok(true)
}
