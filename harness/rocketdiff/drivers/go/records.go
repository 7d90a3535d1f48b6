package main

import (
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The protocol allows a record 20 ms.
const writeInterval = 10 * time.Millisecond

//go:embed hello.json
var helloJSON []byte

// monotonicNs is the host's monotonic clock, which all processes of a host share; package time shows only differences of it.
func monotonicNs() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return now.Nano()
}

type helloRecord struct {
	Type             string   `json:"type"`
	Protocol         int      `json:"protocol"`
	AttemptTimeoutMs int      `json:"attempt_timeout_ms,omitempty"`
	Client           string   `json:"client"`
	Version          string   `json:"version"`
	Capabilities     []string `json:"capabilities"`
	Pid              int      `json:"pid"`
	ClockNs          int64    `json:"clock_ns"`
}

type readyRecord struct {
	Type    string `json:"type"`
	ClockNs int64  `json:"clock_ns"`
}

type sendRecord struct {
	Type       string `json:"type"`
	Send       int    `json:"send"`
	Thread     int    `json:"thread"`
	StartNs    int64  `json:"start_ns"`
	EndNs      int64  `json:"end_ns"`
	ReturnedNs int64  `json:"returned_ns,omitempty"`
	answer
}

// An answer is how a send ended: its result, or its error.
type answer struct {
	Error       string  `json:"error,omitempty"`
	Code        *int    `json:"code,omitempty"`
	Message     string  `json:"message,omitempty"`
	Status      string  `json:"status,omitempty"`
	Broker      *string `json:"broker,omitempty"`
	QueueID     *int    `json:"queue_id,omitempty"`
	QueueOffset *int64  `json:"queue_offset,omitempty"`
}

type callbackRecord struct {
	Type   string `json:"type"`
	Send   int    `json:"send"`
	Thread int    `json:"thread"`
	AtNs   int64  `json:"at_ns"`
	Error  string `json:"error,omitempty"`
	Status string `json:"status,omitempty"`
}

type doneRecord struct {
	Type  string `json:"type"`
	Sends int    `json:"sends"`
}

type failedRecord struct {
	Type    string `json:"type"`
	Stage   string `json:"stage"`
	Message string `json:"message"`
}

// newHello claims what hello.json says, which the runner reads too, and the release that is linked.
func newHello() helloRecord {
	hello := helloRecord{Type: "hello", Protocol: 1, Pid: os.Getpid(), ClockNs: monotonicNs()}
	if err := json.Unmarshal(helloJSON, &hello); err != nil {
		panic(err)
	}
	hello.Version = "unknown"
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range build.Deps {
			if dependency.Path == module {
				hello.Version = strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return hello
}

// A recordWriter formats and writes on a goroutine of its own, so that a sender pays for one append.
type recordWriter struct {
	out     io.Writer
	mutex   sync.Mutex
	waiting []any
	writing sync.Mutex
}

func newRecordWriter(out io.Writer) *recordWriter {
	writer := &recordWriter{out: out}
	go func() {
		for range time.Tick(writeInterval) {
			writer.flush()
		}
	}()
	return writer
}

func (w *recordWriter) put(record any) {
	w.mutex.Lock()
	w.waiting = append(w.waiting, record)
	w.mutex.Unlock()
}

func (w *recordWriter) flush() {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mutex.Lock()
	records := w.waiting
	w.waiting = nil
	w.mutex.Unlock()
	var lines []byte
	for _, record := range records {
		line, err := json.Marshal(record)
		if err != nil {
			panic(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if _, err := w.out.Write(lines); err != nil {
		os.Exit(1) // the runner is gone
	}
}
