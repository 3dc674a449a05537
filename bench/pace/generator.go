package main

import (
	"fmt"
	"net"
	"syscall"
	"time"
	"unsafe"
)

// generator sends requests from one thread that sleeps in epoll. The runtime's own timers are a millisecond late when nothing else runs, which is
// more than what is measured; a timerfd is not. Request i belongs to the instant i/rate whether or not a connection is free then: waiting for
// one is part of its latency.
type generator struct {
	address   syscall.SockaddrInet4
	request   []byte
	interval  float64 // ns between two requests; 0: as fast as answers come
	warm      int64   // what belongs to an instant before it warms up, and is not counted
	until     int64   // no instant at or after it; ns since startedAt, as all of these
	deadline  int64
	startedAt time.Time
	poll      int
	timer     int
	lines     []line
	idle      []int32 // a ring of those that wait for a request, oldest first
	idleAt    int
	idleCount int
	freedAt   int64 // when the ring stopped being empty
	opening   int
	busy      int
	next      int // the request that is sent next
	read      []byte
	events    [256]syscall.EpollEvent
	result    result
	whole     []int64
	first     []int64
	late      []int64
	lag       []int64
}

func newGenerator(host string, request []byte, connections int, rate float64, warm, seconds, patience time.Duration) *generator {
	address, err := net.ResolveTCPAddr("tcp4", host)
	if err != nil {
		fail(err)
	}
	g := &generator{
		request:  request,
		warm:     warm.Nanoseconds(),
		until:    (warm + seconds).Nanoseconds(),
		deadline: (warm + seconds + patience).Nanoseconds(),
		read:     make([]byte, 256*1024),
	}
	g.address.Port = address.Port
	copy(g.address.Addr[:], address.IP.To4())
	if rate > 0 {
		g.interval = 1e9 / rate
	}
	g.lines, g.idle = make([]line, connections), make([]int32, connections)
	for _, list := range []*[]int64{&g.whole, &g.first, &g.late, &g.lag} {
		*list = make([]int64, 0, 1<<19)
	}
	return g
}

const (
	opensAtOnce = 64   // fewer than the smallest queue of a listening socket: one that overflows costs a second
	connectsBy  = 10e9 // ns
)

func (g *generator) now() int64 { return int64(time.Since(g.startedAt)) }

func (g *generator) due(request int) int64 { return int64(float64(request) * g.interval) }

func (g *generator) run() {
	poll, err := syscall.EpollCreate1(0)
	check(err)
	g.poll, g.timer = poll, timerDescriptor()
	check(syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, g.timer, &syscall.EpollEvent{Events: syscall.EPOLLIN | edge, Fd: -1}))
	g.startedAt = time.Now()
	for opened := 0; opened < len(g.lines) || g.opening > 0; {
		for ; opened < len(g.lines) && g.opening < opensAtOnce; opened++ {
			g.open(int32(opened))
		}
		g.wait(connectsBy)
		if g.now() > connectsBy {
			fail("no connection within 10 s")
		}
	}
	g.startedAt, g.freedAt = time.Now(), 0
	for {
		g.sendDue()
		if g.finished() && g.busy == 0 || g.now() >= g.deadline {
			break
		}
		if g.idleCount > 0 && !g.finished() {
			g.wait(g.due(g.next))
		} else {
			g.wait(g.deadline)
		}
	}
	if unanswered := g.busy; unanswered > 0 {
		g.wrong(unanswered, fmt.Sprintf("%d were not answered in time", unanswered))
	}
	if left := g.leftOver(); left > 0 {
		g.wrong(left, fmt.Sprintf("%d found no connection in time", left))
	}
}

// finished reports whether all requests have been sent.
func (g *generator) finished() bool {
	if g.interval == 0 {
		return g.now() >= g.until
	}
	return g.due(g.next) >= g.until
}

// leftOver is how many instants went by without a request.
func (g *generator) leftOver() int {
	if g.interval == 0 {
		return 0
	}
	return max(0, int(float64(g.until)/g.interval)-g.next)
}

// sendDue sends all requests that are due, as far as connections are free.
func (g *generator) sendDue() {
	for g.idleCount > 0 && !g.finished() {
		now := g.now()
		due := now
		if g.interval > 0 {
			if due = g.due(g.next); due > now {
				return
			}
			if due >= g.warm {
				g.lag = append(g.lag, now-max(due, g.freedAt))
			}
		}
		one := g.idle[g.idleAt]
		g.idleAt = (g.idleAt + 1) % len(g.idle)
		g.idleCount--
		g.next++
		g.busy++
		g.lines[one].due = due
		g.send(one)
	}
}

// free puts a connection into the ring of those that wait.
func (g *generator) free(one int32) {
	if g.idleCount == 0 {
		g.freedAt = g.now()
	}
	g.idle[(g.idleAt+g.idleCount)%len(g.idle)] = one
	g.idleCount++
}

func (g *generator) wrong(count int, text string) {
	g.result.Errors += count
	if g.result.Wrong == "" {
		g.result.Wrong = text
	}
}

const edge = 1 << 31 // EPOLLET, which syscall has as a negative number

// wait sleeps until something happens on a connection, or until the instant, and takes what happened.
func (g *generator) wait(until int64) {
	timeout := -1
	if left := until - g.now(); left <= 0 {
		timeout = 0
	} else {
		setTimer(g.timer, time.Duration(left), 0)
	}
	count, _, failed := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(g.poll), uintptr(unsafe.Pointer(&g.events)), uintptr(len(g.events)), uintptr(timeout), 0, 0)
	if failed == syscall.EINTR {
		return
	}
	if failed != 0 {
		fail(failed)
	}
	for _, event := range g.events[:count] {
		if event.Fd >= 0 {
			g.happened(event.Fd, event.Events)
		}
	}
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}
