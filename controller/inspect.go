package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/perform"
	"gcity/events"
	"gcity/internal/proc"
	"gcity/internal/redact"
	"gcity/session"
)

// Subject is an agent to inspect, with the data that the inspection uses.
type Subject struct {
	City    string
	Agent   string          // qualified name
	Want    *agent.Want     // nil = not declared
	Session *session.Status // nil = none
	Past    []events.Event  // events selected by city.CrashQuery
	Limits  session.Limits  // limits of the provider in Want
}

const pastLimit = 5 * time.Second

// Inspect implements city.Control.
func (c *Controller) Inspect(ctx context.Context, name string) (*city.Inspection, error) {
	a, err := c.agent(name)
	if err != nil {
		return nil, err
	}
	s := Subject{City: c.o.Dir, Agent: name}
	if force := c.inForce.Load(); force != nil {
		at, ok := slices.BinarySearchFunc(force.Wants, name, func(w agent.Want, name string) int {
			return strings.Compare(w.Name, name)
		})
		if ok {
			s.Want = &force.Wants[at]
			s.Limits = perform.LimitsOf(c.o.Provider, s.Want.Provider)
		}
	}
	var problems []string
	if a.Session != nil {
		st, err := session.LookAt(ctx, c.o.Provider, a.Session.Name)
		switch {
		case err == nil && st.Alive && st.Agent == name:
			s.Session = &st
		case err != nil && !errors.Is(err, session.ErrNotFound):
			problems = append(problems, fmt.Sprintf("the running command is unknown, because the "+
				"session's state cannot be read: %v", err))
		}
	}
	now := time.Now()
	reading, cancel := context.WithTimeout(ctx, pastLimit)
	defer cancel()
	s.Past, err = c.o.Log.Find(reading, city.CrashQuery(name, now))
	if err != nil {
		problems = append(problems, fmt.Sprintf("the agent's crashes cannot be read from the "+
			"event log: %v",
			err))
	}
	out := s.Inspect(now)
	out.Problems = append(problems, out.Problems...)
	AddPrompt(ctx, out, s.Want)
	return out, nil
}

// AddPrompt adds the prompt that a new session of the agent would receive, with secrets replaced. w is nil if the
// agent is not declared.
func AddPrompt(ctx context.Context, out *city.Inspection, w *agent.Want) {
	if w == nil || w.Prompt.Draft == nil {
		return
	}
	text, err := perform.PromptOf(ctx, w, true)
	out.Prompt, out.PromptFile, out.PromptMode, out.PromptFlag = text, w.Prompt.File,
		cmp.Or(w.Prompt.Mode, "none"), w.Prompt.Flag
	if err != nil {
		out.Problems = append(out.Problems, err.Error())
	}
}

// Inspect returns the inspection, with secrets replaced; see internal/redact.
func (s *Subject) Inspect(now time.Time) *city.Inspection {
	out := &city.Inspection{Agent: s.Agent, At: now, Env: []city.Variable{},
		Drift: []city.Difference{}, Crashes: []city.Crash{}}
	if s.Want != nil {
		out.Spec, out.Env = specOf(s.Want), variables(s.Want)
		if slices.Contains(s.Limits.Lacks, session.InheritingEnvironment) {
			out.Env = slices.DeleteFunc(out.Env, func(v city.Variable) bool {
				return v.From == city.FromInherited
			})
		}
		out.Spec.Limits = s.Limits.String()
	}
	if s.Session != nil {
		out.Life = s.Session.ID
		if s.Want != nil {
			out.Drift = differences(s.Session, s.Want)
		}
	}
	for i := range s.Past {
		if c, ok := city.CrashOf(&s.Past[i]); ok && len(out.Crashes) < city.MaxCrashes {
			c.File = stillKept(s.City, c.File)
			out.Crashes = append(out.Crashes, c)
		}
	}
	return out
}

// stillKept returns file if it exists and is local, and "" otherwise. Clients can write any path into events.
func stillKept(dir, file string) string {
	if file == "" || !filepath.IsLocal(file) {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, file)); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return file
}

func specOf(w *agent.Want) *city.Spec {
	p := &w.Policy
	s := &city.Spec{
		Source: w.Source, Command: redact.Text(w.Spec.Command), Program: w.Program, Found: w.Found,
		Dir: w.Spec.Dir, Provider: w.Provider, Cols: w.Spec.Cols, Rows: w.Spec.Rows,
		PreStart: redacted(w.Spec.PreStart), Setup: redacted(w.Spec.Setup),
		SetupScript: w.Spec.SetupScript, Nudge: redact.Text(w.Spec.Nudge),
		Overlay: w.Overlay, Hooks: w.Hooks,
		ReadyPrefix: w.Spec.Ready.Prefix, ReadyDelay: w.Spec.Ready.Delay,
		IdleTimeout: w.IdleTimeout, DependsOn: w.DependsOn, Strategy: string(w.Strategy),
		Restart: city.RestartPolicy{
			Mode: string(p.Mode), MinUptime: p.MinUptime, MaxRestarts: p.MaxRestarts,
			Window: p.Window, Backoff: p.Backoff, MaxBackoff: p.MaxBackoff,
		},
	}
	if w.Spec.Ready.Needed() {
		s.ReadyLimit = w.Spec.Ready.Deadline
		if s.ReadyLimit <= 0 {
			s.ReadyLimit = session.DefaultReadyDeadline
		}
	}
	return s
}

func redacted(lines []string) []string {
	out := slices.Clone(lines)
	for i := range out {
		out[i] = redact.Text(out[i])
	}
	return out
}

const fieldEnv = "env "

func variables(w *agent.Want) []city.Variable {
	out := make([]city.Variable, 0, len(w.Spec.Env))
	for _, kv := range w.Spec.Env {
		name, value, _ := strings.Cut(kv, "=")
		v := city.Variable{Name: name, From: city.FromInherited}
		if _, named := w.Spec.Fingerprint.Fields[fieldEnv+name]; named ||
			slices.Contains(w.Spec.Named, name) {
			v.From = city.FromConfig
		}
		if strings.HasPrefix(name, "GC_") || name == "BEADS_DIR" || name == "PWD" ||
			name == "TERM" && v.From != city.FromConfig {
			v.From = city.FromCity
		}
		if v.Hidden = redact.Name(name); !v.Hidden {
			v.Value = redact.Value(value)
		}
		out = append(out, v)
	}
	return out
}

func differences(st *session.Status, w *agent.Want) []city.Difference {
	drift := st.Drift(&w.Spec)
	out := make([]city.Difference, 0, len(drift))
	if len(drift) == 0 {
		return out
	}
	environ := initialEnviron(st)
	for _, text := range drift {
		at := strings.LastIndexByte(text, ' ')
		d := city.Difference{Field: text[:at], What: text[at+1:]}
		name, isEnv := strings.CutPrefix(d.Field, fieldEnv)
		switch {
		case isEnv && redact.Name(name):
			d.Hidden = true
		case isEnv:
			d.Wants = redact.Value(lookUp(w.Spec.Env, name))
			d.Runs, d.RunsUnknown = redact.Value(lookUp(environ, name)), environ == nil
		case d.Field == session.ProviderField:
			d.Wants, d.Runs = w.Spec.Provider, st.Provider
		case d.Field == "command" || d.Field == "args":
			d.Wants = redact.Text(w.Spec.Command)
			// a command line with a prompt can contain secrets
			_, hasPrompt := st.Fingerprint.Fields["prompt_template"]
			if !hasPrompt && w.Prompt.Draft == nil {
				d.Runs = redact.Text(commandOf(st, environ))
			}
			d.RunsUnknown = d.Runs == ""
		default:
			d.Wants, d.RunsUnknown = wanted(w, d.Field), true
		}
		if d.What == "added" {
			d.Runs, d.RunsUnknown = "", false
		}
		if d.What == "removed" {
			d.Wants = ""
		}
		out = append(out, d)
	}
	return out
}

func wanted(w *agent.Want, field string) string {
	switch field {
	case "pre_start":
		return strings.Join(redacted(w.Spec.PreStart), "\n")
	case "session_setup":
		return strings.Join(redacted(w.Spec.Setup), "\n")
	case "session_setup_script":
		return w.Spec.SetupScript
	case "prompt_template":
		return w.Prompt.File
	case "overlay_dir":
		return w.Overlay
	}
	return ""
}

// initialEnviron returns the environment that the session's process started with, or nil if another process has reused
// the PID.
func initialEnviron(st *session.Status) []string {
	if st.PID <= 0 {
		return nil
	}
	data := proc.Environ(st.PID)
	if !proc.HasEnv(data, "GC_SESSION_ID="+st.ID, false) {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

func commandOf(st *session.Status, environ []string) string {
	if environ == nil {
		return ""
	}
	args := proc.Args(st.PID)
	if len(args) == 3 && args[1] == "-c" {
		return args[2]
	}
	return strings.Join(args, " ")
}

func lookUp(env []string, name string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
