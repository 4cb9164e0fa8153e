package city

import (
	"encoding/json"
	"time"

	"gcity/events"
)

// MaxCrashes bounds Inspection.Crashes, CrashAge how far back they go: of an agent that never crashed the whole
// event log would be read.
const (
	MaxCrashes = 10
	CrashAge   = 7 * 24 * time.Hour
)

// Inspection is what can be said of an agent when somebody asks, beyond what a snapshot says. Secrets have been
// taken out of it.
type Inspection struct {
	Agent string    `json:"agent"` // qualified
	At    time.Time `json:"at"`
	// nil = the configuration in force declares no such agent
	Spec   *Spec      `json:"spec,omitempty"`
	Env    []Variable `json:"env"`              // of its next life, by name
	Prompt string     `json:"prompt,omitempty"` // what it is told at its start, rendered
	// PromptFile is the template, PromptMode how the prompt goes in: "arg", "flag", "typed", "none"; "" = there is
	// none.
	PromptFile string `json:"prompt_file,omitempty"`
	PromptMode string `json:"prompt_mode,omitempty"`
	PromptFlag string `json:"prompt_flag,omitempty"` // with "flag": what comes before the text

	// id of the session that Drift is about, "" = it has none
	Life  string       `json:"life,omitempty"`
	Drift []Difference `json:"drift"` // between that session and Spec, by field
	// of the last CrashAge, as the event log has them, the newest first, at most MaxCrashes
	Crashes  []Crash  `json:"crashes"`
	Problems []string `json:"problems,omitempty"` // why something is missing here
}

// Spec is what the configuration in force wants an agent started with.
type Spec struct {
	Source  string `json:"source"` // "city.toml:12:1"
	Command string `json:"command"`
	// the provider that says so, "" = a start_command does
	Program string `json:"program,omitempty"`
	// and nothing names it: it is the first that was found on the host
	Found    bool   `json:"program_found,omitempty"`
	Dir      string `json:"dir"`
	Provider string `json:"provider,omitempty"`
	// of the provider: "cannot attach, press keys: it has no terminal"; "" = none
	Limits string `json:"limits,omitempty"`
	Cols   int    `json:"cols"` // of the terminal while nobody is attached
	Rows   int    `json:"rows"`

	PreStart    []string `json:"pre_start,omitempty"`
	Setup       []string `json:"session_setup,omitempty"`
	SetupScript string   `json:"session_setup_script,omitempty"`
	Nudge       string   `json:"nudge,omitempty"` // typed once it is ready

	// a folder whose files are put into Dir, absolute
	Overlay string `json:"overlay_dir,omitempty"`
	// kinds of hook files that are written there
	Hooks []string `json:"install_agent_hooks,omitempty"`

	// a line of its screen begins with it once it is ready
	ReadyPrefix string        `json:"ready_prefix,omitempty"`
	ReadyDelay  time.Duration `json:"ready_delay_ns,omitempty"`
	// then its start has failed; 0 = nothing is waited for
	ReadyLimit time.Duration `json:"ready_limit_ns,omitempty"`

	IdleTimeout time.Duration `json:"idle_timeout_ns,omitempty"` // 0 = never
	DependsOn   []string      `json:"depends_on,omitempty"`
	Strategy    string        `json:"strategy,omitempty"`
	Restart     RestartPolicy `json:"restart"`
}

// RestartPolicy is how an agent's ends are answered, in the numbers in force.
type RestartPolicy struct {
	Mode      string        `json:"mode"` // "always", "on-failure", "never"
	MinUptime time.Duration `json:"min_uptime_ns"`
	// within Window; one crash more is quarantine, 0 = never
	MaxRestarts int           `json:"max_restarts"`
	Window      time.Duration `json:"window_ns"`
	Backoff     time.Duration `json:"backoff_ns"` // doubles up to MaxBackoff
	MaxBackoff  time.Duration `json:"max_backoff_ns"`
}

// Waits returns the waits before restarts in a row: the first one, and the longest that it doubles up to.
func (p *RestartPolicy) Waits() (first, most time.Duration) {
	if p.MaxBackoff <= 0 {
		return p.Backoff, p.Backoff
	}
	return min(p.Backoff, p.MaxBackoff), p.MaxBackoff
}

// Variable is one of an environment.
type Variable struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Hidden bool   `json:"hidden,omitempty"` // Value is left out: the name says that it is a secret
	From   Origin `json:"from"`
}

// Origin says who put a variable into an agent's environment.
type Origin string

const (
	FromConfig    Origin = "config"    // the configuration names it
	FromCity      Origin = "city"      // gcity sets it for every agent
	FromInherited Origin = "inherited" // the controller was started with it
)

// Difference is one field in which a session is not what the configuration wants.
type Difference struct {
	Field string `json:"field"` // "command", "env FOO", "pre_start", …
	// "added", "changed", "removed" in the configuration since the session began
	What  string `json:"what"`
	Runs  string `json:"runs,omitempty"`
	Wants string `json:"wants,omitempty"`

	RunsUnknown bool `json:"runs_unknown,omitempty"` // only a fingerprint was kept of what runs
	Hidden      bool `json:"hidden,omitempty"`       // both are left out: it is a secret
}

// Crash is one end, or one start that failed, that nobody asked for.
type Crash struct {
	Exit
	Seq     uint64 `json:"seq"` // of the event that tells of it
	Why     string `json:"why"`
	Output  string `json:"output,omitempty"`   // the end of what it printed: plain lines
	NoStart bool   `json:"no_start,omitempty"` // it never ran; Exit has its At only
}

// CrashQuery finds the events about an agent that CrashOf understands, the newest first.
func CrashQuery(agent string, now time.Time) events.Query {
	return events.Query{Types: []string{events.AgentCrashed, events.AgentStartFailed},
		Subject: agent, Since: now.Add(-CrashAge), Limit: MaxCrashes}
}

// CrashOf reads a crash from the event that tells of it; not ok if the event tells of something else. What its payload
// does not say stays empty.
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
