package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// openers lists functions that may follow a symbolic link in .gc or .beads. Package disk does not; see
// internal/disk/state.go.
var openers = map[string][]string{
	"os": {"Open", "OpenFile", "Create", "CreateTemp", "ReadFile", "WriteFile", "Mkdir", "MkdirAll", "MkdirTemp",
		"Rename", "Remove", "RemoveAll", "Symlink", "Link", "Chmod", "Chown", "Truncate", "CopyFS"},
	"syscall":                          {"Open", "Openat", "Creat", "Mknod", "Mkdir", "Rename", "Unlink", "Symlink", "Link"},
	"golang.org/x/sys/unix":            {"Open", "Openat", "Openat2", "Creat", "Mknod", "Mkdir", "Rename", "Unlink", "Symlink", "Link"},
	"gcity/internal/disk":              {"WriteFile", "WriteFileIf"}, // follow links, for the user's own files
	"github.com/BurntSushi/toml":       {"DecodeFile"},
	"gopkg.in/natefinch/lumberjack.v2": {"Logger"},
}

// byPath lists the files and folders that may call openers, with the reasons. A folder ends in a slash.
var byPath = map[string]string{
	"internal/disk/":                 "implements safe opening",
	"internal/proc/":                 "/proc, and locks, which it opens without following links",
	"internal/hungfs/":               "for tests",
	"city/citytest/":                 "for tests",
	"controller/controllertest/":     "for tests",
	"session/sessiontest/":           "for tests",
	"screenshots/":                   "writes the screenshots of the documentation",
	"internal/faults/":               "damages its own cities deliberately",
	"internal/gobuild/":              "for tests",
	"internal/cgroup/":               "/proc and control groups",
	"internal/benchpeers/":           "its own folders and control groups",
	"internal/ownership/":            "files of the user, after a check of their owner",
	"internal/toml/":                 "files of the user",
	"trust/":                         "the user's record of trusted cities, and the programs of a city",
	"migrate/":                       "cities that the user specifies, and the output folder",
	"config/packmodel/":              "files of the user next to city.toml",
	"supervisor/":                    "GC_HOME, a folder of the user",
	"api/token/":                     "tokens; checks their owner and mode itself",
	"beads/sqlite/":                  "files of SQLite, which disk.CheckFile has checked",
	"cli/work/bead_links.go":         "a file that the user specifies",
	"cli/work/bead_write.go":         "a file that the user specifies",
	"cli/doctor/machine_linux.go":    "/dev, /proc and /sys",
	"cli/doctor/logout_linux.go":     "systemd's configuration",
	"cli/doctor/machine.go":          "/proc",
	"cli/doctor/report.go":           "a file that the user specifies",
	"cli/room.go":                    "the user's own state",
	"cli/doctor/service.go":          "/proc",
	"cli/init.go":                    "the folder of a new city",
	"cli/folder/programs.go":         "/proc",
	"cli/folder/log.go":              "checks the log file before each line",
	"cli/man.go":                     "a folder that the user specifies",
	"cli/service/install.go":         "systemd's units",
	"cli/service/manager.go":         "systemd's units",
	"cli/service/remove.go":          "systemd's units",
	"cli/fleet/supervisor.go":        "the supervisor's log in GC_HOME",
	"cli/host/spawn_supervisor.go":   "the supervisor's log in GC_HOME",
	"cli/folder/events.go":           "a temporary folder",
	"config/edit/suspended.go":       "the configuration",
	"config/files/read.go":           "the configuration",
	"controller/perform/run.go":      "working folders of agents",
	"controller/perform/run_tier.go": "heartbeats at paths set by the user; the files are only read",
	"k8s/":                           "a pod's own file system, and files that the user specifies",
	"session/pty/":                   "a holder uses names in its working folder; programs are written to a new file and renamed",
	"session/tmux/input.go":          "terminals",
	"topology/lock.go":               "topologies.lock next to city.toml",
	"tui/feed/draft.go":              "the configuration",
	"tui/feed/saved_room.go":         "the user's own state",
	"tui/feed/save.go":               "a file that the user specifies",
}

// Only package disk opens files in .gc and .beads.
func TestStateIsOpenedByDisk(t *testing.T) {
	used := map[string]bool{}
	for _, f := range sources(t) {
		found := opened(f.tree)
		for entry := range byPath {
			if f.path == entry || strings.HasSuffix(entry, "/") && strings.HasPrefix(f.path, entry) {
				used[entry] = used[entry] || len(found) > 0
				found = nil
			}
		}
		for _, call := range found {
			t.Errorf("%s: %s may follow a link in .gc or .beads: use package disk, or add an entry to byPath with the reason",
				f.fset.Position(call.Pos()), call.Sel.Name)
		}
	}
	for entry := range byPath {
		if !used[entry] {
			t.Errorf("%s opens nothing: remove it from byPath", entry)
		}
	}
}

func TestOpenersAreFound(t *testing.T) {
	const text = `package x
import ("os"; sys "syscall"; "gcity/internal/disk")
func f() { os.ReadFile("a"); sys.Open("b", 0, 0); disk.ReadFile("c"); disk.WriteFile("d", nil, 0); os.Stat("e") }`
	tree, err := parser.ParseFile(token.NewFileSet(), "x.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range opened(tree) {
		names = append(names, s.X.(*ast.Ident).Name+"."+s.Sel.Name)
	}
	if got := strings.Join(names, " "); got != "os.ReadFile sys.Open disk.WriteFile" {
		t.Error(got)
	}
}

func opened(tree *ast.File) (found []*ast.SelectorExpr) {
	by := map[string][]string{} // keys are the local names of imports
	for _, i := range tree.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil || openers[path] == nil {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if name == "lumberjack.v2" {
			name = "lumberjack"
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		by[name] = openers[path]
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(by[x.Name], s.Sel.Name) {
				found = append(found, s)
			}
		}
		return true
	})
	return found
}
