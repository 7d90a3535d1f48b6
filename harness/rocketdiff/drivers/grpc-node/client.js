'use strict';

const { Producer } = require('rocketmq-client-nodejs');
const { version } = require('rocketmq-client-nodejs/package.json');
const { nowNs } = require('./records');

const ID_PROPERTY = 'rocketdiff.id';
const WARM_SENDS = 50;
const WARM_TIMEOUT_MS = 5000;
const WARM_BODY_BYTES = 128;

// A first connection, and the client's settings from the proxy, may fail while all else is starting.
const TRIES = 5;

// The client refuses a shorter timeout.
const LEAST_TIMEOUT_MS = 1000;

const GRPC_WORDS = { 4: 'timeout', 14: 'connection-lost' };

// What the client logs goes to stderr; by itself it would write to a file below HOME.
const logger = { debug() {}, info() {}, warn: console.error, error: console.error };

// The measured producer as an application would use it.
class Client {
  constructor(setup) {
    this.setup = setup;
  }

  // Start-up looks the route up and waits for the proxy's settings.
  async warmUp() {
    const warm = await this.started(this.setup.warm_topic, WARM_TIMEOUT_MS);
    for (let number = 0; number < WARM_SENDS; number++) {
      await warm.send(this.message(this.setup.warm_topic, { send: number, kind: 'plain', body_bytes: WARM_BODY_BYTES, properties: [] }));
    }
    await warm.shutdown();
    this.producer = await this.started(this.setup.topic, Math.max(this.setup.settings.send_msg_timeout_ms, LEAST_TIMEOUT_MS));
  }

  async started(topic, requestTimeout) {
    for (let left = TRIES; ; left--) {
      const producer = new Producer({
        endpoints: this.setup.endpoints.join(';'),
        namespace: '',
        requestTimeout,
        logger,
        topics: [ topic ],
        maxAttempts: 1 + this.setup.settings.retry_times_when_send_failed,
      });
      try {
        await producer.startup();
        return producer;
      } catch (error) {
        if (left === 1) throw error;
        console.error(error);
      }
    }
  }

  // Our id is in a user property and at the start of the body, which is padded with dots.
  message(topic, send) {
    const id = `${this.setup.run}/${topic}/${send.send}`;
    const message = { topic, body: Buffer.from(id.padEnd(send.body_bytes, '.')), properties: new Map([[ ID_PROPERTY, id ], ...send.properties ]) };
    if (send.keys) message.keys = send.keys.split(/\s+/);
    if (send.tags) message.tag = send.tags;
    if (send.kind === 'group') message.messageGroup = `group-${send.argument}`;
    return message;
  }

  // The record of a send with its end. Its queue stays out: the receipt does not have the one that the proxy chose.
  async answer(record, send) {
    try {
      await this.producer.send(this.message(this.setup.topic, send));
      record.end_ns = nowNs();
      record.status = 'SEND_OK';
    } catch (error) {
      record.end_ns = nowNs();
      record.error = named(error);
      record.message = String(error.message);
      if (record.error === 'broker-code') record.code = error.code;
    }
    return record;
  }

  async shutdown() {
    if (this.producer) await this.producer.shutdown();
  }
}

// One of the runner's error words: for a status of gRPC, an answer of the proxy, or what the client itself refused.
function named(error) {
  if (error.metadata) return GRPC_WORDS[error.code] || 'other';
  return Number.isInteger(error.code) ? 'broker-code' : 'client-refused';
}

module.exports = { Client, version };
