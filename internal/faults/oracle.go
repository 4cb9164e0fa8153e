package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func (c *state) settled(after string) {
	deadline := time.Now().Add(settleLimit)
	var wrong string
	for time.Now().Before(deadline) {
		c.single(after)
		if wrong = c.difference(); wrong == "" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.breach("%s: %s after %s", after, wrong, settleLimit)
}

// difference describes how the processes differ from the configuration. It restarts a controller that has exited.
func (c *state) difference() string {
	select {
	case <-c.target.done:
		if err := c.target.begin(); err != nil {
			return err.Error()
		}
		return "the controller exited on its own"
	default:
	}
	if err := c.target.reach(); err != nil {
		return fmt.Sprintf("the controller does not respond: %v", err)
	}
	list, err := c.target.list()
	if err != nil {
		return err.Error()
	}
	states := map[string]view{}
	for _, v := range list {
		states[v.Name] = v
	}
	for _, name := range c.target.wanted() {
		if v := states[name]; v.State != "running" || v.PID == 0 {
			return fmt.Sprintf("%s is %q", name, v.State)
		}
	}
	living := map[string]bool{}
	for _, p := range c.target.processes() {
		living[p.agent] = true
	}
	if extra := len(living) - len(c.target.wanted()); extra != 0 {
		return fmt.Sprintf("%d agents have processes, but %d are declared", len(living),
			len(c.target.wanted()))
	}
	return ""
}

// single checks that no agent has processes from two sessions (L11). A replaced session's processes may remain briefly.
func (c *state) single(after string) {
	pairs := c.pairs()
	for range 3 {
		if len(pairs) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
		again := c.pairs()
		maps.DeleteFunc(pairs, func(agent, ids string) bool { return again[agent] != ids })
	}
	for agent, ids := range pairs {
		c.breach("%s: %s has processes from several sessions: %s", after, agent, ids)
	}
}

func (c *state) pairs() map[string]string {
	ids := map[string][]string{}
	for _, p := range c.target.processes() {
		if !slices.Contains(ids[p.agent], p.session) {
			ids[p.agent] = append(ids[p.agent], p.session)
		}
	}
	out := map[string]string{}
	for agent, of := range ids {
		if len(of) > 1 {
			slices.Sort(of)
			out[agent] = strings.Join(of, ", ")
		}
	}
	return out
}

type record struct {
	Seq     uint64 `json:"seq"`
	TS      string `json:"ts"`
	Type    string `json:"type"`
	Subject string `json:"subject"`
	Message string `json:"message"`
	Payload struct {
		Session string `json:"session"`
		Run     string `json:"run"`
	} `json:"payload"`
}

type eventLog struct {
	records []record
	torn    int
}

func readLog(dir string) (*eventLog, error) {
	files, err := filepath.Glob(filepath.Join(dir, ".gc", "events*.jsonl"))
	if err != nil {
		return nil, err
	}
	l := &eventLog{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var r record
			if json.Unmarshal(lines.Bytes(), &r) != nil || r.Seq == 0 {
				l.torn++
				continue
			}
			l.records = append(l.records, r)
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(l.records, func(a, b record) int { return int(a.Seq) - int(b.Seq) })
	return l, nil
}

func list(all []record) (text string) {
	for _, r := range all {
		text += fmt.Sprintf("\n\t%d %s %s %s: %s", r.Seq, r.TS, r.Type, r.Subject, r.Message)
	}
	return text
}

// check returns violations of these guarantees: seq has no gap or duplicate (L9), and each session and run has one
// start and one end (L4).
func (l *eventLog) check() (breaches []string) {
	starts, ends := map[string][]record{}, map[string][]record{}
	fired, over := map[string][]record{}, map[string][]record{}
	add := func(to map[string][]record, id string, r record) { to[id] = append(to[id], r) }
	for i, r := range l.records {
		if i > 0 && r.Seq != l.records[i-1].Seq+1 {
			breaches = append(breaches, fmt.Sprintf("event %d follows %d", r.Seq,
				l.records[i-1].Seq))
		}
		switch r.Type {
		case "agent.started":
			add(starts, r.Payload.Session, r)
		case "agent.crashed", "agent.stopped":
			add(ends, r.Payload.Session, r)
		case "automation.fired":
			add(fired, r.Payload.Run, r)
		case "automation.completed", "automation.failed":
			add(over, r.Payload.Run, r)
		}
	}
	count := func(what, other string, n, m map[string][]record) {
		for id := range n {
			if id != "" && len(m[id]) != 1 {
				breaches = append(breaches, fmt.Sprintf("%s has %d %s events%s", what+" "+id,
					len(m[id]), other, list(m[id])))
			}
		}
	}
	count("session", "end", starts, ends)
	// a killed controller might not have written agent.started
	for id, all := range starts {
		if len(all) > 1 {
			breaches = append(breaches, fmt.Sprintf("session %s has %d start events%s", id,
				len(all), list(all)))
		}
	}
	count("run", "end", fired, over)
	count("run", "fired", over, fired)
	slices.Sort(breaches)
	return breaches
}
