package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// A sleeping goroutine wakes some 60 us late; only this last stretch is spun.
const spin = 100 * time.Microsecond

type plannedSend struct {
	Send       int         `json:"send"`
	Thread     int         `json:"thread"`
	DueNs      int64       `json:"due_ns"`
	Kind       string      `json:"kind"`
	Argument   int         `json:"argument"`
	BodyBytes  int         `json:"body_bytes"`
	Mode       string      `json:"mode"`
	DelayLevel int         `json:"delay_level"`
	Keys       string      `json:"keys"`
	Tags       string      `json:"tags"`
	Properties [][2]string `json:"properties"`
}

type setup struct {
	NameServers     []string `json:"name_servers"`
	Endpoints       []string `json:"endpoints"`
	Topic           string   `json:"topic"`
	WarmTopic       string   `json:"warm_topic"`
	Group           string   `json:"group"`
	Run             string   `json:"run"`
	Threads         int      `json:"threads"`
	CallbackLimitMs int64    `json:"callback_limit_ms"`
	Settings        settings `json:"settings"`
	Security        security `json:"security"`
}

// What the servers ask for, as far as this client can: it signs, and has no TLS.
type security struct {
	Account account `json:"account"`
}

type account struct {
	AccessKey     string `json:"access_key"`
	SecretKey     string `json:"secret_key"`
	SecurityToken string `json:"security_token"`
}

// Settings that this client has; the others are ignored.
type settings struct {
	SendMsgTimeoutMs           int `json:"send_msg_timeout_ms"`
	RetryTimesWhenSendFailed   int `json:"retry_times_when_send_failed"`
	CompressMsgBodyOverHowmuch int `json:"compress_msg_body_over_howmuch"`
}

func (s settings) timeout() time.Duration {
	return time.Duration(s.SendMsgTimeoutMs) * time.Millisecond
}

// A session is one run: prepare, say ready, wait for go, send, say done.
type session struct {
	records *recordWriter
	plan    []*plannedSend
	setup   setup
	client  *client
}

func (s *session) prepare() {
	client, err := newClient(s.setup, s.records)
	if err == nil {
		err = client.warmUp()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		s.records.put(failedRecord{"failed", "warm-up", err.Error()})
		return
	}
	s.client = client
	s.records.put(readyRecord{"ready", monotonicNs()})
}

func (s *session) run(startNs int64) {
	var senders sync.WaitGroup
	for thread := 0; thread < s.setup.Threads; thread++ {
		senders.Add(1)
		go func(thread int) {
			defer senders.Done()
			for _, send := range s.plan {
				if send.Thread == thread {
					await(startNs + send.DueNs)
					s.client.send(send)
				}
			}
		}(thread)
	}
	senders.Wait()
	s.client.async.awaitAll(time.Duration(s.setup.CallbackLimitMs) * time.Millisecond)
	s.records.put(doneRecord{"done", len(s.plan)})
}

func (s *session) shutdown() {
	if s.client != nil {
		s.client.shutdown()
	}
}

func await(dueNs int64) {
	for left := dueNs - monotonicNs(); left > 0; left = dueNs - monotonicNs() {
		if left > int64(spin) {
			time.Sleep(time.Duration(left) - spin)
		}
	}
}
