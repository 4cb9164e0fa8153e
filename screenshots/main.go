// Command screenshots takes pictures of the control room. It runs the real control room on a recorded city and types
// the keys in a shot's script. The clock advances only when the script says so, so a tape always produces the same
// pictures.
//
// `make screenshots` runs this command. -record records a new tape.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	var o options
	flag.StringVar(&o.out, "out", "screenshots", "the folder for the pictures; it also "+
		"contains the tape (the recorded run)")
	flag.StringVar(&o.only, "only", "",
		`take only pictures with this in their names; "tour" is the animated one`)
	flag.BoolVar(&o.record, "record", false, "record a new tape first (two minutes)")
	flag.StringVar(&o.bin, "gcity", "bin/gcity", "the gcity binary for recording a new tape")
	flag.StringVar(&o.demo, "demo", "examples/demo", "the folder of the city to record")
	flag.StringVar(&o.project, "project", "", "replay this tape in the current terminal "+
		"(internal)")
	flag.StringVar(&o.as, "as", "", "with -project: plain, ascii")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

type options struct {
	out, only, bin, demo string
	record               bool
	project, as          string
}

func (o options) run(ctx context.Context) error {
	if o.project != "" {
		return project(ctx, o.project, o.as)
	}
	file := filepath.Join(o.out, "demo.tape.gz")
	if o.record {
		bin, err := filepath.Abs(o.bin)
		if err != nil {
			return err
		}
		if err := record(ctx, bin, o.demo, file); err != nil {
			return fmt.Errorf("recording: %w", err)
		}
	}
	p, err := newPen()
	if err != nil {
		return err
	}
	var failed []error
	for _, s := range shots() {
		if !strings.Contains(s.name, o.only) {
			continue
		}
		if err := s.take(ctx, file, o.out, p); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	if strings.Contains("tour", o.only) {
		if err := tour(ctx, file, filepath.Join(o.out, "tour.cast")); err != nil {
			failed = append(failed, fmt.Errorf("tour: %w", err))
		}
	}
	return errors.Join(failed...)
}
