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
	"net/netip"
	"slices"
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
	Path      string   // absolute path of the city's folder, symlinks resolved
	Include   []string // files that city.toml includes, as written
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

	patches patches         // in force already
	stamped []*pack         // the topologies that agents come from, in order
	trees   []string        // their folders
	recipes []formula.Layer // of the city's topologies
	reveal  bool            // TOML and Explain show secrets
	// agents whose prompt is another one, or none, without the fragments of their topology, by qualified name
	leans     map[string]bool
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

	Topology string // one more, before the others
}

// Trouble is what keeps one agent from being started; "" = nothing.
type Trouble struct {
	ScriptProblem string // why its session_setup_script cannot be read
	Fault         string // what else of it alone cannot be used, with its place
}

// patches are the tables that change what is declared elsewhere.
type patches struct {
	agents    []patch
	rigs      []rigPatch
	providers []Provider
	watchdogs []watchPatch
}

// Agent is one [[agents]] table.
type Agent struct {
	Name string
	// relative to the city, created if it is missing; may be a template; "" = the city's folder
	Dir          string
	Description  string
	Suspended    bool
	StartCommand string // run by "sh -c" unchanged; "" = the workspace's
	Provider     string // the program that the agent runs, as written
	Session      string // the session provider, as written; see City.ProviderOf
	Startup

	Nudge              string
	PreStart           []string
	SessionSetup       []string
	SessionSetupScript string

	Scope    string // "city" or "rig": which of a topology's agents it is; "" = not written
	Topology string // the folder of the topology that declares it, absolute; "" = none

	Outfit
	Routing

	Restart     restart.Mode
	MinUptime   time.Duration
	Pool        *Pool         // nil = one agent, always on
	IdleTimeout time.Duration // 0 = none
	StuckAfter  time.Duration // 0 = never
	DependsOn   []string      // as written
	Strategy    restart.Strategy

	Derived

	Origin Origin // of the table
	// of each key that is written, by its TOML name ("env.FOO" for one variable)
	Origins map[string]Origin
	Patches []Origin // of the tables that change it; the last one counts
}

// Startup is how a program starts and how its prompt reaches it. An agent and its provider both have these keys.
type Startup struct {
	Args                   []string
	PromptMode, PromptFlag string        // "" = the value of the provider
	ReadyDelay             time.Duration `key:"ready_delay_ms"`
	ReadyPromptPrefix      string
	ProcessNames           []string
	EmitsPermissionWarning bool
	Env                    map[string]string
}

// Outfit is the prompt and the files that an agent gets at its start.
type Outfit struct {
	PromptTemplate    string // a file, absolute; "" = none
	InjectFragments   []string
	OverlayDir        string // absolute; "" = none
	InstallAgentHooks []string
	HooksInstalled    bool
}

// Routing is how work reaches an agent.
type Routing struct {
	WorkQuery, SlingQuery string // shell lines; "" = in process
	DefaultSlingFormula   string
}

// Derived is what loading finds out about an agent.
type Derived struct {
	// A pool of several members has neither of these two; each member has its own, see City.Member.
	SessionName string
	ScriptHash  string // SHA-256 of the setup script, hex

	Trouble

	// PromptTemplate with its fragments; nil = the agent gets no prompt
	Prompt      *prompt.Template
	OverlayHash string   // over the content of OverlayDir, hex
	Rig         string   // the rig that Dir names, "" if it names none
	Needs       []string // qualified names of the agents and pools in DependsOn, sorted
}

// Provider is one [providers.X] table: which program an agent is, and how it is started. What is not written is as the
// preset of that name has it.
type Provider struct {
	Name        string
	DisplayName string
	Command     string
	Startup

	Origin  Origin            // of the table, "preset claude" if there is none
	Origins map[string]Origin // of each key that was written, by its TOML name

	// Whole: the table stands alone, and the preset of its name does not count.
	Whole bool `key:"_replace"`
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
	Topology           string
	Includes           []string
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
	Kubernetes  Kubernetes `key:"k8s"`
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

// defaultProvider is what "" means.
const defaultProvider = "pty"

// API is the [api] table: where a city answers besides its socket.
type API struct {
	Port      int      // 0 = nowhere
	Bind      string   // an address, or "localhost"
	Hosts     []string // names that requests may be made to, besides those of the address
	Token     bool     // requests must bring a token
	TokenFile string   // absolute; "" = with Token a file that the city makes
	// of a token that allows reading only; absolute; "" = none
	ReadFile string `key:"read_token_file"`
}

// Equal reports whether two tables say the same.
func (a API) Equal(b API) bool {
	return a.Port == b.Port && a.Bind == b.Bind && slices.Equal(a.Hosts, b.Hosts) &&
		a.Token == b.Token && a.TokenFile == b.TokenFile && a.ReadFile == b.ReadFile
}

// Local says whether a bind address is reached from this machine alone.
func Local(bind string) bool {
	if bind == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(bind)
	return err == nil && addr.Unmap().IsLoopback()
}

// Remote is one [topologies.X] table: a topology that is kept in a git repository.
type Remote struct {
	Name   string
	Source string // what git clones
	Ref    string // branch, tag or commit; "" = the repository's own branch
	Path   string // of the topology's folder within the repository; "" = its top

	Origin  Origin
	Origins map[string]Origin
}
