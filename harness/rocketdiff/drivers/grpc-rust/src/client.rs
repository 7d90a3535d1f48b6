use std::collections::HashMap;
use std::error::Error as StdError;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rocketmq::conf::{ClientOption, ProducerOption};
use rocketmq::error::{ClientError, ErrorKind};
use rocketmq::model::message::{Message, MessageBuilder};
use rocketmq::Producer;
use serde_json::json;
use tokio::task::JoinError;

use crate::asynchronous::AsyncSend;
use crate::records::{now_ns, put, put_refused, with, Answer};
use crate::session::{PlannedSend, Setup};

/// Whose release the hello tells.
pub const PACKAGE: &str = "rocketmq";

const ID_PROPERTY: &str = "rocketdiff.id";
const WARM_SENDS: usize = 50;
const WARM_BODY_BYTES: usize = 128;
const WARM_TIMEOUT: Duration = Duration::from_secs(5);

/// A first connection may fail while all else is starting.
const TRIES: usize = 5;

/// The measured producer as an application would use it.
pub struct Client {
    pub setup: Setup,
    producer: Arc<Producer>,
    open: Mutex<Vec<Arc<AsyncSend>>>,
}

impl Client {
    /// Ends a warm producer and starts the measured one, which looks its route up.
    pub async fn warm(setup: Setup) -> Result<Self, Box<dyn StdError + Send + Sync>> {
        let warm = started(&setup, &setup.warm_topic, WARM_TIMEOUT).await?;
        for number in 0..WARM_SENDS {
            warm.send(message(&setup, &setup.warm_topic, &warm_send(number))?).await?;
        }
        let _ = warm.shutdown().await;
        let timeout = Duration::from_millis(u64::from(setup.settings.send_msg_timeout_ms));
        let producer = Arc::new(started(&setup, &setup.topic, timeout).await?);
        Ok(Self { setup, producer, open: Mutex::default() })
    }

    /// Each call is a task of its own, because this client panics where it cannot connect: an application's task ends then, not its process.
    pub async fn send(&self, send: &PlannedSend) {
        let message = match message(&self.setup, &self.setup.topic, send) {
            Ok(message) => message,
            Err(problem) => return put_refused(send, &problem),
        };
        let producer = Arc::clone(&self.producer);
        if send.mode == "async" {
            let open = AsyncSend::begin(send);
            self.open.lock().unwrap().push(Arc::clone(&open));
            let called = tokio::spawn(async move { producer.send(message).await.map(drop) });
            open.returned(None);
            tokio::spawn(async move { open.called_back(answer_of(called.await)) });
            return;
        }
        let mut record = json!({"type": "send", "send": send.send, "thread": send.thread, "start_ns": now_ns()});
        let ended = tokio::spawn(async move { producer.send(message).await.map(drop) }).await;
        record["end_ns"] = json!(now_ns());
        with(&mut record, answer_of(ended));
        put(&record);
    }

    pub async fn await_callbacks(&self) {
        let open = self.open.lock().unwrap().clone();
        for send in open {
            send.awaited(Duration::from_millis(self.setup.callback_limit_ms)).await;
        }
    }

    /// A producer that others may still use cannot be shut down; its process ends at once.
    pub async fn shutdown(&self) {}
}

async fn started(setup: &Setup, topic: &str, timeout: Duration) -> Result<Producer, ClientError> {
    let mut left = TRIES;
    loop {
        let mut options = ProducerOption::default();
        options.set_topics(vec![topic]);
        let mut client = ClientOption::default();
        client.set_access_url(setup.endpoints.join(","));
        client.set_timeout(timeout);
        let mut producer = Producer::new(options, client)?;
        left -= 1;
        match producer.start().await {
            Ok(()) => return Ok(producer),
            Err(error) if left == 0 => return Err(error),
            Err(error) => eprintln!("{error}"),
        }
    }
}

fn warm_send(number: usize) -> PlannedSend {
    let send = json!({"send": number, "thread": 0, "due_ns": 0, "kind": "plain", "argument": 0, "body_bytes": WARM_BODY_BYTES});
    serde_json::from_value(send).expect("it has every field")
}

/// A message with our id in a user property and at the start of its body, which is padded with dots.
fn message(setup: &Setup, topic: &str, send: &PlannedSend) -> Result<impl Message, ClientError> {
    let id = format!("{}/{}/{}", setup.run, topic, send.send);
    let mut body = id.clone().into_bytes();
    body.resize(body.len().max(send.body_bytes), b'.');
    let mut properties = HashMap::from([(ID_PROPERTY.to_string(), id)]);
    properties.extend(send.properties.iter().cloned());
    let mut builder = MessageBuilder::builder().set_topic(topic).set_body(body).set_properties(properties);
    if !send.keys.is_empty() {
        builder = builder.set_keys(send.keys.split_whitespace().collect());
    }
    if !send.tags.is_empty() {
        builder = builder.set_tag(send.tags.as_str());
    }
    if send.kind == "group" {
        builder = builder.set_message_group(format!("group-{}", send.argument));
    }
    builder.build()
}

/// How a call ended. The queue is left out: the receipt has none.
fn answer_of(ended: Result<Result<(), ClientError>, JoinError>) -> Answer {
    let mut answer = Answer::new();
    let (word, code, message) = match ended {
        Ok(Ok(())) => {
            answer.insert("status".into(), json!("SEND_OK"));
            return answer;
        }
        Ok(Err(error)) => {
            let (word, code) = named(&error);
            (word, code, error.to_string())
        }
        Err(panicked) => ("other", None, panicked.to_string()),
    };
    answer.insert("error".into(), json!(word));
    answer.insert("message".into(), json!(message));
    code.map(|code| answer.insert("code".into(), json!(code)));
    answer
}

/// One of the runner's error words, and the code that the proxy answered.
fn named(error: &ClientError) -> (&'static str, Option<i32>) {
    if let Some(status) = error.source().and_then(|source| source.downcast_ref::<tonic::Status>()) {
        return (named_status(status), None);
    }
    match error.kind() {
        ErrorKind::Server => ("broker-code", answered_code(error)),
        ErrorKind::Connect => ("refused", None),
        ErrorKind::NoBrokerAvailable => ("no-route", None),
        ErrorKind::Config | ErrorKind::InvalidMessage => ("client-refused", None),
        _ => ("other", None),
    }
}

/// A channel says of its own timeout that the call was cancelled, and of a connection that ended under it that it does not know.
fn named_status(status: &tonic::Status) -> &'static str {
    match status.code() {
        tonic::Code::DeadlineExceeded => "timeout",
        tonic::Code::Cancelled if status.message().contains("Timeout expired") => "timeout",
        tonic::Code::Unavailable | tonic::Code::Unknown | tonic::Code::Cancelled => "connection-lost",
        _ => "other",
    }
}

/// The client tells the name of a code alone; these are those that a proxy can answer to a send (apache.rocketmq.v2.Code).
fn answered_code(error: &ClientError) -> Option<i32> {
    let (_, name) = error.context().iter().find(|(key, _)| *key == "code")?;
    match name.as_str() {
        "BAD_REQUEST" => Some(40000),
        "ILLEGAL_TOPIC" => Some(40002),
        "ILLEGAL_MESSAGE_TAG" => Some(40004),
        "ILLEGAL_MESSAGE_KEY" => Some(40005),
        "ILLEGAL_MESSAGE_GROUP" => Some(40006),
        "ILLEGAL_MESSAGE_PROPERTY_KEY" => Some(40007),
        "MESSAGE_PROPERTY_CONFLICT_WITH_TYPE" => Some(40014),
        "MESSAGE_CORRUPTED" => Some(40016),
        "CLIENT_ID_REQUIRED" => Some(40017),
        "UNAUTHORIZED" => Some(40100),
        "FORBIDDEN" => Some(40300),
        "TOPIC_NOT_FOUND" => Some(40402),
        "REQUEST_TIMEOUT" => Some(40800),
        "MESSAGE_BODY_TOO_LARGE" => Some(41301),
        "TOO_MANY_REQUESTS" => Some(42900),
        "MESSAGE_PROPERTIES_TOO_LARGE" => Some(43101),
        "INTERNAL_ERROR" => Some(50000),
        "INTERNAL_SERVER_ERROR" => Some(50001),
        "HA_NOT_AVAILABLE" => Some(50002),
        "NOT_IMPLEMENTED" => Some(50100),
        "PROXY_TIMEOUT" => Some(50400),
        "MASTER_PERSISTENCE_TIMEOUT" => Some(50401),
        "SLAVE_PERSISTENCE_TIMEOUT" => Some(50402),
        _ => None,
    }
}
