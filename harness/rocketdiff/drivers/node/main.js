'use strict';
// A Node.js client as a subject of rocketdiff: commands as JSON lines on stdin, records on stdout, all else on stderr.
//
// Ends with stop, with the end of stdin (the runner is gone) or with a command that it cannot obey.

const readline = require('readline');
const { version } = require('./client');
const hello = require('./hello.json');
const { nowNs, put } = require('./records');
const { Session } = require('./session');

// Unregistering from a paused broker blocks for seconds; nobody waits for it.
const SHUTDOWN_MS = 700;

console.log = console.info = console.error; // whatever a library prints is no record

put({ type: 'hello', protocol: 1, ...hello, version, pid: process.pid, clock_ns: nowNs() });
const session = new Session();

function end(status) {
  setTimeout(() => process.exit(status), SHUTDOWN_MS);
  session.shutdown().catch(() => {}).then(() => process.exit(status));
}

function obey(line) {
  const command = JSON.parse(line);
  switch (command.type) {
    case 'plan':
      return session.planned(command);
    case 'setup':
      return session.prepare(command);
    case 'go':
      return session.run(command.start_ns);
    case 'stop':
      return end(0);
    default:
      throw new Error(`unknown command ${line}`);
  }
}

readline
  .createInterface({ input: process.stdin, crlfDelay: Infinity })
  .on('line', line => {
    try {
      obey(line);
    } catch (error) {
      put({ type: 'failed', stage: 'command', message: String(error) });
      end(1);
    }
  })
  .on('close', () => end(0));
