package pty

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gcity/internal/proc"
)

var gcityBinary = flag.String("gcity", "", "path of the gcity to use as the holder; the default is the test binary, which is slightly smaller")

func benchProvider(b *testing.B) *Provider {
	city := b.TempDir()
	p := newProvider(b, city)
	if *gcityBinary != "" {
		var err error
		if p.launcher.program.binary, err = filepath.Abs(*gcityBinary); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

func startMany(b *testing.B, p *Provider, n int) {
	b.Helper()
	var wg sync.WaitGroup
	for i := range n {
		s := spec(p.files.city, "w-"+strconv.Itoa(i), "exec sleep 1000")
		wg.Go(func() {
			if _, err := p.Start(context.Background(), s); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

func stopMany(b *testing.B, p *Provider) {
	b.Helper()
	list, err := p.List(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, st := range list {
		wg.Go(func() {
			if err := p.Stop(context.Background(), st.Name, 0); err != nil {
				b.Error(err)
			}
			if err := p.Acknowledge(context.Background(), st.Name, st.ID); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

// W1: start of 100 agents on terminals, each with a holder.
func BenchmarkStart100(b *testing.B) {
	p := benchProvider(b)
	for b.Loop() {
		startMany(b, p, 100)
		b.StopTimer()
		stopMany(b, p)
		b.StartTimer()
	}
}

// The lower bound for W1: this process forks and executes sh -c 100 times, without terminals.
func BenchmarkStart100Floor(b *testing.B) {
	for b.Loop() {
		cmds := make([]*exec.Cmd, 100)
		for i := range cmds {
			cmds[i] = exec.Command("/bin/sh", "-c", "exec sleep 1000")
			if err := cmds[i].Start(); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		for _, cmd := range cmds {
			cmd.Process.Kill()
			cmd.Wait()
		}
		b.StartTimer()
	}
}

// Start of one holder, from exec to a running agent.
func BenchmarkExecToHolding(b *testing.B) {
	p := benchProvider(b)
	for b.Loop() {
		startMany(b, p, 1)
		b.StopTimer()
		stopMany(b, p)
		b.StartTimer()
	}
}

// W2: time from kill -9 to the report of the exit and to the start of the replacement.
func BenchmarkReplace(b *testing.B) {
	p := benchProvider(b)
	st := start(b, p, spec(p.files.city, "a", "exec sleep 1000"))
	var heard, replaced []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := syscall.Kill(st.PID, syscall.SIGKILL); err != nil {
			b.Fatal(err)
		}
		<-p.Exits()
		heard = append(heard, time.Since(began))
		st = start(b, p, spec(p.files.city, "a", "exec sleep 1000"))
		replaced = append(replaced, time.Since(began))
	}
	report(b, heard, "exit")
	report(b, replaced, "replaced")
}

// The lower bound for W2: a child process is killed and started again, without a holder.
func BenchmarkReplaceFloor(b *testing.B) {
	begin := func() *exec.Cmd {
		cmd := exec.Command("/bin/sh", "-c", "exec sleep 1000")
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		return cmd
	}
	cmd := begin()
	for b.Loop() {
		cmd.Process.Kill()
		cmd.Wait()
		cmd = begin()
	}
	cmd.Process.Kill()
	cmd.Wait()
}

func report(b *testing.B, times []time.Duration, what string) {
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1e3, what+"-p50-ms")
	b.ReportMetric(times[len(times)*99/100].Seconds()*1e3, what+"-p99-ms")
}

// W3: a List of 500 idle sessions.
func BenchmarkList500(b *testing.B) {
	p := benchProvider(b)
	startMany(b, p, 500)
	b.ReportAllocs()
	for b.Loop() {
		if list, err := p.List(context.Background()); err != nil || len(list) != 500 {
			b.Fatal(len(list), err)
		}
	}
	b.StopTimer()
	stopMany(b, p)
}

// Usage with 500 idle sessions: one scan of all processes on the machine.
func BenchmarkUsage500(b *testing.B) {
	p := benchProvider(b)
	startMany(b, p, 500)
	pids, err := proc.All()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	before := ownCPU()
	for b.Loop() {
		if all, err := p.Usage(context.Background()); err != nil || len(all) != 500 {
			b.Fatal(len(all), err)
		}
	}
	b.ReportMetric((ownCPU()-before).Seconds()*1000/float64(b.N), "CPU-ms/op")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(pids)), "µs/process")
	b.StopTimer()
	stopMany(b, p)
}

func ownCPU() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // cannot fail with these arguments
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Memory of an idle holder, and CPU time of 100 idle holders.
func BenchmarkHolderMemory(b *testing.B) {
	p := benchProvider(b)
	const n = 100
	startMany(b, p, n)
	time.Sleep(2 * time.Second) // gives the holders time to become idle
	before := holderCPU(b, p, n)
	for b.Loop() {
		time.Sleep(3 * time.Second) // the measured period, not a wait for something
	}
	idle := holderCPU(b, p, n) - before
	var pss, threads int
	for i := range n {
		pid := holderOf(b, p, "w-"+strconv.Itoa(i))
		pss += field(b, pid, "smaps_rollup", "Pss:")
		threads += field(b, pid, "status", "Threads:")
	}
	b.ReportMetric(float64(pss)/n, "PSS-kB")
	b.ReportMetric(float64(threads)/n, "threads")
	b.ReportMetric(float64(idle), "idle-ticks")
	stopMany(b, p)
}

func holderCPU(b *testing.B, p *Provider, n int) (ticks int) {
	b.Helper()
	for i := range n {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", holderOf(b, p, "w-"+strconv.Itoa(i))))
		if err != nil {
			b.Fatal(err)
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		for _, f := range fields[11:13] {
			t, _ := strconv.Atoi(f)
			ticks += t
		}
	}
	return ticks
}

func field(b *testing.B, pid int, file, name string) int {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "\n"+name)
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// W4: CPU time of a holder per megabyte of output.
func BenchmarkDrain(b *testing.B) {
	p := benchProvider(b)
	before := 0
	for b.Loop() {
		start(b, p, spec(p.files.city, "a", "yes 'twenty bytes a line' | head -c 50000000; exit"))
		<-p.Exits()
	}
	pid := holderOf(b, p, "a")
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	for _, f := range fields[11:13] {
		t, _ := strconv.Atoi(f)
		before += t
	}
	b.ReportMetric(float64(before*10)/float64(b.N)/50, "holder-ms/MB")
}
