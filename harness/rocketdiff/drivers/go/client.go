package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	mqerrors "github.com/apache/rocketmq-client-go/v2/errors"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// Whose release the hello tells.
const module = "github.com/apache/rocketmq-client-go/v2"

const (
	idProperty    = "rocketdiff.id"
	warmSends     = 100
	warmBodyBytes = 128
)

var statusNames = map[primitive.SendStatus]string{
	primitive.SendOK:                "SEND_OK",
	primitive.SendFlushDiskTimeout:  "FLUSH_DISK_TIMEOUT",
	primitive.SendFlushSlaveTimeout: "FLUSH_SLAVE_TIMEOUT",
	primitive.SendSlaveNotAvailable: "SLAVE_NOT_AVAILABLE",
}

// A client is the measured producer as an application would use it, and what it tells of its sends.
type client struct {
	setup    setup
	records  *recordWriter
	choice   *choice
	producer rocketmq.Producer
	async    asyncSends
}

func newClient(setup setup, records *recordWriter) (*client, error) {
	choice := newChoice(records)
	measured, err := newProducer(setup, setup.Group, choice)
	return &client{setup: setup, records: records, choice: choice, producer: measured}, err
}

func newProducer(setup setup, group string, choice *choice) (rocketmq.Producer, error) {
	return rocketmq.NewProducer(
		producer.WithNsResolver(primitive.NewPassthroughResolver(setup.NameServers)),
		producer.WithGroupName(group),
		producer.WithQueueSelector(choice),
		producer.WithSendMsgTimeout(setup.Settings.timeout()),
		producer.WithRetry(setup.Settings.RetryTimesWhenSendFailed),
		producer.WithCompressMsgBodyOverHowmuch(setup.Settings.CompressMsgBodyOverHowmuch),
		producer.WithCredentials(primitive.Credentials(setup.Security.Account)),
	)
}

// warmUp opens the connections with another producer and another topic, and starts the measured one. Both share the connections of
// one client id, but no queue counter. The measured topic's route is looked up by its first send: the client has no other call for it.
func (c *client) warmUp() error {
	warm := &client{setup: c.setup, choice: newChoice(nil)}
	var err error
	if warm.producer, err = newProducer(c.setup, c.setup.Group+"-warm", warm.choice); err != nil {
		return err
	}
	if err := errors.Join(warm.producer.Start(), c.producer.Start()); err != nil {
		return err
	}
	defer warm.producer.Shutdown()
	for number := 0; number < warmSends; number++ {
		send := &plannedSend{Send: number, Kind: "queue", Argument: number, BodyBytes: warmBodyBytes}
		if number >= warmSends/2 {
			send.Kind = "plain"
		}
		if _, err := warm.sendSync(send, c.message(c.setup.WarmTopic, send)); err != nil {
			return err
		}
	}
	return nil
}

// message has our id in a user property and at the start of its body, which is padded with dots.
func (c *client) message(topic string, send *plannedSend) *primitive.Message {
	id := fmt.Sprintf("%s/%s/%d", c.setup.Run, topic, send.Send)
	body := []byte(id)
	if missing := send.BodyBytes - len(body); missing > 0 {
		body = append(body, bytes.Repeat([]byte("."), missing)...)
	}
	message := primitive.NewMessage(topic, body)
	message.WithProperty(idProperty, id)
	if send.Keys != "" {
		message.WithKeys([]string{send.Keys})
	}
	if send.Tags != "" {
		message.WithTag(send.Tags)
	}
	if send.DelayLevel != 0 {
		message.WithDelayTimeLevel(send.DelayLevel)
	}
	for _, pair := range send.Properties {
		message.WithProperty(pair[0], pair[1])
	}
	return message
}

func (c *client) send(send *plannedSend) {
	message := c.message(c.setup.Topic, send)
	if send.Mode == "async" {
		c.sendAsync(send, message)
		return
	}
	record := &sendRecord{Type: "send", Send: send.Send, Thread: send.Thread, StartNs: monotonicNs()}
	var result *primitive.SendResult
	var err error
	if send.Mode == "oneway" {
		err = c.sendOneWay(send, message)
	} else {
		result, err = c.sendSync(send, message)
	}
	record.EndNs = monotonicNs()
	record.answer = answerOf(result, err)
	c.records.put(record)
}

func (c *client) sendSync(send *plannedSend, message *primitive.Message) (*primitive.SendResult, error) {
	ctx, cancel := c.context(send)
	defer cancel()
	defer c.choice.begin(send, message)()
	return c.producer.SendSync(ctx, message)
}

func (c *client) sendOneWay(send *plannedSend, message *primitive.Message) error {
	ctx, cancel := c.context(send)
	defer cancel()
	defer c.choice.begin(send, message)()
	return c.producer.SendOneWay(ctx, message)
}

// sendAsync is over for the caller when the call returns; the callback comes on a goroutine of the client.
func (c *client) sendAsync(send *plannedSend, message *primitive.Message) {
	ctx, cancel := c.context(send)
	forget := c.choice.begin(send, message)
	async := c.async.begin(send, c.records)
	err := c.producer.SendAsync(ctx, func(_ context.Context, result *primitive.SendResult, err error) {
		async.calledBack(answerOf(result, err))
		cancel()
	}, message)
	var failure *answer
	if err != nil {
		given := answerOf(nil, err)
		failure = &given
		defer cancel()
	}
	async.returned(failure)
	forget()
}

// context has the timeout of an explicit call; a plain one takes it from the producer.
func (c *client) context(send *plannedSend) (context.Context, context.CancelFunc) {
	if send.Kind == "queue" || send.Kind == "selector" {
		return context.WithTimeout(context.Background(), c.setup.Settings.timeout())
	}
	return context.WithCancel(context.Background())
}

func (c *client) shutdown() {
	c.producer.Shutdown()
}

func answerOf(result *primitive.SendResult, err error) answer {
	if err != nil {
		word, code := named(err)
		return answer{Error: word, Code: code, Message: err.Error()}
	}
	if result == nil {
		return answer{}
	}
	given := answer{Status: statusNames[result.Status]}
	if queue := result.MessageQueue; queue != nil {
		given.Broker, given.QueueID, given.QueueOffset = &queue.BrokerName, &queue.QueueId, &result.QueueOffset
	}
	return given
}

// named gives an error of this client one of the runner's error words: most of them are texts.
func named(err error) (string, *int) {
	var network *net.OpError
	text := err.Error()
	switch {
	case errors.As(err, &network) && network.Op == "dial":
		return "refused", nil
	case errors.Is(err, mqerrors.ErrRequestTimeout), errors.Is(err, context.DeadlineExceeded):
		return "timeout", nil
	case errors.As(err, &network):
		return "connection-lost", nil
	case strings.HasPrefix(text, "CODE: "):
		code, _ := strconv.Atoi(strings.SplitN(strings.TrimPrefix(text, "CODE: "), ",", 2)[0])
		return "broker-code", &code
	case strings.Contains(text, "route info not found"):
		return "no-route", nil
	}
	return "other", nil
}
