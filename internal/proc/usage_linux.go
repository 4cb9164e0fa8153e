package proc

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Tree is what the living processes below a root take together.
type Tree struct {
	CPU   time.Duration // see Stat; that of zombies too, which nobody has waited for yet
	RSS   int64
	Procs int
}

// Trees measures, in one walk over all processes, what is below each root: a process by its pid and start time. The
// roots themselves are left out, and what is below two of them belongs to the nearer one. A root that is no more has no
// tree. The walk is no snapshot: what forks or ends meanwhile may be missed until the next.
func Trees(ctx context.Context, roots map[int]uint64) (map[int]Tree, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	w, err := look(ctx, d)
	if err != nil {
		return nil, err
	}
	trees := make(map[int]Tree, len(roots))
	for pid, start := range roots {
		if i, ok := w.at[pid]; ok && w.procs[i].Start == start {
			w.procs[i].root = true
			trees[pid] = Tree{}
		}
	}
	for i := range w.procs {
		p := &w.procs[i]
		owner := w.owner(i)
		if p.root || owner == nobody {
			continue
		}
		t := trees[w.procs[owner].pid]
		t.CPU += p.CPU
		if p.State != 'Z' {
			t.RSS += p.RSS
			t.Procs++
		}
		trees[w.procs[owner].pid] = t
	}
	return trees, nil
}

// walk is all processes of one look.
type walk struct {
	dir   int // descriptor of /proc
	procs []process
	at    map[int]int // by pid, where in procs
	buf   [2 << 10]byte
}

type process struct {
	Stat
	pid   int
	root  bool
	known bool // owner is
	owner int  // the nearest root above it, where in walk.procs
}

const nobody = -1

// look reads every process's stat.
func look(ctx context.Context, d *os.File) (*walk, error) {
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("cannot look at the machine's processes: %w", err)
	}
	w := &walk{dir: int(d.Fd()), procs: make([]process, 0, len(names)),
		at: make(map[int]int, len(names))}
	for i, name := range names {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if st, ok := w.stat(name); ok {
			w.at[pid] = len(w.procs)
			w.procs = append(w.procs, process{Stat: st, pid: pid})
		}
	}
	return w, nil
}

// stat reads one process's; not ok if it is no more.
func (w *walk) stat(pid string) (Stat, bool) {
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

// owner climbs to the nearest root above a process.
func (w *walk) owner(i int) int {
	p := &w.procs[i]
	if p.known {
		return p.owner
	}
	// for whoever comes back here: parents that changed while we looked may make a circle
	p.known, p.owner = true, nobody
	if j := w.parent(i); j != nobody {
		if w.procs[j].root {
			p.owner = j
		} else {
			p.owner = w.owner(j)
		}
	}
	return p.owner
}

// parent finds the parent of a process. One that ended while we looked has left the process to another, and its pid
// perhaps to a stranger, who is younger than the child.
func (w *walk) parent(i int) int {
	p := &w.procs[i]
	for again := range 2 {
		if p.PPID == 0 {
			return nobody
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
	return nobody
}
