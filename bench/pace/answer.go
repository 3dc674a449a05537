package main

import (
	"bytes"
	"strconv"
)

// answer parses an HTTP/1.1 response incrementally, only as far as needed to find its end.
type answer struct {
	begun      bool
	ended      bool
	status     int
	closes     bool // the connection is not used again
	untilClose bool
	words      string // the beginning of the body when it is no 200
	part       part
	head       []byte
	left       int // bytes of the body or of its present chunk
}

type part int

const (
	inHead part = iota
	inBody
	inSize // the line with a chunk's size
	inData
	inTrailer // after the last chunk, up to an empty line
)

func (a *answer) begin() {
	*a = answer{head: a.head[:0]}
}

// take reads bytes of the response; body gets the decoded ones.
func (a *answer) take(text []byte, body func([]byte)) {
	a.begun = true
	for len(text) > 0 && !a.ended {
		switch a.part {
		case inHead:
			text = a.takeHead(text)
		case inBody, inData:
			size := len(text)
			if !a.untilClose {
				size = min(size, a.left)
			}
			a.keep(text[:size])
			body(text[:size])
			text = text[size:]
			if a.left -= size; a.left == 0 && a.part == inBody {
				a.ended = true
			} else if a.left == 0 {
				a.part = inSize
			}
		case inSize, inTrailer:
			text = a.takeLine(text)
		}
	}
}

func (a *answer) keep(text []byte) {
	if a.status != 200 && len(a.words) < 300 {
		a.words += string(text[:min(len(text), 300)])
	}
}

var endOfHead = []byte("\r\n\r\n")

func (a *answer) takeHead(text []byte) []byte {
	before := len(a.head)
	a.head = append(a.head, text...)
	end := bytes.Index(a.head[max(0, before-3):], endOfHead)
	if end < 0 {
		return nil
	}
	end += max(0, before-3)
	head := bytes.ToLower(a.head[:end+2])
	if len(head) > 12 {
		a.status, _ = strconv.Atoi(string(head[9:12]))
	}
	rest := text[end+len(endOfHead)-before:]
	a.head = a.head[:0]
	if a.status == 100 {
		return rest
	}
	a.closes = bytes.Contains(head, []byte("\r\nconnection: close"))
	length, sized := header(head, "\r\ncontent-length:")
	switch {
	case bytes.Contains(head, []byte("\r\ntransfer-encoding: chunked")):
		a.part = inSize
	case sized:
		a.part = inBody
		a.left, _ = strconv.Atoi(length)
		a.ended = a.left == 0
	default:
		a.part, a.untilClose = inBody, true
	}
	return rest
}

func header(head []byte, name string) (string, bool) {
	_, after, found := bytes.Cut(head, []byte(name))
	value, _, _ := bytes.Cut(after, []byte("\r\n"))
	return string(bytes.TrimSpace(value)), found
}

// takeLine reads the line before a chunk (or the empty one after the chunk before it), or one of the trailer.
func (a *answer) takeLine(text []byte) []byte {
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		a.head = append(a.head, text...)
		return nil
	}
	a.head = append(a.head, text[:end]...)
	line := bytes.TrimSpace(a.head)
	a.head = a.head[:0]
	if a.part == inTrailer {
		a.ended = len(line) == 0
	} else if len(line) > 0 {
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, _ := strconv.ParseInt(string(digits), 16, 64)
		a.left, a.part = int(size), inData
		if size == 0 {
			a.part = inTrailer
		}
	}
	return text[end+1:]
}
