// Package config reads and validates a city's TOML files. It records the position of each value, and reports all errors
// together.
//
// # Concurrency
//
// A City is immutable and may be read by any goroutine. All functions may be called concurrently.
package config

import (
	"cmp"
	"reflect"
	"time"

	"gcity/automation"
	"gcity/internal/toml"
	"gcity/prompt"
	"gcity/restart"
)

// FileName is the name of the file that makes a folder a city.
const FileName = "city.toml"

// City is a validated configuration. It is immutable after loading.
type City struct {
	Path      string   // absolute path of the city's folder, with symbolic links resolved
	Include   []string // as written in city.toml
	Workspace Workspace
	Agents    []Agent    // in file order
	Rigs      []Rig      // in file order
	Providers []Provider // the city's own tables; see ProviderFor
	Watchdogs []Watchdog // in file order
	Daemon    Daemon
	Session   Session
	Events    Events
	Console   Console
	API       API

	Beads       Beads
	Dolt        Dolt
	Formulas    Formulas
	Automations Automations
	Revision    string // SHA-256 of all inputs on disk, in hexadecimal
	// absolute paths; city.toml is first
	Sources    []string
	Additional []string // absolute paths of the files from -f
	Warnings   []Problem
	// positions of keys, by path such as "daemon.patrol_interval"
	Origins map[string]Origin

	Remotes []Remote // from git repositories

	patches        patches // already applied
	cityTopologies []*pack // of the city and of all rigs, each once
	topologyDirs   []string
	packs          []*pack // the city's topologies, included ones first
	showSecrets    bool
	// agents with prompts that depend on fragments of their topology, by qualified name
	topologyPrompts map[string]bool
	overrides       []override         // of automations; already applied
	members         map[string]derived // values of pool members, by qualified name
}

// Origin is the position of a value. Its file is relative to the city, or absolute if it is outside. It can also be a
// source such as "environment GC_SESSION".
type Origin = toml.Place

// Workspace is the [workspace] table.
type Workspace struct {
	Name            string // the default is the folder's name
	Suspended       bool
	SessionTemplate string // template of session names
	StartCommand    string // for agents without a command
	Provider        string // for agents without a command and without a provider

	Topologies        []string // folders, or names of [topologies], as written
	Includes          []string // more topologies
	InstallAgentHooks []string // kinds of hook files, for agents that do not set this key
	GlobalFragments   []string // appended to every prompt

	Topology string // topology that comes before all others
}

// StartProblems contains the reasons why an agent cannot be started; "" = none.
type StartProblems struct {
	ScriptProblem string // why session_setup_script cannot be read
	Fault         string // any other problem, and its position
}

type patches struct {
	agents    []patch
	rigs      []Rig
	providers []Provider
	watchdogs []Watchdog
}

// Agent is one [[agents]] table.
type Agent struct {
	Name string
	// relative to the city; may be a template; "" = the city's folder
	Dir          string
	Description  string
	Suspended    bool
	StartCommand string // run unchanged by "sh -c"; "" = the workspace's start_command
	Provider     string // as written
	Session      string // as written; see City.ProviderOf
	Startup

	Nudge              string
	PreStart           []string
	SessionSetup       []string
	SessionSetupScript string

	Scope    string // "city" or "rig"; "" = not set
	Topology string // absolute path of the declaring topology; "" = none

	AgentFiles
	Routing

	Restart     restart.Mode
	StopSignal  string // as accepted by session.ParseSignal
	MinUptime   time.Duration
	Pool        *Pool         // nil = a single agent that always runs
	IdleTimeout time.Duration // 0 = no timeout
	StuckAfter  time.Duration // 0 = never
	DependsOn   []string      // as written
	Strategy    restart.Strategy

	Derived

	Origin Origin
	// position of each key that is set ("env.FOO" for one variable)
	Origins map[string]Origin
	Patches []Origin // tables that change the agent; the last one takes precedence
}

// Startup contains the keys for starting a program and passing the prompt.
type Startup struct {
	Args                   []string
	PromptMode             string        `toml:"prompt_mode"` // "" = the provider's value
	PromptFlag             string        `toml:"prompt_flag"` // like PromptMode
	ReadyDelay             time.Duration `key:"ready_delay_ms" toml:"ready_delay_ms"`
	ReadyPromptPrefix      string        `toml:"ready_prompt_prefix"`
	ProcessNames           []string      `toml:"process_names"`
	EmitsPermissionWarning bool
	Env                    map[string]string
}

// AgentFiles contains the keys for the prompt and the files of an agent.
type AgentFiles struct {
	PromptTemplate    string // absolute path; "" = none
	InjectFragments   []string
	OverlayDir        string // absolute; "" = none
	InstallAgentHooks []string
	HooksInstalled    bool
}

// Routing contains the keys that determine how work reaches an agent.
type Routing struct {
	WorkQuery, SlingQuery string // shell lines; "" = the built-in behavior
	DefaultSlingFormula   string
}

// Derived contains values that are computed while the configuration is loaded.
type Derived struct {
	// SessionName and ScriptHash are empty for a pool of several members; see City.Member.
	SessionName string
	ScriptHash  string // SHA-256 in hexadecimal

	StartProblems

	// PromptTemplate with its fragments; nil = none
	Prompt      *prompt.Template
	OverlayHash string   // of OverlayDir's content, in hexadecimal
	Rig         string   // the rig that Dir names; "" = none
	Needs       []string // qualified names, sorted
}

// Provider is one [providers.X] table: an agent's program. The preset with the same name supplies missing values.
//
// The keys for package toml are those of a preset.
type Provider struct {
	Name        string
	DisplayName string `toml:"display_name"`
	Command     string
	Startup

	Origin  Origin            // position of the table, or a source such as "preset claude"
	Origins map[string]Origin // positions of keys, by TOML name

	// ignore the preset and the topologies' tables with the same name
	IgnorePreset bool `key:"_replace"`
}

// Pool is an agent's [agents.pool] table. 0 <= Min <= Max.
type Pool struct {
	Min, Max     int           // if Max is 0, the pool is off
	Check        string        // "" = the size is the number of the pool's open beads
	CheckTimeout time.Duration // > 0
	DrainTimeout time.Duration // 0 = no time limit
}

// Rig is one [[rigs]] table: a project folder in which agents work.
type Rig struct {
	Name      string
	Path      string // absolute
	Prefix    string // ID prefix of beads, unique in the city
	Suspended bool

	// absolute, possibly missing; "" = none
	FormulasDir string

	Topologies         []string // as in Workspace
	Topology           string
	Includes           []string
	overrides          []patch // already applied
	packs              []*pack // as in City
	DefaultSlingTarget string

	// why the rig's folder cannot be used; "" = no problem
	Problem string

	Origin  Origin
	Origins map[string]Origin
}

// Qualified returns the full name of an agent or pool: "rig/name" or "name".
func (a *Agent) Qualified() string {
	if a.Rig == "" {
		return a.Name
	}
	return a.Rig + "/" + a.Name
}

// Daemon is the [daemon] table.
type Daemon struct {
	PatrolInterval  time.Duration // > 0
	MaxRestarts     int           // 0 = no limit
	RestartWindow   time.Duration
	ShutdownTimeout time.Duration // 0 = agents are killed immediately
	RestartBackoff  time.Duration
	CrashHistory    string // "memory" or "disk"

	WispGCInterval, WispTTL time.Duration // both are 0 (wisps are kept), or both are positive
}

// Beads is the [beads] table.
type Beads struct {
	Provider string // "" or "file" = the built-in store; "bd"; "exec:SCRIPT"
}

// Keeper returns the provider of the store, or "" for the built-in store.
func (b Beads) Keeper() string {
	if b.Provider == "file" {
		return ""
	}
	return b.Provider
}

// Dolt is the [dolt] table: the database server for bd. If no key is set, bd chooses the server.
type Dolt struct {
	Host    string
	Port    int  // 0 = not set
	Managed bool // gcity starts and stops the server
}

// Server returns the server's address, with defaults for missing parts. It returns "" and 0 if bd chooses the server.
func (d Dolt) Server() (host string, port int) {
	if !d.Managed && d.Host == "" && d.Port == 0 {
		return "", 0
	}
	return cmp.Or(d.Host, "127.0.0.1"), cmp.Or(d.Port, 3307)
}

// Formulas is the [formulas] table.
type Formulas struct {
	Dir string // absolute, or relative to the city's folder
}

// Automations is the [automations] table.
type Automations struct {
	Skip       []string
	MaxTimeout time.Duration // 0 = no limit
	Overrides  []automation.Override
}

// Session is the [session] table.
type Session struct {
	Provider   string // default for agents: "pty", "tmux", "subprocess", "exec:…", …
	Cols, Rows int
	// terminal sequences that reach an attached user's terminal
	Passthrough []string
	Kubernetes  Kubernetes `key:"k8s"`
}

// Kubernetes is the [session.k8s] table.
type Kubernetes struct {
	Kubeconfig, Pod        string // absolute; "" = none
	Context, Namespace     string
	Image, ToolsImage      string
	ImagePullPolicy        string
	ServiceAccount         string
	NodeSelector           map[string]string
	CPURequest, MemRequest string // Kubernetes quantities
	CPULimit, MemLimit     string
}

// Events is the [events] table.
type Events struct {
	Provider string // "" = the built-in log; "exec:SCRIPT" = also a script; "fake"; "fail"
}

// ForNextStart returns the keys that differ from the configuration with which the controller started, and take effect
// only at its next start.
func (c *City) ForNextStart(started *City) (keys []string) {
	if c.Events != started.Events {
		keys = append(keys, "[events] provider")
	}
	if !reflect.DeepEqual(c.Session.Kubernetes, started.Session.Kubernetes) {
		keys = append(keys, "[session.k8s]")
	}
	return keys
}

// Console is the [console] table.
type Console struct {
	Theme  string // "" = none
	Colour string // as accepted by color.Parse; "" = none
}

const defaultProvider = "pty"

// API is the [api] table: the city's TCP listener.
type API struct {
	Port      int      // 0 = no listener
	Bind      string   // an address, or "localhost"
	Hosts     []string // additional host names
	Token     bool     // requests need a token
	TokenFile string   // absolute; "" = the city creates the file if Token is set
	// file with a token that only allows reading; absolute; "" = none
	ReadFile string `key:"read_token_file"`
}

// Remote is one [topologies.X] table: a topology in a git repository.
type Remote struct {
	Name   string
	Source string // what git clones: a URL or a folder
	Ref    string // branch, tag or commit; "" = the repository's default branch
	Path   string // in the repository; "" = its root

	Origin  Origin
	Origins map[string]Origin
}
