//! What 0.9.0 of the client calls otherwise than 1.0.0: no runtime, calls that take the producer mutably, other errors.

use std::error::Error as StdError;

pub use rocketmq_client_rust::base::client_config::ClientConfig;
pub use rocketmq_client_rust::producer::DefaultMQProducer;
pub use rocketmq_client_rust::producer::SendResult;
pub use rocketmq_common::common::message::message_queue::MessageQueue;
pub use rocketmq_common::common::message::message_single::Message;
pub use rocketmq_error::RocketMQError as SendError;
pub use rocketmq_error::RocketMQError as MessageError;

/// Producers of this release run on the runtime that calls them.
pub struct Runtime;

impl Runtime {
    pub fn new() -> Result<Self, Box<dyn StdError + Send + Sync>> {
        Ok(Self)
    }
}

/// The builder of a producer, which needs no runtime.
macro_rules! builder {
    ($runtime:expr) => {{
        let _: &Runtime = $runtime;
        DefaultMQProducer::builder()
    }};
}
pub(super) use builder;

/// A started producer, used by several tasks at once: each call needs a handle of its own, and all of them share the rest.
pub struct Shared(DefaultMQProducer);

impl Shared {
    pub fn new(producer: DefaultMQProducer) -> Self {
        Self(producer)
    }

    pub async fn lent(&self) -> DefaultMQProducer {
        self.0.clone()
    }

    pub async fn shutdown(&self) {
        self.0.clone().shutdown().await;
    }
}

/// The error of a call: its word for the runner, the broker's code if there is one, and its text.
pub struct Named {
    pub word: &'static str,
    pub code: Option<i32>,
    pub message: String,
}

/// A callback of the client, from ours.
pub fn callback(
    told: impl Fn(Option<&SendResult>, Option<Named>) + Send + Sync + 'static,
) -> impl Fn(Option<&SendResult>, Option<&dyn StdError>) + Send + Sync + 'static {
    move |result: Option<&SendResult>, error: Option<&dyn StdError>| told(result, error.map(|error| named(error)))
}

/// By the names of variants: a callback is given an error of no type, and a call that gave up forgets its cause.
pub fn named(error: &dyn StdError) -> Named {
    let variants = format!("{error:?}");
    let message = error.to_string();
    let has = |names: &[&str]| names.iter().any(|name| variants.contains(name));
    if let Some(code) = code_of(&variants) {
        return Named { word: "broker-code", code: Some(code), message };
    }
    let word = if has(&["No route info of this topic", "RouteNotFound", "TopicNotExist"]) {
        "no-route"
    } else if has(&["RequestTimeout {", "ConnectionTimeout {", "Timeout {"]) {
        "timeout"
    } else if has(&["ConnectionFailed {"]) {
        "refused"
    } else {
        "other"
    };
    Named { word, code: None, message }
}

fn code_of(variants: &str) -> Option<i32> {
    let fields = variants.strip_prefix("BrokerOperationFailed {")?;
    let (_, code) = fields.split_once(" code: ")?;
    code.split(',').next()?.parse().ok()
}
