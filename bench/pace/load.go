package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"sort"
	"strings"
	"syscall"
	"time"
)

// result is what one run saw. Times are p50, p99 and the largest, in milliseconds; empty when nothing was measured.
type result struct {
	// Of the requests that are counted: those that belong to an instant after the warm-up.
	Requests int     `json:"requests"`
	Errors   int     `json:"errors"` // the warm-up's, too
	Chunks   int     `json:"chunks"`
	Seconds  float64 `json:"seconds"`
	// With the warm-up.
	All int `json:"all"`
	// Answers that ended within the seconds that are counted, whenever they were asked for.
	Within int `json:"within"`
	// From the instant that the schedule gave the request to the end of its answer, and to its first chunk.
	Whole []float64 `json:"wholeMs"`
	First []float64 `json:"firstMs"`
	// From a chunk's being written by the vendor to its being read.
	Late []float64 `json:"lateMs"`
	// From the instant at which a request should and could have been sent to its being sent: what this program itself is late.
	Lag []float64 `json:"lagMs"`
	// Processor time of this program.
	CPU float64 `json:"cpuSeconds"`
	// The beginning of the first answer that was no 200, or what else went wrong first.
	Wrong string `json:"wrong"`
}

type headers []string

func (h *headers) String() string         { return strings.Join(*h, ", ") }
func (h *headers) Set(value string) error { *h = append(*h, value); return nil }

func load(arguments []string) {
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	var extra headers
	address := flags.String("url", "", "")
	bodyFile := flags.String("body", "", "file with the request's body")
	flags.Var(&extra, "header", "name: value, repeatable")
	connections := flags.Int("connections", 50, "at most so many requests at once")
	warm := flags.Float64("warm", 0, "seconds of the same load before, which are not counted")
	seconds := flags.Float64("seconds", 5, "")
	rate := flags.Float64("rate", 0, "requests a second, at fixed instants; 0: on each connection as fast as answers come")
	patience := flags.Float64("patience", 20, "seconds after the last instant until what is not answered counts as an error")
	flags.Parse(arguments)
	request, host := written(*address, *bodyFile, extra)

	// No garbage collection: a pause would count as the gateway's. A run keeps some megabytes.
	debug.SetGCPercent(-1)
	g := newGenerator(host, request, *connections, *rate, lasting(*warm), lasting(*seconds), lasting(*patience))
	g.run()
	json.NewEncoder(os.Stdout).Encode(g.summary())
}

func lasting(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// written returns the bytes of the one request that is sent again and again, and where to.
func written(address, bodyFile string, extra headers) ([]byte, string) {
	target, err := url.Parse(address)
	if err != nil {
		fail(err)
	}
	body, err := os.ReadFile(bodyFile)
	if err != nil {
		fail(err)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "POST %s HTTP/1.1\r\nhost: %s\r\ncontent-length: %d\r\n", target.RequestURI(), target.Host, len(body))
	for _, header := range extra {
		text.WriteString(header + "\r\n")
	}
	text.WriteString("\r\n")
	text.Write(body)
	return text.Bytes(), target.Host
}

func (g *generator) summary() result {
	g.result.Seconds = float64(g.now()-g.warm) / 1e9
	g.result.Chunks = len(g.late)
	g.result.Whole, g.result.First, g.result.Late, g.result.Lag = percentiles(g.whole), percentiles(g.first), percentiles(g.late), percentiles(g.lag)
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	g.result.CPU = float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
	return g.result
}

func percentiles(nanoseconds []int64) []float64 {
	if len(nanoseconds) == 0 {
		return []float64{}
	}
	sort.Slice(nanoseconds, func(i, j int) bool { return nanoseconds[i] < nanoseconds[j] })
	at := func(share float64) float64 {
		return float64(nanoseconds[int(share*float64(len(nanoseconds)-1))]) / 1e6
	}
	return []float64{at(0.5), at(0.99), at(1)}
}
