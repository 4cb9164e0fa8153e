package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

func floor(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{null.Fd(), null.Fd(), null.Fd()}}
	argv := map[int][]string{}
	spawn := func(args []string) error {
		pid, err := syscall.ForkExec(args[0], args, attr)
		argv[pid] = args
		return err
	}
	for line := range strings.Lines(string(data)) {
		if err := spawn(strings.Fields(line)); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	for {
		pid, err := syscall.Wait4(-1, nil, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait4: %w", err)
		}
		args := argv[pid]
		delete(argv, pid)
		if err := spawn(args); err != nil {
			return err
		}
	}
}

const noiseText = "of sample output, as long as a typical log line."

func noise(to io.Writer) error {
	out := bufio.NewWriter(to)
	for n := range 4000 {
		fmt.Fprintf(out, "line %08d %s\n", n, noiseText)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		<-tick.C
		fmt.Fprintf(out, "line %08d %s\n", n, noiseText)
		if err := out.Flush(); err != nil {
			return err
		}
	}
}
