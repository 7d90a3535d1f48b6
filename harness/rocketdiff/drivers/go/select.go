package main

import "github.com/apache/rocketmq-client-go/v2/primitive"

// Select is called by the client for each attempt, with the broker of the one before.
func (c *choice) Select(message *primitive.Message, queues []*primitive.MessageQueue, last string) *primitive.MessageQueue {
	return c.queue(message, queues, func() *primitive.MessageQueue { return c.own.Select(message, queues, last) })
}
