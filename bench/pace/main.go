// pace is both ends of a paced measurement, written in Go so that neither end is the bottleneck.
//
//	pace serve -port P -chunks 100 -every 10ms     a vendor that streams chat chunks at a fixed pace
//	pace load -url U -body F -header 'k: v' …      a client; prints one JSON object
//
// Each chunk carries the nanosecond at which it was written, and the client compares it with the one at which it was read:
// both run on one machine, so the difference is the way between them.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fail("serve or load?")
	}
	switch os.Args[1] {
	case "serve":
		serve(os.Args[2:])
	case "load":
		load(os.Args[2:])
	default:
		fail("serve or load?")
	}
}

func fail(message any) {
	fmt.Fprintln(os.Stderr, "pace:", message)
	os.Exit(1)
}

func serve(arguments []string) {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	port := flags.Int("port", 0, "")
	chunks := flags.Int("chunks", 100, "content chunks a stream")
	every := flags.Duration("every", 10*time.Millisecond, "time between chunks")
	flags.Parse(arguments)

	var sent atomic.Int64
	http.HandleFunc("GET /sent", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, sent.Load()) })
	http.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		stream(w, r, *chunks, *every, bytes.Contains(body, []byte(`"include_usage":true`)), &sent)
	})
	fail(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port), nil))
}

const envelope = `data: {"id":"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG","object":"chat.completion.chunk","created":1741570283,"model":"instant","service_tier":"default","system_fingerprint":"fp_fc9f1d7035",%s}` + "\n\n"

func stream(w http.ResponseWriter, r *http.Request, chunks int, every time.Duration, usage bool, sent *atomic.Int64) {
	w.Header().Set("content-type", "text/event-stream")
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for i := 0; i < chunks; i++ {
		choice := fmt.Sprintf(`"choices":[{"index":0,"delta":{"content":"t%d "},"logprobs":null,"finish_reason":null}]`, time.Now().UnixNano())
		if _, err := fmt.Fprintf(w, envelope, choice); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		sent.Add(1)
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return
		}
	}
	fmt.Fprintf(w, envelope, `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]`)
	if usage {
		fmt.Fprintf(w, envelope, fmt.Sprintf(`"choices":[],"usage":{"prompt_tokens":300,"completion_tokens":%d,"total_tokens":%d}`, chunks, 300+chunks))
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

type headers []string

func (h *headers) String() string         { return strings.Join(*h, ", ") }
func (h *headers) Set(value string) error { *h = append(*h, value); return nil }

type result struct {
	Requests int64   `json:"requests"`
	Errors   int64   `json:"errors"`
	Chunks   int64   `json:"chunks"`
	Seconds  float64 `json:"seconds"`
	// Milliseconds: whole answers from the scheduled instant, first chunks from sending, chunks from being written by the vendor.
	Whole []float64 `json:"wholeMs"`
	First []float64 `json:"firstMs"`
	Late  []float64 `json:"lateMs"`
}

type client struct {
	http    *http.Client
	url     string
	body    []byte
	headers headers
	mutex   sync.Mutex
	result  result
	whole   []time.Duration
	first   []time.Duration
	late    []time.Duration
}

func load(arguments []string) {
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	c := &client{}
	flags.StringVar(&c.url, "url", "", "")
	bodyFile := flags.String("body", "", "file with the request's body")
	flags.Var(&c.headers, "header", "name: value, repeatable")
	connections := flags.Int("connections", 50, "")
	seconds := flags.Float64("seconds", 5, "")
	rate := flags.Float64("rate", 0, "requests a second, at fixed instants; 0: as fast as answers come")
	flags.Parse(arguments)
	body, err := os.ReadFile(*bodyFile)
	if err != nil {
		fail(err)
	}
	c.body = body
	c.http = &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: *connections, MaxConnsPerHost: *connections, DisableCompression: true,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	}}
	startedAt := time.Now()
	until := startedAt.Add(time.Duration(*seconds * float64(time.Second)))
	c.run(*connections, *rate, startedAt, until)
	c.result.Seconds = time.Since(startedAt).Seconds()
	c.result.Whole, c.result.First, c.result.Late = percentiles(c.whole), percentiles(c.first), percentiles(c.late)
	json.NewEncoder(os.Stdout).Encode(c.result)
}

// run starts requests until the time is over and waits for all of them. Under a rate, request i belongs to the instant i/rate
// whether or not a connection is free: waiting for one is part of its latency.
func (c *client) run(connections int, rate float64, startedAt, until time.Time) {
	var next atomic.Int64
	var group sync.WaitGroup
	for i := 0; i < connections; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				due := time.Now()
				if rate > 0 {
					due = startedAt.Add(time.Duration(float64(next.Add(1)-1) / rate * float64(time.Second)))
				}
				if !due.Before(until) {
					return
				}
				time.Sleep(time.Until(due))
				c.ask(due)
			}
		}()
	}
	group.Wait()
}

func (c *client) ask(due time.Time) {
	request, err := http.NewRequest("POST", c.url, bytes.NewReader(c.body))
	if err != nil {
		fail(err)
	}
	for _, header := range c.headers {
		name, value, _ := strings.Cut(header, ":")
		request.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	sentAt := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		c.keep(result{Errors: 1}, 0, 0, nil)
		return
	}
	defer response.Body.Close()
	late, first := read(response.Body, sentAt)
	if response.StatusCode != 200 {
		c.keep(result{Errors: 1}, 0, 0, nil)
		return
	}
	c.keep(result{Requests: 1, Chunks: int64(len(late))}, time.Since(due), first, late)
}

var stamp = []byte(`"content":"t`)

func read(body io.Reader, sentAt time.Time) (late []time.Duration, first time.Duration) {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 64*1024), 1<<20)
	for lines.Scan() {
		at := bytes.Index(lines.Bytes(), stamp)
		if at < 0 {
			continue
		}
		digits := lines.Bytes()[at+len(stamp):]
		if end := bytes.IndexByte(digits, ' '); end > 0 {
			digits = digits[:end]
		}
		writtenAt, err := strconv.ParseInt(string(digits), 10, 64)
		if err != nil {
			continue
		}
		if first == 0 {
			first = time.Since(sentAt)
		}
		late = append(late, time.Duration(time.Now().UnixNano()-writtenAt))
	}
	return late, first
}

func (c *client) keep(one result, whole, first time.Duration, late []time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.result.Requests += one.Requests
	c.result.Errors += one.Errors
	c.result.Chunks += one.Chunks
	if one.Requests == 1 {
		c.whole = append(c.whole, whole)
	}
	if first > 0 {
		c.first = append(c.first, first)
	}
	c.late = append(c.late, late...)
}

// percentiles returns p50, p99 and the largest in milliseconds, or nothing.
func percentiles(values []time.Duration) []float64 {
	if len(values) == 0 {
		return []float64{}
	}
	sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
	at := func(share float64) float64 {
		return float64(values[int(share*float64(len(values)-1))].Microseconds()) / 1000
	}
	return []float64{at(0.5), at(0.99), at(1)}
}
