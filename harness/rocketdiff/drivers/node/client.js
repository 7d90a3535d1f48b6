'use strict';

const crypto = require('crypto');
const { Message, Producer } = require('ali-ons');
const { version } = require('ali-ons/package.json');
const { nowNs } = require('./records');

const ID_PROPERTY = 'rocketdiff.id';
const WARM_SENDS = 100;
const WARM_BODY_BYTES = 128;

// A sharding key is found for each argument modulo this number: whatever number of queues divides it, up to eight, the client's own
// hash of the key names the queue that the plan asks for.
const ARGUMENTS = 840;

// The measured producer as an application would use it.
class Client {
  constructor(setup) {
    this.setup = setup;
    this.keys = shardingKeys();
    this.producer = this.newProducer(setup.group);
  }

  newProducer(group) {
    const { settings } = this.setup;
    const producer = new Producer({
      nameSrv: this.setup.name_servers,
      // Asked for the addresses of name servers only where nameSrv is missing; nothing is ever to be asked of it.
      httpclient: { request: async () => { throw new Error('no look-up of name servers'); } },
      producerGroup: group,
      sendMsgTimeout: settings.send_msg_timeout_ms,
      retryTimesWhenSendFailed: settings.retry_times_when_send_failed,
      retryAnotherBrokerWhenNotStoreOK: settings.retry_another_broker_when_not_store_ok,
      compressMsgBodyOverHowmuch: settings.compress_msg_body_over_howmuch,
      pollNameServerInteval: settings.poll_name_server_interval_ms,
      heartbeatBrokerInterval: settings.heartbeat_broker_interval_ms,
    });
    producer.on('error', error => console.error(error));
    return producer;
  }

  // Opens the connections with another producer and another topic, and starts the measured one. Both share the connections of one
  // client id, but no queue counter. The measured topic's route is looked up by its first send: the client has no other call for it.
  async warmUp() {
    this.warm = this.newProducer(`${this.setup.group}-warm`);
    await this.warm.ready();
    await this.producer.ready();
    for (let number = 0; number < WARM_SENDS; number++) {
      await this.warm.send(this.message(this.setup.warm_topic, { send: number, body_bytes: WARM_BODY_BYTES, properties: [] }));
    }
  }

  // Our id is in a user property and at the start of the body, which is padded with dots.
  message(topic, send) {
    const id = `${this.setup.run}/${topic}/${send.send}`;
    const message = new Message(topic, Buffer.from(id.padEnd(send.body_bytes, '.')));
    message.properties[ID_PROPERTY] = id;
    if (send.keys) message.keys = [ send.keys ];
    if (send.tags) message.tags = send.tags;
    if (send.delay_level) message.delayTimeLevel = send.delay_level;
    if (send.kind === 'selector') message.shardingKey = this.keys.get(send.argument % ARGUMENTS);
    for (const [ name, value ] of send.properties) message.properties[name] = value;
    return message;
  }

  // The record of a send with its end, and with its result or its error.
  async answer(record, send) {
    try {
      const result = await this.producer.send(this.message(this.setup.topic, send));
      record.end_ns = nowNs();
      record.status = result.sendStatus;
      record.broker = result.messageQueue.brokerName;
      record.queue_id = Number(result.messageQueue.queueId);
      record.queue_offset = result.queueOffset;
    } catch (error) {
      record.end_ns = nowNs();
      record.error = named(error);
      record.message = String(error.message);
      if (record.error === 'broker-code') record.code = error.code;
    }
    return record;
  }

  async shutdown() {
    await this.producer.close();
  }
}

// One of the runner's error words. When all attempts have failed the client says how many there were, and not of what.
function named(error) {
  if (error.name === 'MQClientException' && Number.isInteger(error.code)) return 'broker-code';
  if (error.name === 'ResponseTimeoutError') return 'timeout';
  if (/^no publish router data|not exist$/.test(error.message)) return 'no-route';
  return 'other';
}

function shardingKeys() {
  const keys = new Map();
  for (let number = 0; keys.size < ARGUMENTS; number++) {
    const key = `k${number}`;
    const hash = crypto.createHash('md5').update(key).digest().readUInt32BE();
    if (!keys.has(hash % ARGUMENTS)) keys.set(hash % ARGUMENTS, key);
  }
  return keys;
}

module.exports = { Client, version };
