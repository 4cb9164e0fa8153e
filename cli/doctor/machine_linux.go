package doctor

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/cli/service"
	"gcity/controller"
	"gcity/describe"
)

// Other machines might not see locks and sockets on a network file system.
func networked(kind int64) string {
	switch kind {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.AFS_SUPER_MAGIC:
		return "AFS"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE"
	}
	return ""
}

func checkFileSystem(_ context.Context, p *Subject) finding {
	var lines []string
	for _, dir := range p.workFolders() {
		var st unix.Statfs_t
		if err := unix.Statfs(dir, &st); err != nil {
			return bad("check that the file system responds", "cannot check %s: %v", dir, err)
		}
		if kind := networked(int64(st.Type)); kind != "" {
			lines = append(lines, dir+" is on "+kind)
		}
	}
	if len(lines) > 0 {
		return note("keep the city and the work of its rigs on a local disk",
			"%s: locks may not be visible to other machines, so two controllers or two writers "+
				"could run at the same time", strings.Join(lines, "\n"))
	}
	return ok("local")
}

func checkSpace(_ context.Context, p *Subject) finding {
	var st unix.Statfs_t
	if err := unix.Statfs(p.dir, &st); err != nil {
		return bad("", "cannot check the free space: %v", err)
	}
	free := st.Bavail * uint64(st.Bsize)
	text := output.ByteSize(free) + " free"
	switch {
	case free < 16<<20 || (st.Files > 0 && st.Ffree == 0):
		return bad("free some space: on a full disk, events from clients are rejected, and "+
			"events from the controller are queued in memory", "%s, %d inodes", text, st.Ffree)
	case free < 512<<20:
		return note("free some space soon", "%s", text)
	}
	return ok("%s", text)
}

func checkTerminals(_ context.Context, p *Subject) finding {
	most, err := kernelNumber("/proc/sys/kernel/pty/max")
	if err != nil {
		return note("mount /proc", "cannot read the limit on terminals: %v", err)
	}
	used, err := kernelNumber("/proc/sys/kernel/pty/nr")
	if err != nil {
		return note("mount /proc", "cannot count the terminals in use: %v", err)
	}
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return bad("mount devpts, or allow /dev/ptmx", "cannot open a terminal: %v", err)
	}
	_ = f.Close()
	if free := most - used; free < p.agents()+16 {
		return bad("sysctl kernel.pty.max="+strconv.Itoa(2*most),
			"%d of %d terminals are in use, and %s may need one each", used, most,
			describe.Count(p.agents(), "agent"))
	}
	return ok("%d of %d in use", used, most)
}

func checkFiles(_ context.Context, p *Subject) finding {
	limit := host.OpenFiles(p.Running)
	if limit == 0 {
		return note("", "cannot read the open file limit")
	}
	if agents := p.agents(); limit < controller.FilesNeeded(agents) {
		return bad(controller.MoreFiles(agents), "the open file limit is %d, and %s "+
			"about %d", limit, controller.AgentsNeed(agents), controller.FilesNeeded(agents))
	}
	return ok("up to %d", limit)
}

const tasksPerAgent = 40

func checkTasks(_ context.Context, p *Subject) finding {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &lim); err != nil {
		return note("", "cannot read the process limit: %v", err)
	}
	most := ""
	if data, err := os.ReadFile("/proc/self/cgroup"); err == nil {
		if _, group, found := strings.Cut(string(data), "0::"); found {
			group, _, _ = strings.Cut(group, "\n")
			// without this file, the number is not limited
			limit, _ := os.ReadFile("/sys/fs/cgroup" + group + "/pids.max")
			most = strings.TrimSpace(string(limit))
		}
	}
	return judgeTasks(lim.Cur, most, p.agents())
}

func judgeTasks(user uint64, group string, agents int) finding {
	need := uint64(256 + tasksPerAgent*agents)
	if user < need {
		return note(fmt.Sprintf("ulimit -u %d, or LimitNPROC= in the service", 2*need),
			"this user can run %d processes, but %s might need %d", user,
			describe.Count(agents, "agent"), need)
	}
	if most, err := strconv.ParseUint(group, 10, 64); err == nil && most < need {
		fix := fmt.Sprintf("run the city as a service; `gcity daemon install` sets TasksMax=%d",
			service.MaxTasks)
		if need > service.MaxTasks {
			fix += fmt.Sprintf(", so set TasksMax=%d in a drop-in for the service", 2*need)
		}
		return note(fix, "this shell's control group can have %d processes, but %s might need %d",
			most, describe.Count(agents, "agent"), need)
	}
	return ok("enough")
}

func checkInotify(context.Context, *Subject) finding {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return note("sysctl fs.inotify.max_user_instances=1024",
			"no inotify instance is available (%v), so gcity polls the configuration instead", err)
	}
	defer unix.Close(fd)
	most, err := kernelNumber("/proc/sys/fs/inotify/max_user_watches")
	if err == nil && most < 1024 {
		return note("sysctl fs.inotify.max_user_watches=65536",
			"each user has only %d inotify watches", most)
	}
	return ok("available")
}

func kernelNumber(file string) (int, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(data)))
}
