package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"gcity/tui"
)

// project runs the control room with a tape in this process's terminal. Each line on descriptor 3 is the next time in
// seconds. The control room exits when the descriptor is closed.
func project(ctx context.Context, file string, options string) error {
	t, err := loadRecording(file)
	if err != nil {
		return err
	}
	orders := os.NewFile(3, "orders")
	if orders == nil {
		return errors.New("file descriptor 3 is not open; the times to show are read from it")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := newPlayer(t, t.Began)
	lines := bufio.NewScanner(orders)
	if !follow(p, lines) {
		return lines.Err()
	}
	var following sync.WaitGroup
	following.Go(func() { // ends when the descriptor is closed
		defer cancel()
		for follow(p, lines) {
		}
	})
	has := func(what string) bool { return strings.Contains(options, what) }
	show := tui.Options{City: p, Mode: tui.Hosting, Clock: p.now, NoColor: has("plain"),
		ASCII:  has("ascii"),
		Logger: slog.New(slog.DiscardHandler)}
	if has("watchdogs") {
		show.City = watchdogCity{p}
	}
	if has("fleet") {
		show.City, show.Mode, show.Cities = nil, tui.Joined, cityList{p}
	}
	_, err = tui.Run(ctx, show)
	following.Wait()
	return errors.Join(err, lines.Err())
}

func follow(p *player, lines *bufio.Scanner) bool {
	if !lines.Scan() {
		return false
	}
	at, err := strconv.ParseFloat(lines.Text(), 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, "screenshots: invalid time:", lines.Text())
		return false
	}
	p.seek(p.tape.Began.Add(time.Duration(at * float64(time.Second))))
	return true
}
