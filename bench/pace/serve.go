package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// manner describes a response: its delay, and either a whole text of a length or chunks.
type manner struct {
	wait   time.Duration
	size   int
	chunks int
	every  time.Duration
}

func serve(arguments []string) {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	port := flags.Int("port", 0, "")
	var usual manner
	flags.IntVar(&usual.chunks, "chunks", 100, "content chunks a stream")
	flags.DurationVar(&usual.every, "every", 10*time.Millisecond, "time between chunks")
	format := flags.String("format", "chat", "of the streams: chat or messages")
	flags.Parse(arguments)

	var sent atomic.Int64
	http.HandleFunc("GET /sent", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, sent.Load()) })
	http.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		how := asked(r.URL.Path, usual)
		sleep(how.wait)
		if how.chunks == 0 {
			answerWhole(w, how.size)
			return
		}
		write := chatEvents(bytes.Contains(body, []byte(`"include_usage":true`)))
		if *format == "messages" {
			write = messageEvents
		}
		stream(w, r, how, write, &sent)
	})
	fail(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port), nil))
}

// asked reads the manner from a path like /60ms/1024/… (after 60 ms, 1024 characters) or /0s/33x10ms/… (33 chunks, one each 10 ms).
func asked(path string, usual manner) manner {
	parts := strings.SplitN(path, "/", 4)
	if len(parts) < 4 {
		return usual
	}
	wait, err := time.ParseDuration(parts[1])
	if err != nil {
		return usual
	}
	chunks, every, streams := strings.Cut(parts[2], "x")
	number, err := strconv.Atoi(chunks)
	if err != nil {
		return usual
	}
	if !streams {
		return manner{wait: wait, size: number}
	}
	pause, err := time.ParseDuration(every)
	if err != nil {
		return usual
	}
	return manner{wait: wait, chunks: number, every: pause}
}

func answerWhole(w http.ResponseWriter, size int) {
	text, _ := json.Marshal(strings.Repeat("The toll is paid, the gate is open. ", size/36+1)[:size])
	w.Header().Set("content-type", "application/json")
	fmt.Fprintf(w, `{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion","created":1741569952,"model":"instant","choices":[{"index":0,"message":{"role":"assistant","content":%s,"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":300,"completion_tokens":90,"total_tokens":390}}`, text)
}

// events writes one event of a stream: a chunk with the instant at which it is written, or, without one, the end after so many chunks.
type events func(w io.Writer, chunk int, writtenAt int64) error

func stream(w http.ResponseWriter, r *http.Request, how manner, write events, sent *atomic.Int64) {
	w.Header().Set("content-type", "text/event-stream")
	pace := alarms.Get().(*alarm)
	pace.set(how.every, how.every)
	defer func() {
		pace.set(0, 0)
		alarms.Put(pace)
	}()
	for i := 0; i < how.chunks; i++ {
		if r.Context().Err() != nil {
			return
		}
		if err := write(w, i, time.Now().UnixNano()); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		sent.Add(1)
		pace.wait()
	}
	write(w, how.chunks, 0)
}

const chatEvent = `data: {"id":"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG","object":"chat.completion.chunk","created":1741570283,"model":"instant","service_tier":"default","system_fingerprint":"fp_fc9f1d7035",%s}` + "\n\n"

func chatEvents(usage bool) events {
	return func(w io.Writer, chunk int, writtenAt int64) error {
		if writtenAt > 0 {
			_, err := fmt.Fprintf(w, chatEvent, fmt.Sprintf(`"choices":[{"index":0,"delta":{"content":"toll:%d "},"logprobs":null,"finish_reason":null}]`, writtenAt))
			return err
		}
		fmt.Fprintf(w, chatEvent, `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]`)
		if usage {
			fmt.Fprintf(w, chatEvent, fmt.Sprintf(`"choices":[],"usage":{"prompt_tokens":300,"completion_tokens":%d,"total_tokens":%d}`, chunk, 300+chunk))
		}
		_, err := io.WriteString(w, "data: [DONE]\n\n")
		return err
	}
}

const messageStart = `event: message_start
data: {"type":"message_start","message":{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant","model":"instant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":300,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

`

const messageEnd = `event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":%d}}

event: message_stop
data: {"type":"message_stop"}

`

func messageEvents(w io.Writer, chunk int, writtenAt int64) error {
	if writtenAt == 0 {
		_, err := fmt.Fprintf(w, messageEnd, chunk)
		return err
	}
	if chunk == 0 {
		io.WriteString(w, messageStart)
	}
	const delta = "event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"toll:%d "}}` + "\n\n"
	_, err := fmt.Fprintf(w, delta, writtenAt)
	return err
}
