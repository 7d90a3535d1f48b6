// The Go client as a subject of rocketdiff: commands as JSON lines on stdin, records on stdout, all else on stderr.
//
// Ends with stop, with the end of stdin (the runner is gone) or with a command that it cannot obey.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Unregistering from a paused broker blocks for seconds; nobody waits for it.
const shutdownLimit = 700 * time.Millisecond

// A plan of a thousand properties still fits; the runner writes no longer line.
const longestLine = 16 << 20

func main() {
	stdout := os.Stdout
	os.Stdout = os.Stderr // whatever a library prints is no record
	records := newRecordWriter(stdout)
	records.put(newHello())
	session := &session{records: records}
	status := 0
	if err := obey(bufio.NewScanner(os.Stdin), session); err != nil {
		records.put(failedRecord{"failed", "command", err.Error()})
		status = 1
	}
	time.AfterFunc(shutdownLimit, func() { os.Exit(status) })
	records.flush()
	session.shutdown()
	os.Exit(status)
}

func obey(commands *bufio.Scanner, session *session) error {
	commands.Buffer(nil, longestLine)
	for commands.Scan() {
		var kind struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(commands.Bytes(), &kind); err != nil {
			return err
		}
		switch kind.Type {
		case "plan":
			var send plannedSend
			if err := json.Unmarshal(commands.Bytes(), &send); err != nil {
				return err
			}
			session.plan = append(session.plan, &send)
		case "setup":
			if err := json.Unmarshal(commands.Bytes(), &session.setup); err != nil {
				return err
			}
			go session.prepare()
		case "go":
			var start struct {
				StartNs int64 `json:"start_ns"`
			}
			if err := json.Unmarshal(commands.Bytes(), &start); err != nil {
				return err
			}
			go session.run(start.StartNs)
		case "stop":
			return nil
		default:
			return fmt.Errorf("unknown command %q", kind.Type)
		}
	}
	return commands.Err()
}
