// Package config turns a city's TOML into validated values that remember where they were written, finds every mistake
// at once, notices when the files change, and edits single values without touching a comment.
//
// # Concurrency
//
// A City is immutable and may be read by any goroutine. All functions may be called at the same time; edits of one city
// take turns, between processes too. Only Watch and WatchFolders have a goroutine each, which ends with its context.
package config

import (
	"cmp"
	"fmt"
	"time"

	"gcity/automation"
	"gcity/formula"
	"gcity/prompt"
	"gcity/restart"
)

// FileName is the file that makes a folder a city.
const FileName = "city.toml"

// City is a validated configuration. It is immutable once loaded.
type City struct {
	Path      string // absolute path of the city's folder, symlinks resolved
	Workspace Workspace
	Agents    []Agent // in the order of the files
	Rigs      []Rig   // in the order of the files
	Providers []Provider
	Watchdogs []Watchdog // in the order of the files
	Daemon    Daemon
	Session   Session
	Events    Events
	Console   Console
	API       API

	Beads       Beads
	Dolt        Dolt
	Formulas    Formulas
	Automations Automations
	Revision    string // SHA-256 over all source files, hex
	// the files that were read, absolute; the configuration itself first
	Sources  []string
	Warnings []Problem // accepted, but worth a word
	// of each key outside lists of tables that was written: "daemon.patrol_interval"
	Origins map[string]Origin

	Remotes []Remote // topologies that are kept in git repositories

	include  []string        // as written
	rigPatch []rigPatch      // in force already
	dogPatch []watchPatch    // the same
	stamped  []*pack         // the topologies that agents come from, in order
	trees    []string        // their folders
	recipes  []formula.Layer // of the city's topologies
	reveal   bool            // TOML and Explain show secrets
	// agents whose prompt is another one, or none, without the fragments of their topology, by qualified name
	leans     map[string]bool
	patches   []patch            // in force already
	amended   []Provider         // what patches say of providers, in force already
	overrides []override         // of Automations, in force already
	members   map[string]derived // of pools, by qualified name
}

// Origin is where a value was written.
type Origin struct {
	File   string // relative to the city, absolute if it is outside of it; "" = a default
	Line   int    // from 1
	Column int    // from 1, in bytes
}

// String is "city.toml:12:3", or "default". What has no lines is named alone: "environment GC_SESSION".
func (o Origin) String() string {
	switch {
	case o.File == "":
		return "default"
	case o.Line == 0:
		return o.File
	}
	return fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column)
}

// Workspace is the [workspace] table.
type Workspace struct {
	Name            string // the folder's name where the file names none
	Suspended       bool
	SessionTemplate string // a template; its values go through session.Encode
	StartCommand    string // of the agents that have none
	Provider        string // of the agents that name neither a command nor a provider

	Topologies        []string // folders or names of [topologies], in order, as written
	Includes          []string // the same
	InstallAgentHooks []string // kinds of hook files, of the agents that say nothing about them
	GlobalFragments   []string // behind every prompt

	topology string // one more, before the others
}

// Trouble is what keeps one agent from being started; "" = nothing.
type Trouble struct {
	ScriptProblem string // why its session_setup_script cannot be read
	Fault         string // what else of it alone cannot be used, with its place
}

// Agent is one [[agents]] table.
type Agent struct {
	Name string
	// a folder relative to the city (made if missing), may be a template; "" = the city's
	Dir          string
	Description  string
	Suspended    bool
	StartCommand string // run by "sh -c" as it stands; "" = the workspace's
	Env          map[string]string

	Nudge              string
	ReadyDelay         time.Duration
	ReadyPromptPrefix  string
	PreStart           []string
	SessionSetup       []string
	SessionSetupScript string

	Session string // what runs its sessions, as written; see City.ProviderOf

	Scope    string // "city" or "rig": which of a topology's agents it is; "" = not said
	Topology string // the folder of the topology that declares it, absolute; "" = none does

	Provider               string // which program it is, as written
	Args                   []string
	PromptMode, PromptFlag string // how its prompt reaches it; "" = as its provider says
	ProcessNames           []string
	EmitsPermissionWarning bool

	PromptTemplate    string // a file, absolute; "" = none
	InjectFragments   []string
	OverlayDir        string // absolute; "" = none
	InstallAgentHooks []string
	HooksInstalled    bool

	WorkQuery, SlingQuery string // shell lines; "" = in process
	DefaultSlingFormula   string

	// Found out while loading: the name of its sessions; the SHA-256 of its script, hex, and why that could not be
	// read. For a pool of several these are empty: each member has its own, see City.Member.
	SessionName string
	ScriptHash  string
	Trouble

	// PromptTemplate and what follows it, parsed while loading; nil = it is told nothing
	Prompt      *prompt.Template
	OverlayHash string // over the content of OverlayDir, hex

	Restart   restart.Mode
	MinUptime time.Duration

	Pool        *Pool         // nil = one agent, always on
	IdleTimeout time.Duration // 0 = none
	StuckAfter  time.Duration // 0 = never
	DependsOn   []string      // as written
	Strategy    restart.Strategy

	// Found out while loading: the rig that Dir names, "" if it names none; what DependsOn comes to.
	Rig   string
	Needs []string // qualified names of agents and pools, sorted

	Origin Origin // of the table
	// of each key that was written, by its TOML name ("env.FOO" for one variable)
	Origins map[string]Origin
	Patches []Origin // of the tables that change it; the last one counts
}

// Provider is one [providers.X] table: which program an agent is, and how it is started. What is not written is as the
// preset of that name has it.
type Provider struct {
	Name                   string
	DisplayName            string
	Command                string
	Args                   []string
	PromptMode, PromptFlag string
	ReadyDelay             time.Duration
	ReadyPromptPrefix      string
	ProcessNames           []string
	EmitsPermissionWarning bool
	Env                    map[string]string

	Origin  Origin            // of the table, "preset claude" if there is none
	Origins map[string]Origin // of each key that was written, by its TOML name

	whole bool // it stands alone: what a preset of its name says does not count
}

// Pool is an agent's [agents.pool] table. 0 <= Min <= Max.
type Pool struct {
	Min, Max     int           // Max 0 = the pool is off
	Check        string        // "" = the pool's open work is counted
	CheckTimeout time.Duration // > 0
	DrainTimeout time.Duration // 0 = a drain never ends by itself
}

// Rig is one [[rigs]] table: a project folder that agents work in.
type Rig struct {
	Name      string
	Path      string // absolute
	Prefix    string // of the ids of its work, unique in the city
	Suspended bool

	// of its own formulas and automations, absolute; it need not exist; "" = none
	FormulasDir string

	Topologies         []string // as of the workspace
	topology           string
	includes           []string
	overrides          []patch         // in force already
	recipes            []formula.Layer // of its topologies
	DefaultSlingTarget string

	// why its folder cannot be used: found out while loading, not an error; "" = it can
	Problem string

	Origin  Origin
	Origins map[string]Origin
}

// Qualified is the name that an agent, or its pool, goes by: "rig/name", or "name" where it belongs to no rig.
func (a *Agent) Qualified() string {
	if a.Rig == "" {
		return a.Name
	}
	return a.Rig + "/" + a.Name
}

// Daemon is the [daemon] table.
type Daemon struct {
	PatrolInterval  time.Duration // > 0
	MaxRestarts     int           // 0 = unlimited
	RestartWindow   time.Duration
	ShutdownTimeout time.Duration // 0 = no grace
	RestartBackoff  time.Duration
	CrashHistory    string // "memory", or "disk": kept beyond the controller's end

	WispGCInterval, WispTTL time.Duration // both or none are 0: wisps stay
}

// Beads is the [beads] table.
type Beads struct {
	Provider string // "" and "file" = the embedded store, "bd", "exec:SCRIPT"
}

// Keeper is the provider; the embedded store has one name only, "".
func (b Beads) Keeper() string {
	if b.Provider == "file" {
		return ""
	}
	return b.Provider
}

// Dolt is the [dolt] table: the database server that bd is to use. What is empty bd finds itself.
type Dolt struct {
	Host    string
	Port    int  // 0 = none is said
	Managed bool // gcity starts and stops the server
}

// Server returns the address of the server. Defaults fill in what is not said, if gcity runs the server or a part
// is said.
func (d Dolt) Server() (host string, port int) {
	if !d.Managed && d.Host == "" && d.Port == 0 {
		return "", 0
	}
	return cmp.Or(d.Host, "127.0.0.1"), cmp.Or(d.Port, 3307)
}

// Formulas is the [formulas] table.
type Formulas struct {
	Dir string // as city.toml says it, relative to the city; absolute where another file does
}

// Automations is the [automations] table.
type Automations struct {
	Skip       []string
	MaxTimeout time.Duration // 0 = none
	Overrides  []automation.Override
}

// Session is the [session] table.
type Session struct {
	Provider   string // "pty", "tmux", "subprocess", "exec:…", …: of agents that name none
	Cols, Rows int
	// Passthrough are the classes of terminal sequences that reach the terminal of whoever attaches; see
	// internal/passthrough.
	Passthrough []string
	Kubernetes  Kubernetes
}

// Kubernetes is the [session.k8s] table. Nothing is run by it yet.
type Kubernetes struct {
	Namespace, Image, Context string
	CPURequest, MemRequest    string // as Kubernetes writes quantities
	CPULimit, MemLimit        string
}

// Events is the [events] table.
type Events struct {
	Provider string // "" = the embedded log, "exec:SCRIPT" = that and a script, "fake", "fail"
}

// Console is the [console] table.
type Console struct {
	Theme  string // of the control room, for people who have chosen none; "" = none
	Colour string // the city's own, as colour.Parse gives it; "" = none
}

// ProviderOf is what runs the sessions of an agent.
func (c *City) ProviderOf(a *Agent) string {
	if _, written := a.Origins["session"]; written {
		return cmp.Or(a.Session, defaultProvider)
	}
	return c.Session.Provider
}

// defaultProvider is what "" means.
const defaultProvider = "pty"

// Policy is the restart policy of an agent under this city's [daemon].
func (c *City) Policy(a *Agent) restart.Policy {
	return restart.Policy{
		Mode: a.Restart, MinUptime: a.MinUptime,
		MaxRestarts: c.Daemon.MaxRestarts, Window: c.Daemon.RestartWindow,
		Backoff: c.Daemon.RestartBackoff, MaxBackoff: c.Daemon.PatrolInterval,
	}
}
