'use strict';

const { setTimeout: sleep } = require('timers/promises');
const { Client } = require('./client');
const { nowNs, put } = require('./records');

const NS_PER_MS = 1e6;
const CALLBACK_LIMIT_MS = 60000;

// One run: prepare, say ready, wait for go, send, say done.
class Session {
  constructor() {
    this.plan = [];
  }

  planned(send) {
    this.plan.push({ mode: 'sync', keys: '', tags: '', properties: [], delay_level: 0, ...send });
  }

  async prepare(setup) {
    this.setup = setup;
    try {
      this.client = new Client(setup);
      await this.client.warmUp();
      put({ type: 'ready', clock_ns: nowNs() });
    } catch (error) {
      console.error(error);
      put({ type: 'failed', stage: 'warm-up', message: String(error) });
    }
  }

  async run(startNs) {
    const threads = Array.from({ length: this.setup.threads }, (_, thread) => this.thread(thread, startNs));
    await Promise.all((await Promise.all(threads)).flat());
    put({ type: 'done', sends: this.plan.length });
  }

  // A thread is a chain of awaits. Returns what is still open of its asynchronous sends.
  async thread(number, startNs) {
    const open = [];
    for (const send of this.plan.filter(one => one.thread === number)) {
      for (let left = startNs + send.due_ns - nowNs(); left > 0; left = startNs + send.due_ns - nowNs()) {
        await sleep(Math.ceil(left / NS_PER_MS));
      }
      if (send.mode === 'async') {
        open.push(this.sendAsync(send));
      } else {
        const record = { type: 'send', send: send.send, thread: number, start_ns: nowNs() };
        put(await this.client.answer(record, send));
      }
    }
    return open;
  }

  // The call returns at its first await; what its promise becomes is the callback.
  async sendAsync(send) {
    const record = { type: 'send', send: send.send, thread: send.thread, start_ns: nowNs() };
    const answer = this.client.answer({ ...record }, send);
    const returned = { returned_ns: nowNs() };
    const limit = this.setup.callback_limit_ms || CALLBACK_LIMIT_MS;
    const none = sleep(limit, undefined, { ref: false }).then(() => ({ ...record, end_ns: nowNs(), error: 'NeverCalledBack' }));
    put({ ...(await Promise.race([answer, none])), ...returned });
  }

  async shutdown() {
    if (this.client) await this.client.shutdown();
  }
}

module.exports = { Session };
