use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{json, Value};
use tokio::sync::Notify;

use crate::records::{now_ns, put, with, Answer};
use crate::session::PlannedSend;

/// An asynchronous send is told once its call has returned and its callback was called, in whichever order.
pub struct AsyncSend {
    state: Mutex<State>,
    start_ns: i64,
    is_told: Notify,
}

#[derive(Default)]
struct State {
    record: Value,
    is_answered: bool,
    has_returned: bool,
    is_told: bool,
    again: Vec<Value>,
}

impl AsyncSend {
    pub fn begin(send: &PlannedSend) -> Arc<Self> {
        let start_ns = now_ns();
        let record = json!({"type": "send", "send": send.send, "thread": send.thread, "start_ns": start_ns});
        let state = Mutex::new(State { record, ..Default::default() });
        Arc::new(Self { state, start_ns, is_told: Notify::new() })
    }

    pub fn called_back(&self, answer: Answer) {
        let at_ns = now_ns();
        let mut state = self.state.lock().unwrap();
        if state.is_answered {
            let mut again = json!({"type": "callback", "at_ns": at_ns});
            again["send"] = state.record["send"].clone();
            again["thread"] = state.record["thread"].clone();
            for field in ["error", "status"] {
                if let Some(value) = answer.get(field) {
                    again[field] = value.clone();
                }
            }
            state.again.push(again);
        } else {
            state.is_answered = true;
            state.record["end_ns"] = json!(at_ns);
            with(&mut state.record, answer);
        }
        self.tell(&mut state);
    }

    /// The end of the call; an error of it is its answer.
    pub fn returned(&self, error: Option<Answer>) {
        let at_ns = now_ns();
        let mut state = self.state.lock().unwrap();
        state.has_returned = true;
        state.record["returned_ns"] = json!(at_ns);
        if let Some(error) = error.filter(|_| !state.is_answered) {
            state.is_answered = true;
            state.record["end_ns"] = json!(at_ns);
            with(&mut state.record, error);
        }
        self.tell(&mut state);
    }

    /// Waits for the callback until the limit after the call.
    pub async fn awaited(&self, limit: Duration) {
        let told = self.is_told.notified();
        tokio::pin!(told);
        told.as_mut().enable();
        if self.state.lock().unwrap().is_told {
            return;
        }
        let left = limit.saturating_sub(Duration::from_nanos((now_ns() - self.start_ns) as u64));
        if tokio::time::timeout(left, told).await.is_err() {
            let mut state = self.state.lock().unwrap();
            if !state.is_answered {
                state.is_answered = true;
                state.record["end_ns"] = json!(now_ns());
                state.record["error"] = json!("NeverCalledBack");
                self.tell(&mut state);
            }
        }
    }

    fn tell(&self, state: &mut State) {
        if !state.is_answered || !state.has_returned {
            return;
        }
        if !state.is_told {
            state.is_told = true;
            put(&state.record);
            self.is_told.notify_waiters();
        }
        state.again.drain(..).for_each(|record| put(&record));
    }
}
