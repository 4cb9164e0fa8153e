// Package packmodel recognizes cities that use the pack format, which Gas City introduced in April 2026. It only reads
// files.
package packmodel

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/config/files"
	"gcity/internal/toml"
)

const packFile = "pack.toml"

// Marks returns the features of Gas City's pack format that a city uses. root is the tree of city.toml, or nil if the
// file is missing.
func Marks(dir string, root *toml.Node) []string {
	var marks []string
	if root != nil {
		marks = packTables(root)
	}
	if dir == "" {
		return marks
	}
	if data, err := os.ReadFile(filepath.Join(dir, packFile)); err == nil &&
		isPackModel(data, root == nil) {
		marks = append(marks, packFile)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "agents", "*", "agent.toml")); len(found) > 0 {
		marks = append(marks, "agents/NAME/agent.toml")
	}
	found, _ := filepath.Glob(filepath.Join(dir, "orders", "*.toml"))
	for _, file := range found {
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte("[order]")) {
			return append(marks, "orders/NAME.toml")
		}
	}
	return marks
}

// OfFile is like Marks, but takes the text of city.toml. Invalid TOML is ignored.
func OfFile(dir string, data []byte) []string {
	root := &toml.Node{Shape: toml.ShapeTable}
	for _, word := range []string{"imports", "agent_defaults", "defaults", "named_session",
		"formula_v2"} {
		if !bytes.Contains(data, []byte(word)) {
			continue
		}
		if tree, faults := toml.Parse(toml.BlankBOM(data)); len(faults) == 0 && tree != nil {
			root = tree
		}
		break
	}
	return Marks(dir, root)
}

// OfInvalid returns the features of later versions of Gas City in a city.toml that gcity rejects, and in the packs that
// it includes. root is the tree of the file.
func OfInvalid(dir string, root *toml.Node) []string {
	w := root.Get("workspace")
	marks := laterKeys(root)
	if w.Get("default_rig_includes") != nil {
		marks = append(marks, "default_rig_includes in [workspace]")
	}
	seen := map[string]bool{}
	for _, in := range append(toml.TablesOf(root.Get("rigs")), w) {
		for _, key := range []string{"includes", "topologies"} {
			marks = append(marks, included(dir, dir, in.Get(key), seen)...)
		}
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

// laterKeys returns the keys of agents that gcity does not have.
func laterKeys(root *toml.Node) []string {
	var marks []string
	for _, table := range []string{"agent", "agents"} {
		for _, agent := range toml.TablesOf(root.Get(table)) {
			for _, key := range []string{"max_active_sessions", "min_active_sessions",
				"scale_check"} {
				if agent.Get(key) != nil {
					marks = append(marks, key+" in [["+table+"]]")
				}
			}
		}
	}
	return marks
}

// included returns the manifests in the pack format among those that a list names. base is the folder of the list.
func included(city, base string, list *toml.Node, seen map[string]bool) []string {
	if list == nil || list.Shape != toml.ShapeArray {
		return nil
	}
	var marks []string
	for _, item := range list.Kids {
		dir := filepath.Join(base, item.Text)
		if rest, ok := strings.CutPrefix(item.Text, "//"); ok {
			dir = filepath.Join(city, rest)
		} else if filepath.IsAbs(item.Text) {
			dir = item.Text
		}
		if seen[dir] {
			continue
		}
		seen[dir] = true
		file := filepath.Join(dir, packFile)
		data, err := files.ReadSource(file)
		if err != nil {
			continue
		}
		root, _ := toml.Parse(toml.BlankBOM(data))
		if isPackModel(data, false) || len(laterKeys(root)) > 0 {
			if rel, err := filepath.Rel(city, file); err == nil {
				file = rel
			}
			marks = append(marks, file)
		}
		marks = append(marks, included(city, dir, root.Get("pack").Get("includes"), seen)...)
	}
	return marks
}

func packTables(root *toml.Node) []string {
	var marks []string
	for key, mark := range map[string]string{
		"imports": "[imports.NAME]", "agent_defaults": "[agent_defaults]",
		"defaults": "[defaults.rig.imports.NAME]",
	} {
		if n := root.Get(key); n != nil && n.Shape == toml.ShapeTable {
			marks = append(marks, mark)
		}
	}
	if root.Get("named_session") != nil || root.Get("named_sessions") != nil {
		marks = append(marks, "[[named_session]]")
	}
	if root.Get("daemon").Get("formula_v2") != nil {
		marks = append(marks, "formula_v2 in [daemon]")
	}
	for _, rig := range toml.TablesOf(root.Get("rigs")) {
		if rig.Get("imports") != nil {
			marks = append(marks, "[rigs.imports.NAME]")
			break
		}
	}
	slices.Sort(marks)
	return marks
}

// isPackModel takes the text of a pack.toml. alone means that the folder has no city.toml.
func isPackModel(data []byte, alone bool) bool {
	root, faults := toml.Parse(toml.BlankBOM(data))
	if len(faults) > 0 || root == nil {
		return alone
	}
	schema := root.Get("pack").Get("schema")
	return alone || schema != nil && schema.Text != "1" || len(packTables(root)) > 0
}

// Problem returns the error message for a city in the pack format.
func Problem(dir string, marks []string) string {
	return fmt.Sprintf("the city is written in Gas City's pack format (%s), which gcity "+
		"does not read; "+
		"convert it with `gcity import gas-city %s`", strings.Join(marks, ", "), quotedPath(dir))
}

// Missing returns the error message for a folder without a city.toml.
func Missing(dir string) string {
	if marks := Marks(dir, nil); len(marks) > 0 {
		return Problem(dir, marks)
	}
	return "the file is missing; restore it, or create a new one with \"gcity init\""
}

func quotedPath(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return !strings.ContainsRune("/._-+@%:,=", r) && (r < '0' || r > '9') &&
			(r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
