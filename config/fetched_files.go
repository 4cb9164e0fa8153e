package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gcity/automation"
	"gcity/formula"
	"gcity/internal/disk"
	"gcity/topology"
	"gcity/trust"
)

// FetchedFolders returns the folders of the fetched topologies in use, each as a program. A command line can run a
// script that it does not name, for example after cd or in a loop.
func (c *City) FetchedFolders() (all []trust.Program) {
	for i := range c.Remotes {
		remote := &c.Remotes[i]
		folder := topology.Folder(c.Path, remote.Name)
		used := func(dir string) bool { return within(folder, dir) }
		if slices.ContainsFunc(c.topologyDirs, used) {
			all = append(all, trust.Program{What: "folder of topology " + remote.Name,
				Line: c.displayPath(folder), At: remote.Origin.String(),
				From: []string{folder}, Files: []string{folder},
				Content: sync.OnceValue(func() string { return hashProgramFiles(folder) })})
		}
	}
	return all
}

// hashProgramFiles returns a hash of the files in a folder that a program can run or read. It omits files with texts,
// and files whose programs have their own hashes.
func hashProgramFiles(folder string) string {
	h := sha256.New()
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		inside := strings.TrimPrefix(path, folder)
		if err != nil {
			fmt.Fprintf(h, "%q unreadable\n", inside)
			return nil
		}
		info, err := e.Info()
		switch {
		case e.IsDir() && inside == "/.git":
			return fs.SkipDir
		case e.IsDir():
		case err != nil || !info.Mode().IsRegular():
			target, _ := os.Readlink(path) // "" if the path is not a link
			fmt.Fprintf(h, "%q %s %q\n", inside, e.Type(), target)
		case info.Mode()&0o111 != 0 || !isText(e.Name()):
			fmt.Fprintf(h, "%q %t %s\n", inside, info.Mode()&0o111 != 0, hashFile(path))
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func isText(name string) bool {
	return name == TopologyFile || name == PackFile || name == automation.FileName ||
		strings.HasSuffix(name, formula.Suffix) || strings.HasSuffix(name, ".md") ||
		strings.HasSuffix(name, ".md.tmpl")
}

func hashFile(path string) string {
	file, err := disk.Open(path)
	if err != nil {
		return "unreadable"
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "unreadable"
	}
	return hex.EncodeToString(h.Sum(nil))
}
