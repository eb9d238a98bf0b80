// The same work on goroutines.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	switches   = 400_000
	creations  = 50_000
	locks      = 1_000_000
	contenders = 99
	locksEach  = 10_000
	idle       = 10_000
	echoes     = 20_000
	message    = 64
)

func report(metric string, operations int, work func()) {
	work()
	begin := time.Now()
	work()
	fmt.Printf("%s %.2f\n", metric, float64(time.Since(begin).Nanoseconds())/float64(operations))
}

func together(n int, work func()) {
	var all sync.WaitGroup
	all.Add(n)
	for range n {
		go func() {
			defer all.Done()
			work()
		}()
	}
	all.Wait()
}

func yields(n int) func() {
	return func() {
		together(n, func() {
			for range switches / n {
				runtime.Gosched()
			}
		})
	}
}

func contended(threads int) {
	var lock sync.Mutex
	total := 0
	together(threads, func() {
		for range locksEach {
			lock.Lock()
			total++
			lock.Unlock()
		}
	})
}

// The longest time that any goroutine waited for the lock.
func longestWait() time.Duration {
	var lock, all sync.Mutex
	var longest time.Duration
	total := 0
	together(contenders, func() {
		var mine time.Duration
		for range locksEach {
			begin := time.Now()
			lock.Lock()
			total++
			lock.Unlock()
			mine = max(mine, time.Since(begin))
		}
		all.Lock()
		longest = max(longest, mine)
		all.Unlock()
	})
	return longest
}

// A goroutine echoes what another sends. Connections send at once by default.
func echo() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		buffer := make([]byte, message)
		for {
			if _, err := io.ReadFull(connection, buffer); err != nil {
				break
			}
			connection.Write(buffer)
		}
		connection.Close()
	}()
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		panic(err)
	}
	buffer := make([]byte, message)
	for range echoes {
		connection.Write(buffer)
		if _, err := io.ReadFull(connection, buffer); err != nil {
			panic(err)
		}
	}
	connection.Close()
	<-done
	listener.Close()
}

func memory() uint64 {
	status, _ := os.ReadFile("/proc/self/status")
	var sum uint64
	for _, line := range strings.Split(string(status), "\n") {
		var kib uint64
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kib); err == nil {
			sum += kib * 1024
		} else if _, err := fmt.Sscanf(line, "VmPTE: %d kB", &kib); err == nil {
			sum += kib * 1024
		}
	}
	return sum
}

func main() {
	runtime.GOMAXPROCS(1)
	report("yield_2", switches, yields(2))
	report("yield_1000", switches, yields(1000))
	report("create", creations, func() {
		for range creations {
			done := make(chan struct{})
			go func() { close(done) }()
			<-done
		}
	})
	report("lock", locks, func() {
		var lock sync.Mutex
		for range locks {
			lock.Lock()
			lock.Unlock()
		}
	})
	report("contended", contenders*locksEach, func() { contended(contenders) })
	report("echo", echoes, echo)
	before := memory()
	start := make(chan struct{})
	var all sync.WaitGroup
	all.Add(idle)
	for range idle {
		go func() {
			defer all.Done()
			<-start
		}()
	}
	runtime.Gosched()
	fmt.Printf("memory %d\n", (memory()-before)/idle)
	close(start)
	all.Wait()
	runtime.GOMAXPROCS(2)
	report("ten_2", 10*locksEach, func() { contended(10) })
	report("contended_2", contenders*locksEach, func() { contended(contenders) })
	longestWait()
	fmt.Printf("wait_2 %.1f\n", float64(longestWait().Nanoseconds())/1000)
}
