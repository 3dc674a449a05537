package main

import (
	"bytes"
	"fmt"
	"strconv"
	"syscall"
	"time"
)

// line is one kept-alive connection and the request that is on it.
type line struct {
	fd      int
	state   state
	due     int64
	unsent  []byte
	reused  bool // it has answered before, so that a close without a word is no failure of the request
	answer  answer
	hasOne  bool // its first chunk was seen
	partial []byte
}

type state int

const (
	opening state = iota
	waiting
	asking
	reopening // for the request that it holds
	broken
)

func (g *generator) open(one int32) {
	l := &g.lines[one]
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	check(err)
	check(syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1))
	if err := syscall.Connect(fd, &g.address); err != nil && err != syscall.EINPROGRESS {
		fail(err)
	}
	l.fd, l.reused, l.unsent = fd, false, nil
	g.opening++
	check(syscall.EpollCtl(g.poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLOUT, Fd: one}))
}

func (g *generator) listen(one int32, events uint32) {
	check(syscall.EpollCtl(g.poll, syscall.EPOLL_CTL_MOD, g.lines[one].fd, &syscall.EpollEvent{Events: events, Fd: one}))
}

func (g *generator) happened(one int32, events uint32) {
	l := &g.lines[one]
	if l.state == opening || l.state == reopening {
		g.opened(one)
		return
	}
	if events&syscall.EPOLLOUT != 0 && len(l.unsent) > 0 {
		g.write(one)
	}
	if events&^uint32(syscall.EPOLLOUT) != 0 {
		g.hear(one)
	}
}

func (g *generator) opened(one int32) {
	l := &g.lines[one]
	g.opening--
	if failure, err := syscall.GetsockoptInt(l.fd, syscall.SOL_SOCKET, syscall.SO_ERROR); err != nil || failure != 0 {
		if g.now() < g.deadline && l.state == opening && g.next == 0 {
			fail(syscall.Errno(failure))
		}
		if l.state == reopening {
			g.busy--
		}
		syscall.Close(l.fd)
		l.state = broken
		g.wrong(1, syscall.Errno(failure).Error())
		return
	}
	g.listen(one, syscall.EPOLLIN)
	if l.state == reopening {
		g.send(one)
		return
	}
	l.state = waiting
	g.free(one)
}

func (g *generator) send(one int32) {
	l := &g.lines[one]
	l.state, l.hasOne, l.partial = asking, false, l.partial[:0]
	l.answer.begin()
	l.unsent = g.request
	g.write(one)
}

func (g *generator) write(one int32) {
	l := &g.lines[one]
	written, err := syscall.Write(l.fd, l.unsent)
	if err != nil && err != syscall.EAGAIN {
		g.closed(one)
		return
	}
	waited := len(l.unsent) < len(g.request)
	if written > 0 {
		l.unsent = l.unsent[written:]
	}
	if len(l.unsent) > 0 && !waited {
		g.listen(one, syscall.EPOLLIN|syscall.EPOLLOUT)
	} else if len(l.unsent) == 0 && waited {
		g.listen(one, syscall.EPOLLIN)
	}
}

func (g *generator) hear(one int32) {
	l := &g.lines[one]
	size, err := syscall.Read(l.fd, g.read)
	if err == syscall.EAGAIN || err == syscall.EINTR {
		return
	}
	if size <= 0 || l.state != asking {
		g.closed(one)
		return
	}
	now, wall := g.now(), time.Now().UnixNano()
	l.answer.take(g.read[:size], func(body []byte) { g.scan(l, body, now, wall) })
	if l.answer.ended {
		g.ended(one, now)
	}
}

// closed: the other side ended the connection. An answer without a length ends so; a connection that had answered before may end as the next
// request is on its way, and then the request is sent again on a new one.
func (g *generator) closed(one int32) {
	l := &g.lines[one]
	syscall.Close(l.fd)
	switch {
	case l.state == asking && l.answer.untilClose:
		l.answer.closes = true
		l.fd = -1
		g.ended(one, g.now())
		return
	case l.state == asking && l.reused && !l.answer.begun:
		l.state = reopening
	case l.state == asking:
		g.busy--
		g.wrong(1, "the connection was closed within an answer")
		l.state = opening
	default:
		g.forget(one)
		l.state = opening
	}
	g.open(one)
}

// forget takes a waiting connection out of the ring.
func (g *generator) forget(one int32) {
	kept := 0
	for i := 0; i < g.idleCount; i++ {
		other := g.idle[(g.idleAt+i)%len(g.idle)]
		if other != one {
			g.idle[(g.idleAt+kept)%len(g.idle)] = other
			kept++
		}
	}
	g.idleCount = kept
}

func (g *generator) ended(one int32, now int64) {
	l := &g.lines[one]
	g.busy--
	if l.answer.status == 200 {
		g.result.All++
		if now >= g.warm && now < g.until {
			g.result.Within++
		}
		if l.due >= g.warm {
			g.result.Requests++
			g.whole = append(g.whole, now-l.due)
		}
	} else {
		g.wrong(1, fmt.Sprintf("%d %s", l.answer.status, l.answer.words))
	}
	if l.answer.closes {
		if l.fd >= 0 {
			syscall.Close(l.fd)
		}
		l.state = opening
		g.open(one)
		return
	}
	l.reused, l.state = true, waiting
	g.free(one)
}

var marker = []byte("toll:")

const stampSize = 5 + 19

// scan finds the timestamps that the vendor wrote into its chunks, however a gateway changed the
// text around them.
func (g *generator) scan(l *line, body []byte, now, wall int64) {
	text := body
	if len(l.partial) > 0 {
		l.partial = append(l.partial, body...)
		text = l.partial
	}
	for {
		at := bytes.Index(text, marker)
		if at < 0 {
			text = text[max(0, len(text)-len(marker)+1):]
			break
		}
		if text = text[at:]; len(text) < stampSize {
			break
		}
		if writtenAt, err := strconv.ParseInt(string(text[len(marker):stampSize]), 10, 64); err == nil && l.due >= g.warm {
			if !l.hasOne {
				l.hasOne = true
				g.first = append(g.first, now-l.due)
			}
			g.late = append(g.late, wall-writtenAt)
		}
		text = text[stampSize:]
	}
	l.partial = append(l.partial[:0], text...)
}
