use std::error::Error;
use std::io::Write;

use rustix::time::{clock_gettime, ClockId};
use serde_json::{json, Map, Value};

use crate::client::PACKAGE;
use crate::session::PlannedSend;

/// Fields of a record that say how a call ended.
pub type Answer = Map<String, Value>;

/// The host's monotonic clock, which all processes of a host share.
pub fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Written at once: a record is to be out within 20 ms, and its sender waits for no more than a copy into the pipe.
pub fn put(record: &Value) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{record}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1); // the runner is gone
    }
}

/// Puts the end of a call into its record.
pub fn with(record: &mut Value, answer: Answer) {
    for (field, value) in answer {
        record[field] = value;
    }
}

/// The record of a send whose message the client refuses to make.
pub fn put_refused(send: &PlannedSend, problem: &dyn Error) {
    let now = now_ns();
    let mut record = json!({"type": "send", "send": send.send, "thread": send.thread, "start_ns": now, "end_ns": now});
    record["error"] = json!("client-refused");
    record["message"] = json!(problem.to_string());
    if send.mode == "async" {
        record["returned_ns"] = json!(now);
    }
    put(&record);
}

/// Claims what hello.json says, which the runner reads too, and the release that this program was locked to.
pub fn hello() -> Value {
    let mut hello: Value = serde_json::from_str(include_str!("../hello.json")).expect("hello.json is JSON");
    hello["type"] = json!("hello");
    hello["protocol"] = json!(1);
    hello["version"] = json!(locked_version());
    hello["pid"] = json!(std::process::id());
    hello["clock_ns"] = json!(now_ns());
    hello
}

fn locked_version() -> &'static str {
    let mut lines = include_str!("../Cargo.lock").lines();
    lines.find(|line| *line == format!("name = \"{PACKAGE}\""));
    let version = lines.next().and_then(|line| line.strip_prefix("version = "));
    version.map_or("unknown", |text| text.trim_matches('"'))
}
