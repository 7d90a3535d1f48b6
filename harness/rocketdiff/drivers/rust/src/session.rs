// Two clients share this file, and each has only some of the settings.
#![allow(dead_code)]

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::client::Client;
use crate::records::{now_ns, put};

#[derive(Deserialize)]
pub struct PlannedSend {
    pub send: i64,
    pub thread: i64,
    pub due_ns: i64,
    pub kind: String,
    pub argument: usize,
    pub body_bytes: usize,
    #[serde(default)]
    pub mode: String,
    #[serde(default)]
    pub delay_level: i32,
    #[serde(default)]
    pub keys: String,
    #[serde(default)]
    pub tags: String,
    #[serde(default)]
    pub properties: Vec<(String, String)>,
}

#[derive(Deserialize)]
pub struct Setup {
    pub name_servers: Vec<String>,
    #[serde(default)]
    pub endpoints: Vec<String>,
    pub topic: String,
    pub warm_topic: String,
    pub group: String,
    pub run: String,
    pub threads: i64,
    #[serde(default = "callback_limit_ms")]
    pub callback_limit_ms: u64,
    pub settings: Settings,
}

/// Settings that this client has; the others are ignored.
#[derive(Deserialize)]
pub struct Settings {
    pub send_latency_fault_enable: bool,
    pub send_msg_timeout_ms: u32,
    pub retry_times_when_send_failed: u32,
    pub retry_times_when_send_async_failed: u32,
    pub retry_another_broker_when_not_store_ok: bool,
    pub compress_msg_body_over_howmuch: u32,
    pub poll_name_server_interval_ms: u32,
    pub heartbeat_broker_interval_ms: u32,
}

fn callback_limit_ms() -> u64 {
    60_000
}

/// One run: prepare, say ready, wait for go, send, say done.
#[derive(Default)]
pub struct Session {
    plan: Mutex<Vec<Arc<PlannedSend>>>,
    client: OnceLock<Arc<Client>>,
}

impl Session {
    pub fn planned(&self, send: PlannedSend) {
        self.plan.lock().unwrap().push(Arc::new(send));
    }

    pub async fn prepare(self: Arc<Self>, setup: Setup) {
        match Client::warm(setup).await {
            Ok(client) => {
                let _ = self.client.set(Arc::new(client));
                put(&json!({"type": "ready", "clock_ns": now_ns()}));
            }
            Err(problem) => {
                eprintln!("{problem:?}");
                put(&json!({"type": "failed", "stage": "warm-up", "message": problem.to_string()}));
            }
        }
    }

    pub async fn run(self: Arc<Self>, start_ns: i64) {
        let client = self.client.get().expect("go comes after ready");
        let plan = self.plan.lock().unwrap().clone();
        let mut threads = Vec::new();
        for thread in 0..client.setup.threads {
            let own: Vec<_> = plan.iter().filter(|send| send.thread == thread).cloned().collect();
            let client = Arc::clone(client);
            threads.push(tokio::spawn(async move {
                for send in own {
                    until(start_ns + send.due_ns).await;
                    client.send(&send).await;
                }
            }));
        }
        for thread in threads {
            thread.await.expect("a thread of sends does not panic");
        }
        client.await_callbacks().await;
        put(&json!({"type": "done", "sends": plan.len()}));
    }

    pub async fn shutdown(&self) {
        if let Some(client) = self.client.get() {
            client.shutdown().await;
        }
    }
}

async fn until(due_ns: i64) {
    loop {
        let left = due_ns - now_ns();
        if left <= 0 {
            return;
        }
        tokio::time::sleep(Duration::from_nanos(left as u64)).await;
    }
}
