package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"sync"
)

// writers write events and beads during a campaign, and record those that were acknowledged.
type writers struct {
	over chan struct{}
	wg   sync.WaitGroup

	mu         sync.Mutex
	events     []string
	beads      []string
	unexpected []string // commands with an exit code that means neither success nor failure
}

const perKind = 2

func startWriters(t *target) *writers {
	w := &writers{over: make(chan struct{})}
	for i := range perKind {
		w.wg.Go(func() { w.loop(t, i, w.emit) })
		w.wg.Go(func() { w.loop(t, i, w.create) })
	}
	return w
}

func (w *writers) loop(t *target, id int, write func(t *target, mark string)) {
	for n := 0; ; n++ {
		select {
		case <-w.over:
			return
		default:
			write(t, fmt.Sprintf("mark-%d-%d", id, n))
		}
	}
}

func (w *writers) emit(t *target, mark string) {
	_, err := t.command("event", "emit", "faults.mark", "--subject", mark)
	w.note(&w.events, mark, "event emit", err)
}

func (w *writers) create(t *target, mark string) {
	_, err := t.command("bead", "create", mark)
	w.note(&w.beads, mark, "bead create", err)
}

func (w *writers) note(kept *[]string, mark, what string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	exit, exited := err.(*exec.ExitError)
	switch {
	case err == nil:
		*kept = append(*kept, mark)
	case !exited || exit.ExitCode() < 0 || exit.ExitCode() == 2:
		w.unexpected = append(w.unexpected, fmt.Sprintf("gcity %s %s: %v", what, mark, err))
	}
}

func (w *writers) stop() {
	close(w.over)
	w.wg.Wait()
}

func (w *writers) counts() (events, beads int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.events), len(w.beads)
}

// check must be called after the writers have stopped.
func (w *writers) check(t *target, log *eventLog) (breaches []string) {
	breaches = w.unexpected
	emitted := map[string]int{}
	for _, r := range log.records {
		if r.Type == "faults.mark" {
			emitted[r.Subject]++
		}
	}
	for _, mark := range w.events {
		if emitted[mark] != 1 {
			breaches = append(breaches, fmt.Sprintf("the event %s was acknowledged but is in the "+
				"log %d times", mark, emitted[mark]))
		}
	}
	out, err := t.command("bead", "list", "--limit", "0", "--json")
	var page struct {
		Items []struct {
			Title string `json:"title"`
		} `json:"items"`
	}
	if err != nil || json.Unmarshal(out, &page) != nil && json.Unmarshal(out, &page.Items) != nil {
		return append(breaches, fmt.Sprintf("gcity bead list: %v: %.200s", err, out))
	}
	made := map[string]int{}
	for _, b := range page.Items {
		made[b.Title]++
	}
	for _, mark := range w.beads {
		if made[mark] != 1 {
			breaches = append(breaches, fmt.Sprintf("the bead %s was acknowledged but "+
				"exists %d times", mark, made[mark]))
		}
	}
	return breaches
}
