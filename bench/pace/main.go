// pace is both ends of a paced measurement, written in Go so that neither end is the bottleneck.
//
//	pace serve -port P                             a vendor that answers or streams chat at the pace that the path asks for
//	pace load -url U -body F -header 'k: v' …      a client; prints one JSON object
//
// Each chunk carries the nanosecond at which it was written, and the client compares it with the one at which it was read:
// both run on one machine, so the difference is the way between them.
package main

import (
	"fmt"
	"os"
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
