package proc

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Tree contains the resource usage of the processes below a root.
type Tree struct {
	CPU   time.Duration // includes zombies that have not been reaped yet
	RSS   int64
	Procs int
}

// Root is the root of a tree of processes. Trees measures its descendants.
type Root struct {
	Start uint64
	// The process stays alive during the whole call, so Trees need not read its stat.
	Alive bool
}

// WholeTrees measures like Trees, including the roots.
func WholeTrees(ctx context.Context, roots map[int]Root) (map[int]Tree, error) {
	if len(roots) == 0 {
		return nil, nil
	}
	trees, err := Trees(ctx, roots)
	for pid, t := range trees {
		own, err := ReadStat(pid)
		if err != nil || own.Start != roots[pid].Start || own.Exited() {
			delete(trees, pid)
			continue
		}
		trees[pid] = Tree{CPU: t.CPU + own.CPU, RSS: t.RSS + own.RSS, Procs: t.Procs + 1}
	}
	return trees, err
}

// Trees measures the processes below each root in one pass. The keys of both maps are the pids of the roots. The result
// has no tree for a root that has exited.
func Trees(ctx context.Context, roots map[int]Root) (map[int]Tree, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	w, err := readProcesses(ctx, d, roots)
	if err != nil {
		return nil, err
	}
	trees := make(map[int]Tree, len(roots))
	for pid, root := range roots {
		if i, ok := w.at[pid]; ok && w.procs[i].Start == root.Start {
			w.procs[i].root = true
			trees[pid] = Tree{}
		}
	}
	for i := range w.procs {
		p := &w.procs[i]
		owner := w.owner(i)
		if p.root || owner == noRoot {
			continue
		}
		t := trees[w.procs[owner].pid]
		t.CPU += p.CPU
		if !p.Exited() {
			t.RSS += p.RSS
			t.Procs++
		}
		trees[w.procs[owner].pid] = t
	}
	return trees, nil
}

type processTable struct {
	dir   int
	procs []process
	at    map[int]int
	buf   [2 << 10]byte
}

type process struct {
	Stat
	pid   int
	root  bool
	known bool
	owner int // index in procs of the nearest root above the process; -1 = no root
}

const noRoot = -1

func readProcesses(
	ctx context.Context, d *os.File, roots map[int]Root,
) (*processTable, error) {
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("cannot list the processes in /proc: %w", err)
	}
	w := &processTable{dir: int(d.Fd()), procs: make([]process, 0, len(names)),
		at: make(map[int]int, len(names))}
	for i, name := range names {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		st, ok := Stat{Start: roots[pid].Start}, true
		if !roots[pid].Alive {
			st, ok = w.stat(name)
		}
		if ok {
			w.at[pid] = len(w.procs)
			w.procs = append(w.procs, process{Stat: st, pid: pid})
		}
	}
	return w, nil
}

func (w *processTable) stat(pid string) (Stat, bool) {
	fd, err := unix.Openat(w.dir, pid+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Stat{}, false
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, w.buf[:])
	if err != nil {
		return Stat{}, false
	}
	return parseStat(w.buf[:n])
}

func (w *processTable) owner(i int) int {
	p := &w.procs[i]
	if p.known {
		return p.owner
	}
	// ends the recursion if parents that changed during the pass form a cycle
	p.known, p.owner = true, noRoot
	if j := w.parent(i); j != noRoot {
		if w.procs[j].root {
			p.owner = j
		} else {
			p.owner = w.owner(j)
		}
	}
	return p.owner
}

// parent checks the start time, because a new process may have the pid of an exited parent.
func (w *processTable) parent(i int) int {
	p := &w.procs[i]
	for again := range 2 {
		if p.PPID == 0 {
			return noRoot
		}
		if j, ok := w.at[p.PPID]; ok && w.procs[j].Start <= p.Start {
			return j
		}
		if again > 0 {
			break
		}
		st, ok := w.stat(strconv.Itoa(p.pid))
		if !ok || st.Start != p.Start {
			break
		}
		p.PPID = st.PPID
	}
	return noRoot
}
