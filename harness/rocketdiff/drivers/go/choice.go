package main

import (
	"cmp"
	"slices"
	"sync"

	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// A choice is the producer's one selector. The client asks it once for each attempt: for a plain send its own default answers, for the
// others what the plan says. So it tells when attempts begin.
type choice struct {
	own     producer.QueueSelector
	records *recordWriter // nil for a producer that nobody watches
	asked   sync.Map      // *primitive.Message -> *askedSend
}

type askedSend struct {
	*plannedSend
	attempts int
}

type attemptRecord struct {
	Type    string `json:"type"`
	Send    int    `json:"send"`
	Thread  int    `json:"thread"`
	Attempt int    `json:"attempt"`
	Broker  string `json:"broker"`
	QueueID int    `json:"queue_id"`
	StartNs int64  `json:"start_ns"`
}

func newChoice(records *recordWriter) *choice {
	return &choice{own: producer.NewRoundRobinQueueSelector(), records: records}
}

// begin remembers what a message's send was asked for, until the function that it returns is called.
func (c *choice) begin(send *plannedSend, message *primitive.Message) func() {
	c.asked.Store(message, &askedSend{plannedSend: send})
	return func() { c.asked.Delete(message) }
}

// queue chooses the queue of one attempt; byDefault is the client's own choice.
func (c *choice) queue(message *primitive.Message, queues []*primitive.MessageQueue, byDefault func() *primitive.MessageQueue) *primitive.MessageQueue {
	found, _ := c.asked.Load(message)
	send, isAsked := found.(*askedSend)
	if !isAsked {
		return byDefault()
	}
	startNs := monotonicNs()
	chosen := planned(send, queues, byDefault)
	if c.records != nil && chosen != nil {
		c.records.put(attemptRecord{"attempt", send.Send, send.Thread, send.attempts, chosen.BrokerName, chosen.QueueId, startNs})
	}
	send.attempts++
	return chosen
}

func planned(send *askedSend, queues []*primitive.MessageQueue, byDefault func() *primitive.MessageQueue) *primitive.MessageQueue {
	switch send.Kind {
	case "queue":
		sorted := slices.Clone(queues)
		slices.SortFunc(sorted, func(a, b *primitive.MessageQueue) int {
			return cmp.Or(cmp.Compare(a.BrokerName, b.BrokerName), cmp.Compare(a.QueueId, b.QueueId))
		})
		return sorted[send.Argument%len(sorted)]
	case "selector":
		return queues[send.Argument%len(queues)]
	}
	return byDefault()
}
