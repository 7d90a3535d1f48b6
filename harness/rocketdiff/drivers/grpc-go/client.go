package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	rocketmq "github.com/apache/rocketmq-clients/golang/v5"
	"github.com/apache/rocketmq-clients/golang/v5/credentials"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// Whose release the hello tells.
const module = "github.com/apache/rocketmq-clients/golang/v5"

const (
	idProperty    = "rocketdiff.id"
	warmSends     = 50
	warmBodyBytes = 128
	warmTimeout   = 5 * time.Second
	// A first connection, and the client's settings from the proxy, may fail while all else is starting.
	tries = 5
)

// A client is the measured producer as an application would use it.
type client struct {
	setup    setup
	records  *recordWriter
	producer rocketmq.Producer
	async    asyncSends
}

func newClient(setup setup, records *recordWriter) (*client, error) {
	keepLogsTogether()
	speakWithoutTLS()
	return &client{setup: setup, records: records}, nil
}

// keepLogsTogether puts the client's log below HOME: it looks for user.home, which only Java has, and writes to /logs.
func keepLogsTogether() {
	os.Setenv("rocketmq.client.logRoot", os.Getenv("HOME")+"/logs")
	rocketmq.ResetLogger()
}

// speakWithoutTLS replaces how connections are made: options of a client never reach them. It also keeps a second log from /tmp.
func speakWithoutTLS() {
	withTLS := rocketmq.NewRpcClient
	plain := rocketmq.WithRpcClientConnOption(
		rocketmq.WithDialOptions(grpc.WithTransportCredentials(insecure.NewCredentials())),
		rocketmq.WithZapLogger(zap.NewNop()),
	)
	rocketmq.NewRpcClient = func(target string, options ...rocketmq.RpcClientOption) (rocketmq.RpcClient, error) {
		return withTLS(target, append(options, plain)...)
	}
}

// warmUp ends a warm producer and starts the measured one, which looks its route up and sends its settings.
func (c *client) warmUp() error {
	warm := &client{setup: c.setup}
	if err := warm.start(c.setup.WarmTopic, warmTimeout); err != nil {
		return err
	}
	for number := 0; number < warmSends; number++ {
		message := c.message(c.setup.WarmTopic, &plannedSend{Send: number, Kind: "plain", BodyBytes: warmBodyBytes})
		if err := warm.warmSend(message, number%2 == 1); err != nil {
			return err
		}
	}
	if err := warm.producer.GracefulStop(); err != nil {
		return err
	}
	return c.start(c.setup.Topic, c.setup.Settings.timeout())
}

func (c *client) start(topic string, timeout time.Duration) error {
	var err error
	for left := tries; left > 0; left-- {
		if c.producer, err = newProducer(c.setup, topic, timeout); err != nil {
			return err
		}
		if err = c.producer.Start(); err == nil {
			return nil
		}
	}
	return err
}

func newProducer(setup setup, topic string, timeout time.Duration) (rocketmq.Producer, error) {
	configuration := &rocketmq.Config{
		Endpoint:    strings.Join(setup.Endpoints, ";"),
		Credentials: &credentials.SessionCredentials{},
	}
	return rocketmq.NewProducer(
		configuration,
		rocketmq.WithTopics(topic),
		rocketmq.WithMaxAttempts(int32(1+setup.Settings.RetryTimesWhenSendFailed)),
		rocketmq.WithClientFunc(func(config *rocketmq.Config, options ...rocketmq.ClientOption) (rocketmq.Client, error) {
			// Despite its name it is the timeout of every request.
			return rocketmq.NewClient(config, append(options, rocketmq.WithQueryRouteTimeout(timeout))...)
		}),
	)
}

func (c *client) warmSend(message *rocketmq.Message, isAsync bool) error {
	if !isAsync {
		_, err := c.producer.Send(context.Background(), message)
		return err
	}
	ended := make(chan error, 1)
	c.producer.SendAsync(context.Background(), message, func(_ context.Context, _ []*rocketmq.SendReceipt, err error) { ended <- err })
	return <-ended
}

// message has our id in a user property and at the start of its body, which is padded with dots.
func (c *client) message(topic string, send *plannedSend) *rocketmq.Message {
	id := fmt.Sprintf("%s/%s/%d", c.setup.Run, topic, send.Send)
	body := []byte(id)
	if missing := send.BodyBytes - len(body); missing > 0 {
		body = append(body, bytes.Repeat([]byte("."), missing)...)
	}
	message := &rocketmq.Message{Topic: topic, Body: body}
	message.AddProperty(idProperty, id)
	if send.Keys != "" {
		message.SetKeys(strings.Fields(send.Keys)...)
	}
	if send.Tags != "" {
		message.SetTag(send.Tags)
	}
	if send.Kind == "group" {
		message.SetMessageGroup(fmt.Sprintf("group-%d", send.Argument))
	}
	for _, pair := range send.Properties {
		message.AddProperty(pair[0], pair[1])
	}
	return message
}

func (c *client) send(send *plannedSend) {
	message := c.message(c.setup.Topic, send)
	if send.Mode == "async" {
		async := c.async.begin(send, c.records)
		c.producer.SendAsync(context.Background(), message, func(_ context.Context, _ []*rocketmq.SendReceipt, err error) {
			async.calledBack(answerOf(err))
		})
		async.returned(nil)
		return
	}
	record := sendRecord{Type: "send", Send: send.Send, Thread: send.Thread, StartNs: monotonicNs()}
	_, err := c.producer.Send(context.Background(), message)
	record.EndNs = monotonicNs()
	record.answer = answerOf(err)
	c.records.put(record)
}

func (c *client) shutdown() {
	if c.producer != nil {
		c.producer.GracefulStop()
	}
}

// answerOf leaves the queue out: the receipt does not have the one that the proxy chose.
func answerOf(err error) answer {
	if err == nil {
		return answer{Status: "SEND_OK"}
	}
	word, code := named(err)
	return answer{Error: word, Code: code, Message: err.Error()}
}

// named gives an error of this client one of the runner's error words.
func named(err error) (string, *int) {
	if answered, ok := rocketmq.AsErrRpcStatus(err); ok {
		code := int(answered.GetCode())
		return "broker-code", &code
	}
	if strings.HasPrefix(err.Error(), "create grpc conn failed") {
		return "refused", nil
	}
	if called, ok := status.FromError(err); ok {
		switch called.Code() {
		case codes.DeadlineExceeded:
			return "timeout", nil
		case codes.Unavailable:
			return "connection-lost", nil
		}
		return "other", nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout", nil
	}
	return "client-refused", nil
}
