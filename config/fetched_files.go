package config

import (
	"slices"
	"strings"
	"sync"

	"gcity/automation"
	"gcity/config/files"
	"gcity/formula"
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
		hash := func() string { return files.ProgramHash(folder, isText) }
		if slices.ContainsFunc(c.topologyDirs, used) {
			all = append(all, trust.Program{What: "folder of topology " + remote.Name,
				Line: c.displayPath(folder), At: remote.Origin.String(),
				From: []string{folder}, Files: []string{folder},
				Content: sync.OnceValue(hash)})
		}
	}
	return all
}

func isText(name string) bool {
	return name == TopologyFile || name == PackFile || name == automation.FileName ||
		strings.HasSuffix(name, formula.Suffix) || strings.HasSuffix(name, ".md") ||
		strings.HasSuffix(name, ".md.tmpl")
}
