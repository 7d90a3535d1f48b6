// A call of an older release takes the producer mutably.
#![allow(unused_mut)]

mod api;

use std::error::Error as StdError;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::asynchronous::AsyncSend;
use crate::records::{now_ns, put, put_refused, with, Answer};
use crate::session::{PlannedSend, Setup};
use api::{
    builder, callback, named, ClientConfig, DefaultMQProducer, Message, MessageError, MessageQueue, Named, Runtime,
    SendError, SendResult, Shared,
};

/// Whose release the hello tells.
pub const PACKAGE: &str = "rocketmq-client-rust";

const ID_PROPERTY: &str = "rocketdiff.id";
const WARM_SENDS: usize = 100;
const WARM_BODY_BYTES: usize = 128;

/// The measured producer as an application would use it.
pub struct Client {
    pub setup: Setup,
    producer: Shared,
    queues: Vec<MessageQueue>,
    open: Mutex<Vec<Arc<AsyncSend>>>,
}

impl Client {
    /// Opens the connections with another producer and another topic, and starts the measured one and looks up its route.
    pub async fn warm(setup: Setup) -> Result<Self, Box<dyn StdError + Send + Sync>> {
        let runtime = Runtime::new()?;
        let mut warm = producer(&setup, &format!("{}-warm", setup.group), &runtime);
        let mut measured = producer(&setup, &setup.group, &runtime);
        warm.start().await?;
        measured.start().await?;
        let targets = sorted(warm.fetch_publish_message_queues(&setup.warm_topic).await?);
        for number in 0..WARM_SENDS {
            let send = warm_send(number);
            let message = message(&setup, &setup.warm_topic, &send)?;
            if number < WARM_SENDS / 2 {
                warm.send_to_queue(message, targets[number % targets.len()].clone()).await?;
            } else {
                warm.send(message).await?;
            }
        }
        warm.shutdown().await;
        let queues = sorted(measured.fetch_publish_message_queues(&setup.topic).await?);
        Ok(Self { setup, producer: Shared::new(measured), queues, open: Mutex::default() })
    }

    pub async fn send(&self, send: &PlannedSend) {
        let message = match message(&self.setup, &self.setup.topic, send) {
            Ok(message) => message,
            Err(problem) => return put_refused(send, &problem),
        };
        if send.mode == "async" {
            return self.send_async(send, message).await;
        }
        let mut record = json!({"type": "send", "send": send.send, "thread": send.thread, "start_ns": now_ns()});
        let result = if send.mode == "oneway" {
            self.send_oneway(send, message).await.map(|()| None)
        } else {
            self.send_sync(send, message).await
        };
        record["end_ns"] = json!(now_ns());
        let error = result.as_ref().err().map(|error| named(error));
        with(&mut record, answer_of(result.as_ref().ok().and_then(Option::as_ref), error));
        put(&record);
    }

    async fn send_sync(&self, send: &PlannedSend, message: Message) -> Result<Option<SendResult>, SendError> {
        let mut producer = self.producer.lent().await;
        match send.kind.as_str() {
            "queue" => producer.send_to_queue_with_timeout(message, self.target(send), self.timeout_ms()).await,
            "selector" => producer.send_with_selector_timeout(message, chosen, send.argument, self.timeout_ms()).await,
            "batch" => producer.send_batch(vec![message]).await.map(Some),
            _ => producer.send(message).await,
        }
    }

    async fn send_oneway(&self, send: &PlannedSend, message: Message) -> Result<(), SendError> {
        let mut producer = self.producer.lent().await;
        match send.kind.as_str() {
            "queue" => producer.send_oneway_to_queue(message, self.target(send)).await,
            "selector" => producer.send_oneway_with_selector(message, chosen, send.argument).await,
            _ => producer.send_oneway(message).await,
        }
    }

    async fn send_async(&self, send: &PlannedSend, message: Message) {
        let mut producer = self.producer.lent().await;
        let open = AsyncSend::begin(send);
        self.open.lock().unwrap().push(Arc::clone(&open));
        let told = Arc::clone(&open);
        let callback = callback(move |result, error| told.called_back(answer_of(result, error)));
        let timeout_ms = self.timeout_ms();
        let returned = match send.kind.as_str() {
            "queue" => {
                let queue = self.target(send);
                producer.send_to_queue_with_callback_timeout(message, queue, callback, timeout_ms).await
            }
            "selector" => {
                let callback = Some(Arc::new(callback) as _);
                producer.send_with_selector_callback_timeout(message, chosen, send.argument, callback, timeout_ms).await
            }
            _ => producer.send_with_callback(message, callback).await,
        };
        open.returned(returned.err().map(|error| answer_of(None, Some(named(&error)))));
    }

    pub async fn await_callbacks(&self) {
        let open = self.open.lock().unwrap().clone();
        for send in open {
            send.awaited(Duration::from_millis(self.setup.callback_limit_ms)).await;
        }
    }

    pub async fn shutdown(&self) {
        self.producer.shutdown().await;
    }

    fn target(&self, send: &PlannedSend) -> MessageQueue {
        self.queues[send.argument % self.queues.len()].clone()
    }

    fn timeout_ms(&self) -> u64 {
        u64::from(self.setup.settings.send_msg_timeout_ms)
    }
}

fn producer(setup: &Setup, group: &str, runtime: &Runtime) -> DefaultMQProducer {
    let settings = &setup.settings;
    let mut config = ClientConfig::default();
    config.set_poll_name_server_interval(settings.poll_name_server_interval_ms);
    config.set_heartbeat_broker_interval(settings.heartbeat_broker_interval_ms);
    let mut producer = builder!(runtime)
        .client_config(config)
        .producer_group(group)
        .name_server_addr(setup.name_servers.join(";"))
        .send_msg_timeout(settings.send_msg_timeout_ms)
        .retry_times_when_send_failed(settings.retry_times_when_send_failed)
        .retry_times_when_send_async_failed(settings.retry_times_when_send_async_failed)
        .retry_another_broker_when_not_store_ok(settings.retry_another_broker_when_not_store_ok)
        .compress_msg_body_over_howmuch(settings.compress_msg_body_over_howmuch)
        .build();
    producer.set_send_latency_fault_enable(settings.send_latency_fault_enable);
    producer
}

fn warm_send(number: usize) -> PlannedSend {
    let send = json!({"send": number, "thread": 0, "due_ns": 0, "kind": "plain", "argument": 0, "body_bytes": WARM_BODY_BYTES});
    serde_json::from_value(send).expect("it has every field")
}

/// A message with our id in a user property and at the start of its body, which is padded with dots.
fn message(setup: &Setup, topic: &str, send: &PlannedSend) -> Result<Message, MessageError> {
    let id = format!("{}/{}/{}", setup.run, topic, send.send);
    let mut body = id.clone().into_bytes();
    body.resize(body.len().max(send.body_bytes), b'.');
    let mut builder = Message::builder().topic(topic).body(body).raw_property(ID_PROPERTY, id)?;
    if !send.keys.is_empty() {
        builder = builder.key(send.keys.as_str());
    }
    if !send.tags.is_empty() {
        builder = builder.tags(send.tags.as_str());
    }
    if send.delay_level != 0 {
        builder = builder.delay_level(send.delay_level);
    }
    for (name, value) in &send.properties {
        builder = builder.raw_property(name.as_str(), value.as_str())?;
    }
    builder.build()
}

fn sorted(mut queues: Vec<MessageQueue>) -> Vec<MessageQueue> {
    queues.sort_by_key(|queue| (queue.broker_name().to_string(), queue.queue_id()));
    queues
}

fn chosen(queues: &[MessageQueue], _message: &Message, argument: &usize) -> Option<MessageQueue> {
    queues.get(argument % queues.len()).cloned()
}

/// How a call ended: its error, or its result as far as there is one.
fn answer_of(result: Option<&SendResult>, error: Option<Named>) -> Answer {
    let mut answer = Answer::new();
    if let Some(error) = error {
        answer.insert("error".into(), json!(error.word));
        answer.insert("message".into(), json!(error.message));
        error.code.map(|code| answer.insert("code".into(), json!(code)));
    } else if let Some(result) = result {
        answer.insert("status".into(), json!(result.send_status.to_string()));
        if let Some(queue) = &result.message_queue {
            answer.insert("broker".into(), json!(queue.broker_name().to_string()));
            answer.insert("queue_id".into(), json!(queue.queue_id()));
            answer.insert("queue_offset".into(), json!(result.queue_offset));
        }
    }
    answer
}
