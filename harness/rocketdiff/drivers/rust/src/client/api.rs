//! What 1.0.0 of the client calls otherwise than its older releases, each of which has its own file of this name.

use std::error::Error as StdError;
use std::sync::Arc;

use rocketmq_client_rust::{ClientRuntime, ClientRuntimeConfig};
use rocketmq_observability::{install_global, TelemetryBootstrapConfig};
use rocketmq_runtime::{RuntimeConfig, RuntimeOwner};
use tokio::sync::{RwLock, RwLockReadGuard};

pub use rocketmq_client_rust::{ClientConfig, ClientError as SendError, DefaultMQProducer, SendResult};
pub use rocketmq_error::Error as MessageError;
pub use rocketmq_model::common::message::message_queue::MessageQueue;
pub use rocketmq_model::common::message::message_single::Message;

/// What the producers of a process share. It lives as long as the process, which ends without waiting for what it does.
pub struct Runtime(pub Arc<ClientRuntime>);

impl Runtime {
    pub fn new() -> Result<Self, Box<dyn StdError + Send + Sync>> {
        let owner = Box::leak(Box::new(RuntimeOwner::plan(RuntimeConfig::default())?.build()?));
        let telemetry = Box::leak(Box::new(install_global(&TelemetryBootstrapConfig::default())?));
        let context = owner.root_context().component("client");
        Ok(Self(ClientRuntime::try_new(context, ClientRuntimeConfig::default(), telemetry.handle())?))
    }
}

/// The builder of a producer. A macro, because its type has no public name.
macro_rules! builder {
    ($runtime:expr) => {
        DefaultMQProducer::builder(std::sync::Arc::clone(&$runtime.0))
    };
}
pub(super) use builder;

/// A started producer, used by several tasks at once.
pub struct Shared(RwLock<DefaultMQProducer>);

impl Shared {
    pub fn new(producer: DefaultMQProducer) -> Self {
        Self(producer.into())
    }

    pub async fn lent(&self) -> RwLockReadGuard<'_, DefaultMQProducer> {
        self.0.read().await
    }

    pub async fn shutdown(&self) {
        self.0.write().await.shutdown().await;
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
) -> impl Fn(Option<&SendResult>, Option<&SendError>) + Send + Sync + 'static {
    move |result, error| told(result, error.map(named))
}

/// The word is of the deepest cause that has one: a call that gave up names only that.
pub fn named(error: &SendError) -> Named {
    let message = error.to_string();
    if let Some(code) = error.broker_response_code() {
        return Named { word: "broker-code", code: Some(code), message };
    }
    let mut word = "other";
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error.shared_error().as_ref());
    while let Some(one) = cause {
        let code = one.downcast_ref::<MessageError>().map(|one| one.code().as_str().to_owned());
        let code =
            code.or_else(|| one.downcast_ref::<SendError>().map(|one| one.descriptor().code().as_str().to_owned()));
        word = match code.as_deref() {
            Some("transport.response.timeout" | "transport.write.timeout" | "core.operation.timed_out") => "timeout",
            Some("transport.connection.failed") => "refused",
            Some("broker.topic.not_found" | "rpc.broker_address.not_found") => "no-route",
            _ => word,
        };
        cause = one.source();
    }
    Named { word, code: None, message }
}
