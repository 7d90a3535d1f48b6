package main

import (
	"sync"
	"time"
)

// asyncSends are all asynchronous sends of a run, in the order in which they were called.
type asyncSends struct {
	mutex sync.Mutex
	sends []*asyncSend
}

// An asyncSend is told once its call has returned and its callback was called, in whichever order.
type asyncSend struct {
	records  *recordWriter
	mutex    sync.Mutex
	record   sendRecord
	answered bool
	told     bool
	again    []callbackRecord
	done     chan struct{}
}

func (a *asyncSends) begin(send *plannedSend, records *recordWriter) *asyncSend {
	async := &asyncSend{records: records, done: make(chan struct{})}
	a.mutex.Lock()
	a.sends = append(a.sends, async)
	a.mutex.Unlock()
	async.record = sendRecord{Type: "send", Send: send.Send, Thread: send.Thread, StartNs: monotonicNs()}
	return async
}

func (s *asyncSend) calledBack(given answer) {
	nowNs := monotonicNs()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.answered {
		s.again = append(s.again, callbackRecord{"callback", s.record.Send, s.record.Thread, nowNs, given.Error, given.Status})
	} else {
		s.answer(nowNs, given)
	}
	s.tell()
}

// returned is the end of the call; a failure of it is its answer.
func (s *asyncSend) returned(failure *answer) {
	nowNs := monotonicNs()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.record.ReturnedNs = nowNs
	if failure != nil && !s.answered {
		s.answer(nowNs, *failure)
	}
	s.tell()
}

func (s *asyncSend) answer(nowNs int64, given answer) {
	s.answered = true
	s.record.EndNs = nowNs
	s.record.answer = given
}

func (s *asyncSend) tell() {
	if !s.answered || s.record.ReturnedNs == 0 {
		return
	}
	if !s.told {
		s.told = true
		s.records.put(s.record)
		close(s.done)
	}
	for _, again := range s.again {
		s.records.put(again)
	}
	s.again = nil
}

// awaitAll waits for each callback until the limit after its call.
func (a *asyncSends) awaitAll(limit time.Duration) {
	for _, send := range a.sends {
		left := time.Duration(send.record.StartNs-monotonicNs()) + limit
		select {
		case <-send.done:
		case <-time.After(left):
			send.giveUp()
		}
	}
}

func (s *asyncSend) giveUp() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.answered {
		s.answered = true
		s.record.EndNs, s.record.Error = monotonicNs(), "NeverCalledBack"
		s.tell()
	}
}
