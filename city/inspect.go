package city

import (
	"encoding/json"
	"time"

	"gcity/events"
)

// Limits of Inspection.Crashes.
const (
	MaxCrashes = 10
	CrashAge   = 7 * 24 * time.Hour
)

// Inspection contains details of an agent that are not in a snapshot. It contains no secrets.
type Inspection struct {
	Agent string    `json:"agent"` // qualified name
	At    time.Time `json:"at"`
	// nil = the active configuration does not declare the agent
	Spec *Spec      `json:"spec,omitempty"`
	Env  []Variable `json:"env"` // of the agent's next session, sorted by name
	// expanded prompt that the agent gets when it starts
	Prompt string `json:"prompt,omitempty"`
	// PromptFile is the prompt's template. PromptMode is "arg", "flag", "typed" or "none"; "" = no prompt.
	PromptFile string `json:"prompt_file,omitempty"`
	PromptMode string `json:"prompt_mode,omitempty"`
	// flag before the prompt if PromptMode is "flag"
	PromptFlag string `json:"prompt_flag,omitempty"`

	// ID of the session that Drift describes; "" = no session
	Life  string       `json:"life,omitempty"`
	Drift []Difference `json:"drift"` // how the session in Life differs from Spec
	// newest first
	Crashes  []Crash  `json:"crashes"`
	Problems []string `json:"problems,omitempty"` // why details are missing
}

// Spec describes how an agent is started according to the active configuration.
type Spec struct {
	Source  string `json:"source"` // "city.toml:12:1"
	Command string `json:"command"`
	// "claude"; "" = the agent has a start_command
	Program string `json:"program,omitempty"`
	// Program is the first preset found on this machine
	Found    bool   `json:"program_found,omitempty"`
	Dir      string `json:"dir"`
	Provider string `json:"provider,omitempty"`
	// what the session provider cannot do; "" = it can do everything
	Limits string `json:"limits,omitempty"`
	Cols   int    `json:"cols"` // size of the terminal while no user is attached
	Rows   int    `json:"rows"`

	PreStart    []string `json:"pre_start,omitempty"`
	Setup       []string `json:"session_setup,omitempty"`
	SetupScript string   `json:"session_setup_script,omitempty"`
	Nudge       string   `json:"nudge,omitempty"` // typed as soon as the agent is ready

	// absolute path; its files are copied into Dir
	Overlay string `json:"overlay_dir,omitempty"`
	// kinds of hook files to install in Dir
	Hooks []string `json:"install_agent_hooks,omitempty"`

	// beginning of the screen line that shows that the agent is ready
	ReadyPrefix string        `json:"ready_prefix,omitempty"`
	ReadyDelay  time.Duration `json:"ready_delay_ns,omitempty"`
	// the start fails after this time; 0 = no limit
	ReadyLimit time.Duration `json:"ready_limit_ns,omitempty"`

	IdleTimeout time.Duration `json:"idle_timeout_ns,omitempty"` // 0 = no timeout
	DependsOn   []string      `json:"depends_on,omitempty"`
	Strategy    string        `json:"strategy,omitempty"`
	Restart     RestartPolicy `json:"restart"`
}

// RestartPolicy is an agent's effective restart policy.
type RestartPolicy struct {
	Mode      string        `json:"mode"` // "always", "on-failure", "never"
	MinUptime time.Duration `json:"min_uptime_ns"`
	// maximum number of crashes within Window before a quarantine; 0 = no limit
	MaxRestarts int           `json:"max_restarts"`
	Window      time.Duration `json:"window_ns"`
	Backoff     time.Duration `json:"backoff_ns"` // first delay; doubles up to MaxBackoff
	MaxBackoff  time.Duration `json:"max_backoff_ns"`
}

// Waits returns the first and the longest delay between restarts.
func (p *RestartPolicy) Waits() (first, most time.Duration) {
	if p.MaxBackoff <= 0 {
		return p.Backoff, p.Backoff
	}
	return min(p.Backoff, p.MaxBackoff), p.MaxBackoff
}

// Variable is an environment variable.
type Variable struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Hidden bool   `json:"hidden,omitempty"` // Value is omitted because the name suggests a secret
	From   Origin `json:"from"`
}

// Origin says where a variable in an agent's environment comes from.
type Origin string

const (
	FromConfig    Origin = "config"    // the configuration sets it
	FromCity      Origin = "city"      // gcity sets it for every agent
	FromInherited Origin = "inherited" // the controller's environment contains it
)

// Difference is a field in which a session differs from the configuration.
type Difference struct {
	Field string `json:"field"` // "command", "env FOO", "pre_start", …
	// "added", "changed" or "removed" since the session started
	What  string `json:"what"`
	Runs  string `json:"runs,omitempty"`
	Wants string `json:"wants,omitempty"`

	// only the session's fingerprint was stored
	RunsUnknown bool `json:"runs_unknown,omitempty"`
	Hidden      bool `json:"hidden,omitempty"` // both values are omitted because they are secret
}

// Crash is an exit that was not requested, or a failed start.
type Crash struct {
	Exit
	Seq     uint64 `json:"seq"` // event that reports it
	Why     string `json:"why"`
	Output  string `json:"output,omitempty"`   // last lines of output, as plain text
	NoStart bool   `json:"no_start,omitempty"` // the agent never ran; in Exit, only At is valid
}

// CrashQuery returns a query for those events of an agent that CrashOf can convert, newest first.
func CrashQuery(agent string, now time.Time) events.Query {
	return events.Query{Types: []string{events.AgentCrashed, events.AgentStartFailed},
		Subject: agent, Since: now.Add(-CrashAge), Limit: MaxCrashes}
}

// CrashOf converts a crash event to a Crash. ok is false for any other event.
func CrashOf(e *events.Event) (c Crash, ok bool) {
	c = Crash{Exit: Exit{At: e.TS, Code: -1}, Seq: e.Seq, Why: e.Message}
	switch e.Type {
	case events.AgentStartFailed:
		c.NoStart = true
		return c, true
	case events.AgentCrashed:
	default:
		return Crash{}, false
	}
	var about struct {
		Code   *int   `json:"code"`
		Signal string `json:"signal"`
		Uptime int64  `json:"uptime_ms"`
		Output string `json:"output"`
		File   string `json:"file"`
	}
	if json.Unmarshal(e.Payload, &about) != nil {
		return c, true
	}
	if about.Code != nil {
		c.Code = *about.Code
	}
	c.Signal, c.Output, c.File = about.Signal, about.Output, about.File
	c.Uptime = time.Duration(about.Uptime) * time.Millisecond
	return c, true
}
