package main

import (
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// alarm rings at instants that are as exact as the kernel's. The runtime's own timers are up to a millisecond late on a machine that is idle.
type alarm struct {
	fd   int
	file *os.File
}

var alarms = sync.Pool{New: func() any { return newAlarm() }}

func newAlarm() *alarm {
	fd := timerDescriptor()
	return &alarm{fd, os.NewFile(uintptr(fd), "timer")}
}

// set lets it ring once after `first` and then, unless it is 0, every `every`.
func (a *alarm) set(first, every time.Duration) { setTimer(a.fd, first, every) }

// wait returns when it rings next, or at once when it has rung since.
func (a *alarm) wait() {
	var rung [8]byte
	a.file.Read(rung[:])
}

func sleep(time time.Duration) {
	if time <= 0 {
		return
	}
	a := alarms.Get().(*alarm)
	a.set(time, 0)
	a.wait()
	alarms.Put(a)
}

func timerDescriptor() int {
	const monotonic = 1
	fd, _, failed := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, monotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if failed != 0 {
		fail(failed)
	}
	return int(fd)
}

func setTimer(fd int, first, every time.Duration) {
	value := [4]int64{int64(every / time.Second), int64(every % time.Second), int64(first / time.Second), int64(first % time.Second)}
	syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, uintptr(fd), 0, uintptr(unsafe.Pointer(&value)), 0, 0, 0)
}
